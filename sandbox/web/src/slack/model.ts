// What the loopback Slack shows: the documents of sandbox/slack/door.py and of Block Kit.
export interface Text {
  type: "plain_text" | "mrkdwn";
  text: string;
}

export interface Option {
  text: Text;
  value?: string;
  description?: Text;
}

export interface OptionGroup {
  label: Text;
  options: Option[];
}

export interface Offered {
  options?: Option[];
  option_groups?: OptionGroup[];
}

export interface Confirmation {
  title: Text;
  text: Text;
  confirm: Text;
  deny: Text;
  style?: string;
}

/** An element of a block; which fields it has depends on its type. */
export interface Element extends Offered {
  type: string;
  action_id?: string;
  text?: Text;
  value?: string;
  url?: string;
  style?: string;
  placeholder?: Text;
  confirm?: Confirmation;
  accessibility_label?: string;
  multiline?: boolean;
  focus_on_load?: boolean;
  min_query_length?: number;
  max_selected_items?: number;
  is_decimal_allowed?: boolean;
  min_value?: string;
  max_value?: string;
  min_length?: number;
  max_length?: number;
  dispatch_action_config?: { trigger_actions_on?: string[] };
  alt_text?: string;
  image_url?: string;
  slack_file?: { id?: string };
}

export interface Block {
  type: string;
  block_id?: string;
  text?: Text | string;
  title?: Text | string;
  fields?: Text[];
  accessory?: Element;
  elements?: Element[];
  element?: Element;
  label?: Text;
  hint?: Text;
  optional?: boolean;
  dispatch_action?: boolean;
  actions?: Element[];
  child_blocks?: Block[];
  rows?: Cell[][];
  caption?: string;
  alt_text?: string;
  image_url?: string;
  slack_file?: { id?: string };
}

export interface Cell {
  type: string;
  text?: string;
  value?: number | string;
  elements?: unknown[];
}

/** What a field holds: `value`, or `selected_...` by the type of its element. */
export interface Held {
  type: string;
  value?: string | null;
  files?: { name: string }[];
  selected_option?: Option | null;
  selected_options?: Option[];
  selected_date?: string | null;
  selected_time?: string | null;
  selected_date_time?: number | null;
  selected_user?: string | null;
  selected_channel?: string | null;
  selected_conversation?: string | null;
  selected_users?: string[];
  selected_channels?: string[];
  selected_conversations?: string[];
}

export type Values = Record<string, Record<string, Held>>;

export interface Person {
  id: string;
  name: string;
  real_name: string;
  is_bot: boolean;
  is_admin: boolean;
  tz: string;
}

export interface Channel {
  id: string;
  name: string;
  is_private: boolean;
  is_archived: boolean;
  members: string[];
  person: string;
}

export interface Group {
  id: string;
  handle: string;
  users: string[];
}

export interface Workspace {
  people: Person[];
  channels: Channel[];
  groups: Group[];
  bot: string;
}

export interface SharedFile {
  id: string;
  name: string;
  title: string;
  size: number;
  filetype: string;
  alt_txt: string;
  original_w?: number;
  original_h?: number;
}

export interface Message {
  channel: string;
  ts: string;
  thread_ts: string;
  n: number;
  author: string;
  author_name: string;
  by_bot: boolean;
  only_for: string;
  text: string;
  blocks: Block[];
  attachments: { text?: string }[];
  edited: string;
  reactions: Record<string, string[]>;
  files: SharedFile[];
  values: Values;
  mentions: string[];
  plain: string;
}

export interface View {
  id: string;
  n: number;
  type: "modal" | "home";
  title: string;
  submit: string;
  close: string;
  blocks: Block[];
  values: Values;
  errors: Record<string, string>;
  callback_id: string;
  plain: string;
}

export interface Notice {
  n: number;
  person: string;
  error: string;
  about: string;
}

export interface Change {
  n: number;
  type: string;
  channel?: string;
  ts?: string;
  person?: string;
  what?: string;
}

export const SLACKBOT = "USLACKBOT";

/** The id of a person's direct messages with the bot, as the loopback Slack makes them. */
export const directOf = (person: string): string => `D${person.slice(1)}`;
