"""How each node stands to the policy that all are to have, with the reason."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum

from domain.cgpu import WEIGHTED
from domain.cgpu_cluster import Cluster, Installer, InstallerPod, Node, Pod, Reading
from domain.cgpu_learning import one_policy, pods_by_node
from domain.cgpu_memory import Memory, NodeMemory, Proof, Restart
from domain.cgpu_versions import Unknown, Version, image_version, read_version


class NodeState(StrEnum):
    """Where a node stands. Only the first two are fine."""

    UP_TO_DATE = "up to date"
    OVERRIDDEN = "overridden by weight"
    """Policy 2 where 1 is wanted, because a container has a weight above 1."""
    NOT_LOADED = "not loaded"
    """The module is not there: what the installer sets takes effect when it loads it."""
    WAITS_FOR_INSTALLER = "waits for its installer"
    RESTART_REQUIRED = "restart required"
    UNKNOWN = "unknown"
    """Which policy its module has cannot be said."""
    DRIFTED = "drifted"
    """Its policy was changed on the node itself."""
    MIXED = "mixed"
    """Its GPUs have different policies."""
    NOT_READY = "not ready"
    WISHED = "waits for its restart"
    DRAINING = "being drained"
    AWAITS_RESTART = "to be restarted now"
    VERIFYING = "being verified"
    FAILED = "failed"


FINE = frozenset({NodeState.UP_TO_DATE, NodeState.OVERRIDDEN})
IN_HAND = frozenset({NodeState.DRAINING, NodeState.AWAITS_RESTART, NodeState.VERIFYING})


@dataclass(frozen=True, kw_only=True)
class NodeStatus:
    """One row of the table of nodes. `loaded` is the policy in its module, None where unknown;
    `restarted` whether it has booted since the change began, None where that is unknown.
    """

    node: str
    label: str
    state: NodeState
    reason: str
    card: str = ""
    cards: int | None = None
    loaded: int | None = None
    proof: Proof | None = None
    setting: int | None = None
    module: str = ""
    restarted: bool | None = None
    sharing_pods: int = 0
    cordoned: bool = False


@dataclass(frozen=True, kw_only=True)
class _Facts:
    """What is known of one node."""

    node: Node
    desired: int
    pod: InstallerPod | None
    installer: Installer | None
    known: NodeMemory | None
    reading: Reading | Unknown | None
    restart: Restart | None
    pods: tuple[Pod, ...]


def node_statuses(cluster: Cluster, memory: Memory, desired: int) -> tuple[NodeStatus, ...]:
    """Every node whose label has it load the module, in the cluster's order.

    `memory` is as of this look: `learn_nodes` has been through it.
    """
    return tuple(_status(facts) for facts in _every(cluster, memory, desired))


def _every(cluster: Cluster, memory: Memory, desired: int) -> Iterator[_Facts]:
    pods = pods_by_node(cluster)
    installers = {installer.uid: installer for installer in cluster.installers}
    restarts = {restart.node: restart for restart in memory.restarts}
    sharing: dict[str, list[Pod]] = {}
    for one in cluster.pods:
        if one.shares:
            sharing.setdefault(one.node, []).append(one)
    for node in cluster.nodes:
        if node.isolates:
            pod = pods.get(node.name)
            yield _Facts(
                node=node,
                desired=desired,
                pod=pod,
                installer=installers.get(pod.installer) if pod else None,
                known=_current(memory.nodes, node),
                reading=cluster.readings.get(node.name),
                restart=restarts.get(node.name),
                pods=tuple(sharing.get(node.name, ())),
            )


def _current(nodes: Mapping[str, NodeMemory], node: Node) -> NodeMemory | None:
    """What is remembered of this node, if it is of its present boot."""
    known = nodes.get(node.name)
    return known if known and (known.uid, known.boot) == (node.uid, node.boot) else None


def _status(facts: _Facts) -> NodeStatus:
    state, reason = _under_way(facts) or _own(facts)
    reading = facts.reading if isinstance(facts.reading, Reading) else None
    known = facts.known
    return NodeStatus(
        node=facts.node.name,
        label=facts.node.label,
        card=facts.node.card,
        cards=facts.node.cards,
        state=state,
        reason=reason,
        loaded=known.loaded if known and known.proof is not Proof.PRESUMED else None,
        proof=known.proof if known else None,
        setting=facts.pod.policy if facts.pod else None,
        module=reading.version if reading else "",
        restarted=_restarted(known),
        sharing_pods=len(facts.pods),
        cordoned=facts.node.unschedulable,
    )


def _restarted(known: NodeMemory | None) -> bool | None:
    if known is None or known.proof in (None, Proof.READ):
        return None
    return known.proof is not Proof.PRESUMED


def _under_way(facts: _Facts) -> tuple[NodeState, str] | None:
    """The state of a node that an admin wants restarted."""
    restart, node = facts.restart, facts.node
    if restart is None:
        return None
    if restart.failed:
        return NodeState.FAILED, restart.failed
    if not restart.begun:
        return NodeState.WISHED, f"{restart.by} wants it restarted"
    if node.boot != restart.boot:
        return NodeState.VERIFYING, "it has restarted; its policy and cards are being verified"
    if restart.drained_at is None:
        return NodeState.DRAINING, "its pods are being evicted"
    return NodeState.AWAITS_RESTART, f"it is empty; {how_to_restart(node)}"


def _own(facts: _Facts) -> tuple[NodeState, str]:
    """The state of a node by itself; the first that applies."""
    pod, node, desired = facts.pod, facts.node, facts.desired
    if not node.ready:
        return NodeState.NOT_READY, "the node is not ready, so nothing can be said of it"
    if pod is None:
        return NodeState.UNKNOWN, "no installer has a pod on it, though its label asks for one"
    if not pod.ready or pod.leaving:
        return NodeState.WAITS_FOR_INSTALLER, f"the installer's pod {pod.name} is not ready"
    if pod.policy != desired:
        said = "no POLICY" if pod.policy is None else f"POLICY {pod.policy}"
        return NodeState.WAITS_FOR_INSTALLER, f"the installer's pod there still has {said}"
    if isinstance(facts.reading, Reading) and facts.reading.boot == node.boot:
        return _as_read(facts, facts.reading)
    state, reason = _as_known(facts)
    if isinstance(facts.reading, Unknown):
        # What was proven before may have been changed on the node since (facts/cgpu.md, 6).
        state = NodeState.UNKNOWN if state is NodeState.UP_TO_DATE else state
        reason = f"{reason}; {facts.reading.why}"
    return state, reason


def _as_read(facts: _Facts, reading: Reading) -> tuple[NodeState, str]:
    desired, known = facts.desired, facts.known
    if not reading.loaded:
        return NodeState.NOT_LOADED, "its module is not loaded; it takes the policy when it is"
    read = one_policy(reading)
    if read == desired:
        return NodeState.UP_TO_DATE, "read from the node"
    if None in reading.policies or not reading.policies:
        return NodeState.UNKNOWN, "what it says of its GPUs' policies cannot be read"
    weighted = any(pod.weighted for pod in facts.pods)
    if desired == 1 and weighted and set(reading.policies) <= {1, WEIGHTED}:
        return NodeState.OVERRIDDEN, "policy 2 applies because a container has a weight above 1"
    if known and known.loaded is not None and known.loaded != read and known.proof is not None:
        return NodeState.DRIFTED, f"it had policy {known.loaded} and now has {_listed(reading)}"
    if read is None:
        return NodeState.MIXED, f"its GPUs have different policies: {_listed(reading)}"
    return NodeState.RESTART_REQUIRED, f"its module has policy {read}"


def _as_known(facts: _Facts) -> tuple[NodeState, str]:
    known, desired = facts.known, facts.desired
    if known is None or known.loaded is None:
        why = "it booted while its installer's setting changed, or before anybody looked"
        return NodeState.UNKNOWN, f"which policy its module has is not known: {why}"
    if known.loaded != desired:
        sure = "was presumably loaded with" if known.proof is Proof.PRESUMED else "has"
        return NodeState.RESTART_REQUIRED, f"its module {sure} policy {known.loaded}"
    if known.proof is Proof.PRESUMED:
        return NodeState.UNKNOWN, (
            "its installer was set to this before Poolkeeper looked, and it has not restarted "
            "since: what its module has is not known"
        )
    joined = known.proof is Proof.JOINED
    said = "joined" if joined else "was read" if known.proof is Proof.READ else "restarted"
    return NodeState.UP_TO_DATE, f"it {said} while its installer was set to this"


def how_to_restart(node: Node) -> str:
    """The exact step for an admin: Poolkeeper reboots no machine (DESIGN.md, "cGPU").

    `provider` is `REGION.INSTANCE` on ACK; the operation is ECS RebootInstance, without force.
    """
    region, dot, instance = node.provider.rpartition("/")[2].partition(".")
    if dot and instance.startswith("i-"):
        return (
            f"restart it now: aliyun ecs RebootInstance --RegionId {region} --InstanceId {instance}"
        )
    return f"restart the machine {node.name} now, from its operating system or its console"


def module_differs(installer: Installer, reading: Reading) -> bool:
    """Whether the loaded module is another version than the installer's image.

    The module of an upgraded installer is loaded at the node's next restart (facts/cgpu.md, 6).
    """
    versions = {image_version(image) for image in installer.images}
    loaded = read_version(reading.version)
    known = {one for one in versions if isinstance(one, Version)}
    return bool(known) and loaded is not None and loaded not in known


def _listed(reading: Reading) -> str:
    return ", ".join(f"GPU {gpu}: {policy}" for gpu, policy in enumerate(reading.policies))
