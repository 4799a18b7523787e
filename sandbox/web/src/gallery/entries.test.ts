import assert from "node:assert/strict";
import { test } from "node:test";
import { drawingOf, type Entry, slugged } from "./entries";

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

test("a modal's head and buttons are read from its document", () => {
  const text = (said: string) => ({ type: "plain_text", text: said });
  const document = { title: text("Pool"), submit: text("Save"), blocks: [{ type: "divider" }] };
  const [named] = slugged([entry("x", document)]);
  assert.ok(named);
  const drawn = drawingOf(named);
  assert.deepEqual([drawn.heading, drawn.submit, drawn.close], ["Pool", "Save", ""]);
  assert.equal(drawn.blocks[0]?.block_id, "b0");
});
