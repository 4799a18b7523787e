// What was just chosen is shown at once, until the workspace says what it holds now.
import { useState } from "react";

/** `source` is the object that the value was read from; a new one means there is news. */
export function useOptimistic<T>(told: T, source: unknown): [T, (next: T) => void] {
  const [mine, setMine] = useState<{ value: T; over: unknown } | undefined>();
  const value = mine && mine.over === source ? mine.value : told;
  return [value, (next) => setMine({ value: next, over: source })];
}
