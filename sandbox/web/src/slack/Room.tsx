// A channel or the direct messages with the bot: what was said there, and where one writes.
import { useMemo } from "react";
import { Composer } from "./Composer";
import { MessageList } from "./MessageList";
import { inChannel, repliesTo, threadsOf } from "./merge";
import type { Channel } from "./model";
import { useSeen, useSession } from "./session";

export function Room({ channel }: { channel: Channel }) {
  const seen = useSeen();
  const messages = useMemo(() => inChannel(seen.messages, channel.id), [seen.messages, channel.id]);
  const threads = useMemo(() => threadsOf(seen.messages, channel.id), [seen.messages, channel.id]);
  const name = nameOf(channel);
  return (
    <section className="room" aria-label={name} data-region data-testid="room">
      <header className="room-head">
        <h1>{name}</h1>
        <span className="room-about">{aboutOf(channel)}</span>
      </header>
      <MessageList
        messages={messages}
        threads={threads}
        top={messages.length === 0 ? <Nothing channel={channel} /> : null}
      />
      <Composer channel={channel.id} thread="" name={name} />
    </section>
  );
}

const nameOf = (channel: Channel): string => (channel.person ? "poolkeeper" : `#${channel.name}`);

function aboutOf(channel: Channel): string {
  if (channel.person) return "Direct messages with the bot";
  const people = `${channel.members.length} members`;
  return channel.is_private ? `Private · ${people}` : people;
}

function Nothing({ channel }: { channel: Channel }) {
  return (
    <div className="empty" data-testid="empty-channel">
      <p>
        <strong>Nothing was said here yet.</strong>
      </p>
      <p>
        {channel.person
          ? "Write help to poolkeeper, or any of its commands, with or without /pool before it."
          : "Type /pool status and press Enter: only you will see the answer."}
      </p>
    </div>
  );
}

export function ThreadPanel({ channel, ts }: { channel: Channel; ts: string }) {
  const { go } = useSession();
  const seen = useSeen();
  const parent = seen.messages.get(`${channel.id}/${ts}`);
  const replies = useMemo(
    () => repliesTo(seen.messages, channel.id, ts),
    [seen.messages, channel.id, ts],
  );
  const close = () => go({ thread: "" });
  return (
    <aside
      className="thread"
      aria-label="Thread"
      data-region
      data-testid="thread"
      onKeyDown={(event) => event.key === "Escape" && close()}
    >
      <header className="room-head">
        <h2>Thread</h2>
        <span className="room-about">{nameOf(channel)}</span>
        <button type="button" className="button is-plain" onClick={close} aria-label="Close thread">
          ✕
        </button>
      </header>
      <MessageList
        messages={parent ? [parent, ...replies] : replies}
        isInThread
        top={parent ? null : <p className="empty">The message of this thread is gone.</p>}
      />
      <Composer channel={channel.id} thread={ts} name={nameOf(channel)} />
    </aside>
  );
}
