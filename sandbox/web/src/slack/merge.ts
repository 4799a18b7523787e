// How changes become what is shown. Pure; a message that did not change stays the same object, so
// that rows which show it are not drawn again.
import type { Message } from "./model";

export type Messages = ReadonlyMap<string, Message>;

export const keyOf = (one: { channel: string; ts: string }): string => `${one.channel}/${one.ts}`;

/** The messages with these news; those that are no news at all leave the map as it is. */
export function merged(known: Messages, news: readonly Message[]): Messages {
  const fresh = news.filter((one) => (known.get(keyOf(one))?.n ?? -1) < one.n);
  if (fresh.length === 0) return known;
  const all = new Map(known);
  for (const one of fresh) all.set(keyOf(one), one);
  return all;
}

export function without(
  known: Messages,
  gone: readonly { channel: string; ts: string }[],
): Messages {
  const there = gone.map(keyOf).filter((key) => known.has(key));
  if (there.length === 0) return known;
  const all = new Map(known);
  for (const key of there) all.delete(key);
  return all;
}

const byTime = (one: Message, other: Message): number => Number(one.ts) - Number(other.ts);

/** A channel's own messages, oldest first, without replies. */
export function inChannel(known: Messages, channel: string): Message[] {
  const found = [...known.values()].filter((one) => one.channel === channel && !one.thread_ts);
  return found.sort(byTime);
}

export function repliesTo(known: Messages, channel: string, ts: string): Message[] {
  const found = [...known.values()].filter(
    (one) => one.channel === channel && one.thread_ts === ts,
  );
  return found.sort(byTime);
}

export interface Thread {
  count: number;
  last: string;
  authors: string[];
}

/** What stands below each message that has replies, by the message's ts. */
export function threadsOf(known: Messages, channel: string): Map<string, Thread> {
  const threads = new Map<string, Thread>();
  const replies = [...known.values()].filter((one) => one.channel === channel && one.thread_ts);
  for (const one of replies.sort(byTime)) {
    const before = threads.get(one.thread_ts);
    threads.set(one.thread_ts, {
      count: (before?.count ?? 0) + 1,
      last: one.ts,
      authors: [...new Set([...(before?.authors ?? []), one.author])],
    });
  }
  return threads;
}

export interface Unread {
  count: number;
  mentions: number;
}

/** By channel: what others said after the number up to which the person has read it. */
export function unread(
  known: Messages,
  person: string,
  readUpTo: (channel: string) => number,
): Map<string, Unread> {
  const found = new Map<string, Unread>();
  for (const one of known.values()) {
    if (one.author === person || one.n <= readUpTo(one.channel) || one.edited) continue;
    const before = found.get(one.channel) ?? { count: 0, mentions: 0 };
    const meant = one.only_for === person || one.mentions.includes(`@${person}`) ? 1 : 0;
    found.set(one.channel, { count: before.count + 1, mentions: before.mentions + meant });
  }
  return found;
}

const NEAR = 5 * 60;

/** Whether a message needs no name and picture of its own below the one before it. */
export function continues(one: Message, before: Message | undefined): boolean {
  return (
    before !== undefined &&
    before.author === one.author &&
    !one.only_for &&
    !before.only_for &&
    Number(one.ts) - Number(before.ts) < NEAR
  );
}
