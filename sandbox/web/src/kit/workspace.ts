// The people and channels that a select may offer.
import { createContext, useContext } from "react";
import type { Channel, Person } from "../slack/model";

interface There {
  people: Person[];
  channels: Channel[];
}

const Around = createContext<There>({ people: [], channels: [] });
export const WorkspaceIn = Around.Provider;
export const useWorkspace = (): There => useContext(Around);
