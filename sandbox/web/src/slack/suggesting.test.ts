import assert from "node:assert/strict";
import { test } from "node:test";
import type { Workspace } from "./model";
import { suggestions } from "./suggesting";

const there = {
  people: [
    { name: "ada", real_name: "Ada" },
    { name: "poolkeeper", real_name: "poolkeeper" },
  ],
  groups: [{ handle: "admins" }],
} as unknown as Workspace;
const offered = (line: string) => suggestions(line, there).map((one) => one.line);

test("the command is offered from its first letter on", () => {
  assert.deepEqual(offered("/"), ["/pool "]);
  assert.deepEqual(offered(""), []);
});

test("verbs are offered that begin with what was typed, with room for what they take", () => {
  assert.deepEqual(offered("/pool wh"), ["/pool why "]);
  assert.deepEqual(offered("/pool draft val"), ["/pool draft validate"]);
  assert.deepEqual(offered("/pool why "), []);
});

test("a name is completed where one is typed, and the rest of the line stays", () => {
  assert.deepEqual(offered("morning @a"), ["morning @ada ", "morning @admins "]);
  assert.deepEqual(offered("@poolk"), ["@poolkeeper "]);
  assert.deepEqual(offered("mail ada@a"), []);
});
