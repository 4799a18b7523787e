"""Keeping the ledger true: which allocations ended, which tasks wait, what is foreign.

Pure: an observation and what is remembered go in, changes come out; the round carries them out.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import cached_property

from controller.observe import Observation
from controller.ports import QueueEntry, Status
from controller.whereabouts import Where, whereabouts
from domain.amounts import ZERO, Amount
from domain.configuration import Configuration
from domain.ledger import Ended, LedgerEntry, OwnedQueue, Role, Sighting, Stage
from domain.snapshot import Task, Tier, WaitingQueue

_ALIVE = (Status.QUEUED, Status.IN_PROGRESS)
_GLUE_REASON = "k8s"
"""How the status_reason of a task begins that the k8s glue has enqueued (chapter 4.2)."""

_FINISHED = frozenset(
    {Status.COMPLETED, Status.FAILED, Status.CLOSED, Status.PUBLISHED, Status.PUBLISHING}
)


@dataclass(frozen=True, kw_only=True)
class Remembered:
    """What the database holds when a round begins."""

    configuration: Configuration
    entries: tuple[LedgerEntry, ...]
    sightings: tuple[Sighting, ...]
    owned: tuple[OwnedQueue, ...]

    @cached_property
    def ours(self) -> frozenset[str]:
        return frozenset(queue.id for queue in self.owned)

    @cached_property
    def tasks(self) -> frozenset[str]:
        return frozenset(entry.task for entry in self.entries)

    @cached_property
    def intake_by_key(self) -> Mapping[tuple[str, str], OwnedQueue]:
        """Configured intake queues by (policy, profile)."""
        live = (queue for queue in self.owned if queue.role is Role.INTAKE and not queue.retired)
        return {(queue.owner, queue.profile): queue for queue in live}

    @cached_property
    def executions(self) -> tuple[OwnedQueue, ...]:
        """All execution queues, retired ones too: what they hold counts."""
        return tuple(queue for queue in self.owned if queue.role is Role.EXECUTION)


@dataclass(frozen=True, kw_only=True)
class Patience:
    """How long a task must be seen queued in no queue, or stopped, before that is believed."""

    nowhere: timedelta = timedelta(seconds=60)
    stopped: timedelta = timedelta(seconds=60)


@dataclass(frozen=True, kw_only=True)
class Allotments:
    """What the dispatched tasks' entries become.

    `changed` replace their entries, `ended` go to the history, `take_out` are (queue, task)
    pairs that must not stay there: an agent would run what its user aborted, or run it twice.
    """

    changed: tuple[LedgerEntry, ...] = ()
    ended: tuple[Ended, ...] = ()
    take_out: tuple[tuple[str, str], ...] = ()


def account(remembered: Remembered, seen: Observation, patience: Patience) -> Allotments:
    """Goes through the dispatched tasks (facts/clearml.md, decision 3)."""
    changed: list[LedgerEntry] = []
    ended: list[Ended] = []
    take_out: list[tuple[str, str]] = []
    for known in remembered.entries:
        if known.stage is not Stage.DISPATCHED:
            continue
        entry = _followed(known, remembered, seen)
        where = whereabouts(entry, seen, remembered.ours)
        places = seen.places.get(entry.task, ())
        if entry.execution in places and _is_not_queued(entry, seen):
            take_out.append((entry.execution, entry.task))
        if where is Where.EXECUTION and entry.intake in places:
            take_out.append((entry.intake, entry.task))
        outcome = _outcome(entry, where, seen, patience)
        if outcome:
            ended.append(_ended(entry, seen.at, outcome))
        elif (marked := _marked(entry, where, seen, patience)) != known:
            changed.append(marked)
    return Allotments(changed=tuple(changed), ended=tuple(ended), take_out=tuple(take_out))


def _followed(entry: LedgerEntry, remembered: Remembered, seen: Observation) -> LedgerEntry:
    """The entry, in another pool where somebody has put its task into that pool's queue."""
    places = seen.places.get(entry.task, ())
    state = seen.states.get(entry.task)
    runs_from = state.queue if state and state.status in _ALIVE and not places else ""
    if entry.execution in (*places, runs_from):
        return entry
    for queue in remembered.executions:
        if queue.id in (*places, runs_from):
            return replace(entry, execution=queue.id, pool=queue.pool, link=queue.owner)
    return entry


def _is_not_queued(entry: LedgerEntry, seen: Observation) -> bool:
    """Aborted, ended, deleted, or started by somebody who did not take it from its queue."""
    state = seen.states.get(entry.task)
    if state is None:
        return entry.task in seen.gone
    return state.status not in (Status.QUEUED, Status.UNKNOWN)


def _outcome(entry: LedgerEntry, where: Where, seen: Observation, patience: Patience) -> str | None:
    if entry.task in seen.gone:
        return "deleted"
    if where is Where.INTAKE:
        return "enqueued again"
    state = seen.states.get(entry.task)
    if state is None or where is Where.UNKNOWN:
        return None
    if where is Where.ELSEWHERE and state.status is Status.QUEUED:
        # A glue that does not hide its own queue says so; anybody else has taken it from us.
        return None if state.reason.startswith(_GLUE_REASON) else "moved to another queue"
    if state.status is Status.STOPPED:
        since = entry.stopped_since
        long_enough = since is not None and seen.at - since >= patience.stopped
        return str(Status.STOPPED) if long_enough else None
    is_over = state.status in _FINISHED or state.status is Status.CREATED
    return str(state.status) if is_over else None


def _marked(entry: LedgerEntry, where: Where, seen: Observation, patience: Patience) -> LedgerEntry:
    """The entry with its two clocks started or reset, and on its way back when it is nobody's."""
    state = seen.states.get(entry.task)
    if state is None:
        return entry
    stopped = state.status is Status.STOPPED
    # What the glue took from us and shows in no queue is in a pod's hands, not an orphan.
    stray = where is Where.NOWHERE and state.queue in (entry.execution, entry.intake)
    entry = replace(
        entry,
        stopped_since=earliest(entry.stopped_since, seen.at) if stopped else None,
        doubtful_since=earliest(entry.doubtful_since, seen.at) if stray else None,
    )
    if entry.doubtful_since and seen.at - entry.doubtful_since >= patience.nowhere:
        return replace(entry, stage=Stage.RETURNING)
    return entry


def earliest(since: datetime | None, now: datetime) -> datetime:
    """Since when something is so; a clock that was set back does not make it the future."""
    return min(since or now, now)


def _ended(entry: LedgerEntry, at: datetime, outcome: str) -> Ended:
    return Ended(
        task=entry.task,
        policy=entry.policy,
        profile=entry.profile,
        pool=entry.pool,
        amount=entry.amount,
        tier=entry.tier,
        first_seen=entry.first_seen,
        dispatched_at=entry.dispatched_at or entry.intended_at,
        ended_at=at,
        outcome=outcome,
    )


@dataclass(frozen=True, kw_only=True)
class Arrivals:
    """Who waits: `new` sightings (their parameters still unread), and `left` ones."""

    new: tuple[Sighting, ...] = ()
    left: tuple[Sighting, ...] = ()
    queues: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """For each configured intake queue's id, the ids of the tasks that wait in it, in order."""


def arrivals(remembered: Remembered, seen: Observation) -> Arrivals:
    """Compares the intake queues' entries with what was sighted before.

    A task that the ledger has is no arrival; one in two intake queues waits in the first only.
    """
    known = {sighting.task: sighting for sighting in remembered.sightings}
    new: list[Sighting] = []
    waiting: dict[str, tuple[str, ...]] = {}
    taken = set(remembered.tasks)
    for _, queue in _in_order(remembered):
        tasks: list[str] = []
        for entry in seen.queues[queue.id].entries if queue.id in seen.queues else ():
            if entry.task in taken:
                continue
            taken.add(entry.task)
            tasks.append(entry.task)
            sighting = known.get(entry.task)
            if sighting is None or sighting.queue != queue.id or sighting.stray_since:
                new.append(_first_sight(entry, queue, sighting, seen.at))
        waiting[queue.id] = tuple(tasks)
    left = tuple(sighting for task, sighting in known.items() if task not in taken)
    return Arrivals(new=tuple(new), left=left, queues=waiting)


def _first_sight(
    entry: QueueEntry, queue: OwnedQueue, before: Sighting | None, now: datetime
) -> Sighting:
    # The entry's own time is truer than ours after a time without a look; a clock that is ahead
    # of ours must not give a task a future. A task that was put back, or lost and found, keeps it.
    first_seen = min(entry.added or now, now)
    if before and before.queue in ("", queue.id) and before.policy == queue.owner:
        first_seen = before.first_seen
    return Sighting(
        task=entry.task,
        policy=queue.owner,
        profile=queue.profile,
        queue=queue.id,
        first_seen=first_seen,
    )


def _in_order(remembered: Remembered) -> Iterator[tuple[tuple[str, str], OwnedQueue]]:
    for policy in remembered.configuration.policies:
        for intake in policy.queues:
            key = (policy.name, intake.profile)
            if key in remembered.intake_by_key:
                yield key, remembered.intake_by_key[key]


def waiting_queues(
    remembered: Remembered, waiting: Mapping[str, tuple[str, ...]], known: Mapping[str, Sighting]
) -> tuple[WaitingQueue, ...]:
    """The snapshot's queues, in configuration order; `known` has a sighting of every task."""
    return tuple(
        WaitingQueue(
            policy=policy,
            profile=profile,
            tasks=tuple(
                Task(task, known[task].first_seen, known[task].parameter)
                for task in waiting.get(queue.id, ())
            ),
        )
        for (policy, profile), queue in _in_order(remembered)
    )


def strays(
    left: Iterable[Sighting], remembered: Remembered, seen: Observation, patience: Patience
) -> tuple[tuple[Sighting, ...], tuple[LedgerEntry, ...]]:
    """Tasks that left an intake queue and are queued in no queue: those to remember, those due.

    Who is not among either was taken, dequeued, aborted or deleted, and is forgotten.
    """
    remember: list[Sighting] = []
    due: list[LedgerEntry] = []
    for sighting in left:
        state = seen.states.get(sighting.task)
        if state is None or state.status is not Status.QUEUED or sighting.task in seen.places:
            continue
        if state.queue not in (*remembered.ours, sighting.queue):
            continue
        since = earliest(sighting.stray_since, seen.at)
        if seen.at - since >= patience.nowhere:
            intake = remembered.intake_by_key.get((sighting.policy, sighting.profile))
            due.append(_due(sighting, intake.id if intake else "", since, seen.at))
        else:
            remember.append(replace(sighting, stray_since=since))
    return tuple(remember), tuple(due)


def _due(sighting: Sighting, intake: str, since: datetime, at: datetime) -> LedgerEntry:
    """An open entry; without an intake queue to go back to, the task becomes a draft."""
    return LedgerEntry(
        task=sighting.task,
        policy=sighting.policy,
        profile=sighting.profile,
        pool="",  # it is in no pool, and its amount counts in none
        link="",
        intake=intake,
        execution="",
        amount=ZERO,
        tier=Tier.SHARED,
        stage=Stage.RETURNING,
        first_seen=sighting.first_seen,
        intended_at=at,
        doubtful_since=since,
    )


def foreign_tasks(remembered: Remembered, seen: Observation) -> Mapping[str, OwnedQueue]:
    """Tasks that an execution queue or its agents have and the ledger has not, with that queue."""
    executions = {queue.id: queue for queue in remembered.executions}
    foreign = {
        task.id: executions[task.queue]
        for task in seen.states.values()
        if task.queue in executions and task.status in _ALIVE
    }
    for queue in remembered.executions:
        state = seen.queues.get(queue.id)
        foreign |= {entry.task: queue for entry in (state.entries if state else ())}
    return {task: queue for task, queue in foreign.items() if task not in remembered.tasks}


def foreign_use(
    foreign: Mapping[str, OwnedQueue], configuration: Configuration
) -> dict[str, Amount]:
    """What foreign tasks take of each pool: the allotment of the profile whose queue they use."""
    use: dict[str, Amount] = {}
    for queue in foreign.values():
        profile = configuration.profile_by_name.get(queue.profile)
        if profile is not None and queue.pool in configuration.pool_by_name:
            use[queue.pool] = use.get(queue.pool, ZERO) + profile.allotment
    return use
