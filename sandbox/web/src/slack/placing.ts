// Where a person can be, and where they come to. Pure.
import { type Channel, directOf, type Workspace } from "./model";
import { HOME, type Whereabouts } from "./place";

export function placeOf(
  workspace: Workspace | undefined,
  person: string,
  place: string,
): Channel | undefined {
  if (!workspace || place === HOME) return undefined;
  if (place === directOf(person)) {
    return workspace.channels.find((one) => one.id === place) ?? directChannel(person);
  }
  return workspace.channels.find((one) => one.id === place && one.members.includes(person));
}

export function firstPlace(workspace: Workspace, person: string): string {
  const open = channelsOf(workspace, person);
  return (open.find((one) => !one.is_private) ?? open[0])?.id ?? HOME;
}

/** Another person looks at the same channel; at their own direct messages where it was those. */
export function samePlace(where: Whereabouts, person: string): string {
  return where.place === directOf(where.person) ? directOf(person) : where.place;
}

/** The channels that a person is in, by name. */
export function channelsOf(workspace: Workspace | undefined, person: string): Channel[] {
  const mine = workspace?.channels.filter((one) => !one.person && one.members.includes(person));
  return (mine ?? []).sort((one, other) => one.name.localeCompare(other.name));
}

/** The direct messages of a person, which exist only once something was said there. */
export function directChannel(person: string): Channel {
  const members = [person];
  return {
    id: directOf(person),
    name: "",
    is_private: true,
    is_archived: false,
    members,
    person,
  };
}
