import assert from "node:assert/strict";
import { test } from "node:test";
import type { Channel, Workspace } from "./model";
import { channelsOf, firstPlace, placeOf, samePlace } from "./placing";

const channel = (id: string, members: string[], more: Partial<Channel> = {}): Channel => ({
  id,
  name: id.toLowerCase(),
  is_private: false,
  is_archived: false,
  members,
  person: "",
  ...more,
});
const there = {
  channels: [
    channel("C_VISION", ["U_ADA"]),
    channel("C_ADMINS", ["U_ADA", "U_BEN"], { is_private: true }),
  ],
} as unknown as Workspace;

test("a person sees the channels that they are in, by name", () => {
  assert.deepEqual(
    channelsOf(there, "U_ADA").map((one) => one.id),
    ["C_ADMINS", "C_VISION"],
  );
});

test("nobody comes into a channel that they are not in", () => {
  assert.equal(placeOf(there, "U_BEN", "C_VISION"), undefined);
  assert.equal(placeOf(there, "U_ADA", "C_VISION")?.id, "C_VISION");
});

test("direct messages are there before anything was said, and only for their person", () => {
  assert.equal(placeOf(there, "U_BEN", "D_BEN")?.person, "U_BEN");
  assert.equal(placeOf(there, "U_BEN", "D_ADA"), undefined);
});

test("one begins in an open channel, else in a private one, else in Home", () => {
  assert.equal(firstPlace(there, "U_ADA"), "C_VISION");
  assert.equal(firstPlace(there, "U_BEN"), "C_ADMINS");
  assert.equal(firstPlace(there, "U_GUS"), "home");
});

test("who becomes somebody else stays in the channel, or comes to direct messages of their own", () => {
  const at = (place: string) => ({ person: "U_ADA", place, thread: "" });
  assert.equal(samePlace(at("C_VISION"), "U_BEN"), "C_VISION");
  assert.equal(samePlace(at("D_ADA"), "U_BEN"), "D_BEN");
});
