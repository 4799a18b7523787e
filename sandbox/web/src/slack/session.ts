// What all parts of the Slack page share: the person's live workspace, and what they do in it.
import { createContext, useContext } from "react";
import type { Acting } from "../kit/acting";
import type { Place, Typing } from "./deeds";
import type { Happening, LiveWorkspace, Seen } from "./live";
import type { Whereabouts } from "./place";

export interface Session {
  live: LiveWorkspace;
  seen: Seen;
  where: Whereabouts;
  go: (next: Partial<Whereabouts>) => void;
  typing: Typing;
  acting: (place: Place) => Acting;
  fails: (error: unknown) => void;
  happens: (one: Happening) => void;
}

const OfPage = createContext<Session | undefined>(undefined);
export const SessionIn = OfPage.Provider;

export function useSession(): Session {
  const session = useContext(OfPage);
  if (!session) throw new Error("outside of the Slack page");
  return session;
}
