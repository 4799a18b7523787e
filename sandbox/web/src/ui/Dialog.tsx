// A dialog above the workspace: it takes the keyboard, keeps it, and gives it back.
import { type KeyboardEvent, type ReactNode, useEffect, useId, useRef } from "react";
import { createPortal } from "react-dom";
import { focused, giveBack, useAsDialog } from "./dialogs";

const REACHED =
  'button:not([disabled]), a[href], input:not([disabled]), textarea, select, [tabindex="0"]';

interface Props {
  title: string;
  children: ReactNode;
  onEscape: () => void;
  testId: string;
  isSmall?: boolean;
  /** What stands in the head besides the title. */
  aside?: ReactNode;
}

export function Dialog({ title, children, onEscape, testId, isSmall, aside }: Props) {
  const box = useRef<HTMLDivElement>(null);
  const id = useId();
  useAsDialog();

  useEffect(() => {
    const before = focused();
    const first = box.current?.querySelector<HTMLElement>("[data-autofocus]");
    (first ?? box.current)?.focus();
    return () => {
      // Only then is what lay below in reach again.
      setTimeout(() => giveBack(before));
    };
  }, []);

  const onKeyDown = (event: KeyboardEvent) => {
    // A dialog on top of this one is its child in React, and answers for itself.
    if (!box.current?.contains(event.target as Node)) return;
    if (event.key === "Escape") {
      event.stopPropagation();
      onEscape();
    }
    if (event.key === "Tab") keepWithin(box.current, event);
  };
  const dialog = (
    // biome-ignore lint/a11y/noStaticElementInteractions: it hears the keys of what is within
    <div className="dialog-shade" onKeyDown={onKeyDown}>
      <div
        ref={box}
        className={isSmall ? "dialog is-small" : "dialog"}
        role="dialog"
        aria-labelledby={id}
        tabIndex={-1}
        data-testid={testId}
        data-region
      >
        <header className="dialog-head">
          <h2 id={id}>{title}</h2>
          {aside}
        </header>
        {children}
      </div>
    </div>
  );
  return createPortal(dialog, document.getElementById("dialogs") ?? document.body);
}

/** Tab goes round in the dialog. */
function keepWithin(box: HTMLElement, event: KeyboardEvent): void {
  const reached = [...box.querySelectorAll<HTMLElement>(REACHED)].filter(
    (one) => one.offsetParent !== null,
  );
  const [first, last] = [reached[0], reached.at(-1)];
  const now = document.activeElement;
  if (event.shiftKey && (now === first || now === box)) {
    event.preventDefault();
    last?.focus();
  } else if (!event.shiftKey && now === last) {
    event.preventDefault();
    first?.focus();
  }
}
