// One message as the person sees it.
import { memo, useMemo } from "react";
import { ActingIn } from "../kit/acting";
import { Blocks } from "../kit/Blocks";
import { useDirectory } from "../kit/directory";
import { initialValues } from "../kit/initial";
import { Marked } from "../kit/Looks";
import { clock } from "../kit/moments";
import { Shared } from "../kit/Picture";
import { Avatar } from "./Avatar";
import type { Thread } from "./merge";
import { type Message, SLACKBOT } from "./model";
import { useSession } from "./session";

interface Row {
  message: Message;
  continues: boolean;
  thread: Thread | undefined;
  /** A message in a thread's panel cannot open that thread again. */
  isInThread?: boolean;
  zone: string | undefined;
}

export const MessageRow = memo(function MessageRow(row: Row) {
  const { message, continues, isInThread } = row;
  const face = useDirectory().faces.get(message.author);
  const author = message.author === SLACKBOT ? "Slack" : (face?.name ?? message.author_name);
  const at = new Date(Number(message.ts) * 1000);
  const isPrivate = Boolean(message.only_for);
  const classes = ["message", continues && "continues", isPrivate && "is-private"];
  return (
    <article
      className={classes.filter(Boolean).join(" ")}
      data-testid="message"
      data-ts={message.ts}
      data-author={message.author}
      data-ephemeral={isPrivate}
      aria-label={`${author}, ${clock(at, row.zone)}`}
    >
      <div className="message-side">
        {continues ? (
          <time className="message-time-small">{clock(at, row.zone)}</time>
        ) : (
          <Avatar id={message.author} face={face} isBot={message.by_bot} />
        )}
      </div>
      <div className="message-main">
        {isPrivate ? <p className="only-you">Only visible to you</p> : null}
        {continues ? null : <Head author={author} isApp={message.by_bot} at={at} zone={row.zone} />}
        <Body message={message} />
        <Reactions of={message.reactions} />
        {row.thread ? <Replies message={message} thread={row.thread} zone={row.zone} /> : null}
      </div>
      {isInThread || isPrivate ? null : <Tools message={message} />}
    </article>
  );
});

interface HeadProps {
  author: string;
  isApp: boolean;
  at: Date;
  zone: string | undefined;
}

function Head({ author, isApp, at, zone }: HeadProps) {
  return (
    <header className="message-head">
      <strong>{author}</strong>
      {isApp ? <span className="tag">App</span> : null}
      <time dateTime={at.toISOString()}>{clock(at, zone)}</time>
    </header>
  );
}

function Body({ message }: { message: Message }) {
  const { acting: actingAt } = useSession();
  const acting = useMemo(
    () =>
      actingAt({
        where: { channel: message.channel, ts: message.ts },
        values: valuesOf(message),
        errors: {},
        blocks: message.blocks,
      }),
    [message, actingAt],
  );
  return (
    <ActingIn value={acting}>
      <div className="message-body">
        {message.blocks.length > 0 ? (
          <Blocks blocks={message.blocks} />
        ) : message.text ? (
          <Marked text={message.text} />
        ) : null}
        {message.attachments.map((one, index) =>
          one.text ? <Marked key={`${index}:${one.text}`} text={one.text} /> : null,
        )}
        {message.files.map((file) => (
          <Shared key={file.id} file={file} />
        ))}
        {message.edited ? <span className="edited">(edited)</span> : null}
      </div>
    </ActingIn>
  );
}

/** What fields hold; where nothing was chosen yet, what they begin with. */
function valuesOf(message: Message): Message["values"] {
  const isTouched = Object.keys(message.values).length > 0;
  return isTouched ? message.values : initialValues(message.blocks);
}

function Reactions({ of }: { of: Record<string, string[]> }) {
  const there = Object.entries(of).filter(([, people]) => people.length > 0);
  if (there.length === 0) return null;
  return (
    <ul className="reactions" aria-label="Reactions">
      {there.map(([name, people]) => (
        <li key={name}>
          <Marked text={`:${name}:`} /> {people.length}
        </li>
      ))}
    </ul>
  );
}

function Replies(props: { message: Message; thread: Thread; zone: string | undefined }) {
  const { go } = useSession();
  const { count, last } = props.thread;
  return (
    <button
      type="button"
      className="replies"
      data-testid="open-thread"
      onClick={() => go({ thread: props.message.ts })}
    >
      {count === 1 ? "1 reply" : `${count} replies`}
      <span> · last at {clock(new Date(Number(last) * 1000), props.zone)}</span>
    </button>
  );
}

function Tools({ message }: { message: Message }) {
  const { go } = useSession();
  return (
    <div className="message-tools">
      <button
        type="button"
        className="tool"
        data-testid="reply"
        onClick={() => go({ thread: message.ts })}
      >
        Reply in thread
      </button>
    </div>
  );
}
