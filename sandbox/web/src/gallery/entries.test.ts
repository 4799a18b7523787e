import assert from "node:assert/strict";
import { test } from "node:test";
import { drawingOf, type Entry, matching, slugged } from "./entries";

const entry = (title: string, document = {}): Entry => ({
  group: "Status",
  title,
  kind: "modal",
  document,
});

test("every entry has a name of its own", () => {
  const names = slugged([entry("Two pools!"), entry("two pools"), entry("Ü")]);
  assert.deepEqual(
    names.map((one) => one.slug),
    ["status-two-pools", "status-two-pools-2", "status"],
  );
});

test("an entry's own name is kept, and entries are found by words of their titles", () => {
  const [named] = slugged([{ ...entry("Two pools"), slug: "pools-two" }]);
  assert.equal(named?.slug, "pools-two");
  const drawn = slugged([entry("Two pools"), entry("No pool")]).map(drawingOf);
  assert.deepEqual(
    matching(drawn, "POOL two status").map((one) => one.title),
    ["Two pools"],
  );
  assert.equal(matching(drawn, "").length, 2);
});

test("a modal's head and buttons are read from its document", () => {
  const text = (said: string) => ({ type: "plain_text", text: said });
  const document = { title: text("Pool"), submit: text("Save"), blocks: [{ type: "divider" }] };
  const [named] = slugged([entry("x", document)]);
  assert.ok(named);
  const drawn = drawingOf(named);
  assert.deepEqual([drawn.heading, drawn.submit, drawn.close], ["Pool", "Save", ""]);
  assert.equal(drawn.blocks[0]?.block_id, "b0");
});
