// What fields hold before anything was done. Pure.
import type { Block, Element, Values } from "../slack/model";

const INITIAL = "initial_";

/** What fields hold before anything was done: their initial_... values. */
export function initialValues(blocks: Block[]): Values {
  const values: Values = {};
  for (const block of blocks) {
    for (const element of elementsOf(block)) {
      const named = Object.entries(element).filter(([name]) => name.startsWith(INITIAL));
      if (named.length === 0) continue;
      const held = named.map(([name, value]) => [heldAs(name), value]);
      const id = block.block_id ?? "";
      const field = { type: element.type, ...Object.fromEntries(held) };
      values[id] = { ...values[id], [element.action_id ?? ""]: field };
    }
  }
  return values;
}

const heldAs = (initial: string): string =>
  initial === "initial_value" ? "value" : initial.replace(INITIAL, "selected_");

function elementsOf(block: Block): Element[] {
  const found = [...(block.elements ?? []), block.accessory, block.element];
  return found.filter((one): one is Element => one !== undefined);
}
