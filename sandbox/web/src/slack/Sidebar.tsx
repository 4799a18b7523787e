// Where one can be: Home, the direct messages with the bot, and the channels one is in.
import type { ReactNode } from "react";
import { Mark } from "./Avatar";
import type { Unread } from "./merge";
import { directOf, type Workspace } from "./model";
import { HOME } from "./place";
import { channelsOf } from "./placing";
import { useSession } from "./session";

interface Props {
  workspace: Workspace | undefined;
  unread: Map<string, Unread>;
  isOpen: boolean;
  close: () => void;
}

export function Sidebar({ workspace, unread, isOpen, close }: Props) {
  const { live, where } = useSession();
  const direct = directOf(live.person);
  const channels = channelsOf(workspace, live.person);
  const shared = { close, now: where.place };
  return (
    <nav className={isOpen ? "sidebar is-open" : "sidebar"} aria-label="Workspace" data-region>
      <h2>Poolkeeper</h2>
      <ul>
        <Entry {...shared} place={HOME} name="Home" sign={<Mark />} testId="home-link" />
        <Entry
          {...shared}
          place={direct}
          name="poolkeeper"
          sign="✉"
          unread={unread.get(direct)}
          testId="dm-link"
        />
      </ul>
      <h2>Channels</h2>
      <ul>
        {channels.map((one) => (
          <Entry
            key={one.id}
            {...shared}
            place={one.id}
            name={one.name}
            sign={one.is_private ? "🔒︎" : "#"}
            unread={unread.get(one.id)}
            testId="channel-link"
            note={one.is_private ? "private" : ""}
          />
        ))}
      </ul>
      {workspace && channels.length === 0 ? <p className="hollow">In no channel.</p> : null}
    </nav>
  );
}

function Entry(props: {
  place: string;
  name: string;
  sign: ReactNode;
  testId: string;
  now: string;
  close: () => void;
  unread?: Unread | undefined;
  note?: string;
}) {
  const { go } = useSession();
  const { place, unread, note } = props;
  const isHere = place === props.now;
  const isNew = Boolean(unread) && !isHere;
  return (
    <li>
      <button
        type="button"
        className={isNew ? "place is-new" : "place"}
        aria-current={isHere ? "page" : undefined}
        data-testid={props.testId}
        data-channel={place}
        onClick={() => {
          go({ place, thread: "" });
          props.close();
        }}
      >
        <span className="place-sign" aria-hidden="true">
          {props.sign}
        </span>
        <span className="place-name">{props.name}</span>
        {note ? <span className="sr-only"> ({note})</span> : null}
        {isNew && unread ? (
          <span className={unread.mentions ? "badge is-mention" : "badge"}>
            {unread.count}
            <span className="sr-only"> unread</span>
          </span>
        ) : null}
      </button>
    </li>
  );
}
