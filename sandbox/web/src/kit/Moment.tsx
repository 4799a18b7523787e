// Dates and times, in the browser's own pickers: they know the keyboard and the reader's ways.
import type { ChangeEvent } from "react";
import { heldIn, spotOf, useActing } from "./acting";
import { useAsking } from "./asking";
import type { Drawn } from "./ElementOf";
import { useOptimistic } from "./optimistic";

const KINDS: Record<string, "date" | "time" | "datetime-local"> = {
  datepicker: "date",
  timepicker: "time",
  datetimepicker: "datetime-local",
};

export function Moment({ block, element, labelledBy, describedBy, isWrong }: Drawn) {
  const acting = useActing();
  const [ask, dialog] = useAsking(element);
  const spot = spotOf(block, element);
  const held = heldIn(acting.values, spot);
  const told = held?.selected_date ?? held?.selected_time ?? local(held?.selected_date_time) ?? "";
  const [shown, show] = useOptimistic(told, held);
  const change = ({ target }: ChangeEvent<HTMLInputElement>) => {
    const value = element.type === "datetimepicker" ? seconds(target.value) : target.value;
    ask(() => {
      show(target.value);
      void acting.put(spot, value || null);
    });
  };
  return (
    <>
      <input
        className="field is-short"
        type={KINDS[element.type]}
        value={shown}
        onChange={change}
        aria-label={labelledBy ? undefined : (element.placeholder?.text ?? "Moment")}
        aria-labelledby={labelledBy}
        aria-describedby={describedBy}
        aria-invalid={isWrong}
        data-action={element.action_id}
      />
      {dialog}
    </>
  );
}

/** Seconds since 1970 as the field shows them, in this browser's zone. */
function local(at: number | null | undefined): string | undefined {
  if (!at) return undefined;
  const date = new Date(at * 1000);
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

const seconds = (shown: string): number => Math.floor(new Date(shown).getTime() / 1000) || 0;
