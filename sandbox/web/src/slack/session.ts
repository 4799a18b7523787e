// What all parts of the Slack page share: what a person does in the workspace, and what they see.
// They are two, for all rows of a channel use the first, and must not be drawn again with the second.
import { createContext, useContext } from "react";
import type { Acting } from "../kit/acting";
import type { Place, Typing } from "./deeds";
import type { Happening, LiveWorkspace, Seen } from "./live";
import type { Whereabouts } from "./place";

export interface Session {
  live: LiveWorkspace;
  where: Whereabouts;
  go: (next: Partial<Whereabouts>) => void;
  typing: Typing;
  acting: (place: Place) => Acting;
  fails: (error: unknown) => void;
  happens: (one: Happening) => void;
}

const OfPage = createContext<Session | undefined>(undefined);
export const SessionIn = OfPage.Provider;
const InSight = createContext<Seen | undefined>(undefined);
export const SeenIn = InSight.Provider;

export function useSession(): Session {
  const session = useContext(OfPage);
  if (!session) throw new Error("outside of the Slack page");
  return session;
}

export function useSeen(): Seen {
  const seen = useContext(InSight);
  if (!seen) throw new Error("outside of the Slack page");
  return seen;
}
