// The cluster on a page of its own: what runs, what waits, who serves, and what one can do to it.
import { useEffect, useState } from "react";
import { ask } from "../api/door";
import { loadCast } from "../slack/people";
import { tellTour } from "../tour/useTour";
import { Shell } from "../ui/Shell";
import { AddJob, type Do, Tempo } from "./Controls";
import { type Cluster, policiesOf } from "./model";
import { PoolCard } from "./Pools";
import { Agents, Done, Nodes, Queues } from "./Queues";
import { useCluster, useNow } from "./useCluster";

export function ClusterPage() {
  const { cluster, connection } = useCluster();
  useEffect(() => {
    loadCast().then(
      (cast) => tellTour(cast, { kind: "cluster" }),
      () => undefined,
    );
  }, []);
  return (
    <Shell page="cluster" connection={connection}>
      <main className="cluster" data-testid="cluster" data-region>
        {cluster ? (
          <Whole cluster={cluster} />
        ) : (
          <p className="empty" role="status">
            {connection === "reconnecting"
              ? "The cluster does not answer; trying again…"
              : "Looking at the cluster…"}
          </p>
        )}
      </main>
    </Shell>
  );
}

function Whole({ cluster }: { cluster: Cluster }) {
  const now = useNow();
  const [problem, setProblem] = useState("");
  const policies = policiesOf(cluster);
  const act: Do = async (deed, body) => {
    setProblem("");
    await ask(`/cluster/${deed}`, body).catch((error: Error) => setProblem(error.message));
  };
  const abort = (task: string) => void act("abort", { task });
  return (
    <>
      <header className="cluster-head">
        <h1>Cluster</h1>
        <Counts cluster={cluster} />
      </header>
      <div className="cluster-deeds">
        <AddJob cluster={cluster} act={act} />
        <Tempo cluster={cluster} act={act} />
      </div>
      {problem ? (
        <p className="trouble" role="alert" data-testid="notice">
          {problem}
        </p>
      ) : null}
      <section aria-label="Pools">
        <h2>Pools</h2>
        {cluster.pools.length === 0 ? (
          <p className="hollow">No pool is provisioned yet.</p>
        ) : (
          <div className="pools">
            {cluster.pools.map((pool) => (
              <PoolCard key={pool.name} pool={pool} policies={policies} now={now} abort={abort} />
            ))}
          </div>
        )}
      </section>
      <section aria-label="Queues">
        <h2>The teams’ queues</h2>
        <Queues cluster={cluster} policies={policies} abort={abort} />
      </section>
      <div className="panels">
        <Done cluster={cluster} policies={policies} />
        <Agents cluster={cluster} />
        <Nodes cluster={cluster} />
      </div>
    </>
  );
}

export function Counts({ cluster }: { cluster: Cluster }) {
  return (
    <dl className="counts">
      {Object.entries(cluster.counts).map(([name, count]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd data-testid={`count-${name}`}>{count}</dd>
        </div>
      ))}
    </dl>
  );
}
