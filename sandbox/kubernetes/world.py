"""The cluster as a whole: what the API server stores, the machines, and how fast things go."""

import time
from dataclasses import dataclass, field

from sandbox.kubernetes.api import Server
from sandbox.kubernetes.documents import Doc, at, name_of
from sandbox.kubernetes.machines import Machine
from sandbox.kubernetes.resources import DAEMON_SETS, NAMESPACES, NODES, PODS
from sandbox.kubernetes.store import Store
from sandbox.kubernetes.storing import added

SYSTEM = "kube-system"
ENDS_AFTER = "sandbox/ends-after"


@dataclass(slots=True)
class Knobs:
    """`pace`: seconds between two steps of the controllers; `paused`: they stand still.

    `taints`: whether the node lifecycle controller runs, which taints cordoned and lost nodes.
    """

    pace: float = 0.02
    paused: bool = False
    taints: bool = True


@dataclass(slots=True)
class Wanted:
    """What an owner keeps alive: so many pods like this one."""

    count: int
    like: Doc


@dataclass(slots=True)
class World:
    api: Server = field(default_factory=Server)
    machines: dict[str, Machine] = field(default_factory=dict)
    knobs: Knobs = field(default_factory=Knobs)
    wanted: dict[str, Wanted] = field(default_factory=dict)
    ended_at: dict[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in ("default", "kube-node-lease", "kube-public", SYSTEM):
            added(self.store, NAMESPACES, {"metadata": {"name": name}})

    @property
    def store(self) -> Store:
        return self.api.store

    def node(self, name: str) -> Doc:
        """The node; KeyError for an unknown one, which the door answers with 400."""
        return self.store.tables[NODES][("", name)]

    def daemon_set(self, name: str, namespace: str = SYSTEM) -> Doc:
        return self.store.tables[DAEMON_SETS][(namespace, name)]

    def pod(self, name: str, namespace: str = "default") -> Doc:
        return self.store.tables[PODS][(namespace, name)]

    def pods_on(self, node: str) -> list[Doc]:
        return [pod for pod in self.store.all(PODS) if at(pod, "spec", "nodeName") == node]

    def is_up(self, node: Doc) -> bool:
        if machine := self.machines.get(name_of(node)):
            return machine.up
        conditions = at(node, "status", "conditions") or []
        return any(one["type"] == "Ready" and one["status"] == "True" for one in conditions)

    def next_due(self, after: float) -> float | None:
        """When something happens by itself next, on the monotonic clock."""
        boots = [one.boots_at for one in self.machines.values() if one.boots_at is not None]
        due = [*boots, *self.ended_at.values()]
        return min((one for one in due if one > after), default=None)

    def stir(self) -> None:
        """Makes the controllers look again."""
        self.store.stirred.set()


def now() -> float:
    return time.monotonic()
