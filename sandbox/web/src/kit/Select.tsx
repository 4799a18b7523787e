// All selects: of fixed options, of people and channels, and of what the app offers for a word;
// of one thing and of several. A button opens a list with a line to type into.
import { useId, useRef } from "react";
import { heldIn, spotOf, useActing } from "./acting";
import { useAsking } from "./asking";
import { type Choice, heldChoices, isSeveral, told, turned } from "./choices";
import { nameOf, useDirectory } from "./directory";
import type { Drawn } from "./ElementOf";
import { useOptimistic } from "./optimistic";
import { usePopping } from "./popping";
import { NOTHING, SelectList } from "./SelectList";

export function Select(props: Drawn) {
  const { block, element, labelledBy, describedBy, isWrong } = props;
  const acting = useActing();
  const directory = useDirectory();
  const [ask, dialog] = useAsking(element);
  const anchor = useRef<HTMLButtonElement>(null);
  const list = useRef<HTMLDivElement>(null);
  const { isOpen, open, close } = usePopping(anchor, list);
  const spot = spotOf(block, element);
  const source = heldIn(acting.values, spot);
  const [held, show] = useOptimistic(
    heldChoices(source, (id) => nameOf(directory, id)),
    source,
  );
  const several = isSeveral(element);

  const shut = () => {
    close();
    anchor.current?.focus();
  };
  const tell = (choices: Choice[]) => {
    const { deed, value } = told(element, choices);
    ask(() => {
      show(choices);
      void acting[deed](spot, value);
    });
  };
  const turn = (choice: Choice) => {
    if (!several) shut();
    if (choice === NOTHING) tell([]);
    else tell(several ? turned(element, held, choice) : [choice]);
  };
  const said = held.map((one) => one.label).join(", ");
  const id = useId();
  return (
    <div className={isWrong ? "kit-select is-wrong" : "kit-select"}>
      <button
        ref={anchor}
        id={id}
        type="button"
        className={said ? "field is-select" : "field is-select is-empty"}
        aria-haspopup="listbox"
        aria-expanded={isOpen}
        aria-labelledby={labelledBy ? `${labelledBy} ${id}` : undefined}
        aria-describedby={describedBy}
        data-action={element.action_id}
        data-autofocus={element.focus_on_load || undefined}
        onClick={isOpen ? shut : open}
      >
        <span className="kit-chosen">{said || element.placeholder?.text || "Choose"}</span>
        <span aria-hidden="true" className="kit-arrow">
          ▾
        </span>
      </button>
      {isOpen ? (
        <div ref={list} popover="manual" className="popped is-list">
          <SelectList
            {...props}
            held={held}
            turn={turn}
            mayBeEmpty={Boolean(block.optional) && !several && held.length > 0}
            shut={shut}
          />
        </div>
      ) : null}
      {dialog}
    </div>
  );
}
