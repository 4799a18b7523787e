import { spotOf, useActing } from "./acting";
import { useAsking } from "./asking";
import { useBusy } from "./busy";
import type { Drawn } from "./ElementOf";

export function Button({ block, element }: Drawn) {
  const acting = useActing();
  const [isBusy, run] = useBusy();
  const [ask, dialog] = useAsking(element);
  const style = element.style ? ` is-${element.style}` : "";
  const press = () => ask(() => run(() => acting.press(spotOf(block, element))));
  const label = element.text?.text ?? "";
  const shared = {
    className: `button${style}`,
    onClick: press,
    "aria-label": element.accessibility_label,
    "data-action": element.action_id,
    "data-value": element.value,
  };
  return (
    <>
      {element.url ? (
        <a href={element.url} target="_blank" rel="noopener noreferrer" {...shared}>
          {label}
        </a>
      ) : (
        <button type="button" aria-busy={isBusy} {...shared}>
          {label}
        </button>
      )}
      {dialog}
    </>
  );
}
