// The bot's Home, as this person sees it.
import { useEffect, useMemo, useState } from "react";
import { ActingIn } from "../kit/acting";
import { Blocks } from "../kit/Blocks";
import { useSeen, useSession } from "./session";

const PATIENCE = 4000;

export function HomeTab() {
  const { live, acting: actingAt, fails } = useSession();
  const seen = useSeen();
  const [isLate, setLate] = useState(false);
  const { home } = seen;
  useEffect(() => {
    live.do("open_home").catch(fails);
    const timer = setTimeout(() => setLate(true), PATIENCE);
    return () => clearTimeout(timer);
  }, [live, fails]);
  const acting = useMemo(
    () => actingAt({ where: { home: true }, values: home?.values ?? {}, errors: {} }),
    [actingAt, home],
  );
  return (
    <section className="room" aria-label="Home" data-region data-testid="home">
      <header className="room-head">
        <h1>Home</h1>
        <span className="room-about">What poolkeeper shows to you alone</span>
      </header>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is reached by the keyboard */}
      <div className="messages" tabIndex={0}>
        {home ? (
          <ActingIn value={acting}>
            <div className="home-body">
              <Blocks blocks={home.blocks} />
            </div>
          </ActingIn>
        ) : (
          <div className="empty" role="status">
            <p>{isLate ? "Poolkeeper has published nothing here yet." : "Opening Home…"}</p>
            {isLate ? <p>It does as soon as it runs; this page shows it then.</p> : null}
          </div>
        )}
      </div>
    </section>
  );
}
