// The gallery's entries as they are drawn: with a name of their own, and what their fields hold.
import type { Block, Text } from "../slack/model";

export interface Entry {
  group: string;
  title: string;
  kind: "message" | "modal" | "home";
  /** A name for addresses; one is made where it has none. */
  slug?: string;
  document: Record<string, unknown>;
}

export interface Drawing {
  slug: string;
  group: string;
  title: string;
  kind: Entry["kind"];
  blocks: Block[];
  text: string;
  heading: string;
  submit: string;
  close: string;
  errors: Record<string, string>;
}

export type Named = Entry & { slug: string };

/** The entries whose group or title has all the words in it. */
export function matching(entries: Drawing[], words: string): Drawing[] {
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
  return entries.filter(({ group, title }) => {
    const said = `${group} ${title}`.toLowerCase();
    return wanted.every((word) => said.includes(word));
  });
}

/** Entries with a slug each; equal ones are told apart by a number. */
export function slugged(entries: Entry[]): Named[] {
  const taken = new Map<string, number>();
  return entries.map((entry) => {
    const words = (entry.slug ?? `${entry.group} ${entry.title}`).toLowerCase();
    const slug = words.replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "") || "entry";
    const count = (taken.get(slug) ?? 0) + 1;
    taken.set(slug, count);
    return { ...entry, slug: count === 1 ? slug : `${slug}-${count}` };
  });
}

const textOf = (part: unknown): string => (part as Text | undefined)?.text ?? "";

export function drawingOf({ slug, group, title, kind, document }: Named): Drawing {
  const blocks = numbered((document.blocks as Block[] | undefined) ?? []);
  return {
    slug,
    group,
    title,
    kind,
    blocks,
    text: typeof document.text === "string" ? document.text : "",
    heading: textOf(document.title),
    submit: textOf(document.submit),
    close: textOf(document.close),
    errors: (document.errors as Record<string, string> | undefined) ?? {},
  };
}

/** The ids that Slack gives to blocks and elements which have none. */
function numbered(blocks: Block[]): Block[] {
  return blocks.map((block, index) => ({ block_id: `b${index}`, ...block }));
}
