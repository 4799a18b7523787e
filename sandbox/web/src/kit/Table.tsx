// Tables: the library crashes at a number in one kind, and does not know the other.
import type { Block, Cell } from "../slack/model";
import { Looks } from "./Looks";

export function Table({ block }: { block: Block }) {
  const [head = [], ...rows] = block.rows ?? [];
  return (
    <div className="kit-table">
      <table>
        {block.caption ? <caption>{block.caption}</caption> : null}
        <thead>
          <tr>{head.map((cell, index) => cellOf("th", cell, index))}</tr>
        </thead>
        <tbody>
          {rows.map((row, number) => (
            <tr key={number}>{row.map((cell, index) => cellOf("td", cell, index))}</tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function cellOf(Tag: "th" | "td", cell: Cell, index: number) {
  const isNumber = cell.type === "raw_number";
  return (
    <Tag key={index} className={isNumber ? "is-number" : undefined} scope={scope(Tag)}>
      {cell.type === "rich_text" ? <Looks blocks={[cell as never]} /> : (cell.text ?? cell.value)}
    </Tag>
  );
}

const scope = (tag: "th" | "td") => (tag === "th" ? "col" : undefined);
