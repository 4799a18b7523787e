// Who one is and where, kept in the address and for this window: two windows are two people, and a
// reload changes nothing.
import { useCallback, useEffect, useState } from "react";

/** `place` is a channel's id, or "home". */
export interface Whereabouts {
  person: string;
  place: string;
  thread: string;
}

const KEPT = "poolkeeper.whereabouts";
export const HOME = "home";

export function readWhereabouts(hash: string): Whereabouts {
  const [person = "", place = "", thread = ""] = hash.replace(/^#\/?/, "").split("/");
  return { person: decode(person), place: decode(place), thread: decode(thread) };
}

export function writeWhereabouts({ person, place, thread }: Whereabouts): string {
  const words = [person, place, thread].filter(Boolean).map(encodeURIComponent);
  return `#/${words.join("/")}`;
}

function decode(word: string): string {
  try {
    return decodeURIComponent(word);
  } catch {
    return "";
  }
}

function now(): Whereabouts {
  const said = readWhereabouts(location.hash);
  return said.person ? said : readWhereabouts(sessionStorage.getItem(KEPT) ?? "");
}

export function useWhereabouts(): [Whereabouts, (next: Partial<Whereabouts>) => void] {
  const [where, setWhere] = useState(now);
  useEffect(() => {
    const follow = () => setWhere(now());
    addEventListener("hashchange", follow);
    return () => removeEventListener("hashchange", follow);
  }, []);
  useEffect(() => {
    if (where.person) sessionStorage.setItem(KEPT, writeWhereabouts(where));
  }, [where]);
  const go = useCallback((next: Partial<Whereabouts>) => {
    // The address is the truth; what listens to it sets the state.
    location.hash = writeWhereabouts({ ...now(), ...next });
  }, []);
  return [where, go];
}
