// A state of this window that survives a reload.
import { useEffect, useState } from "react";

export function useKept<T>(key: string, first: T): [T, (next: T) => void] {
  const [value, setValue] = useState<T>(() => {
    const kept = sessionStorage.getItem(key);
    return kept === null ? first : (JSON.parse(kept) as T);
  });
  useEffect(() => sessionStorage.setItem(key, JSON.stringify(value)), [key, value]);
  return [value, setValue];
}
