// The cluster at a glance, beside the chat.
import { useEffect } from "react";
import type { Happening } from "../slack/live";
import { Counts } from "./ClusterPage";
import { intakes, policiesOf } from "./model";
import { PoolCard, Team } from "./Pools";
import { useCluster, useNow } from "./useCluster";

export function ClusterStrip({ happens }: { happens: (one: Happening) => void }) {
  const { cluster } = useCluster();
  const now = useNow();
  useEffect(() => happens({ kind: "cluster" }), [happens]);
  if (!cluster) return <aside className="strip empty">Looking at the cluster…</aside>;
  const policies = policiesOf(cluster);
  const waiting = intakes(cluster).filter((one) => one.tasks.length > 0);
  return (
    <aside className="strip" aria-label="Cluster" data-region data-testid="cluster-strip">
      <header className="room-head">
        <h2>Cluster</h2>
        <a href="/cluster">Whole page</a>
      </header>
      <Counts cluster={cluster} />
      {cluster.pools.map((pool) => (
        <PoolCard key={pool.name} pool={pool} policies={policies} now={now} />
      ))}
      <h3>Waiting</h3>
      {waiting.length === 0 ? <p className="hollow">Nothing waits.</p> : null}
      <ul>
        {waiting.map((one) => (
          <li key={one.id} className="line">
            <Team policies={policies} policy={one.policy} />
            <span className="line-name">{one.name}</span>
            <span>{one.tasks.length}</span>
          </li>
        ))}
      </ul>
    </aside>
  );
}
