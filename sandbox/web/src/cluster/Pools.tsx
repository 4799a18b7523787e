// Pools and what runs in them. Every team has a colour and a mark, and its name stands there too.
import { memo } from "react";
import { amount, type Piece, type Pool, pieces, type Running, shortly, span } from "./model";

/** A team's colour, by its place among all teams. */
export function teamStyle(policies: string[], policy: string): React.CSSProperties {
  const index = Math.max(0, policies.indexOf(policy)) % 6;
  return { "--team": `var(--team-${index})` } as React.CSSProperties;
}

export function Team({ policies, policy }: { policies: string[]; policy: string }) {
  return (
    <span className="team" style={teamStyle(policies, policy)}>
      {policy || "no team"}
    </span>
  );
}

interface Props {
  pool: Pool;
  policies: string[];
  now: number;
  abort?: (task: string) => void;
}

export function PoolCard({ pool, policies, now, abort }: Props) {
  const whole = amount(pool.resources);
  const size = pool.resources ?? "?";
  return (
    <article className="pool" data-testid="pool" data-pool={pool.name}>
      <header>
        <h3>{pool.name}</h3>
        <p>
          <strong>{pool.used}</strong> of {size} GPUs in use
        </p>
      </header>
      <div
        className="lane"
        role="img"
        aria-label={`${pool.used} of ${size} GPUs in use in ${pool.name}`}
        style={{ "--cells": Math.max(1, Math.min(64, Math.ceil(whole))) } as React.CSSProperties}
      >
        {pieces(pool).map((piece) => (
          <PieceOf key={piece.job.task} piece={piece} policies={policies} />
        ))}
      </div>
      {pool.running.length === 0 ? (
        <p className="hollow">Nothing runs here. What fits is started within a round.</p>
      ) : (
        <ul className="jobs">
          {pool.running.map((job) => (
            <Job key={job.task} job={job} policies={policies} now={now} abort={abort} />
          ))}
        </ul>
      )}
    </article>
  );
}

const PieceOf = memo(function PieceOf({ piece, policies }: { piece: Piece; policies: string[] }) {
  const { job, from, width } = piece;
  const style = { ...teamStyle(policies, job.policy), left: `${from}%`, width: `${width}%` };
  return (
    <div
      className={job.status === "in_progress" ? "piece" : "piece is-starting"}
      style={style}
      title={`${job.name}: ${job.amount} GPUs for ${job.policy}`}
    >
      <span className="piece-team">{job.policy}</span>
      <span className="piece-short" aria-hidden="true">
        {shortly(policies, job.policy)}
      </span>
      <small className="piece-name">{job.name}</small>
    </div>
  );
});

interface JobProps {
  job: Running;
  policies: string[];
  now: number;
  abort: ((task: string) => void) | undefined;
}

function Job({ job, policies, now, abort }: JobProps) {
  const since = Date.parse(job.since);
  const isRunning = job.status === "in_progress";
  return (
    <li className="job" data-testid="job" data-task={job.task} data-status={job.status}>
      <Team policies={policies} policy={job.policy} />
      <span className="job-name">{job.name}</span>
      <span className="job-amount">{job.amount} GPU</span>
      <span className="job-state">
        {isRunning ? `runs ${span((now - since) / 1000)}` : (STATES[job.status] ?? job.status)}
      </span>
      {abort ? (
        <button
          type="button"
          className="button is-plain is-tiny"
          aria-label={`Abort ${job.name}`}
          onClick={() => abort(job.task)}
        >
          Abort
        </button>
      ) : null}
    </li>
  );
}

const STATES: Record<string, string> = {
  queued: "starts…",
  stopped: "aborted",
  completed: "done",
  failed: "failed",
};
