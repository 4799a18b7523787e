import { type KeyboardEvent, useEffect, useRef } from "react";
import { spotOf, useActing } from "./acting";
import { useAsking } from "./asking";
import { useBusy } from "./busy";
import type { Drawn } from "./ElementOf";
import { obey, usePopping } from "./popping";

export function Overflow({ block, element }: Drawn) {
  const acting = useActing();
  const [isBusy, run] = useBusy();
  const [ask, dialog] = useAsking(element);
  const anchor = useRef<HTMLButtonElement>(null);
  const menu = useRef<HTMLDivElement>(null);
  const { isOpen, open, close } = usePopping(anchor, menu);
  const entries = () => [...(menu.current?.querySelectorAll("button") ?? [])];

  useEffect(() => {
    if (isOpen) menu.current?.querySelector("button")?.focus();
  }, [isOpen]);

  const shut = () => {
    close();
    anchor.current?.focus();
  };
  const choose = (value: string | undefined) => {
    shut();
    ask(() => run(() => acting.press(spotOf(block, element), value ?? "")));
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const all = entries();
    const now = all.indexOf(document.activeElement as HTMLButtonElement);
    const to = (index: number) => all[(index + all.length) % all.length]?.focus();
    obey(event, {
      ArrowDown: () => to(now + 1),
      ArrowUp: () => to(now - 1),
      Home: () => to(0),
      End: () => to(-1),
      Escape: shut,
      Tab: shut,
    });
  };
  return (
    <>
      <button
        ref={anchor}
        type="button"
        className="button is-menu"
        aria-haspopup="menu"
        aria-expanded={isOpen}
        aria-busy={isBusy}
        aria-label={element.accessibility_label ?? "More actions"}
        data-action={element.action_id}
        onClick={isOpen ? shut : open}
      >
        <span aria-hidden="true">⋯</span>
      </button>
      {isOpen ? (
        <div ref={menu} popover="manual" className="popped" role="menu" onKeyDown={onKeyDown}>
          {(element.options ?? []).map((option) => (
            <button
              key={option.value}
              type="button"
              role="menuitem"
              className="popped-entry"
              onClick={() => choose(option.value)}
            >
              {option.text.text}
              {option.description ? <small>{option.description.text}</small> : null}
            </button>
          ))}
        </div>
      ) : null}
      {dialog}
    </>
  );
}
