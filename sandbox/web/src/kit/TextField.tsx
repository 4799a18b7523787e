// Texts and numbers. What is typed is kept here first, and told to the workspace a moment later.
import { type KeyboardEvent, useEffect, useRef, useState } from "react";
import { heldIn, spotOf, useActing } from "./acting";
import type { Drawn } from "./ElementOf";

export function TextField({ block, element, labelledBy, describedBy, isWrong }: Drawn) {
  const acting = useActing();
  const spot = spotOf(block, element);
  const held = heldIn(acting.values, spot)?.value ?? "";
  const [text, setText] = useState(held);
  const typed = useRef(held);
  const there = useRef<HTMLInputElement & HTMLTextAreaElement>(null);

  useEffect(() => {
    // The field was filled from elsewhere, such as by this person in another window.
    if (held === typed.current || document.activeElement === there.current) return;
    typed.current = held;
    setText(held);
  }, [held]);

  const triggers = element.dispatch_action_config?.trigger_actions_on ?? ["on_enter_pressed"];
  const change = (value: string) => {
    typed.current = value;
    setText(value);
    const send = Boolean(block.dispatch_action) && triggers.includes("on_character_entered");
    void acting.type(spot, value, send);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== "Enter" || element.multiline || !block.dispatch_action) return;
    if (!triggers.includes("on_enter_pressed")) return;
    event.preventDefault();
    event.stopPropagation();
    void acting.type(spot, text, true);
  };
  const shared = {
    ref: there,
    className: isWrong ? "field is-wrong" : "field",
    value: text,
    placeholder: element.placeholder?.text,
    onKeyDown,
    "aria-label": labelledBy ? undefined : element.placeholder?.text,
    "aria-labelledby": labelledBy,
    "aria-describedby": describedBy,
    "aria-invalid": isWrong,
    "data-action": element.action_id,
    "data-autofocus": element.focus_on_load || undefined,
  };
  if (element.multiline) {
    const rows = Math.min(12, Math.max(4, text.split("\n").length));
    return <textarea {...shared} rows={rows} onChange={(event) => change(event.target.value)} />;
  }
  return (
    <input
      {...shared}
      type="text"
      inputMode={MODES[element.type]}
      autoComplete="off"
      onChange={(event) => change(event.target.value)}
    />
  );
}

// Numbers are typed as text: a browser's number field would swallow what is wrong in silence,
// and it is Slack's sentence below the field that is to say so.
const MODES: Record<string, "decimal" | "email" | "url" | undefined> = {
  number_input: "decimal",
  email_text_input: "email",
  url_text_input: "url",
};
