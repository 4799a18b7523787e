import assert from "node:assert/strict";
import { test } from "node:test";
import { readWhereabouts, writeWhereabouts } from "./place";

test("who and where goes into the address and comes back", () => {
  for (const where of [
    { person: "U_ADA", place: "C_GENERAL", thread: "" },
    { person: "U_ADA", place: "C_GENERAL", thread: "1790000000.000100" },
    { person: "U ä/b", place: "home", thread: "" },
  ]) {
    assert.deepEqual(readWhereabouts(writeWhereabouts(where)), where);
  }
});

test("an address that says nothing sensible is nowhere", () => {
  const nowhere = { person: "", place: "", thread: "" };
  assert.deepEqual(readWhereabouts(""), nowhere);
  assert.deepEqual(readWhereabouts("#"), nowhere);
  assert.deepEqual(readWhereabouts("#/%E0%A4%A"), nowhere);
});
