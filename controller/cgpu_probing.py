"""Which nodes' modules are read at a look: as many as it can afford, the unclear ones first."""

from dataclasses import replace
from typing import Final

from controller.kubernetes_ports import Kubernetes
from domain.cgpu_cluster import Cluster, InstallerPod, Node, Probe, Reading
from domain.cgpu_learning import pods_by_node
from domain.cgpu_memory import Memory, Proof

MOST_AT_ONCE: Final = 25
_PROVEN: Final = frozenset({Proof.READ, Proof.BOOTED, Proof.JOINED})


class Prober:
    """Reads modules through a door, and keeps each reading until the node is read again.

    In clusters of up to `most` nodes every node is read at every look.
    """

    def __init__(self, most: int = MOST_AT_ONCE) -> None:
        self._most = most
        self._turn = 0
        self._read_in: dict[str, int] = {}
        self._readings: dict[str, Probe] = {}

    def read(self, door: Kubernetes, cluster: Cluster, memory: Memory) -> Cluster:
        """The cluster with the readings that there are of its nodes as they are now."""
        pods = pods_by_node(cluster)
        nodes = {node.name: node for node in cluster.nodes if node.isolates}
        self._turn += 1
        due = sorted(
            (name for name, node in nodes.items() if _readable(node, pods.get(name))),
            key=lambda name: (self._urgency(name, nodes[name], memory), self._read_in.get(name, 0)),
        )
        for name in due[: self._most]:
            self._readings[name] = door.read_module(pods[name], nodes[name])
            self._read_in[name] = self._turn
        self._readings = {
            name: probe for name, probe in self._readings.items() if _is_of(probe, nodes.get(name))
        }
        return replace(cluster, readings=dict(self._readings))

    def _urgency(self, name: str, node: Node, memory: Memory) -> int:
        """0 for the node in hand, 1 for one that is not proven, 2 for any other."""
        if memory.in_hand is not None and memory.in_hand.node == name:
            return 0
        known = memory.nodes.get(name)
        proven = known is not None and known.boot == node.boot and known.proof in _PROVEN
        return 2 if proven else 1


def _readable(node: Node, pod: InstallerPod | None) -> bool:
    return node.ready and pod is not None and pod.ready and not pod.leaving


def _is_of(probe: Probe, node: Node | None) -> bool:
    return node is not None and (not isinstance(probe, Reading) or probe.boot == node.boot)
