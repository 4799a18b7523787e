// Where one writes: messages, and lines that begin with a slash. What was begun is kept by place.
import { type KeyboardEvent, useEffect, useId, useRef, useState } from "react";
import { useSeen, useSession } from "./session";
import { suggestions } from "./suggesting";

interface Props {
  channel: string;
  thread: string;
  name: string;
}

const begun = new Map<string, string>();
const MOST_LINES = 50;

export function Composer({ channel, thread, name }: Props) {
  const { live, fails, happens } = useSession();
  const seen = useSeen();
  const here = `${live.person} ${channel} ${thread}`;
  const [text, setTextOnly] = useState(begun.get(here) ?? "");
  const [isHidden, setHidden] = useState(false);
  const [at, setAt] = useState(0);
  const said = useHistory(live.person);
  const field = useRef<HTMLTextAreaElement>(null);
  const id = useId();
  const offered = isHidden ? [] : suggestions(text, seen.workspace);
  const active = Math.min(at, offered.length - 1);

  const setText = (value: string) => {
    begun.set(here, value);
    setTextOnly(value);
    setHidden(false);
    setAt(0);
  };
  useEffect(() => {
    const box = field.current;
    if (!box) return;
    box.style.height = "auto";
    box.style.height = `${box.scrollHeight}px`;
  }, [text]);

  const send = async () => {
    const line = text.trim();
    if (!line) return;
    setText("");
    said.add(line);
    happens({ kind: "said", person: live.person, text: line, channel });
    const deed = line.startsWith("/") ? "command" : "say";
    try {
      await live.do(deed, { channel, text: line, thread });
    } catch (error) {
      setText(line);
      fails(error);
    }
  };
  const take = (line: string) => {
    setText(line);
    field.current?.focus();
  };
  const onKeyDown = (event: KeyboardEvent<HTMLTextAreaElement>) => {
    const chosen = offered[active];
    const done = (deed: () => void) => {
      deed();
      return true;
    };
    const keys: Record<string, () => boolean> = {
      ArrowDown: () => move(1),
      ArrowUp: () => (offered.length > 0 ? move(-1) : recall(-1)),
      Tab: () => !event.shiftKey && chosen !== undefined && done(() => take(chosen.line)),
      Escape: () => offered.length > 0 && done(() => setHidden(true)),
      Enter: () => !event.shiftKey && !event.nativeEvent.isComposing && done(() => void send()),
    };
    if (keys[event.key]?.()) {
      event.preventDefault();
      event.stopPropagation();
    }
  };
  const move = (step: number) => {
    if (offered.length === 0) return recall(step);
    setAt((active + step + offered.length) % offered.length);
    return true;
  };
  const recall = (step: number): boolean => {
    const line = said.recall(step, text);
    if (line === undefined) return false;
    begun.set(here, line);
    setTextOnly(line);
    setHidden(true);
    return true;
  };
  return (
    <div className="composer" data-region>
      {offered.length > 0 ? (
        <div className="suggestions" role="listbox" id={`${id}-list`} aria-label="Suggestions">
          {offered.map((one, index) => (
            // biome-ignore lint/a11y/useKeyWithClickEvents: the keys are the text field's below
            <div
              key={one.shown}
              id={`${id}-${index}`}
              role="option"
              tabIndex={-1}
              aria-selected={index === active}
              className={index === active ? "suggestion is-active" : "suggestion"}
              onClick={() => take(one.line)}
            >
              <span>{one.shown}</span> <small>{one.hint}</small>
            </div>
          ))}
          <div className="suggestions-foot" aria-hidden="true">
            Tab completes · ↑↓ choose · Esc hides
          </div>
        </div>
      ) : null}
      <textarea
        ref={field}
        rows={1}
        value={text}
        placeholder={thread ? "Reply…" : `Message ${name}, or /pool …`}
        aria-label={thread ? "Reply in the thread" : `Message ${name}`}
        role="combobox"
        aria-autocomplete="list"
        aria-expanded={offered.length > 0}
        aria-controls={offered.length > 0 ? `${id}-list` : undefined}
        aria-activedescendant={offered.length > 0 ? `${id}-${active}` : undefined}
        data-testid={thread ? "thread-composer" : "composer"}
        onChange={({ target }) => setText(target.value)}
        onKeyDown={onKeyDown}
      />
      <button
        type="button"
        className="button is-solid send"
        onClick={send}
        disabled={!text.trim()}
        data-testid={thread ? "thread-send" : "send"}
      >
        Send
      </button>
    </div>
  );
}

/** Lines that this person said in this window, for the arrow keys. */
function useHistory(person: string) {
  const kept = `poolkeeper.said.${person}`;
  const index = useRef(0);
  const lines = (): string[] => JSON.parse(sessionStorage.getItem(kept) ?? "[]");
  return {
    add: (line: string) => {
      const all = [...lines().filter((one) => one !== line), line].slice(-MOST_LINES);
      sessionStorage.setItem(kept, JSON.stringify(all));
      index.current = 0;
    },
    /** The line so many steps back; undefined where the keys are to move within the text. */
    recall: (step: number, text: string): string | undefined => {
      const all = lines();
      const now = all.length + index.current;
      const isRecalled = index.current < 0 && all[now] === text;
      if (text && !isRecalled) return undefined;
      const next = Math.max(-all.length, Math.min(0, (isRecalled ? index.current : 0) + step));
      index.current = next;
      return next === 0 ? "" : all[all.length + next];
    },
  };
}
