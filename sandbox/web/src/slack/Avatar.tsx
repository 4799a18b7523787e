// A picture of somebody: the initial on a colour of their own, and the bot's and Slack's own marks.
import type { Face } from "../kit/directory";
import { SLACKBOT } from "./model";

const HUES = [12, 205, 152, 270, 330, 45, 180, 95];

function hueOf(id: string): number {
  let sum = 0;
  for (const letter of id) sum = (sum * 31 + letter.charCodeAt(0)) % 9973;
  return HUES[sum % HUES.length] ?? 0;
}

interface Props {
  id: string;
  face?: Pick<Face, "initials" | "colour"> | undefined;
  isBot?: boolean;
  isSmall?: boolean;
}

export function Avatar({ id, face, isBot, isSmall }: Props) {
  const size = isSmall ? "avatar is-small" : "avatar";
  if (id === SLACKBOT) return <span className={`${size} is-system`} aria-hidden="true" />;
  if (isBot) {
    return (
      <span className={`${size} is-bot`} aria-hidden="true">
        <Mark />
      </span>
    );
  }
  const style = { background: face?.colour, "--hue": hueOf(id) } as React.CSSProperties;
  return (
    <span className={size} style={style} aria-hidden="true">
      {(face?.initials ?? "?").toUpperCase()}
    </span>
  );
}

/** Poolkeeper's mark: lanes of a pool. */
export function Mark() {
  return (
    <svg viewBox="0 0 24 24" role="presentation" focusable="false">
      <path
        d="M3 7c2.2-2 4.4-2 6.6 0s4.4 2 6.6 0 3.4-1.6 4.8-.6M3 13c2.2-2 4.4-2 6.6 0s4.4 2 6.6 0 3.4-1.6 4.8-.6M3 19c2.2-2 4.4-2 6.6 0s4.4 2 6.6 0 3.4-1.6 4.8-.6"
        fill="none"
        stroke="currentColor"
        strokeWidth="2.4"
        strokeLinecap="round"
      />
    </svg>
  );
}
