// What stands around every page: where one can go, that this is no Slack, and the theme.
import type { ReactNode } from "react";
import type { Connection } from "../api/live";
import { Mark } from "../slack/Avatar";
import { useRegions } from "./regions";
import { ThemeOfPage, useTheme } from "./themes";

interface Props {
  page: "chat" | "cluster" | "gallery";
  connection?: Connection;
  /** What the page puts at the right of the head. */
  tools?: ReactNode;
  children: ReactNode;
}

const PAGES = [
  { page: "chat", path: "/", name: "Chat" },
  { page: "cluster", path: "/cluster", name: "Cluster" },
  { page: "gallery", path: "/gallery", name: "Gallery" },
] as const;

export function Shell({ page, connection, tools, children }: Props) {
  const [theme, turn] = useTheme();
  useRegions();
  return (
    <ThemeOfPage value={theme}>
      <div className="shell">
        <header className="top" data-region>
          <a className="brand" href="/" aria-label="Playground">
            <Mark />
            <span>Playground</span>
          </a>
          <nav className="pages" aria-label="Pages">
            {PAGES.map((one) => (
              <a
                key={one.page}
                href={one.path}
                aria-current={one.page === page ? "page" : undefined}
              >
                {one.name}
              </a>
            ))}
          </nav>
          <div className="tools">
            {connection ? <ConnectionState is={connection} /> : null}
            {tools}
            <button
              type="button"
              className="button is-plain"
              onClick={turn}
              data-testid="theme"
              aria-label={theme === "dark" ? "Light theme" : "Dark theme"}
            >
              <span aria-hidden="true">{theme === "dark" ? "☀" : "☾"}</span>
            </button>
          </div>
        </header>
        <p className="banner" data-testid="banner">
          <strong>A playground, not Slack.</strong> The people and the cluster are made up; nothing
          leaves this machine.
        </p>
        <div className="stage">{children}</div>
      </div>
    </ThemeOfPage>
  );
}

const STATES: Record<Connection, string> = {
  loading: "connecting…",
  live: "live",
  reconnecting: "reconnecting…",
};

function ConnectionState({ is }: { is: Connection }) {
  return (
    <span className={`connection is-${is}`} role="status" data-testid="connection-state">
      {STATES[is]}
    </span>
  );
}
