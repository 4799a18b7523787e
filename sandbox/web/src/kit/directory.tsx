// Who and what can be mentioned, and how moments are told to who looks.
import { createContext, type ReactNode, useContext, useMemo } from "react";
import type { Workspace } from "../slack/model";
import type { Role } from "../slack/people";

export interface Directory {
  users: { id: string; name: string }[];
  channels: { id: string; name: string }[];
  user_groups: { id: string; name: string }[];
  zone: string | undefined;
  /** How people look, by id. */
  faces: ReadonlyMap<string, Face>;
}

export interface Face {
  name: string;
  initials: string;
  colour?: string | undefined;
}

const EMPTY: Directory = {
  users: [],
  channels: [],
  user_groups: [],
  zone: undefined,
  faces: new Map(),
};
const Names = createContext<Directory>(EMPTY);

export const useDirectory = (): Directory => useContext(Names);

export function DirectoryOf(props: {
  workspace: Workspace | undefined;
  person?: string;
  cast?: Role[];
  children: ReactNode;
}) {
  const { workspace, person, cast } = props;
  const directory = useMemo(
    () => directoryOf(workspace, person, cast ?? []),
    [workspace, person, cast],
  );
  return <Names.Provider value={directory}>{props.children}</Names.Provider>;
}

function directoryOf(
  workspace: Workspace | undefined,
  person: string | undefined,
  cast: Role[],
): Directory {
  if (!workspace) return EMPTY;
  const roles = new Map(cast.map((one) => [one.id, one]));
  const faces = workspace.people.map(({ id, name, real_name }): [string, Face] => {
    const role = roles.get(id);
    const shown = real_name || name;
    return [
      id,
      { name: shown, initials: role?.initials ?? shown.slice(0, 1), colour: role?.colour },
    ];
  });
  return {
    users: workspace.people.map((one) => ({ id: one.id, name: one.name })),
    channels: workspace.channels
      .filter((one) => one.name)
      .map((one) => ({ id: one.id, name: one.name })),
    user_groups: workspace.groups.map((one) => ({ id: one.id, name: one.handle })),
    zone: workspace.people.find((one) => one.id === person)?.tz,
    faces: new Map(faces),
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
