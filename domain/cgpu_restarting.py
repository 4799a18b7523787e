"""The restart of one node, on an admin's wish: what to do next, from what is seen and remembered.

Poolkeeper reboots no machine. It cordons, evicts, says the step, recognises the new boot id,
verifies, and uncordons only what it cordoned. Exactly one restart per wish; `failed` is terminal
until an admin acts (facts/cgpu.md, 5, after NVIDIA's mig-manager).
"""

from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from domain.cgpu_cluster import Cluster, Node, Pod, Reading
from domain.cgpu_memory import Restart
from domain.cgpu_nodes import FINE, NodeState, NodeStatus, how_to_restart
from domain.cgpu_steps import (
    BeginRestart,
    Cordon,
    EndRestart,
    Evict,
    FailRestart,
    NoteBack,
    NoteDrained,
    Pace,
    Rest,
    Step,
)
from domain.names import listing

VERIFY_WITHIN: Final = timedelta(minutes=15)
"""How long a node may take from its first sight after the boot until it is verified."""

_WRONG: Final = frozenset({NodeState.RESTART_REQUIRED, NodeState.MIXED, NodeState.DRIFTED})


@dataclass(frozen=True, kw_only=True)
class Prepared:
    """A restart with its node, None where it is gone, and how the node stands by itself."""

    restart: Restart
    node: Node | None
    own: NodeStatus | None
    pods: tuple[Pod, ...]
    reading: Reading | None
    cluster: Cluster


def prepared(restart: Restart, cluster: Cluster, own: tuple[NodeStatus, ...]) -> Prepared:
    """What is known of a restart's node; `own` are the nodes' states with restarts left aside."""
    node = next((one for one in cluster.nodes if one.name == restart.node), None)
    reading = cluster.readings.get(restart.node)
    return Prepared(
        restart=restart,
        node=node,
        own=next((one for one in own if one.node == restart.node), None),
        pods=tuple(pod for pod in cluster.pods if pod.node == restart.node),
        reading=reading if isinstance(reading, Reading) else None,
        cluster=cluster,
    )


def has_booted(facts: Prepared) -> bool:
    """Whether its node is there with another boot id than before."""
    restart, node = facts.restart, facts.node
    return restart.begun and node is not None and bool(node.boot) and node.boot != restart.boot


def give_up(facts: Prepared) -> EndRestart | None:
    """The end of a restart that nobody wants or that has no node any more."""
    restart, node = facts.restart, facts.node
    if node is None or (restart.uid and node.uid != restart.uid):
        return EndRestart(restart=restart, node=None, says=f"{restart.node} is gone")
    if facts.own is None and not restart.begun:
        says = f"{restart.node} does not share its cards by cGPU, so there is nothing to restart"
        return EndRestart(restart=restart, node=None, says=says)
    if restart.withdrawn and (restart.failed or not has_booted(facts)):
        return EndRestart(
            restart=restart, node=ours(facts), says=f"the restart of {restart.node} was withdrawn"
        )
    return None


def ours(facts: Prepared) -> Node | None:
    """The node, if we cordoned it for this restart."""
    node = facts.node
    return node if node and node.cordon_mark == facts.restart.mark else None


def begin(facts: Prepared) -> Step:
    """The first step of a restart that has not begun, blockers before anything else."""
    node = facts.node
    assert node is not None
    if facts.cluster.reboot_lock:
        return Rest(
            pace=Pace.CLUSTER,
            says=f"{node.name} waits: kured restarts nodes ({facts.cluster.reboot_lock})",
        )
    if not node.ready or not node.boot:
        return Rest(pace=Pace.ADMIN, says=f"{node.name} is not ready, so it is left alone")
    return BeginRestart(restart=facts.restart, node=node)


def before_boot(facts: Prepared) -> Step:
    """Cordon, evict, and wait for the admin's restart."""
    restart, node = facts.restart, facts.node
    assert node is not None
    if not node.unschedulable:
        if node.cordon_mark == restart.mark or restart.drained_at is not None:
            return FailRestart(restart=restart, says="somebody uncordoned it meanwhile")
        return Cordon(restart=restart, node=node)
    if node.cordon_mark not in ("", restart.mark):
        return Cordon(restart=restart, node=node)  # ours since an earlier try: it stays ours
    if to_evict := tuple(pod for pod in facts.pods if not pod.stays and not pod.leaving):
        return Evict(restart=restart, pods=to_evict)
    if leaving := [pod.title for pod in facts.pods if not pod.stays]:
        return Rest(pace=Pace.CLUSTER, says=f"{node.name} waits for {listing(leaving)} to end")
    if facts.reading and facts.reading.boot == node.boot and facts.reading.containers:
        count = facts.reading.containers
        return Rest(pace=Pace.CLUSTER, says=f"{count} containers are still on {node.name}'s cards")
    if restart.drained_at is None:
        return NoteDrained(restart=restart, says=f"{node.name} is empty; {how_to_restart(node)}")
    return Rest(pace=Pace.ADMIN, says=f"{node.name} is empty; {how_to_restart(node)}")


def after_boot(facts: Prepared) -> Step:
    """Verify the node that has restarted, and give it back."""
    restart, node, own = facts.restart, facts.node, facts.own
    assert node is not None
    if restart.back_at is None:
        return NoteBack(restart=restart, node=node)
    if own is None:
        return FailRestart(restart=restart, says="it does not share its cards by cGPU any more")
    if own.state in _WRONG:
        return FailRestart(restart=restart, says=f"it restarted, but {own.reason}")
    missing = own.reason if own.state not in FINE else _lost(restart, node)
    if not missing:
        says = f"{node.name} has restarted and is verified: {own.reason}"
        return EndRestart(restart=restart, node=ours(facts), says=says, done=True)
    if facts.cluster.at - restart.back_at > VERIFY_WITHIN:
        minutes = int(VERIFY_WITHIN.total_seconds() // 60)
        says = f"it was not right within {minutes} minutes of its restart: {missing}"
        return FailRestart(restart=restart, says=says)
    return Rest(pace=Pace.CLUSTER, says=f"{node.name} is being verified: {missing}")


def _lost(restart: Restart, node: Node) -> str:
    """What it had before its restart and has not now (facts/cgpu.md, 4.1: GPU ids may change)."""
    if restart.cards is not None and node.cards != restart.cards:
        return f"it has {node.cards or 0} of its {restart.cards} cards"
    if restart.memory is not None and node.memory != restart.memory:
        return f"it has {node.memory or 0} of its {restart.memory} GiB of GPU memory"
    return ""
