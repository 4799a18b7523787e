import assert from "node:assert/strict";
import { test } from "node:test";
import { continues, inChannel, merged, repliesTo, threadsOf, unread, without } from "./merge";
import type { Message } from "./model";

const said = (ts: string, more: Partial<Message> = {}): Message =>
  ({
    channel: "C1",
    ts,
    thread_ts: "",
    n: Number(ts),
    author: "U_ADA",
    only_for: "",
    mentions: [],
    edited: "",
    ...more,
  }) as Message;

test("news come in, and what is no news leaves everything the same object", () => {
  const one = said("1");
  const known = merged(new Map(), [one, said("2")]);

  assert.equal(merged(known, [said("1")]), known);
  const later = merged(known, [said("2", { n: 9, text: "edited" })]);
  assert.equal(later.get("C1/1"), one);
  assert.equal(later.get("C1/2")?.text, "edited");
});

test("news that come late do not undo what is newer", () => {
  const known = merged(new Map(), [said("1", { n: 9, text: "new" })]);
  assert.equal(merged(known, [said("1", { n: 3, text: "old" })]).get("C1/1")?.text, "new");
});

test("what is deleted goes, and what was not there changes nothing", () => {
  const known = merged(new Map(), [said("1"), said("2")]);
  assert.deepEqual([...without(known, [{ channel: "C1", ts: "1" }]).keys()], ["C1/2"]);
  assert.equal(without(known, [{ channel: "C2", ts: "1" }]), known);
});

test("a channel is in order of time, and replies stand in their thread", () => {
  const known = merged(new Map(), [
    said("10"),
    said("9"),
    said("11", { thread_ts: "9", author: "U_BEN" }),
    said("12", { thread_ts: "9" }),
    said("1", { channel: "C2" }),
  ]);
  assert.deepEqual(
    inChannel(known, "C1").map((one) => one.ts),
    ["9", "10"],
  );
  assert.deepEqual(
    repliesTo(known, "C1", "9").map((one) => one.ts),
    ["11", "12"],
  );
  assert.deepEqual(threadsOf(known, "C1").get("9"), {
    count: 2,
    last: "12",
    authors: ["U_BEN", "U_ADA"],
  });
});

test("unread is what others said since, and what means the person counts as such", () => {
  const known = merged(new Map(), [
    said("1", { author: "U_BEN" }),
    said("2", { author: "U_BEN" }),
    said("3"),
    said("4", { author: "U_BOT", only_for: "U_ADA" }),
    said("5", { author: "U_BEN", channel: "C2", mentions: ["@U_ADA"] }),
  ]);
  const found = unread(known, "U_ADA", () => 1);
  assert.deepEqual(found.get("C1"), { count: 2, mentions: 1 });
  assert.deepEqual(found.get("C2"), { count: 1, mentions: 1 });
});

test("only what the same author says soon and to all goes without a name", () => {
  assert.equal(continues(said("100"), said("1")), true);
  assert.equal(continues(said("1000"), said("1")), false);
  assert.equal(continues(said("2"), said("1", { author: "U_BEN" })), false);
  assert.equal(continues(said("2"), said("1", { only_for: "U_ADA" })), false);
  assert.equal(continues(said("2"), undefined), false);
});
