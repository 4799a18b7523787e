// One interactive element, drawn and operated by us.
import type { ReactNode } from "react";
import type { Block, Element } from "../slack/model";
import { Button } from "./Button";
import { FileField } from "./FileField";
import { Moment } from "./Moment";
import { Overflow } from "./Overflow";
import { Select } from "./Select";
import { TextField } from "./TextField";
import { Checkboxes, Radios } from "./Ticks";

export interface Drawn {
  block: Block;
  element: Element;
  /** The id of the label and of the sentence below, where there are any. */
  labelledBy?: string | undefined;
  describedBy?: string | undefined;
  isWrong?: boolean;
}

const DRAWINGS: Record<string, (props: Drawn) => ReactNode> = {
  button: Button,
  workflow_button: Button,
  overflow: Overflow,
  datepicker: Moment,
  timepicker: Moment,
  datetimepicker: Moment,
  radio_buttons: Radios,
  checkboxes: Checkboxes,
  plain_text_input: TextField,
  email_text_input: TextField,
  url_text_input: TextField,
  number_input: TextField,
  file_input: FileField,
};

export function ElementOf(props: Drawn) {
  const { type } = props.element;
  const Drawing = type.endsWith("_select") ? Select : DRAWINGS[type];
  if (!Drawing) return <span className="kit-unknown">“{type}” cannot be drawn here.</span>;
  return <Drawing {...props} />;
}
