// Every message, modal and Home that the bot can show, drawn as in the chat.
// ?entry=<number or slug>&bare=1 shows one alone; ?theme=light or dark says in which theme.
import { memo, useEffect, useMemo, useRef, useState } from "react";
import { ask, look } from "../api/door";
import { ActingIn, SHOWN_ONLY } from "../kit/acting";
import { Blocks } from "../kit/Blocks";
import { DirectoryOf } from "../kit/directory";
import { initialValues } from "../kit/initial";
import { Marked } from "../kit/Looks";
import { Avatar } from "../slack/Avatar";
import type { Workspace } from "../slack/model";
import { Shell } from "../ui/Shell";
import { chosenTheme } from "../ui/theme";
import { ThemeOfPage } from "../ui/themes";
import { type Drawing, drawingOf, type Entry, matching, slugged } from "./entries";

export function GalleryPage() {
  const asked = useMemo(() => new URLSearchParams(location.search), []);
  const [entries, setEntries] = useState<Drawing[] | undefined>();
  const [problem, setProblem] = useState("");
  const [words, setWords] = useState("");
  const [workspace, setWorkspace] = useState<Workspace | undefined>();
  useEffect(() => {
    const load = async () => {
      // The library takes the names that it is given first: they are to be there before.
      setWorkspace(await ask<Workspace>("/sandbox/workspace").catch(() => undefined));
      const said = await look<{ entries?: Entry[] }>("/playground/gallery");
      setEntries(slugged(said.entries ?? []).map(drawingOf));
    };
    load().catch((error: Error) => setProblem(error.message));
  }, []);

  const wanted = asked.get("entry");
  const shown = useMemo(
    () =>
      entries?.filter(
        (one, index) => wanted === null || one.slug === wanted || String(index) === wanted,
      ),
    [entries, wanted],
  );
  const found = useMemo(() => shown && matching(shown, words), [shown, words]);
  const content = problem ? (
    <p className="empty" role="alert">
      {problem}
    </p>
  ) : (
    <Entries key={words} entries={found} />
  );
  const body = <DirectoryOf workspace={workspace}>{content}</DirectoryOf>;
  if (asked.get("bare") === "1") {
    return (
      <ThemeOfPage value={chosenTheme()}>
        <main className="gallery is-bare">{body}</main>
      </ThemeOfPage>
    );
  }
  return (
    <Shell page="gallery">
      <main className="gallery" data-region>
        <h1>Gallery</h1>
        <p>Every message, window and Home that Poolkeeper can show; nothing here does anything.</p>
        <label className="gallery-find">
          <span>Find</span>
          <input
            className="field"
            type="search"
            value={words}
            onChange={({ target }) => setWords(target.value)}
            data-testid="gallery-find"
          />
          <span role="status">{found ? `${found.length} shown` : ""}</span>
        </label>
        {body}
        <p className="gallery-foot">
          <a href="/licences.txt">Licences of what this page is made of</a>
        </p>
      </main>
    </Shell>
  );
}

const AT_FIRST = 12;
const AT_A_TIME = 12;

/** How many are drawn so far: hundreds at once would hold the page up for seconds. */
function useMoreAndMore(whole: number): number {
  const [count, setCount] = useState(AT_FIRST);
  useEffect(() => {
    if (count >= whole) return;
    const timer = setTimeout(() => setCount(count + AT_A_TIME));
    return () => clearTimeout(timer);
  }, [count, whole]);
  return count;
}

function Entries({ entries: all }: { entries: Drawing[] | undefined }) {
  const count = useMoreAndMore(all?.length ?? 0);
  const entries = all?.slice(0, count);
  if (!entries) return <p role="status">Opening the gallery…</p>;
  if (entries.length === 0) return <p className="empty">There is no such entry.</p>;
  const groups = [...new Set(entries.map((one) => one.group))];
  return groups.map((group) => (
    <section key={group} aria-label={group} className="gallery-group">
      <h2>{group}</h2>
      {entries
        .filter((one) => one.group === group)
        .map((one) => (
          <EntryOf key={one.slug} entry={one} />
        ))}
    </section>
  ));
}

const EntryOf = memo(function EntryOf({ entry }: { entry: Drawing }) {
  const drawnIn = useRef<HTMLDivElement>(null);
  const [state, setState] = useState("empty");
  const acting = useMemo(
    () => ({ ...SHOWN_ONLY, values: initialValues(entry.blocks), errors: entry.errors }),
    [entry],
  );
  useEffect(() => {
    const box = drawnIn.current;
    if (!box) return;
    const failed = box.querySelector('[data-testid="not-drawn"], [data-testid="not-known"]');
    const drawn = box.textContent?.trim() !== "";
    setState(failed ? "error" : drawn ? "ok" : "empty");
  }, []);
  return (
    <article
      className="gallery-entry"
      id={entry.slug}
      data-gallery-entry={entry.slug}
      data-kind={entry.kind}
      data-state={state}
    >
      <h3>
        <a href={`?entry=${entry.slug}`}>{entry.title}</a>
      </h3>
      <div ref={drawnIn} className={`gallery-drawn is-${entry.kind}`}>
        <ActingIn value={acting}>
          <Framed entry={entry} />
        </ActingIn>
      </div>
    </article>
  );
});

function Framed({ entry }: { entry: Drawing }) {
  const blocks = entry.blocks.length ? <Blocks blocks={entry.blocks} /> : null;
  const text = !blocks && entry.text ? <Marked text={entry.text} /> : null;
  if (entry.kind === "home") return <div className="home-body">{blocks}</div>;
  if (entry.kind === "message") {
    return (
      <div className="message">
        <div className="message-side">
          <Avatar id="bot" isBot />
        </div>
        <div className="message-main">
          <header className="message-head">
            <strong>poolkeeper</strong>
            <span className="tag">App</span>
          </header>
          <div className="message-body">
            {blocks}
            {text}
          </div>
        </div>
      </div>
    );
  }
  return (
    <section className="dialog is-still" aria-label={entry.heading}>
      <header className="dialog-head">
        <h4>{entry.heading}</h4>
      </header>
      <div className="dialog-body">{blocks}</div>
      <footer className="dialog-foot">
        <span className="button">{entry.close || "Cancel"}</span>
        {entry.submit ? <span className="button is-solid">{entry.submit}</span> : null}
      </footer>
    </section>
  );
}
