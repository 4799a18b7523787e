// A feed that outlives its connection: it says when it is away, and comes back by itself.
export type Connection = "loading" | "live" | "reconnecting";

export interface Feed {
  /** Everything anew; the address from which news of it come. */
  load: () => Promise<string>;
  hear: (news: unknown) => void;
  is: (connection: Connection) => void;
}

const FIRST_WAIT = 250;
const LONGEST_WAIT = 4000;
/** A browser has six connections to one place: windows that nobody sees give theirs back. */
const UNSEEN_FOR = 20_000;

/** Follows the feed until the returned function is called. */
export function follow(feed: Feed): () => void {
  let source: EventSource | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let wait = FIRST_WAIT;
  let over = false;

  const again = () => {
    source?.close();
    if (over) return;
    feed.is("reconnecting");
    clearTimeout(timer);
    timer = setTimeout(begin, wait);
    wait = Math.min(wait * 2, LONGEST_WAIT);
  };

  const begin = async () => {
    const address = await feed.load().catch(() => undefined);
    if (over) return;
    if (address === undefined) return again();
    source = new EventSource(address);
    source.onopen = () => {
      wait = FIRST_WAIT;
      feed.is("live");
    };
    source.onmessage = ({ data }) => feed.hear(JSON.parse(data));
    // The browser would try again by itself, but from where it began: what was missed is loaded.
    source.onerror = again;
  };

  let unseen: ReturnType<typeof setTimeout> | undefined;
  let isPaused = false;
  const onVisibility = () => {
    clearTimeout(unseen);
    if (document.hidden) {
      unseen = setTimeout(() => {
        isPaused = true;
        clearTimeout(timer);
        source?.close();
      }, UNSEEN_FOR);
    } else if (isPaused) {
      isPaused = false;
      void begin();
    }
  };
  document.addEventListener("visibilitychange", onVisibility);

  void begin();
  return () => {
    over = true;
    clearTimeout(timer);
    clearTimeout(unseen);
    document.removeEventListener("visibilitychange", onVisibility);
    source?.close();
  };
}
