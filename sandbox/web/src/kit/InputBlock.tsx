// A field with its label, its hint, and the sentence that says what is wrong with it.
import { useId } from "react";
import type { Block } from "../slack/model";
import { useActing } from "./acting";
import { ElementOf } from "./ElementOf";

export function InputBlock({ block }: { block: Block }) {
  const { errors } = useActing();
  const id = useId();
  const error = errors[block.block_id ?? ""];
  if (!block.element) return null;
  const described = [error ? `${id}-error` : "", block.hint ? `${id}-hint` : ""].filter(Boolean);
  return (
    <div className={error ? "kit-input is-wrong" : "kit-input"} data-block={block.block_id}>
      <div className="kit-label" id={`${id}-label`}>
        {block.label?.text}
        {block.optional ? <span className="kit-optional"> (optional)</span> : null}
      </div>
      <ElementOf
        block={block}
        element={block.element}
        labelledBy={`${id}-label`}
        describedBy={described.join(" ") || undefined}
        isWrong={Boolean(error)}
      />
      {error ? (
        <p className="kit-error" id={`${id}-error`} role="alert" data-testid="field-error">
          {error}
        </p>
      ) : null}
      {block.hint ? (
        <p className="kit-hint" id={`${id}-hint`}>
          {block.hint.text}
        </p>
      ) : null}
    </div>
  );
}
