// The steps of the tour, told with the company of the playground. Pure.
//
// Each watches for what the bot really shows: tests/browser walks through all of them.
import type { Happening } from "../slack/live";
import type { Cast } from "../slack/people";
import type { Step } from "./progress";

/** The tour of an admin who promises too much, mends it, and has a colleague approve it. */
export function stepsFor(cast: Cast): Step[] {
  const admins = cast.tour?.admins ?? [];
  const name = (id: string | undefined) => cast.people.find((one) => one.id === id)?.name;
  const first = name(admins[0]) ?? "an admin";
  const second = name(admins[1]) ?? "another admin";
  const policy = cast.tour?.policies?.[0] ?? "vision";
  return [
    {
      id: "status",
      title: "See what is in use",
      says: "Poolkeeper answers in Slack, and only you see its answers unless you share them.",
      todo: `As ${first}, type \`/pool status\` in any channel and press Enter.`,
      isDone: (one) => says(one, /\d+ pools?: .* in use/),
    },
    {
      id: "queue",
      title: "See what waits",
      says: "Every task that waits has one reason, with numbers.",
      todo: "Type `/pool queue` and press Show for a team. If nothing waits just now, add a few jobs on the Cluster page.",
      isDone: (one) => says(one, /\[Why\?\]/),
    },
    {
      id: "why",
      title: "Ask why",
      says: "The answer names who holds what it waits for, and what would let it start first.",
      todo: "Press Why? next to a task that waits.",
      isDone: (one) => says(one, /What would let it start first|Starts now|does not wait/),
    },
    {
      id: "edit",
      title: "Open the editor",
      says: "Changes are made in a copy of your own; nothing happens to the cluster yet.",
      todo: "Type `/pool edit`.",
      isDone: (one) => one.kind === "view" && one.view.title === "Configuration",
    },
    {
      id: "overpromise",
      title: "Promise too much",
      says: "All reservations together must fit into the pools, or somebody's guarantee is empty.",
      todo: `Press Policies, then Open next to ${policy}, then Edit. Reserve \`12\` instead of what is there, save that form, and press Save below the window.`,
      isDone: (one) => says(one, /Saved as draft revision/),
    },
    {
      id: "refused",
      title: "Have it validated",
      says: "A draft is checked as a whole, and what is wrong is said with a remedy.",
      todo: "Press Back and then Validate.",
      isDone: (one) => says(one, INVALID),
    },
    {
      id: "mend",
      title: "Mend it",
      says: "10 for this team and 6 for the other are just what the two pools of 8 can keep.",
      todo: `Close that window, open ${policy} again, Edit, reserve \`10\`, save the form, Save, Back, and Validate.`,
      isDone: (one) => says(one, VALID),
    },
    {
      id: "provision",
      title: "Ask for approval",
      says: "Nobody changes the cluster alone: the request shows the change and what it would mean for tasks that wait now.",
      todo: "Press Provision, in that window or in the editor.",
      isDone: (one) => says(one, /[Ww]aits for .*approval/),
    },
    {
      id: "second",
      title: "Be the second admin",
      says: "Your own request you cannot approve.",
      todo: `Choose ${second} under “You are”.`,
      isDone: (one) =>
        one.kind === "person" && one.person !== admins[0] && admins.includes(one.person),
    },
    {
      id: "approve",
      title: "Approve it",
      says: "The card in the admins' channel shows what changes and what it means.",
      todo: "Go to #gpu-admins, read the card, and press Approve.",
      isDone: (one) => says(one, /Approved by .*(being applied|applied as version)/),
    },
    {
      id: "watch",
      title: "Watch the tasks move",
      says: "The new version is in force within a round, and tasks start by it.",
      todo: "Press “Cluster beside” on a wide window, or open Cluster; add a few jobs there if you like.",
      isDone: (one) => one.kind === "cluster",
    },
    {
      id: "digest",
      title: "Read the digest",
      says: "Each team gets its use, its waiting times and what changed, when the channel wants it.",
      todo: `Go to #team-${policy}: a digest comes there about three minutes after the start. \`/pool digest show\` says when exactly.`,
      isDone: (one) => one.kind === "reads" && DIGEST.test(one.plain),
    },
  ];
}

const INVALID = /is not valid|: [1-9]\d* errors?/;
const VALID = /is valid: 0 errors/;
const DIGEST = /Digest for |Nothing ran and nothing waited/;

/** Whether the bot says this, in a message or in a window. */
function says(one: Happening, pattern: RegExp): boolean {
  if (one.kind === "message") return one.message.by_bot && pattern.test(one.message.plain);
  return one.kind === "view" && pattern.test(one.view.plain);
}
