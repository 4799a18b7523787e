// All selects: of fixed options, of people and channels, and of what the app offers for a word;
// of one thing and of several. A button opens a list with a line to type into.
import { type KeyboardEvent, useEffect, useId, useRef, useState } from "react";
import { heldIn, spotOf, useActing } from "./acting";
import { useAsking } from "./asking";
import {
  type Choice,
  filtered,
  heldChoices,
  inWorkspace,
  isExternal,
  isSeveral,
  offeredBy,
  told,
  turned,
} from "./choices";
import { nameOf, useDirectory } from "./directory";
import type { Drawn } from "./ElementOf";
import { useOptimistic } from "./optimistic";
import { usePopping } from "./popping";
import { useWorkspace } from "./workspace";

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
          <Choices
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

/** The line that takes away what was chosen, where nothing need be. */
const NOTHING: Choice = { key: "", label: "– none –", chosen: "" };

interface Listed extends Drawn {
  held: Choice[];
  turn: (choice: Choice) => void;
  mayBeEmpty: boolean;
  shut: () => void;
}

function Choices({ block, element, held, turn, mayBeEmpty, shut }: Listed) {
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
    const keys: Record<string, () => void> = {
      ArrowDown: () => setAt(Math.min(active + 1, choices.length - 1)),
      ArrowUp: () => setAt(Math.max(active - 1, 0)),
      Enter: () => chosen && turn(chosen),
      Escape: shut,
      Tab: shut,
    };
    const does = keys[event.key];
    if (!does) return;
    event.preventDefault();
    event.stopPropagation();
    does();
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

const PAUSE = 120;

/** What there is to choose from for what was typed, and a sentence where there is nothing. */
function useChoices({ block, element }: Drawn, typed: string): { choices: Choice[]; told: string } {
  const acting = useActing();
  const { people, channels } = useWorkspace();
  const external = isExternal(element);
  const [found, setFound] = useState<Choice[] | undefined>();
  const [problem, setProblem] = useState("");
  const least = element.min_query_length ?? 3;
  const isShort = external && typed.length < least;

  useEffect(() => {
    if (!external || isShort) return;
    let isLate = false;
    const timer = setTimeout(
      async () => {
        try {
          const offered = await acting.offered(spotOf(block, element), typed);
          if (!isLate) setFound(offeredBy(offered));
        } catch (error) {
          if (!isLate) setProblem(String(error instanceof Error ? error.message : error));
        }
      },
      typed ? PAUSE : 0,
    );
    return () => {
      isLate = true;
      clearTimeout(timer);
    };
  }, [external, isShort, typed]);

  if (isShort) return { choices: [], told: `Type ${least} characters or more.` };
  if (external && problem) return { choices: [], told: problem };
  if (external && !found) return { choices: [], told: "Asking the app…" };
  const offered = element.options || element.option_groups ? offeredBy(element) : undefined;
  const all = external ? (found ?? []) : (offered ?? inWorkspace(element, people, channels));
  const choices = external ? all : filtered(all, typed);
  return {
    choices,
    told:
      choices.length > 0 ? "" : typed ? "Nothing is called that." : "There is nothing to choose.",
  };
}
