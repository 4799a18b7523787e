// What one can do to the cluster: more jobs, another speed, no new ones.
import { type FormEvent, useEffect, useRef, useState } from "react";
import { look } from "../api/door";
import type { Cast } from "../slack/people";
import { type Cluster, intakes } from "./model";

export type Do = (deed: string, body: Record<string, unknown>) => Promise<void>;

export function AddJob({ cluster, act }: { cluster: Cluster; act: Do }) {
  const queues = intakes(cluster);
  const [chosen, setChosen] = useState("");
  const [count, setCount] = useState(1);
  const members = useMembers();
  const queue = queues.find((one) => one.id === chosen) ?? queues[0];
  const add = (event: FormEvent) => {
    event.preventDefault();
    if (!queue) return;
    const user = members[queue.policy]?.[0] ?? "";
    void act("add", { queue: queue.id, user, count });
  };
  return (
    <form className="controls" onSubmit={add}>
      <label>
        <span>Queue</span>
        <select
          value={queue?.id ?? ""}
          onChange={({ target }) => setChosen(target.value)}
          data-testid="add-queue"
        >
          {queues.map((one) => (
            <option key={one.id} value={one.id}>
              {one.name} ({one.policy}, {one.profile})
            </option>
          ))}
        </select>
      </label>
      <label>
        <span>Jobs</span>
        <input
          type="number"
          min={1}
          max={50}
          value={count}
          onChange={({ target }) => setCount(Number(target.value) || 1)}
          data-testid="add-count"
        />
      </label>
      <button type="submit" className="button is-solid" disabled={!queue} data-testid="add-job">
        {count === 1 ? "Add a job" : `Add ${count} jobs`}
      </button>
    </form>
  );
}

/** Whose jobs they are to be: a team's first member. */
function useMembers(): Record<string, string[]> {
  const [members, setMembers] = useState<Record<string, string[]>>({});
  useEffect(() => {
    look<Cast>("/playground/people").then(
      (cast) => setMembers(cast.tour?.members ?? {}),
      () => undefined,
    );
  }, []);
  return members;
}

export function Tempo({ cluster, act }: { cluster: Cluster; act: Do }) {
  const [speed, setSpeed] = useState(cluster.speed);
  const isHeld = useRef(false);
  useEffect(() => {
    if (!isHeld.current) setSpeed(cluster.speed);
  }, [cluster.speed]);
  const choose = (value: number) => {
    setSpeed(value);
    void act("speed", { speed: value });
  };
  const streams = cluster.stream ?? !cluster.paused;
  return (
    <div className="controls">
      <label className="tempo">
        <span>Speed: {speed}×</span>
        <input
          type="range"
          min={0.5}
          max={20}
          step={0.5}
          value={speed}
          onPointerDown={() => {
            isHeld.current = true;
          }}
          onPointerUp={() => {
            isHeld.current = false;
          }}
          onChange={({ target }) => choose(Number(target.value))}
          data-testid="speed"
        />
      </label>
      <button
        type="button"
        className="button"
        aria-pressed={!streams}
        onClick={() => void act("stream", { on: !streams })}
        data-testid="stream"
      >
        {streams ? "Stop new jobs" : "Let new jobs come"}
      </button>
    </div>
  );
}
