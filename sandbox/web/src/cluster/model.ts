// The cluster's document, and what is counted from it. Pure.
export interface Running {
  task: string;
  name: string;
  user?: string;
  policy: string;
  profile: string;
  amount: string;
  status: string;
  since: string;
}

export interface Pool {
  name: string;
  resources: string | null;
  used: string;
  links: { link: string; queue_id: string; profile: string }[];
  running: Running[];
}

export interface Waiting {
  id: string;
  name: string;
  user: string;
  status: string;
  policy: string;
  profile: string;
  waiting_s: number;
}

export interface Queue {
  id: string;
  name: string;
  role: string;
  policy: string;
  profile: string;
  pool: string;
  link: string;
  tasks: Waiting[];
}

export interface Cluster {
  n: number;
  paused: boolean;
  speed: number;
  stream?: boolean;
  pools: Pool[];
  queues: Queue[];
  agents: { name: string; queue: string; slots: number; running: string[] }[];
  nodes: {
    name: string;
    gpus: number;
    labels: Record<string, string>;
    ready?: boolean;
    schedulable: boolean;
    cgpu_policy: string | number | null;
  }[];
  done: { id: string; name: string; policy: string; status: string; ran_s: number }[];
  counts: { waiting: number; running: number; completed: number; aborted: number };
}

/** "7/2" or "0.5" as a number, for drawing only: what is shown is the text itself. */
export function amount(text: string | null): number {
  if (!text) return 0;
  const [above = "0", below = "1"] = text.split("/");
  const found = Number(above) / Number(below);
  return Number.isFinite(found) ? found : 0;
}

export interface Piece {
  job: Running;
  /** Where it begins and how wide it is, in hundredths of the pool. */
  from: number;
  width: number;
}

/** The jobs of a pool side by side; a pool that holds more than its size is drawn whole. */
export function pieces(pool: Pool): Piece[] {
  const sizes = pool.running.map((job) => amount(job.amount));
  const whole = Math.max(
    amount(pool.resources),
    sizes.reduce((sum, one) => sum + one, 0),
    1e-9,
  );
  let from = 0;
  return pool.running.map((job, index) => {
    const width = ((sizes[index] ?? 0) / whole) * 100;
    const piece = { job, from, width };
    from += width;
    return piece;
  });
}

/** Every policy that is seen anywhere, in an order that stays. */
export function policiesOf(cluster: Cluster): string[] {
  const seen = [
    ...cluster.queues.map((one) => one.policy),
    ...cluster.pools.flatMap((pool) => pool.running.map((one) => one.policy)),
    ...cluster.done.map((one) => one.policy),
  ];
  return [...new Set(seen.filter(Boolean))].sort();
}

/** A policy in as few letters as tell it from the others: what a narrow piece has room for. */
export function shortly(policies: string[], policy: string): string {
  const others = policies.filter((one) => one !== policy);
  for (let length = 1; length < policy.length; length += 1) {
    const short = policy.slice(0, length);
    if (!others.some((one) => one.startsWith(short))) return short;
  }
  return policy;
}

export const intakes = (cluster: Cluster): Queue[] =>
  cluster.queues.filter((one) => one.role === "intake");

/** 75 as "1 min 15 s". */
export function span(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds));
  if (whole < 60) return `${whole} s`;
  const minutes = Math.floor(whole / 60);
  if (minutes < 60) return whole % 60 ? `${minutes} min ${whole % 60} s` : `${minutes} min`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
