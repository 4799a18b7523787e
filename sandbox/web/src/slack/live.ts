// One person's view of the workspace, kept up to date: what React components subscribe to.
import { ask, type Doc } from "../api/door";
import { type Connection, follow } from "../api/live";
import { type Messages, merged, without } from "./merge";
import type { Change, Message, Notice, View, Workspace } from "./model";

export interface Seen {
  connection: Connection;
  workspace: Workspace | undefined;
  messages: Messages;
  views: View[];
  home: View | null;
  notices: Notice[];
}

/** What the tour hears of: everything that a person does or is shown. */
export type Happening =
  | { kind: "message"; message: Message }
  | { kind: "view"; view: View }
  | { kind: "home"; view: View }
  | { kind: "said"; person: string; text: string; channel: string }
  | { kind: "person"; person: string }
  | { kind: "reads"; place: string; plain: string }
  | { kind: "cluster" };

type Listener = () => void;
type Part = "messages" | "views" | "home" | "notices" | "workspace";

export class LiveWorkspace {
  seen: Seen = {
    connection: "loading",
    workspace: undefined,
    messages: new Map(),
    views: [],
    home: null,
    notices: [],
  };
  private readonly listeners = new Set<Listener>();
  private readonly stale = new Set<Part>();
  private gone: { channel: string; ts: string }[] = [];
  private last = 0;
  private noticed = 0;
  private busy = false;
  private stop: (() => void) | undefined;

  constructor(
    readonly person: string,
    private readonly happens: (one: Happening) => void,
  ) {}

  start(): void {
    this.stop = follow({
      load: () => this.load(),
      hear: (news) => this.hear(news as Change),
      is: (connection) => this.become({ connection }),
    });
  }

  end(): void {
    this.stop?.();
  }

  subscribe = (listener: Listener): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  snapshot = (): Seen => this.seen;

  /** A deed of this person at the scripting door. */
  do<T = Doc>(action: string, body: Doc = {}): Promise<T> {
    return ask<T>(`/sandbox/${action}`, { person: this.person, ...body });
  }

  /** Takes a notice away that was read. */
  dismiss(n: number): void {
    this.become({ notices: this.seen.notices.filter((one) => one.n !== n) });
  }

  private become(part: Partial<Seen>): void {
    this.seen = { ...this.seen, ...part };
    for (const listener of this.listeners) listener();
  }

  private async load(): Promise<string> {
    const workspace = await this.do<Workspace>("workspace");
    const { messages, last } = await this.do<{ messages: Message[]; last: number }>("changed");
    const { views } = await this.do<{ views: View[] }>("views");
    const { home } = await this.do<{ home: View | null }>("home");
    this.last = last;
    this.noticed = last;
    this.gone = [];
    this.stale.clear();
    // What did not change stays the same object; what is gone is not taken over.
    const there = new Set(messages.map((one) => `${one.channel}/${one.ts}`));
    const kept = new Map([...this.seen.messages].filter(([key]) => there.has(key)));
    this.become({ workspace, messages: merged(kept, messages), views, home });
    return `/sandbox/feed?after=${last}`;
  }

  private hear(change: Change): void {
    const mine = change.person === this.person;
    if (change.type === "message" || change.type === "message_changed") this.stale.add("messages");
    else if (change.type === "message_deleted" && change.channel && change.ts)
      this.gone.push({ channel: change.channel, ts: change.ts });
    else if (change.type === "view" && mine) this.stale.add("views");
    else if (change.type === "home" && mine) this.stale.add("home");
    else if (change.type === "notice" && mine) this.stale.add("notices");
    else if (change.type === "members" || change.type === "group") this.stale.add("workspace");
    else if (change.type === "reset") for (const part of EVERYTHING) this.stale.add(part);
    if (change.type === "reset") this.become({ messages: new Map() });
    void this.refresh();
  }

  /** Fetches what is stale, one thing after the other, until nothing is. */
  private async refresh(): Promise<void> {
    if (this.busy) return;
    this.busy = true;
    try {
      while (this.stale.size > 0 || this.gone.length > 0) {
        const gone = this.gone;
        this.gone = [];
        if (gone.length > 0) this.become({ messages: without(this.seen.messages, gone) });
        const parts = [...this.stale];
        this.stale.clear();
        await Promise.all(parts.map((part) => this.fetch(part)));
      }
    } catch {
      // The feed notices by itself that the server is away, and loads everything anew.
    } finally {
      this.busy = false;
    }
  }

  private async fetch(part: Part): Promise<void> {
    if (part === "messages") {
      const news = await this.do<{ messages: Message[]; last: number }>("changed", {
        after: this.last,
      });
      this.last = Math.max(this.last, news.last);
      this.become({ messages: merged(this.seen.messages, news.messages) });
      for (const message of news.messages) this.happens({ kind: "message", message });
    } else if (part === "views") {
      const { views } = await this.do<{ views: View[] }>("views");
      this.become({ views });
      for (const view of views) this.happens({ kind: "view", view });
    } else if (part === "home") {
      const { home } = await this.do<{ home: View | null }>("home");
      this.become({ home });
      if (home) this.happens({ kind: "home", view: home });
    } else if (part === "notices") {
      const { notices } = await this.do<{ notices: Notice[] }>("notices", { after: this.noticed });
      this.noticed = Math.max(this.noticed, ...notices.map((one) => one.n));
      this.become({ notices: [...this.seen.notices, ...notices] });
    } else {
      this.become({ workspace: await this.do<Workspace>("workspace") });
    }
  }
}

const EVERYTHING: Part[] = ["messages", "views", "home", "notices", "workspace"];
