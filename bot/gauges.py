"""What is published, as gauges: read anew at every scrape, so that what is gone is gone.

Exact amounts become floats here and nowhere else.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import datetime

from prometheus_client import Metric
from prometheus_client.core import GaugeMetricFamily

from controller.publishing import View
from domain.amounts import ZERO, Amount
from domain.snapshot import PolicyState, Reason

Value = float | int | Amount


def gauge(
    name: str,
    says: str,
    labels: tuple[str, ...] = (),
    values: Iterable[tuple[tuple[str, ...], Value]] = (),
) -> GaugeMetricFamily:
    """One gauge; a value for each set of labels."""
    family = GaugeMetricFamily(name, says, labels=labels)
    for of, value in values:
        family.add_metric(of, float(value))
    return family


def one(name: str, says: str, value: Value) -> GaugeMetricFamily:
    """A gauge without labels."""
    return gauge(name, says, (), [((), value)])


def about_round(view: View) -> Iterator[Metric]:
    """The last published round."""
    yield from _about(view)
    yield from _pools(view)
    yield from _policies(view)
    yield from _waiting(view)


def _about(view: View) -> Iterator[Metric]:
    yield one(
        "poolkeeper_view_timestamp_seconds",
        "When the last published round looked, in Unix time.",
        view.at.timestamp(),
    )
    yield one(
        "poolkeeper_configuration_version", "The configuration's number in force.", view.version
    )
    yield one(
        "poolkeeper_management_enabled",
        "1 while the policies' queues are served, 0 while management is disabled.",
        view.snapshot.enabled,
    )


def _pools(view: View) -> Iterator[Metric]:
    pools = view.plan.pools
    yield gauge(
        "poolkeeper_pool_resources",
        "What a pool has.",
        ("pool",),
        (((pool.name,), pool.resources) for pool in pools),
    )
    yield gauge(
        "poolkeeper_pool_used_resources",
        "What is used of a pool, foreign tasks included.",
        ("pool",),
        (((pool.name,), pool.used) for pool in pools),
    )
    foreign = view.snapshot.foreign
    yield gauge(
        "poolkeeper_pool_foreign_resources",
        "What tasks that came through no intake queue use of a pool.",
        ("pool",),
        (((pool.name,), foreign.get(pool.name, ZERO)) for pool in pools),
    )


def _policies(view: View) -> Iterator[Metric]:
    policies = view.plan.policies
    yield gauge(
        "poolkeeper_policy_reserved_resources",
        "What a policy is guaranteed.",
        ("policy",),
        (((policy.name,), policy.reservation) for policy in policies),
    )
    yield gauge(
        "poolkeeper_policy_limit_resources",
        "What a policy may use at most; absent where it has no limit.",
        ("policy",),
        (((policy.name,), policy.limit) for policy in policies if policy.limit is not None),
    )
    yield gauge(
        "poolkeeper_policy_used_resources",
        "What a policy uses.",
        ("policy",),
        (((policy.name,), policy.usage) for policy in policies),
    )
    yield gauge(
        "poolkeeper_policy_borrowed_resources",
        "What a policy uses beyond its reservation.",
        ("policy",),
        (((policy.name,), _borrowed(policy)) for policy in policies),
    )


def _borrowed(policy: PolicyState) -> Amount:
    return max(ZERO, policy.usage - policy.reservation)


def _waiting(view: View) -> Iterator[Metric]:
    counted = Counter((task.policy, task.reason) for task in view.plan.waiting)
    by_reason = Counter(task.reason for task in view.plan.waiting)
    yield gauge(
        "poolkeeper_waiting_tasks",
        "Tasks that wait in intake queues, by reason.",
        ("reason",),
        (((reason,), by_reason[reason]) for reason in Reason),
    )
    yield gauge(
        "poolkeeper_policy_waiting_tasks",
        "A policy's tasks that wait; absent for reasons that none of them has.",
        ("policy", "reason"),
        (((policy, reason), count) for (policy, reason), count in counted.items()),
    )
    yield gauge(
        "poolkeeper_policy_longest_wait_seconds",
        "How long the first of a policy's waiting tasks has waited; 0 where none waits.",
        ("policy",),
        _longest(view),
    )


def _longest(view: View) -> Iterator[tuple[tuple[str, ...], float]]:
    since: dict[str, datetime] = {}
    starting = {dispatch.task for dispatch in view.plan.dispatch}
    for queue in view.snapshot.queues:
        waiting = [task.first_seen for task in queue.tasks if task.id not in starting]
        if waiting:
            since[queue.policy] = min(*waiting, since.get(queue.policy, view.at))
    for policy in view.plan.policies:
        waited = view.at - since.get(policy.name, view.at)
        yield (policy.name,), waited.total_seconds()
