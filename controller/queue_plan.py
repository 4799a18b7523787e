"""What a configuration means for ClearML's queues: which to make, adopt, rename and give up.

Pure; the same plan is shown in a preview and carried out by provisioning.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum

from controller.ports import QueueState
from domain.configuration import Configuration
from domain.ledger import OwnedQueue, Role
from domain.renames import Kind, Renames

MARKS = ("poolkeeper_role", "poolkeeper_profile", "poolkeeper_owner", "poolkeeper_pool")
"""Keys in a queue's metadata under which we find it again when the database is lost."""

BACKUP = "poolkeeper_ledger"
"""The key of the copy of the ledger that an execution queue carries."""


class Act(StrEnum):
    """What happens to one queue."""

    KEEP = "keep"
    CREATE = "create"
    ADOPT = "adopt"
    """It exists under the name, or carries our marks, and is not ours yet."""
    MARK = "mark"
    """Its policy, profile or pool has another name now, and it keeps its own."""
    RENAME = "rename"
    RETIRE = "retire"
    """It is no longer configured: emptied, and deleted when it is empty."""


@dataclass(frozen=True, kw_only=True)
class QueueStep:
    """One queue, as it is to be; `queue.id` is empty where it is still to be made.

    `was` is its name so far; `tasks` the number that wait in it now.
    """

    act: Act
    queue: OwnedQueue
    was: str = ""
    tasks: int = 0


def desired_queues(configuration: Configuration) -> Iterator[OwnedQueue]:
    """Every queue that the configuration needs, without ids."""
    for policy in configuration.policies:
        for intake in policy.queues:
            yield OwnedQueue(
                id="",
                role=Role.INTAKE,
                profile=intake.profile,
                owner=policy.name,
                name=intake.queue,
            )
    for profile in configuration.profiles:
        for link in profile.pools:
            yield OwnedQueue(
                id="",
                role=Role.EXECUTION,
                profile=profile.name,
                owner=link.name,
                pool=link.pool,
                name=f"pool {link.pool} · {link.name}",
            )


def plan_queues(
    configuration: Configuration, owned: Iterable[OwnedQueue], listed: Mapping[str, QueueState]
) -> tuple[QueueStep, ...]:
    """The steps from the queues there are to those configured, the retired ones first.

    `owned` carry today's names (see `renamed`). A queue is known by what it is for, then by our
    marks on it, then by its name.
    """
    there = {key_of(queue): queue for queue in owned if queue.id in listed}
    desired = tuple(desired_queues(configuration))
    wanted = {key_of(queue) for queue in desired}
    free = {
        id_: state for id_, state in listed.items() if id_ not in {q.id for q in there.values()}
    }
    by_marks = {_marked_key(state): state for state in free.values() if state.marks}
    by_name = {s.name: s for s in free.values() if _marked_key(s) not in wanted - there.keys()}
    steps = [
        _step(Act.RETIRE, replace(queue, retired=True), listed[queue.id])
        for key, queue in there.items()
        if key not in wanted and not queue.retired
    ]
    for queue in desired:
        if (mine := there.get(key_of(queue))) is not None:
            steps.append(_step(_act(mine, queue, listed[mine.id]), queue, listed[mine.id]))
        elif found := by_marks.get(key_of(queue)) or by_name.get(queue.name):
            steps.append(_step(Act.ADOPT, queue, found))
        else:
            steps.append(QueueStep(act=Act.CREATE, queue=queue))
    return tuple(steps)


def renamed(owned: Iterable[OwnedQueue], renames: Renames) -> tuple[OwnedQueue, ...]:
    """The owned queues under the names that their policies, profiles, pools and links have now."""
    return tuple(
        replace(
            queue,
            profile=renames.current(Kind.PROFILE, queue.profile),
            pool=renames.current(Kind.POOL, queue.pool),
            owner=renames.current(
                Kind.POLICY if queue.role is Role.INTAKE else Kind.LINK, queue.owner
            ),
        )
        for queue in owned
    )


def marks_of(queue: OwnedQueue) -> dict[str, str]:
    """The metadata that says what a queue of ours is for."""
    values = (str(queue.role), queue.profile, queue.owner, queue.pool)
    return dict(zip(MARKS, values, strict=True))


def _step(act: Act, queue: OwnedQueue, state: QueueState) -> QueueStep:
    queue = replace(queue, id=state.id)
    return QueueStep(act=act, queue=queue, was=state.name, tasks=len(state.entries))


def _act(mine: OwnedQueue, queue: OwnedQueue, state: QueueState) -> Act:
    """What an owned queue needs; one that was renamed in ClearML by hand keeps that name."""
    if mine.name != queue.name:
        return Act.RENAME
    marked = {mark: state.marks.get(mark) for mark in MARKS} == marks_of(queue)
    return Act.KEEP if marked and replace(mine, id="") == queue else Act.MARK


def key_of(queue: OwnedQueue) -> tuple[str, ...]:
    """What a queue is for: an intake queue by policy, an execution queue by pool."""
    if queue.role is Role.INTAKE:
        return (queue.role, queue.profile, queue.owner)
    return (queue.role, queue.profile, queue.pool)


def _marked_key(state: QueueState) -> tuple[str, ...]:
    role, profile, owner, pool = (state.marks.get(mark, "") for mark in MARKS)
    return (role, profile, owner if role == Role.INTAKE else pool)
