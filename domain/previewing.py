"""What a configuration would mean for what waits and runs now. Pure.

A preview is `allocate` on the last snapshot under the drafted configuration (DESIGN.md, "The
flows"), compared with what it says under the configuration in force.
"""

from dataclasses import dataclass, replace

from domain.allocation import allocate
from domain.configuration import Configuration
from domain.renames import Kind, Renames
from domain.snapshot import NEVER, Plan, Snapshot


@dataclass(frozen=True, kw_only=True)
class Effect:
    """Task ids, in snapshot order.

    `starts` would start at once, and would not without the change; `never` could never run, and
    can without it; `able` can run at last; `homeless` wait in a queue that would be removed.
    """

    starts: tuple[str, ...] = ()
    never: tuple[str, ...] = ()
    able: tuple[str, ...] = ()
    homeless: tuple[str, ...] = ()


def effect(snapshot: Snapshot, configuration: Configuration, renames: Renames) -> Effect:
    """What would change for the tasks of the snapshot if the configuration were in force."""
    changed = under(snapshot, configuration, renames)
    before, after = allocate(snapshot), allocate(changed)
    tasks = [task.id for queue in snapshot.queues for task in queue.tasks]
    kept = {task.id for queue in changed.queues for task in queue.tasks}
    starts = _started(after) - _started(before)
    never_before, never_after = _never(before), _never(after)
    return Effect(
        starts=tuple(task for task in tasks if task in starts),
        never=tuple(task for task in tasks if task in never_after - never_before),
        able=tuple(task for task in tasks if task in (never_before - never_after) & kept),
        homeless=tuple(task for task in tasks if task not in kept),
    )


def under(snapshot: Snapshot, configuration: Configuration, renames: Renames) -> Snapshot:
    """The snapshot as it would be: under the new names, without the queues that are removed."""
    queues = tuple(
        replace(
            queue,
            policy=renames.current(Kind.POLICY, queue.policy),
            profile=renames.current(Kind.PROFILE, queue.profile),
        )
        for queue in snapshot.queues
    )
    configured = {
        (policy.name, intake.profile)
        for policy in configuration.policies
        for intake in policy.queues
    }
    return replace(
        snapshot,
        configuration=configuration,
        queues=tuple(queue for queue in queues if (queue.policy, queue.profile) in configured),
        allocations=tuple(
            replace(
                allocation,
                policy=renames.current(Kind.POLICY, allocation.policy),
                profile=renames.current(Kind.PROFILE, allocation.profile),
                pool=renames.current(Kind.POOL, allocation.pool),
            )
            for allocation in snapshot.allocations
        ),
        foreign={
            renames.current(Kind.POOL, pool): amount for pool, amount in snapshot.foreign.items()
        },
    )


def _started(plan: Plan) -> set[str]:
    return {dispatch.task for dispatch in plan.dispatch}


def _never(plan: Plan) -> set[str]:
    return {waiting.task for waiting in plan.waiting if waiting.reason in NEVER}
