"""What differs on the nodes from the provisioned policy (facts/cgpu.md, 6)."""

from collections.abc import Iterator, Sequence
from datetime import timedelta
from typing import Final

from domain.cgpu_cluster import Cluster, Reading
from domain.cgpu_drift_kinds import Drift, DriftKind
from domain.cgpu_learning import images_text
from domain.cgpu_memory import Memory, Proof
from domain.cgpu_nodes import NodeState, NodeStatus, module_differs
from domain.names import listing

MIXED_AT_MOST: Final = timedelta(hours=24)
"""How long the nodes of a cluster may have different policies before it is an alarm.

The documentation wants one policy for all of them; during a change that cannot be so
(facts/cgpu.md, 4.1).
"""


_TOLD: Final = (
    (NodeState.MIXED, DriftKind.MIXED, "have GPUs of different policies", "restart them"),
    (
        NodeState.RESTART_REQUIRED,
        DriftKind.PENDING,
        "still have another policy loaded",
        "restart them, one by one",
    ),
    (
        NodeState.OVERRIDDEN,
        DriftKind.WEIGHT,
        "have policy 2 because a container there has a weight above 1",
        "that is as cGPU works under policy 1",
    ),
    (
        NodeState.UNKNOWN,
        DriftKind.UNKNOWN,
        "cannot be said to have the policy",
        "restart them, or let Poolkeeper read them (POOLKEEPER_CGPU_PROBE=exec)",
    ),
    (
        NodeState.NOT_LOADED,
        DriftKind.NOT_LOADED,
        "have no cGPU module loaded, though their label asks for it",
        "look at the log of the installer's pods there",
    ),
)
"""The states that are told of all nodes together: what is said of them, and what to do."""


def node_drifts(own: Sequence[NodeStatus], desired: int) -> Iterator[Drift]:
    by_state: dict[NodeState, list[NodeStatus]] = {}
    for status in own:
        by_state.setdefault(status.state, []).append(status)
    for status in by_state.get(NodeState.DRIFTED, ()):
        yield Drift(
            kind=DriftKind.RUNTIME,
            about=status.node,
            text=f"On {status.node} the policy was changed without Kubernetes: {status.reason}.",
            remedy=f"restart the node to load policy {desired} again",
        )
    for state, kind, says, remedy in _TOLD:
        if found := by_state.get(state):
            names = listing(status.node for status in found)
            text = f"{len(found)} of {len(own)} nodes {says}: {names}. {found[0].node}: "
            text += f"{found[0].reason}."
            yield Drift(kind=kind, about="nodes", text=text, remedy=remedy)


def overdue_drifts(cluster: Cluster, memory: Memory) -> Iterator[Drift]:
    change = memory.change
    if change is None or not change.is_open or cluster.at - change.started_at < MIXED_AT_MOST:
        return
    yield Drift(
        kind=DriftKind.OVERDUE,
        about=f"change {change.id}",
        text=f"The change to policy {change.policy} has been under way since "
        f"{change.started_at:%Y-%m-%d %H:%M} UTC, and the nodes have different policies meanwhile.",
        remedy="restart the nodes that are left, or roll back",
    )


def module_drifts(cluster: Cluster) -> Iterator[Drift]:
    installers = {installer.uid: installer for installer in cluster.installers}
    for pod in cluster.installer_pods:
        reading = cluster.readings.get(pod.node)
        installer = installers.get(pod.installer)
        if installer and isinstance(reading, Reading) and reading.loaded:
            if not module_differs(installer, reading):
                continue
            yield Drift(
                kind=DriftKind.MODULE,
                about=pod.node,
                text=f"{pod.node} has cGPU {reading.version} loaded, and "
                f"{installer.title} installs {images_text(installer)}.",
                remedy="the new one is loaded when the node is restarted",
            )


def label_drifts(cluster: Cluster, memory: Memory) -> Iterator[Drift]:
    """Nodes that load no module any more by their label, but have one (facts/cgpu.md, 1.2)."""
    for node in cluster.nodes:
        known = memory.nodes.get(node.name)
        if node.isolates or known is None or known.boot != node.boot:
            continue
        if known.loaded is not None and known.proof is not Proof.PRESUMED:
            yield Drift(
                kind=DriftKind.LABEL,
                about=node.name,
                text=f"{node.name} was labelled {node.label or 'for no sharing'} while its cGPU "
                "module is still loaded.",
                remedy="uninstall cGPU there and restart it, or put the label back",
            )
