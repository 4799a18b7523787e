// "Are you sure?": an element's confirmation stands between the press and what comes of it.
import { type ReactNode, useState } from "react";
import type { Confirmation, Element } from "../slack/model";
import { Dialog } from "../ui/Dialog";
import { Marked } from "./Looks";

/** Does it at once, or after the element's dialog was answered with yes; and the dialog. */
export function useAsking(element: Element): [(deed: () => void) => void, ReactNode] {
  const [waiting, setWaiting] = useState<(() => void) | undefined>();
  const { confirm } = element;
  const ask = (deed: () => void) => (confirm ? setWaiting(() => deed) : deed());
  if (!confirm || !waiting) return [ask, null];
  const yes = () => {
    setWaiting(undefined);
    waiting();
  };
  return [ask, <Sure key="sure" asks={confirm} yes={yes} no={() => setWaiting(undefined)} />];
}

function Sure(props: { asks: Confirmation; yes: () => void; no: () => void }) {
  const { asks, yes, no } = props;
  return (
    <Dialog title={asks.title.text} onEscape={no} testId="confirm" isSmall>
      <div className="dialog-body">
        <Marked text={asks.text} />
      </div>
      <footer className="dialog-foot">
        <button type="button" className="button" onClick={no}>
          {asks.deny.text}
        </button>
        <button
          type="button"
          className={asks.style === "danger" ? "button is-danger is-solid" : "button is-solid"}
          onClick={yes}
          data-autofocus
        >
          {asks.confirm.text}
        </button>
      </footer>
    </Dialog>
  );
}
