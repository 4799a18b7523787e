// What Slack itself tells the person, and what went wrong here: short, and read aloud.
import { useEffect, useRef, useState } from "react";
import type { Message, Notice } from "./model";
import { SLACKBOT } from "./model";
import { useSeen, useSession } from "./session";

export interface Problem {
  n: number;
  text: string;
}

const WORDS: Record<string, string> = {
  operation_timeout: "The app did not answer in time.",
  dispatch_failed: "The app could not be reached.",
};

/** A command's failure stands in the channel already, and a submission's in its modal. */
const isSaidElsewhere = ({ about }: Notice): boolean =>
  about.startsWith("/") || about.startsWith("We had");

export function Notices(props: { problems: Problem[]; dismiss: (n: number) => void }) {
  const { live } = useSession();
  const seen = useSeen();
  const told = seen.notices.filter((one) => !isSaidElsewhere(one));
  return (
    <div className="notices" aria-live="assertive">
      {told.map((one) => (
        <Toast
          key={`slack ${one.n}`}
          text={WORDS[one.error] ?? `Slack says: ${one.error}.`}
          close={() => live.dismiss(one.n)}
        />
      ))}
      {props.problems.map((one) => (
        <Toast key={`page ${one.n}`} text={one.text} close={() => props.dismiss(one.n)} />
      ))}
    </div>
  );
}

const SHOWN_FOR = 12_000;

function Toast({ text, close }: { text: string; close: () => void }) {
  const ends = useRef(close);
  ends.current = close;
  useEffect(() => {
    const timer = setTimeout(() => ends.current(), SHOWN_FOR);
    return () => clearTimeout(timer);
  }, []);
  return (
    <div className="notice" role="status" data-testid="notice">
      <span>{text}</span>
      <button type="button" className="button is-plain" onClick={close} aria-label="Dismiss">
        ✕
      </button>
    </div>
  );
}

/** Reads a new message of the place one is in aloud; what was there at first is not news. */
export function Announcer({ newest }: { newest: Message | undefined }) {
  const [said, setSaid] = useState("");
  const first = useRef(newest?.n ?? 0);
  useEffect(() => {
    if (!newest || newest.n <= first.current) return;
    first.current = newest.n;
    const author = newest.author === SLACKBOT ? "Slack" : newest.author_name;
    setSaid(`${author}: ${newest.plain}`);
  }, [newest]);
  return (
    <div className="sr-only" aria-live="polite" data-testid="announcer">
      {said}
    </div>
  );
}
