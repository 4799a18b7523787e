// The teams' queues with what waits, and the queues that agents serve.
import { type Cluster, intakes, type Queue, span } from "./model";
import { Team } from "./Pools";

const MOST = 6;

export function Queues(props: {
  cluster: Cluster;
  policies: string[];
  abort: (task: string) => void;
}) {
  const { cluster, policies, abort } = props;
  const queues = intakes(cluster);
  if (queues.length === 0) return <p className="hollow">No team has a queue yet.</p>;
  return (
    <div className="queues">
      {queues.map((queue) => (
        <QueueCard key={queue.id} queue={queue} policies={policies} abort={abort} />
      ))}
    </div>
  );
}

function QueueCard(props: { queue: Queue; policies: string[]; abort: (task: string) => void }) {
  const { queue, policies, abort } = props;
  const more = queue.tasks.length - MOST;
  return (
    <article
      className={queue.tasks.length ? "queue" : "queue is-idle"}
      data-testid="queue"
      data-queue={queue.name}
    >
      <header>
        <h3>{queue.name}</h3>
        <Team policies={policies} policy={queue.policy} />
        <span className="queue-count">{queue.tasks.length || "nothing"} waiting</span>
      </header>
      {queue.tasks.length > 0 ? (
        <ol className="jobs">
          {queue.tasks.slice(0, MOST).map((task) => (
            <li
              key={task.id}
              className="job is-waiting"
              data-testid="job"
              data-task={task.id}
              data-status="waiting"
            >
              <span className="job-name">{task.name}</span>
              <span className="job-state">
                {task.user ? `${task.user} · ` : ""}
                {span(task.waiting_s)}
              </span>
              <button
                type="button"
                className="button is-plain is-tiny"
                aria-label={`Abort ${task.name}`}
                onClick={() => abort(task.id)}
              >
                Abort
              </button>
            </li>
          ))}
        </ol>
      ) : null}
      {more > 0 ? <p className="hollow">and {more} more</p> : null}
    </article>
  );
}

export function Agents({ cluster }: { cluster: Cluster }) {
  const names = new Map(cluster.queues.map((one) => [one.id, one.name]));
  return (
    <Listing
      title="Agents"
      nothing="No agent serves any queue yet."
      isEmpty={!cluster.agents.length}
    >
      {cluster.agents.map((agent) => (
        <li key={`${agent.name}/${agent.queue}`} className="line" data-testid="agent">
          <span className="line-name">{names.get(agent.queue) ?? agent.name}</span>
          <span>
            {agent.running.length} of {agent.slots} busy
          </span>
        </li>
      ))}
    </Listing>
  );
}

export function Nodes({ cluster }: { cluster: Cluster }) {
  return (
    <Listing
      title="Machines"
      nothing="There is no Kubernetes here."
      isEmpty={!cluster.nodes.length}
    >
      {cluster.nodes.map((node) => (
        <li key={node.name} className="line" data-testid="node">
          <span className="line-name">{node.name}</span>
          <span>
            {node.gpus} GPUs
            {node.cgpu_policy === null ? "" : ` · cGPU policy ${node.cgpu_policy}`}
            {node.ready === false ? " · not ready" : ""}
            {node.schedulable ? "" : " · cordoned"}
          </span>
        </li>
      ))}
    </Listing>
  );
}

const ENDS: Record<string, string> = { completed: "✓ completed", stopped: "✕ aborted" };

export function Done({ cluster, policies }: { cluster: Cluster; policies: string[] }) {
  return (
    <Listing
      title="Last finished"
      nothing="Nothing has finished yet."
      isEmpty={!cluster.done.length}
    >
      {cluster.done.slice(0, 12).map((one) => (
        <li key={one.id} className="line" data-testid="done" data-status={one.status}>
          <Team policies={policies} policy={one.policy} />
          <span className="line-name">{one.name}</span>
          <span>
            {ENDS[one.status] ?? one.status} · {span(one.ran_s)}
          </span>
        </li>
      ))}
    </Listing>
  );
}

function Listing(props: {
  title: string;
  nothing: string;
  isEmpty: boolean;
  children: React.ReactNode;
}) {
  return (
    <section className="panel" aria-label={props.title}>
      <h2>{props.title}</h2>
      {props.isEmpty ? <p className="hollow">{props.nothing}</p> : <ul>{props.children}</ul>}
    </section>
  );
}
