// What the composer offers to complete: verbs after "/pool", people and groups after "@". Pure.
import type { Workspace } from "./model";
import VERBS from "./verbs.json";

export interface Suggestion {
  /** The whole line, once it is taken. */
  line: string;
  shown: string;
  hint: string;
}

const MOST = 7;
const COMMAND = "/pool ";

export function suggestions(line: string, workspace: Workspace | undefined): Suggestion[] {
  if (line.length > 0 && COMMAND.startsWith(line.toLowerCase())) {
    return [
      { line: COMMAND, shown: "/pool", hint: "Poolkeeper's command; more comes as you type" },
    ];
  }
  if (line.toLowerCase().startsWith(COMMAND)) return verbs(line.slice(COMMAND.length));
  return names(line, workspace);
}

function verbs(typed: string): Suggestion[] {
  const words = typed.trimStart().toLowerCase();
  const fitting = VERBS.filter(({ verb }) => verb.startsWith(words) && verb !== words);
  return fitting.slice(0, MOST).map(({ verb, usage }) => ({
    line: `${COMMAND}${verb}${usage ? " " : ""}`,
    shown: `/pool ${verb}`,
    hint: usage,
  }));
}

function names(line: string, workspace: Workspace | undefined): Suggestion[] {
  const typed = /(?:^|\s)@([\w.-]*)$/.exec(line)?.[1];
  if (typed === undefined || !workspace) return [];
  const before = line.slice(0, line.length - typed.length);
  const people = workspace.people.map((one) => ({ name: one.name, hint: one.real_name }));
  const groups = workspace.groups.map((one) => ({ name: one.handle, hint: "a group" }));
  return [...people, ...groups]
    .filter(({ name }) => name.toLowerCase().startsWith(typed.toLowerCase()) && name !== typed)
    .slice(0, MOST)
    .map(({ name, hint }) => ({ line: `${before}${name} `, shown: `@${name}`, hint }));
}
