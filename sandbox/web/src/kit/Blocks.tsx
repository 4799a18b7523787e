// A message, modal or Home as Block Kit says it. What one presses or types in is ours; the rest is
// drawn by the library in runs, as it would be in one message.
import { memo, type ReactNode } from "react";
import type { Block } from "../slack/model";
import { Boundary } from "./Boundary";
import { ElementOf } from "./ElementOf";
import { InputBlock } from "./InputBlock";
import { Looks, Marked } from "./Looks";
import { Picture } from "./Picture";
import { Table } from "./Table";

export const Blocks = memo(function Blocks({ blocks }: { blocks: Block[] }) {
  return (
    <div className="kit">
      {runs(blocks).map((run) => (
        <Boundary key={run.key} of={blocks}>
          {run.own ? <Own block={run.blocks[0] as Block} /> : <Looks blocks={run.blocks} />}
        </Boundary>
      ))}
    </div>
  );
});

interface Run {
  key: string;
  own: boolean;
  blocks: Block[];
}

/** Blocks that are drawn together; each of ours stands alone. */
function runs(blocks: Block[]): Run[] {
  const found: Run[] = [];
  blocks.forEach((block, index) => {
    const own = block.type in OWN || block.accessory !== undefined || !DRAWN.has(block.type);
    const last = found.at(-1);
    if (!own && last && !last.own) last.blocks.push(block);
    else found.push({ key: `${index}:${block.block_id ?? block.type}`, own, blocks: [block] });
  });
  return found;
}

/** What the library draws; a type that it does not know would vanish without a word. */
const DRAWN = new Set([
  "section",
  "header",
  "divider",
  "context",
  "rich_text",
  "markdown",
  "alert",
  "data_visualization",
  "plan",
  "task_card",
  "carousel",
  "video",
  "file",
]);

function Own({ block }: { block: Block }): ReactNode {
  const Drawing = OWN[block.type] ?? (block.accessory ? Section : Unknown);
  return <Drawing block={block} />;
}

const OWN: Record<string, (props: { block: Block }) => ReactNode> = {
  actions: Actions,
  context_actions: Actions,
  input: InputBlock,
  image: ({ block }) => <Picture of={block} title={block.title} />,
  table: Table,
  data_table: Table,
  card: Card,
  container: Container,
};

function Actions({ block }: { block: Block }) {
  return (
    <div className="kit-actions">
      {(block.elements ?? []).map((element, index) => (
        <ElementOf key={element.action_id ?? index} block={block} element={element} />
      ))}
    </div>
  );
}

function Section({ block }: { block: Block }) {
  const { accessory, ...looks } = block;
  const isEmpty = !block.text && !block.fields;
  return (
    <div className="kit-section">
      <div className="kit-section-text">{isEmpty ? null : <Looks blocks={[looks]} />}</div>
      {accessory ? (
        <div className="kit-accessory">
          {accessory.type === "image" ? (
            <Picture of={accessory} isSmall />
          ) : (
            <ElementOf block={block} element={accessory} />
          )}
        </div>
      ) : null}
    </div>
  );
}

function Card({ block }: { block: Block }) {
  const { actions, ...looks } = block;
  return (
    <div className="kit-card">
      <Looks blocks={[looks]} />
      {actions?.length ? <Actions block={{ ...block, elements: actions }} /> : null}
    </div>
  );
}

function Container({ block }: { block: Block }) {
  return (
    <div className="kit-card">
      {block.title ? <Marked text={block.title} /> : null}
      <Blocks blocks={block.child_blocks ?? []} />
    </div>
  );
}

function Unknown({ block }: { block: Block }) {
  return (
    <p className="kit-unknown" data-testid="not-known">
      A block of the type “{block.type}”, which this page cannot draw.
    </p>
  );
}
