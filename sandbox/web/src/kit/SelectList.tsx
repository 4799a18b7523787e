// The list of a select: a line to type into, and what there is to choose from.
import { type KeyboardEvent, useEffect, useId, useRef, useState } from "react";
import { type Choice, isSeveral } from "./choices";
import type { Drawn } from "./ElementOf";
import { obey } from "./popping";
import { useChoices } from "./useChoices";

/** The line that takes away what was chosen, where nothing need be. */
export const NOTHING: Choice = { key: "", label: "– none –", chosen: "" };

interface Listed extends Drawn {
  held: Choice[];
  turn: (choice: Choice) => void;
  mayBeEmpty: boolean;
  shut: () => void;
}

export function SelectList({ block, element, held, turn, mayBeEmpty, shut }: Listed) {
  const id = useId();
  const [typed, setTyped] = useState("");
  const [at, setAt] = useState(0);
  const { choices: offered, told: state } = useChoices({ block, element }, typed);
  const choices = mayBeEmpty && !typed ? [NOTHING, ...offered] : offered;
  const active = Math.min(at, choices.length - 1);
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => field.current?.focus(), []);
  useEffect(() => {
    document.getElementById(`${id}-${active}`)?.scrollIntoView({ block: "nearest" });
  }, [id, active]);

  const onKeyDown = (event: KeyboardEvent) => {
    const chosen = choices[active];
    obey(event, {
      ArrowDown: () => setAt(Math.min(active + 1, choices.length - 1)),
      ArrowUp: () => setAt(Math.max(active - 1, 0)),
      Enter: () => chosen && turn(chosen),
      Escape: shut,
      Tab: shut,
    });
  };
  return (
    <>
      <input
        ref={field}
        className="field popped-field"
        role="combobox"
        aria-expanded="true"
        aria-controls={`${id}-list`}
        aria-activedescendant={choices.length ? `${id}-${active}` : undefined}
        aria-label={`Find: ${element.placeholder?.text ?? "choose"}`}
        placeholder="Type to find"
        value={typed}
        onChange={({ target }) => {
          setTyped(target.value);
          setAt(0);
        }}
        onKeyDown={onKeyDown}
      />
      <div
        className="popped-list"
        id={`${id}-list`}
        role="listbox"
        aria-multiselectable={isSeveral(element)}
      >
        {choices.map((choice, index) => (
          <Line
            key={`${choice.group}/${choice.key}`}
            id={`${id}-${index}`}
            choice={choice}
            heading={choice.group !== choices[index - 1]?.group ? choice.group : undefined}
            isActive={index === active}
            isHeld={held.some((one) => one.key === choice.key)}
            turn={() => turn(choice)}
          />
        ))}
      </div>
      {state ? <p className="popped-state">{state}</p> : null}
    </>
  );
}

function Line(props: {
  id: string;
  choice: Choice;
  heading: string | undefined;
  isActive: boolean;
  isHeld: boolean;
  turn: () => void;
}) {
  const { choice } = props;
  return (
    <>
      {props.heading ? <div className="popped-heading">{props.heading}</div> : null}
      {/* biome-ignore lint/a11y/useKeyWithClickEvents: the keys are the text field's above */}
      <div
        id={props.id}
        role="option"
        tabIndex={-1}
        aria-selected={props.isHeld}
        className={props.isActive ? "popped-entry is-active" : "popped-entry"}
        onClick={props.turn}
      >
        <span>
          {choice.label}
          {choice.description ? <small>{choice.description}</small> : null}
        </span>
        {props.isHeld ? <span aria-hidden="true">✓</span> : null}
      </div>
    </>
  );
}
