"""Events on the installers and the nodes, for people who look with kubectl.

Told once per cause: an event's name is made of its cause, and this process remembers which it told.
Only so many at a time; the rest follows at the next look. One that cannot be made stops nothing.
"""

import logging
from collections.abc import Iterable, Iterator
from typing import Final

from controller.kubernetes_ports import Forbidden, Kubernetes, KubernetesError, Told
from domain.cgpu_change import Situation, needs_restart
from domain.cgpu_cluster import Installer, Node
from domain.cgpu_drift_kinds import Drift, DriftKind

log = logging.getLogger(__name__)

MOST_AT_ONCE: Final = 20


class Events:
    """Tells events through a door."""

    def __init__(self) -> None:
        self._told: set[str] = set()
        self._forbidden = False

    def tell(self, door: Kubernetes, events: Iterable[Told]) -> None:
        """Those that this process has not told yet."""
        new = [event for event in events if event.cause not in self._told]
        for event in new[:MOST_AT_ONCE]:
            if self._forbidden:
                return
            try:
                door.tell(event)
            except Forbidden as error:
                self._forbidden = True
                log.warning("events cannot be made", extra={"error": error})
            except KubernetesError as error:
                log.info("an event was not made", extra={"cause": event.cause, "error": error})
                return
            self._told.add(event.cause)


def on_installer(installer: Installer, reason: str, message: str, cause: str) -> Told:
    """An event of a DaemonSet."""
    return Told(
        kind="DaemonSet",
        namespace=installer.namespace,
        name=installer.name,
        uid=installer.uid,
        reason=reason,
        message=message,
        cause=f"{reason}:{installer.uid}:{cause}",
    )


def on_node(node: Node, reason: str, message: str, cause: str) -> Told:
    """An event of a node."""
    return Told(
        kind="Node",
        namespace="",
        name=node.name,
        uid=node.uid,
        reason=reason,
        message=message,
        cause=f"{reason}:{node.uid}:{cause}",
    )


def standing(situation: Situation, found: Iterable[Drift]) -> Iterator[Told]:
    """What the cluster as it is should be told: nodes that need a restart, and drifts."""
    nodes = {node.name: node for node in situation.cluster.nodes}
    installers = situation.cluster.installers
    change = situation.memory.change
    for status in situation.own:
        if change is not None and needs_restart(status):
            node = nodes[status.node]
            message = f"cGPU policy {change.policy}: {status.reason}"
            yield on_node(node, "CgpuRestartRequired", message, f"{change.id}:{node.boot}")
    for drift in found:
        if drift.alarms and drift.kind is not DriftKind.NOT_INSTALLED:
            cause = f"{drift.cause}:{drift.text}"
            if drift.about in nodes:
                yield on_node(nodes[drift.about], "CgpuDriftDetected", drift.text, cause)
            elif installers:
                yield on_installer(installers[0], "CgpuDriftDetected", drift.text, cause)
