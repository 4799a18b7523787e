import assert from "node:assert/strict";
import { test } from "node:test";
import type { Happening } from "../slack/live";
import type { Message, View } from "../slack/model";
import { stepsFor } from "./steps";

const CAST = {
  people: [
    { id: "U_ADA", name: "Ada Lindqvist", role: "admin" },
    { id: "U_BEN", name: "Ben Okafor", role: "admin" },
  ],
  tour: { admins: ["U_ADA", "U_BEN"], policies: ["vision"] },
};
const said = (plain: string, by_bot = true): Happening => ({
  kind: "message",
  message: { plain, by_bot } as Message,
});
const shown = (title: string, plain: string): Happening => ({
  kind: "view",
  view: { title, plain } as View,
});
const isDone = (id: string, happening: Happening): boolean =>
  Boolean(
    stepsFor(CAST)
      .find((one) => one.id === id)
      ?.isDone(happening),
  );

const INVALID = "Draft revision 1 is not valid and cannot be provisioned: 1 error and 0 warnings.";
const VALID = "Draft revision 2 is valid: 0 errors and 0 warnings. Nothing was applied.";

test("each step is over with what the bot shows then", () => {
  const over: [string, Happening][] = [
    ["status", said("2 pools: 14 of 16 in use; 8 tasks running, 4 waiting")],
    ["status", shown("Poolkeeper", "2 pools: 14 of 16 in use; 8 tasks running, 4 waiting")],
    ["queue", said("2 tasks wait in the queues of vision\n1. llama-1  [Why?]")],
    ["why", said("What would let it start first\n2 more in shared becomes free")],
    ["edit", shown("Configuration", "Version 1 is in force.")],
    ["overpromise", shown("Policy", "Saved as draft revision 1, with 1 change of yours.")],
    ["refused", shown("Poolkeeper", INVALID)],
    ["mend", shown("Poolkeeper", VALID)],
    ["provision", shown("Poolkeeper", "r1 is in #gpu-admins and waits for approval.")],
    ["second", { kind: "person", person: "U_BEN" }],
    ["approve", said("r1: provision the draft\nApproved by @ben; it is being applied.")],
    ["watch", { kind: "cluster" }],
    ["digest", { kind: "reads", place: "C_VISION", plain: "# Digest for vision" }],
  ];
  for (const [id, happening] of over) assert.ok(isDone(id, happening), `${id} is not over`);
});

test("a step is not over with what only looks like it", () => {
  const not: [string, Happening][] = [
    ["status", said("2 pools: 14 of 16 in use", false)],
    ["refused", shown("Poolkeeper", VALID)],
    ["mend", shown("Poolkeeper", INVALID)],
    ["second", { kind: "person", person: "U_ADA" }],
    ["second", { kind: "person", person: "U_DANA" }],
    ["digest", { kind: "reads", place: "C_VISION", plain: "This channel gets no digest." }],
  ];
  for (const [id, happening] of not) assert.ok(!isDone(id, happening), `${id} is over`);
});

test("the texts name the people and the team of this playground", () => {
  const texts = stepsFor(CAST).map((one) => one.todo);
  assert.ok(texts.some((one) => one.includes("As Ada Lindqvist")));
  assert.ok(texts.some((one) => one.includes("Choose Ben Okafor")));
  assert.ok(texts.some((one) => one.includes("#team-vision")));
});
