// What a select offers and holds, whatever its type, as lines of one kind. Pure.
import type { Channel, Element, Held, Offered, Option, Person } from "../slack/model";

/** A line of the list. `chosen` is what is told to the workspace: an option, or an id. */
export interface Choice {
  key: string;
  label: string;
  description?: string | undefined;
  group?: string | undefined;
  chosen: Option | string;
}

export const isExternal = (element: Element): boolean => element.type.includes("external");
export const isSeveral = (element: Element): boolean => element.type.startsWith("multi_");
const isOption = (element: Element): boolean => /static|external/.test(element.type);

const ofOption = (option: Option, group?: string): Choice => ({
  key: option.value ?? option.text.text,
  label: option.text.text,
  description: option.description?.text,
  group,
  chosen: option,
});

export function offeredBy(offered: Offered): Choice[] {
  const groups = offered.option_groups ?? [];
  const grouped = groups.flatMap(({ label, options }) =>
    options.map((option) => ofOption(option, label.text)),
  );
  return [...(offered.options ?? []).map((option) => ofOption(option)), ...grouped];
}

/** The people or channels that a select of those offers. */
export function inWorkspace(element: Element, people: Person[], channels: Channel[]): Choice[] {
  const users = people.map((one) => ({ key: one.id, label: `@${one.name}`, chosen: one.id }));
  const named = channels.filter((one) => one.name && !one.is_archived);
  const rooms = named.map((one) => ({ key: one.id, label: `#${one.name}`, chosen: one.id }));
  if (element.type.includes("users")) return users;
  return rooms;
}

export function filtered(choices: Choice[], typed: string): Choice[] {
  const wanted = typed.trim().toLowerCase();
  return choices.filter((one) => one.label.toLowerCase().includes(wanted));
}

/** What is held, as lines; ids are named by `name`. */
export function heldChoices(held: Held | undefined, name: (id: string) => string): Choice[] {
  if (!held) return [];
  const options = held.selected_options ?? (held.selected_option ? [held.selected_option] : []);
  const ids = [
    held.selected_user,
    held.selected_channel,
    held.selected_conversation,
    ...(held.selected_users ?? []),
    ...(held.selected_channels ?? []),
    ...(held.selected_conversations ?? []),
  ].filter((one): one is string => Boolean(one));
  const named = ids.map((id) => ({ key: id, label: name(id), chosen: id }));
  return [...options.map((option) => ofOption(option)), ...named];
}

/** What holds after a line was turned on or off, in a select of several. */
export function turned(element: Element, held: Choice[], choice: Choice): Choice[] {
  const left = held.filter((one) => one.key !== choice.key);
  if (left.length < held.length) return left;
  const most = element.max_selected_items ?? Number.POSITIVE_INFINITY;
  return left.length < most ? [...left, choice] : held;
}

/** How it is told: options are chosen, ids are put; and one thing or several. */
export function told(element: Element, held: Choice[]): { deed: "choose" | "put"; value: unknown } {
  const values = held.map((one) => one.chosen);
  const value = isSeveral(element) ? values : (values[0] ?? null);
  return { deed: isOption(element) ? "choose" : "put", value };
}
