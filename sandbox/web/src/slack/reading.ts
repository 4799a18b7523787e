// Up to which change each person has read each channel, in this window.
import { useCallback, useEffect, useState } from "react";

const KEPT = "poolkeeper.read";
type Marks = Record<string, number>;

const load = (): Marks => JSON.parse(sessionStorage.getItem(KEPT) ?? "{}");

/** `readUpTo(channel)`, and what marks a channel as read up to a number. */
export function useReading(person: string, start: number) {
  const [marks, setMarks] = useState(load);
  useEffect(() => sessionStorage.setItem(KEPT, JSON.stringify(marks)), [marks]);
  useEffect(() => {
    // What was there when the page was first opened is old for everybody.
    if (start > 0) setMarks((all) => (all.start === undefined ? { ...all, start } : all));
  }, [start]);
  const readUpTo = useCallback(
    (channel: string) => marks[`${person} ${channel}`] ?? marks.start ?? Number.POSITIVE_INFINITY,
    [marks, person],
  );
  const read = useCallback(
    (channel: string, n: number) =>
      setMarks((all) => {
        const key = `${person} ${channel}`;
        return (all[key] ?? 0) >= n ? all : { ...all, [key]: n };
      }),
    [person],
  );
  return { readUpTo, read };
}
