// The cluster as it is now, by its feed.
import { useEffect, useState } from "react";
import { look } from "../api/door";
import { type Connection, follow } from "../api/live";
import type { Cluster } from "./model";

export function useCluster(): { cluster: Cluster | undefined; connection: Connection } {
  const [cluster, setCluster] = useState<Cluster | undefined>();
  const [connection, setConnection] = useState<Connection>("loading");
  useEffect(
    () =>
      follow({
        load: async () => {
          setCluster(await look<Cluster>("/cluster/state"));
          return "/cluster/feed";
        },
        hear: (news) => setCluster(news as Cluster),
        is: setConnection,
      }),
    [],
  );
  return { cluster, connection };
}

/** Now, once a second, for what runs. */
export function useNow(): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1000);
    return () => clearInterval(timer);
  }, []);
  return now;
}
