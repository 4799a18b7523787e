"""Checking a round's own books before anything moves (rule 9). Pure."""

from collections import Counter
from collections.abc import Iterator

from domain.amounts import format_amount
from domain.snapshot import Plan, Snapshot


def violations(snapshot: Snapshot, plan: Plan) -> tuple[str, ...]:
    """What a plan does that no plan may do; each a sentence with the numbers."""
    return (*_answers(snapshot, plan), *_pools(plan), *_policies(plan))


def _answers(snapshot: Snapshot, plan: Plan) -> Iterator[str]:
    answered = Counter(dispatch.task for dispatch in plan.dispatch)
    answered.update(waiting.task for waiting in plan.waiting)
    asked = Counter(task.id for queue in snapshot.queues for task in queue.tasks)
    for task in sorted((answered - asked) + (asked - answered)):
        yield (
            f"Task {task} is {asked[task]} times in the snapshot and was answered "
            f"{answered[task]} times."
        )


def _pools(plan: Plan) -> Iterator[str]:
    served = {dispatch.pool for dispatch in plan.dispatch}
    for pool in plan.pools:
        # A pool that was shrunk under its load is over its size, but then gets nothing more.
        if pool.name in served and pool.used > pool.resources:
            yield (
                f"Pool {pool.name} would be over-committed: {format_amount(pool.used)} of "
                f"{format_amount(pool.resources)}."
            )


def _policies(plan: Plan) -> Iterator[str]:
    served = {dispatch.policy for dispatch in plan.dispatch}
    for policy in plan.policies:
        if policy.name in served and policy.limit is not None and policy.usage > policy.limit:
            yield (
                f"Policy {policy.name} would exceed its limit: {format_amount(policy.usage)} of "
                f"{format_amount(policy.limit)}."
            )
