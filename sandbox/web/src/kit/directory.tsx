// Who and what can be mentioned, and how moments are told to who looks.
import { createContext, type ReactNode, useContext, useMemo } from "react";
import type { Workspace } from "../slack/model";

export interface Directory {
  users: { id: string; name: string }[];
  channels: { id: string; name: string }[];
  user_groups: { id: string; name: string }[];
  zone: string | undefined;
}

const EMPTY: Directory = { users: [], channels: [], user_groups: [], zone: undefined };
const Names = createContext<Directory>(EMPTY);

export const useDirectory = (): Directory => useContext(Names);

export function DirectoryOf(props: {
  workspace: Workspace | undefined;
  person?: string;
  children: ReactNode;
}) {
  const { workspace, person } = props;
  const directory = useMemo(() => directoryOf(workspace, person), [workspace, person]);
  return <Names.Provider value={directory}>{props.children}</Names.Provider>;
}

function directoryOf(workspace: Workspace | undefined, person: string | undefined): Directory {
  if (!workspace) return EMPTY;
  return {
    users: workspace.people.map((one) => ({ id: one.id, name: one.name })),
    channels: workspace.channels
      .filter((one) => one.name)
      .map((one) => ({ id: one.id, name: one.name })),
    user_groups: workspace.groups.map((one) => ({ id: one.id, name: one.handle })),
    zone: workspace.people.find((one) => one.id === person)?.tz,
  };
}

/** A person, channel or group as it is mentioned: by name, or by id where it is not known. */
export function nameOf(directory: Directory, id: string): string {
  const named = (list: { id: string; name: string }[]) => list.find((one) => one.id === id)?.name;
  const person = named(directory.users);
  if (person) return `@${person}`;
  const channel = named(directory.channels);
  return channel ? `#${channel}` : (named(directory.user_groups) ?? id);
}
