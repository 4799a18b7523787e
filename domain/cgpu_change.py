"""The change of the policy as a state machine: the next step is a function of what is seen.

Nothing waits for an event: each look decides anew from the cluster as it is and from what is
remembered, so it does not matter where the last process was killed. One step at a time, one change
at a time, one node at a time (facts/cgpu.md, 4.2 and 5).
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

from domain import cgpu_restarting as restarting
from domain.cgpu_cluster import Cluster, Installer, InstallerPod, Strategy
from domain.cgpu_drift import installers_off, who_wrote
from domain.cgpu_learning import pods_by_node, setting_of
from domain.cgpu_memory import Change, Memory, Outcome, Proof
from domain.cgpu_nodes import FINE, NodeState, NodeStatus, node_statuses
from domain.cgpu_preflight import Preflight, preflight
from domain.cgpu_steps import (
    BeginChange,
    EndChange,
    EndRestart,
    Pace,
    ReplacePod,
    Rest,
    SetPolicy,
    Step,
    StopChange,
)
from domain.names import listing

_NOT_REACHED: Final = frozenset({Outcome.REPLACED, Outcome.UNMANAGED})


@dataclass(frozen=True)
class Situation:
    """A look, what is remembered as of it, and the provisioned policy; None where unmanaged."""

    cluster: Cluster
    memory: Memory
    desired: int | None

    @cached_property
    def preflight(self) -> Preflight:
        return preflight(self.cluster)

    @cached_property
    def own(self) -> tuple[NodeStatus, ...]:
        """How the nodes stand, restarts left aside."""
        if self.desired is None:
            return ()
        return node_statuses(self.cluster, replace(self.memory, restarts=()), self.desired)

    @cached_property
    def statuses(self) -> tuple[NodeStatus, ...]:
        """How the nodes stand, as the table shows it."""
        if self.desired is None:
            return ()
        return node_statuses(self.cluster, self.memory, self.desired)


def next_step(situation: Situation) -> Step:
    """What to do now; a `Rest` when nothing, with the reason."""
    memory, desired = situation.memory, situation.desired
    if memory.control.paused:
        return Rest(pace=Pace.ADMIN, says=f"paused by {memory.control.by}")
    # A node that has restarted is seen to first, whatever else stands in the way.
    facts = [restarting.prepared(one, situation.cluster, situation.own) for one in memory.restarts]
    if desired is None:
        return _unmanaged(memory, facts)
    for one in facts:
        if over := restarting.give_up(one):
            return over
    if (back := _in_hand(facts)) is not None and restarting.has_booted(back):
        return restarting.after_boot(back)
    return _changing(situation, desired) or _restarting(facts) or _settling(situation)


def _unmanaged(memory: Memory, facts: list[restarting.Prepared]) -> Step:
    """What was begun is put back, and nothing is begun."""
    for one in facts:
        says = f"cGPU is not managed any more, so {one.restart.node} is left as it is"
        return EndRestart(restart=one.restart, node=restarting.ours(one), says=says)
    if memory.change is not None and memory.change.is_open:
        return EndChange(change=memory.change, outcome=Outcome.UNMANAGED)
    return Rest(pace=Pace.DONE, says="the configuration has no cGPU policy, so cGPU is left alone")


def _in_hand(facts: list[restarting.Prepared]) -> restarting.Prepared | None:
    return next((one for one in facts if one.restart.begun and not one.restart.failed), None)


def _changing(situation: Situation, desired: int) -> Step | None:
    """The steps until every installer has the policy and its pods too; None when that is so."""
    memory, cluster = situation.memory, situation.cluster
    if not cluster.installers:
        says = "cGPU is not installed: no DaemonSet installs it"
        return Rest(pace=Pace.ADMIN, says=says)
    change = memory.change
    if change is None or change.policy != desired or change.outcome in _NOT_REACHED:
        return BeginChange(policy=desired, replaces=change if change and change.is_open else None)
    if situation.preflight.blockers:
        return Rest(pace=Pace.BLOCKED, says=" ".join(situation.preflight.blockers))
    if change.stopped:
        return Rest(pace=Pace.ADMIN, says=f"stopped: {change.stopped}")
    if step := _set_policies(situation, change):
        return step
    return _rolling_out(situation)


def _set_policies(situation: Situation, change: Change) -> Step | None:
    for installer in installers_off(situation.cluster, change.policy):
        if not change.is_open:
            says = f"POLICY of {installer.title} is not {change.policy}; say resume to set it"
            return Rest(pace=Pace.ADMIN, says=says)
        before = setting_of(installer)
        patch = situation.memory.patches.get(installer.uid)
        if patch is not None and patch.seen is not None:
            return StopChange(change=change, says=who_wrote(situation.cluster, installer, change))
        if situation.preflight.starting:
            return Rest(pace=Pace.BLOCKED, says=" ".join(situation.preflight.starting))
        setting = installer.settings[0] if installer.settings else None
        return SetPolicy(change=change, installer=installer, setting=setting, before=before)
    return None


def _rolling_out(situation: Situation) -> Step | None:
    unready = sum(node.isolates and not node.ready for node in situation.cluster.nodes)
    for installer in situation.cluster.installers:
        if installer.observed_generation < installer.generation:
            says = f"{installer.title} has been changed, and its pods are about to be"
            return Rest(pace=Pace.CLUSTER, says=says)
        if installer.strategy is Strategy.ON_DELETE and (step := _replacing(situation, installer)):
            return step
        if installer.desired - min(installer.updated, installer.available) > unready:
            says = (
                f"{installer.title} is rolled out: {installer.updated} of {installer.desired} "
                f"pods are new, {installer.available} are ready"
            )
            return Rest(pace=Pace.CLUSTER, says=says)
    return None


def _replacing(situation: Situation, installer: Installer) -> Step | None:
    """With `OnDelete` the pods are ours to replace, one at a time."""
    nodes = {node.name: node for node in situation.cluster.nodes}
    pods = [
        pod
        for pod in pods_by_node(situation.cluster).values()
        if pod.installer == installer.uid and pod.node in nodes and nodes[pod.node].ready
    ]
    if coming := [pod.node for pod in pods if pod.leaving or not pod.ready]:
        says = f"{installer.title}'s pods become ready on {listing(coming)}"
        return Rest(pace=Pace.CLUSTER, says=says)
    old = sorted((pod for pod in pods if _is_old(pod, installer)), key=lambda pod: pod.node)
    return ReplacePod(pod=old[0]) if old else None


def _is_old(pod: InstallerPod, installer: Installer) -> bool:
    return bool(installer.revision) and pod.revision != installer.revision


def _restarting(facts: list[restarting.Prepared]) -> Step | None:
    """The steps of the restart in hand, or of the next one that an admin wants."""
    if (current := _in_hand(facts)) is not None:
        return restarting.before_boot(current)
    failed = [one.restart for one in facts if one.restart.failed]
    waiting = sorted(
        (one for one in facts if not one.restart.failed), key=lambda one: one.restart.at
    )
    if failed:
        names = listing(f"{one.node} ({one.failed})" for one in failed)
        says = f"the restart failed of {names}; nothing is begun until an admin acts"
        return Rest(pace=Pace.ADMIN, says=says)
    steps = [restarting.begin(one) for one in waiting]
    # One that cannot begin now does not keep the others from it.
    return next((step for step in steps if not isinstance(step, Rest)), steps[0] if steps else None)


def _settling(situation: Situation) -> Step:
    """The end of the change when every node has the policy; else what the nodes still need."""
    change, own = situation.memory.change, situation.own
    assert change is not None
    open_ones = [one for one in own if one.state not in FINE and not _as_before(one)]
    if not open_ones and change.is_open:
        proven = all(one.state in FINE for one in own)
        return EndChange(change=change, outcome=Outcome.CONVERGED if proven else Outcome.UNPROVEN)
    if not open_ones:
        return Rest(pace=Pace.DONE, says=f"every node is set to policy {change.policy}")
    needing = [one.node for one in own if needs_restart(one)]
    if needing:
        return Rest(pace=Pace.ADMIN, says=f"to be restarted, one by one: {listing(needing)}")
    says = listing(f"{one.node} ({one.reason})" for one in open_ones)
    return Rest(pace=Pace.CLUSTER, says=f"waited for: {says}")


def _as_before(status: NodeStatus) -> bool:
    """Not proven, but as it was when Poolkeeper first looked: no change of ours touched it."""
    return status.state is NodeState.UNKNOWN and status.proof is Proof.PRESUMED


def needs_restart(status: NodeStatus) -> bool:
    """Whether a node gets the policy by a restart, and by nothing else."""
    if status.state is NodeState.UNKNOWN:
        return status.setting is not None and status.proof is None
    return status.state in (NodeState.RESTART_REQUIRED, NodeState.MIXED, NodeState.DRIFTED)
