import assert from "node:assert/strict";
import { test } from "node:test";
import { initialValues } from "./initial";

test("fields hold what they begin with", () => {
  const option = { text: { type: "plain_text" as const, text: "a" }, value: "1" };
  const blocks = [
    {
      type: "input",
      block_id: "n",
      element: { type: "number_input", action_id: "n", initial_value: "8" },
    },
    {
      type: "actions",
      block_id: "r",
      elements: [{ type: "static_select", action_id: "s", initial_option: option }],
    },
    { type: "divider", block_id: "d" },
  ];
  assert.deepEqual(initialValues(blocks as never), {
    n: { n: { type: "number_input", value: "8" } },
    r: { s: { type: "static_select", selected_option: option } },
  });
});
