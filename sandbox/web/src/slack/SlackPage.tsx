// The workspace as one person sees it, with the tour and the cluster beside it.
import { useCallback, useEffect, useMemo, useRef, useState, useSyncExternalStore } from "react";
import { ClusterStrip } from "../cluster/ClusterStrip";
import { DirectoryOf } from "../kit/directory";
import { WorkspaceIn } from "../kit/workspace";
import { TourPanel } from "../tour/TourPanel";
import { useTour } from "../tour/useTour";
import { useIsDialogOpen } from "../ui/dialogs";
import { useKept } from "../ui/kept";
import { Shell } from "../ui/Shell";
import { HomeTab } from "./HomeTab";
import type { Seen } from "./live";
import { Modals } from "./Modals";
import { inChannel, unread } from "./merge";
import { Announcer, Notices, type Problem } from "./Notices";
import { PersonSwitch } from "./PersonSwitch";
import { type Cast, loadCast } from "./people";
import { HOME, useWhereabouts } from "./place";
import { firstPlace, placeOf, samePlace } from "./placing";
import { Room, ThreadPanel } from "./Room";
import { useReading } from "./reading";
import { Sidebar } from "./Sidebar";
import { SeenIn, type Session, SessionIn } from "./session";
import { useLive, useSessionOf } from "./usePerson";

export function SlackPage() {
  const [cast, setCast] = useState<Cast | undefined>();
  const [isAway, setAway] = useState(false);
  const [where, go] = useWhereabouts();

  useEffect(() => {
    let timer: ReturnType<typeof setTimeout>;
    const load = () =>
      loadCast().then(setCast, () => {
        setAway(true);
        timer = setTimeout(load, 1000);
      });
    void load();
    return () => clearTimeout(timer);
  }, []);
  const known = cast?.people.some((one) => one.id === where.person);
  useEffect(() => {
    const first = cast?.people[0];
    if (first && !known) go({ person: first.id, place: "", thread: "" });
  }, [cast, known, go]);

  if (!cast || !known) {
    return (
      <Shell page="chat" connection={isAway ? "reconnecting" : "loading"}>
        <p className="empty" role="status">
          {isAway ? "The playground does not answer; trying again…" : "Opening the playground…"}
        </p>
      </Shell>
    );
  }
  return <Person key={where.person} cast={cast} where={where} go={go} />;
}

/** So many messages are in sight when one opens a channel. */
const LATEST = 5;

interface Props {
  cast: Cast;
  where: Session["where"];
  go: Session["go"];
}

/** Everything below is of one person, and begins anew with another. */
function Person({ cast, where, go }: Props) {
  const tour = useTour(cast);
  const live = useLive(where.person, tour.happens);
  const seen = useSyncExternalStore(live.subscribe, live.snapshot);
  const [problems, setProblems] = useState<Problem[]>([]);
  const [isMenuOpen, setMenuOpen] = useState(false);
  const [isSplit, setSplit] = useKept("poolkeeper.split", false);
  const number = useRef(0);

  const fails = useCallback((error: unknown) => {
    number.current += 1;
    const text = error instanceof Error ? error.message : String(error);
    setProblems((all) => [...all.slice(-2), { n: number.current, text }]);
  }, []);
  const session = useSessionOf(live, where, go, fails, tour.happens);
  const channel = placeOf(seen.workspace, where.person, where.place);
  const reading = useReading(
    where.person,
    seen.connection === "live" ? newestOf(seen.messages) : 0,
  );
  const news = useMemo(
    () => unread(seen.messages, where.person, reading.readUpTo),
    [seen.messages, where.person, reading.readUpTo],
  );
  const here = useMemo(
    () => (channel ? inChannel(seen.messages, channel.id) : []),
    [seen.messages, channel],
  );
  const newest = here.at(-1);
  useEffect(() => {
    const plain = here.slice(-LATEST).map((one) => one.plain);
    tour.happens({ kind: "reads", place: where.place, plain: plain.join("\n") });
  }, [tour.happens, where.place, here]);
  useEffect(() => {
    if (channel) reading.read(channel.id, newestIn(seen.messages, channel.id));
  }, [channel, seen.messages, reading.read]);
  useEffect(() => {
    // A place of somebody else's, or none: begin in the first channel.
    if (seen.workspace && !channel && where.place !== HOME) {
      const first = firstPlace(seen.workspace, where.person);
      go({ place: first, thread: "" });
    }
  }, [seen.workspace, channel, where.place, where.person, go]);

  useEffect(() => {
    const count = [...news.values()].reduce((sum, one) => sum + one.count, 0);
    const name = cast.people.find((one) => one.id === where.person)?.name ?? "";
    document.title = `${count > 0 ? `(${count}) ` : ""}${name} · Poolkeeper playground`;
  }, [news, cast, where.person]);

  const around = useMemo(
    () => ({ people: seen.workspace?.people ?? [], channels: seen.workspace?.channels ?? [] }),
    [seen.workspace],
  );
  const isCovered = useIsDialogOpen();
  const become = (person: string) => go({ person, place: samePlace(where, person), thread: "" });
  return (
    <SessionIn value={session}>
      <SeenIn value={seen}>
        <Shell
          page="chat"
          connection={seen.connection}
          tools={
            <>
              <button
                type="button"
                className="button is-plain only-wide"
                aria-pressed={isSplit}
                data-testid="split"
                onClick={() => setSplit(!isSplit)}
              >
                Cluster beside
              </button>
              <button
                type="button"
                className="button is-plain"
                aria-pressed={tour.isOpen}
                data-testid="tour-toggle"
                onClick={tour.toggle}
              >
                Tour
              </button>
              <PersonSwitch people={cast.people} person={where.person} become={become} />
            </>
          }
        >
          <DirectoryOf workspace={seen.workspace} person={where.person} cast={cast.people}>
            <WorkspaceIn value={around}>
              <div className="workspace">
                <div className="workspace-inner" inert={isCovered}>
                  <button
                    type="button"
                    className="button menu-toggle"
                    aria-expanded={isMenuOpen}
                    onClick={() => setMenuOpen(!isMenuOpen)}
                    data-testid="menu"
                  >
                    ☰ <span>Channels</span>
                  </button>
                  <Sidebar
                    workspace={seen.workspace}
                    unread={news}
                    isOpen={isMenuOpen}
                    close={() => setMenuOpen(false)}
                  />
                  <main className="main">
                    {where.place === HOME ? <HomeTab /> : null}
                    {channel ? <Room key={channel.id} channel={channel} /> : null}
                    {!channel && where.place !== HOME ? (
                      <p className="empty" role="status">
                        Opening the workspace…
                      </p>
                    ) : null}
                  </main>
                  {channel && where.thread ? (
                    <ThreadPanel
                      key={`${channel.id}/${where.thread}`}
                      channel={channel}
                      ts={where.thread}
                    />
                  ) : null}
                </div>
                <div id="dialogs" />
                {seen.workspace ? <Modals /> : null}
                <Notices
                  problems={problems}
                  dismiss={(n) => setProblems((all) => all.filter((one) => one.n !== n))}
                />
                {channel ? <Announcer key={channel.id} newest={newest} /> : null}
              </div>
              {isSplit ? <ClusterStrip happens={tour.happens} /> : null}
              <TourPanel tour={tour} />
            </WorkspaceIn>
          </DirectoryOf>
        </Shell>
      </SeenIn>
    </SessionIn>
  );
}

type Known = Seen["messages"];
const newestOf = (known: Known): number => Math.max(1, ...[...known.values()].map((one) => one.n));
const newestIn = (known: Known, channel: string): number =>
  Math.max(0, ...[...known.values()].filter((one) => one.channel === channel).map((one) => one.n));
