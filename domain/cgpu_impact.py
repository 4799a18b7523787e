"""What a change of the policy would mean, for whoever approves it."""

from collections import Counter
from dataclasses import dataclass

from domain.cgpu import POLICIES, Honesty
from domain.cgpu_change import Situation, needs_restart
from domain.cgpu_drift import helm_values
from domain.cgpu_fractions import dishonoured
from domain.cgpu_nodes import NodeState, NodeStatus, node_statuses
from domain.configuration import Configuration


@dataclass(frozen=True, kw_only=True)
class Impact:
    """The blast radius of a policy. `before` is the policy set now, None for none or several.

    `restarts` are the nodes that get it by a restart only, `at_once` those that get it without,
    `unclear` those of which neither is known. `crowded` are the pods on nodes where several share
    cards, `alone` those without company: what they get changes most. `dishonoured` are profiles
    whose part of the computing power will not be what they ask for; `newly` those of which it is so
    only under the new policy.
    """

    policy: int
    before: int | None
    restarts: tuple[str, ...]
    at_once: tuple[str, ...]
    unclear: tuple[str, ...]
    crowded: tuple[str, ...]
    alone: tuple[str, ...]
    dishonoured: tuple[str, ...]
    newly: tuple[str, ...]
    blockers: tuple[str, ...]
    warnings: tuple[str, ...]
    values: str


def impact(situation: Situation, configuration: Configuration, policy: int) -> Impact:
    """What setting `policy` would mean for the cluster as it was last looked at."""
    cluster, memory = situation.cluster, situation.memory
    now = {one.policy for one in memory.installers.values()}
    before = now.pop() if len(now) == 1 else None
    statuses = node_statuses(cluster, memory, policy)
    crowded, alone = _company(situation)
    under_new = dishonoured(configuration, policy)
    under_old = dishonoured(configuration, before) if before is not None else ()
    found = situation.preflight
    return Impact(
        policy=policy,
        before=before,
        restarts=tuple(one.node for one in statuses if _restarts(one, policy)),
        at_once=tuple(one.node for one in statuses if one.state is NodeState.NOT_LOADED),
        unclear=tuple(one.node for one in statuses if one.state is NodeState.NOT_READY),
        crowded=crowded,
        alone=alone,
        dishonoured=under_new,
        newly=tuple(name for name in under_new if name not in under_old),
        blockers=(*found.blockers, *found.starting),
        warnings=(*found.warnings, *_policy_warnings(policy, before, len(alone))),
        values=helm_values(policy),
    )


def _restarts(status: NodeStatus, policy: int) -> bool:
    """Whether a node will need a restart once its installer has the policy."""
    if status.state is NodeState.WAITS_FOR_INSTALLER:
        return status.loaded != policy
    return needs_restart(status)


def _company(situation: Situation) -> tuple[tuple[str, ...], tuple[str, ...]]:
    # By node, not by card: the annotations that name a pod's card are not always true
    # (facts/cgpu.md, 4.3, issue 2).
    sharing = [pod for pod in situation.cluster.pods if pod.shares]
    counts = Counter(pod.node for pod in sharing)
    crowded = tuple(pod.title for pod in sharing if counts[pod.node] > 1)
    alone = tuple(pod.title for pod in sharing if counts[pod.node] == 1)
    return crowded, alone


def _policy_warnings(policy: int, before: int | None, alone: int) -> tuple[str, ...]:
    elastic = before in (1, 2, 4, 5)
    if policy in (0, 3) and elastic and alone:
        return (
            "The computing power of a pod that has a card for itself may drop from all of it to "
            f"{'1/max_inst' if policy == 0 else 'what it asks for'}.",
        )
    if POLICIES[policy].honesty is Honesty.RATIO:
        return ("Weights come from ALIYUN_COM_GPU_SCHD_WEIGHT in the pods, 1 where it is not set.",)
    return ()
