// Messages, oldest first, with the days between them; it stays at the end while one reads there.
import { type ReactNode, useEffect, useLayoutEffect, useMemo, useRef, useState } from "react";
import { useDirectory } from "../kit/directory";
import { day } from "../kit/moments";
import { MessageRow } from "./MessageRow";
import { continues, type Thread } from "./merge";
import type { Message } from "./model";

interface Props {
  messages: Message[];
  threads?: Map<string, Thread>;
  isInThread?: boolean;
  /** What stands above the first message. */
  top?: ReactNode;
}

const NEAR_THE_END = 80;
const NEAR_THE_TOP = 600;
/** So many are drawn at first, and more of them as one goes back. */
const FIRST = 30;
const MORE = 20;
const NO_THREADS = new Map<string, Thread>();

export function MessageList({ messages, threads = NO_THREADS, isInThread, top }: Props) {
  const { zone } = useDirectory();
  const scroller = useRef<HTMLDivElement>(null);
  const isAtEnd = useRef(true);
  const [hasMore, setMore] = useState(false);
  const newest = messages.at(-1);
  const [most, setMost] = useState(FIRST);
  const shown = useMemo(() => messages.slice(-most), [messages, most]);
  const earlier = messages.length - shown.length;
  const showEarlier = () => setMost((now) => now + MORE);

  const toEnd = () => {
    const box = scroller.current;
    if (box) box.scrollTop = box.scrollHeight;
    setMore(false);
  };
  useLayoutEffect(() => {
    if (isAtEnd.current) toEnd();
    else setMore(true);
  }, [newest?.ts]);
  useEffect(() => {
    // Rows get their height late (pictures, rows that were out of sight): the end moves with them.
    const box = scroller.current;
    if (!box?.firstElementChild) return;
    const watch = new ResizeObserver(() => {
      if (isAtEnd.current) box.scrollTop = box.scrollHeight;
    });
    watch.observe(box.firstElementChild);
    watch.observe(box);
    return () => watch.disconnect();
  }, []);
  const onScroll = () => {
    const box = scroller.current;
    if (!box) return;
    isAtEnd.current = box.scrollHeight - box.scrollTop - box.clientHeight < NEAR_THE_END;
    if (isAtEnd.current) setMore(false);
    if (earlier > 0 && box.scrollTop < NEAR_THE_TOP) showEarlier();
  };
  const days = useMemo(() => byDay(shown, zone), [shown, zone]);
  return (
    <div className="messages-frame">
      <div
        className="messages"
        ref={scroller}
        onScroll={onScroll}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard must reach what scrolls
        tabIndex={0}
        data-testid="messages"
      >
        <div>
          {top}
          {earlier > 0 ? (
            <button
              type="button"
              className="button earlier"
              onClick={showEarlier}
              data-testid="earlier"
            >
              {earlier} earlier messages
            </button>
          ) : null}
          {days.map(({ name, messages: ofDay }) => (
            <section key={name} aria-label={name}>
              <h3 className="day">
                <span>{name}</span>
              </h3>
              {ofDay.map((message, index) => (
                <MessageRow
                  key={`${message.channel}/${message.ts}`}
                  message={message}
                  continues={continues(message, ofDay[index - 1])}
                  thread={threads.get(message.ts)}
                  isInThread={isInThread ?? false}
                  zone={zone}
                />
              ))}
            </section>
          ))}
        </div>
      </div>
      {hasMore ? (
        <button type="button" className="button is-solid to-end" onClick={toEnd}>
          New messages ↓
        </button>
      ) : null}
    </div>
  );
}

function byDay(
  messages: Message[],
  zone: string | undefined,
): { name: string; messages: Message[] }[] {
  const now = new Date();
  const days: { name: string; messages: Message[] }[] = [];
  for (const message of messages) {
    const name = day(new Date(Number(message.ts) * 1000), now, zone);
    const last = days.at(-1);
    if (last?.name === name) last.messages.push(message);
    else days.push({ name, messages: [message] });
  }
  return days;
}
