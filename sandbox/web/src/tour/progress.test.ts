import assert from "node:assert/strict";
import { test } from "node:test";
import { begun, current, heard, readProgress, type Step, skipped } from "./progress";

const says = (id: string): Step => ({
  id,
  title: id,
  says: "",
  todo: "",
  isDone: (one) => one.kind === "said" && one.text === id,
});
const STEPS = [says("one"), says("two"), says("three")];
const said = (text: string) => ({ kind: "said" as const, person: "U", text, channel: "C" });

test("a step is over when it happened, and only the present one counts", () => {
  const early = heard(STEPS, begun, said("two"));
  assert.equal(early, begun);
  const one = heard(STEPS, begun, said("one"));
  assert.equal(current(STEPS, one)?.id, "two");
  assert.equal(current(STEPS, heard(STEPS, one, said("two")))?.id, "three");
});

test("what is skipped is over as well, and is told apart", () => {
  const after = heard(STEPS, skipped(STEPS, begun), said("two"));
  assert.deepEqual(after.marks, { one: "skipped", two: "done" });
});

test("after the last step there is none, and nothing more happens", () => {
  const all = STEPS.reduce((progress) => skipped(STEPS, progress), begun);
  assert.equal(current(STEPS, all), undefined);
  assert.equal(skipped(STEPS, all), all);
  assert.equal(heard(STEPS, all, said("one")), all);
});

test("a tour that was left hears nothing", () => {
  const left = { ...begun, isOpen: false };
  assert.equal(heard(STEPS, left, said("one")), left);
});

test("what was kept is read, and what cannot be is as though nothing was", () => {
  assert.deepEqual(readProgress(JSON.stringify(begun)), begun);
  for (const broken of [null, "", "{", "null", "7", '{"isOpen":1}']) {
    assert.equal(readProgress(broken), undefined);
  }
});
