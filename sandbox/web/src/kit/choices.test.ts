import assert from "node:assert/strict";
import { test } from "node:test";
import type { Element, Option } from "../slack/model";
import { filtered, heldChoices, offeredBy, told, turned } from "./choices";

const option = (text: string, value = text): Option => ({
  text: { type: "plain_text", text },
  value,
});
const ONE: Element = { type: "static_select" };
const SEVERAL: Element = { type: "multi_static_select", max_selected_items: 2 };

test("options of groups are offered with the name of their group", () => {
  const label = { type: "plain_text" as const, text: "Pools" };
  const found = offeredBy({ option_groups: [{ label, options: [option("h100", "1")] }] });
  assert.deepEqual(
    found.map(({ key, label: text, group }) => [key, text, group]),
    [["1", "h100", "Pools"]],
  );
});

test("what was typed finds lines wherever it stands in them", () => {
  const all = offeredBy({ options: [option("pool 14"), option("Pool 24"), option("pool 3")] });
  assert.deepEqual(
    filtered(all, " POOL 2").map((one) => one.label),
    ["Pool 24"],
  );
});

test("what is held is shown by name, whatever kind of select it is", () => {
  const name = (id: string) => `@${id.toLowerCase()}`;
  const held = { type: "multi_users_select", selected_users: ["ADA", "BEN"] };
  assert.deepEqual(
    heldChoices(held, name).map((one) => one.label),
    ["@ada", "@ben"],
  );
  const chosen = { type: "static_select", selected_option: option("h100") };
  assert.deepEqual(
    heldChoices(chosen, name).map((one) => one.label),
    ["h100"],
  );
  assert.deepEqual(heldChoices({ type: "static_select", selected_option: null }, name), []);
});

test("a line of several is turned on and off, and no more than allowed are on", () => {
  const [a, b, c] = offeredBy({ options: [option("a"), option("b"), option("c")] });
  assert.ok(a && b && c);
  assert.deepEqual(turned(SEVERAL, [a], b), [a, b]);
  assert.deepEqual(turned(SEVERAL, [a, b], a), [b]);
  assert.deepEqual(turned(SEVERAL, [a, b], c), [a, b]);
});

test("an option is told whole, and people and channels by their ids", () => {
  const [a] = offeredBy({ options: [option("a")] });
  assert.ok(a);
  assert.deepEqual(told(ONE, [a]), { deed: "choose", value: option("a") });
  assert.deepEqual(told(ONE, []), { deed: "choose", value: null });
  const ada = { key: "U", label: "@ada", chosen: "U" };
  assert.deepEqual(told({ type: "users_select" }, [ada]), { deed: "put", value: "U" });
  assert.deepEqual(told({ type: "multi_users_select" }, [ada]), { deed: "put", value: ["U"] });
});
