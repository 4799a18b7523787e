import assert from "node:assert/strict";
import { test } from "node:test";
import { amount, type Pool, pieces, policiesOf, shortly, span } from "./model";

const pool = (resources: string | null, ...amounts: string[]): Pool =>
  ({
    name: "h100",
    resources,
    running: amounts.map((one, index) => ({ task: `${index}`, amount: one, policy: "dev" })),
  }) as unknown as Pool;

test("amounts are read as they are written", () => {
  assert.equal(amount("8"), 8);
  assert.equal(amount("7/2"), 3.5);
  assert.equal(amount("0.5"), 0.5);
  assert.equal(amount(null), 0);
  assert.equal(amount("1/0"), 0);
});

test("jobs stand side by side in their pool", () => {
  assert.deepEqual(
    pieces(pool("8", "4", "2")).map(({ from, width }) => [from, width]),
    [
      [0, 50],
      [50, 25],
    ],
  );
});

test("a pool that shrank below what runs in it is still drawn within its bounds", () => {
  const drawn = pieces(pool("4", "4", "4"));
  assert.deepEqual(
    drawn.map(({ from, width }) => from + width),
    [50, 100],
  );
  assert.deepEqual(
    pieces(pool(null, "2")).map(({ width }) => width),
    [100],
  );
});

test("policies keep their order, whatever runs", () => {
  const cluster = {
    queues: [{ policy: "vision" }, { policy: "" }],
    pools: [pool("8", "1")],
    done: [],
  };
  assert.deepEqual(policiesOf(cluster as never), ["dev", "vision"]);
});

test("a narrow piece names its team in as few letters as tell it from others", () => {
  assert.equal(shortly(["language", "vision"], "vision"), "v");
  assert.equal(shortly(["speech", "spectra"], "speech"), "spee");
  assert.equal(shortly(["dev", "dev2"], "dev"), "dev");
});

test("durations are read as people say them", () => {
  assert.deepEqual([0, 59.6, 75, 120, 3700].map(span), [
    "0 s",
    "1 min",
    "1 min 15 s",
    "2 min",
    "1 h 1 min",
  ]);
});
