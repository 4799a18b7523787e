// What is only looked at: the library draws it, with our names, moments and links.
import { memo, useMemo } from "react";
import { Message as Drawn, type MessageProps } from "slack-blocks-to-jsx";
import type { Block, Text } from "../slack/model";
import { useThemeOfPage } from "../ui/themes";
import { Boundary } from "./Boundary";
import { type Directory, useDirectory } from "./directory";
import { slackDate } from "./moments";

type Hooks = NonNullable<MessageProps["hooks"]>;

export const Looks = memo(function Looks({ blocks }: { blocks: Block[] }) {
  const directory = useDirectory();
  const theme = useThemeOfPage();
  const hooks = useMemo(() => hooksFor(directory), [directory]);
  const nameless = useMemo(() => blocks.map(withoutId), [blocks]);
  return (
    <Boundary of={blocks}>
      <Drawn
        withoutWrapper
        logo=""
        name=""
        theme={theme}
        data={directory}
        hooks={hooks}
        blocks={nameless as MessageProps["blocks"]}
      />
    </Boundary>
  );
});

/** The library makes a block's id the element's, where every message would have a "b0". */
function withoutId({ block_id: _, ...block }: Block): Block {
  return block;
}

/** Markup, or plain text, on its own. */
export function Marked({ text }: { text: Text | string }) {
  const shown: Text = typeof text === "string" ? { type: "mrkdwn", text } : text;
  const blocks = useMemo(() => [{ type: "section", text: shown }], [shown.type, shown.text]);
  return <Looks blocks={blocks} />;
}

function hooksFor(directory: Directory): Hooks {
  const mention = (text: string) => <span className="mention">{text}</span>;
  return {
    user: ({ id, name }) => mention(`@${name || id}`),
    channel: ({ id, name }) => mention(`#${name || id}`),
    usergroup: ({ id, name }) => mention(`@${name || id}`),
    atHere: () => mention("@here"),
    atChannel: () => mention("@channel"),
    atEveryone: () => mention("@everyone"),
    date: ({ timestamp, format, fallback }) => {
      const told = slackDate(timestamp, format, new Date(), directory.zone) ?? fallback;
      return <time dateTime={new Date(Number(timestamp) * 1000).toISOString()}>{told}</time>;
    },
    link: ({ href, children, className }) => (
      <a href={href} className={className} target="_blank" rel="noopener noreferrer">
        {children}
      </a>
    ),
  };
}
