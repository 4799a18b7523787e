"""The reconciler of the cGPU policy in this process, on the sandbox cluster and a real database."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path

from controller.cgpu import Reconciler, Report, Surroundings
from controller.cgpu_probing import Prober
from controller.cgpu_view import View, last_view
from controller.kubernetes_cluster import KubernetesCluster
from controller.kubernetes_cluster_session import Access, KubernetesSession
from domain.cgpu_drift_kinds import Drift, DriftKind
from domain.cgpu_memory import Change, Outcome
from domain.cgpu_nodes import NodeState, NodeStatus
from domain.cgpu_steps import Pace, Rest
from domain.configuration import CGPU, Configuration, Pool
from domain.ledger import AuditRecord
from domain.renames import Renames
from storage import audit, cgpu, configurations
from storage.configurations import Approval
from storage.database import Database, open_database
from tests.kubernetes_support import Cluster
from tests.sandbox_support import wait_until

ADMIN = "U0ADMIN"


def now() -> datetime:
    return datetime.now(UTC)


def managed(policy: int | None, **nodes: str) -> Configuration:
    """A configuration with this cGPU policy, and one pool of the nodes with these labels."""
    pool = Pool(name="shared", resources=Fraction(6), nodes=tuple(nodes.items()))
    cgpu_part = None if policy is None else CGPU(policy=policy)
    return Configuration(pools=(pool,), cgpu=cgpu_part)


def provision(database: Database, configuration: Configuration) -> None:
    """Puts a configuration in force, as an approved change of its cGPU policy does."""
    with database.transaction() as session:
        approval = Approval(by=ADMIN, at=now())
        version = configurations.add_version(session, configuration, Renames(), approval)
        assert not isinstance(version, configurations.Pending)
        configurations.mark_provisioned(session, version.number)


def door_to(cluster: Cluster, directory: Path, token: str = "") -> KubernetesCluster:
    """The product's door, by a kubeconfig of its own."""
    path = cluster.write_kubeconfig(directory / f"kubeconfig{token}", token)
    return KubernetesCluster(KubernetesSession(Access(kubeconfig=str(path)), time.sleep), now)


@dataclass
class Keeper:
    """The reconciler, and what an admin says to it."""

    cluster: Cluster
    database: Database
    directory: Path
    reads_modules: bool = False
    token: str = ""

    def __post_init__(self) -> None:
        self.door = door_to(self.cluster, self.directory, self.token)
        self.begin()

    def begin(self) -> None:
        """Begins anew, as another process does that knows only the database."""
        prober = Prober() if self.reads_modules else None
        with_ = Surroundings(
            door=lambda: self.door, database=self.database, clock=now, prober=prober
        )
        self.reconciler = Reconciler(with_)

    def run(self) -> Report:
        """One run, in a cluster in which all that goes on has come to its end."""
        self.cluster.settle()
        report = self.reconciler.run()
        self.cluster.settle()
        return report

    def rests(self) -> str:
        """Runs until nothing is to be done and nothing goes on by itself; why."""

        def done() -> str:
            last = self.run().last
            return last.says if isinstance(last, Rest) and last.pace is not Pace.CLUSTER else ""

        return wait_until(done, "the reconciler rests")

    def rests_with_the_cluster(self) -> str:
        """The same, where what goes on by itself does not come to its end."""
        for _ in range(5):
            last = self.run().last
            if isinstance(last, Rest):
                return last.says
        raise AssertionError("it does not rest")

    def set(self, policy: int | None) -> str:
        """A change of the policy is provisioned."""
        provision(self.database, managed(policy))
        return self.rests()

    def restart(self, node: str) -> None:
        """An admin wants a node restarted."""
        with self.database.transaction() as session:
            cgpu.wish_restart(session, node, ADMIN, now())

    def withdraw(self, node: str) -> None:
        with self.database.transaction() as session:
            cgpu.withdraw_restart(session, node, ADMIN, now())

    def pause(self) -> None:
        with self.database.transaction() as session:
            cgpu.pause(session, ADMIN, now())

    def resume(self) -> None:
        with self.database.transaction() as session:
            cgpu.resume(session, ADMIN, now())

    def restarted(self, node: str) -> str:
        """An admin asks for a node's restart, restarts it when told to, and it is verified."""
        self.restart(node)
        assert "restart it now" in self.rests()
        self.cluster.restarted(node)
        return self.rests()

    def converged(self, policy: int) -> None:
        """Every node has the policy, and it is proven."""
        self.set(policy)
        for status in self.view.nodes:
            if status.state is not NodeState.UP_TO_DATE:
                self.restarted(status.node)
        assert self.change.outcome is Outcome.CONVERGED

    @property
    def view(self) -> View:
        with self.database.reading() as session:
            view = last_view(session)
        assert view is not None
        return view

    @property
    def change(self) -> Change:
        assert self.view.change is not None
        return self.view.change

    def status(self, node: str) -> NodeStatus:
        return next(one for one in self.view.nodes if one.node == node)

    def states(self) -> dict[str, NodeState]:
        return {one.node: one.state for one in self.view.nodes}

    def drift(self, kind: DriftKind) -> Drift:
        return next(one for one in self.view.drifts if one.kind is kind)

    def drift_kinds(self) -> list[DriftKind]:
        return [one.kind for one in self.view.drifts]

    def audit(self) -> list[AuditRecord]:
        with self.database.reading() as session:
            return list(audit.records(session, 200))


@contextmanager
def keeping(
    cluster: Cluster, directory: Path, *, reads_modules: bool = False, token: str = ""
) -> Iterator[Keeper]:
    """A keeper with a database of its own."""
    database = open_database(str(directory / "poolkeeper.db"))
    try:
        yield Keeper(cluster, database, directory, reads_modules, token)
    finally:
        database.close()
