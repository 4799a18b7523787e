// One person's live workspace, and what they do in it, for as long as the page is theirs.
import { useCallback, useEffect, useMemo, useState } from "react";
import { actingIn, Typing } from "./deeds";
import { type Happening, LiveWorkspace } from "./live";
import type { Session } from "./session";

export function useLive(person: string, happens: (one: Happening) => void): LiveWorkspace {
  const [live] = useState(() => new LiveWorkspace(person, happens));
  useEffect(() => {
    live.start();
    return () => live.end();
  }, [live]);
  return live;
}

export function useSessionOf(
  live: LiveWorkspace,
  where: Session["where"],
  go: Session["go"],
  fails: Session["fails"],
  happens: Session["happens"],
): Session {
  const [typing] = useState(() => new Typing());
  const acting = useCallback<Session["acting"]>(
    (place) => actingIn(live, typing, place, fails),
    [live, typing, fails],
  );
  useEffect(() => happens({ kind: "person", person: where.person }), [happens, where.person]);
  return useMemo(
    () => ({ live, where, go, typing, acting, fails, happens }),
    [live, where, go, typing, acting, fails, happens],
  );
}
