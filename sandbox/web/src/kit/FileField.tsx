import type { ChangeEvent } from "react";
import { heldIn, spotOf, useActing } from "./acting";
import type { Drawn } from "./ElementOf";

export function FileField({ block, element, labelledBy, describedBy }: Drawn) {
  const acting = useActing();
  const spot = spotOf(block, element);
  const names = (heldIn(acting.values, spot)?.files ?? []).map((one) => one.name);
  const change = async ({ target }: ChangeEvent<HTMLInputElement>) => {
    const files = await Promise.all([...(target.files ?? [])].map(read));
    await acting.attach(spot, files);
  };
  return (
    <div className="kit-upload">
      <input
        type="file"
        multiple
        onChange={change}
        aria-labelledby={labelledBy}
        aria-describedby={describedBy}
        data-action={element.action_id}
      />
      {names.length > 0 ? <p className="kit-hint">Attached: {names.join(", ")}</p> : null}
    </div>
  );
}

const read = async (file: File) => ({ name: file.name, content: await file.text() });
