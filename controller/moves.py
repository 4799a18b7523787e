"""Moving tasks: claim, point, admit (facts/clearml.md, decision 1), and verify soon after.

A move starts only after its intent is in the ledger. Whatever is not known when a move ends
stays an open intent, and `controller.settling` finds out by looking.
"""

import logging
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import wait
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from itertools import groupby
from operator import attrgetter
from typing import Protocol

from controller.ports import Admission, ClearMLError, OutcomeUnknown, Queues, Refused, Status
from controller.references import CarryingThreads
from domain.ledger import LedgerEntry, Stage

log = logging.getLogger(__name__)

_BATCH = 50
"""Outcomes are written this many at a time; what was not written is settled by looking."""


class Outcome(StrEnum):
    """How a move ended."""

    DISPATCHED = "dispatched"
    TAKEN = "taken"
    """Somebody else took the task out of its intake queue first."""
    ENDED = "ended"
    """It was aborted, dequeued or deleted during the move, which stopped there."""
    WITHHELD = "withheld"
    """Nothing was done: management was disabled, or ClearML stopped answering before."""
    OPEN = "open"
    """It cannot be said yet; the intent stays open."""


class Guard(Protocol):
    """What says whether tasks may be moved: the management switch and its barrier."""

    def moving(self) -> AbstractContextManager[object]: ...

    def is_enabled(self) -> bool: ...


@dataclass(frozen=True, slots=True)
class Moved:
    """An entry, and how its move ended."""

    entry: LedgerEntry
    outcome: Outcome


Record = Callable[[Sequence[Moved]], None]


class Mover:
    """Moves tasks concurrently across execution queues, in the given order within each.

    `door` gives the calling thread's door; `record` stores a batch of outcomes and may be called
    by several threads at once.
    """

    def __init__(self, door: Callable[[], Queues], guard: Guard, connections: int) -> None:
        self._door = door
        self._guard = guard
        self._threads = CarryingThreads(connections, thread_name_prefix="move")

    def carry_out(self, entries: Iterable[LedgerEntry], record: Record) -> tuple[Moved, ...]:
        by_queue = attrgetter("execution")
        ordered = sorted(entries, key=by_queue)  # stable: plan order stays within a queue
        lanes = [tuple(lane) for _, lane in groupby(ordered, key=by_queue)]
        results = [self._threads.submit(self._lane, lane, record) for lane in lanes]
        # A lane that fails must not end the round while others move on into the next one.
        wait(results)
        return tuple(moved for result in results for moved in result.result())

    def close(self) -> None:
        self._threads.shutdown(wait=True, cancel_futures=True)

    def _lane(self, entries: Sequence[LedgerEntry], record: Record) -> list[Moved]:
        done: list[Moved] = []
        answering = True
        for entry in entries:
            # After a move whose outcome is open nothing more is tried in this lane.
            outcome = self._move(entry) if answering else Outcome.WITHHELD
            answering = answering and outcome is not Outcome.OPEN
            done.append(Moved(entry, outcome))
            if len(done) % _BATCH == 0:
                record(done[-_BATCH:])
        if rest := len(done) % _BATCH:
            record(done[-rest:])
        return done

    def _move(self, entry: LedgerEntry) -> Outcome:
        # The guard is held for the whole move, so that who disables management and waits for
        # the guard knows that nothing moves afterwards.
        with self._guard.moving():
            if not self._guard.is_enabled():
                return Outcome.WITHHELD
            try:
                return dispatch(self._door(), entry)
            except ClearMLError as error:
                log.warning(
                    "a move is left to be settled", extra={"task": entry.task, "error": error}
                )
                return Outcome.OPEN


def dispatch(door: Queues, entry: LedgerEntry) -> Outcome:
    """One task from its intake to its execution queue.

    Raises `ClearMLError` where ClearML's answers leave open what happened.
    """
    if not door.claim(entry.intake, entry.task):
        return Outcome.TAKEN
    return finish(door, entry)


def finish(door: Queues, entry: LedgerEntry) -> Outcome:
    """Point and admit a task that is out of every queue by our own claim."""
    try:
        point_surely(door, entry.task, entry.execution)
    except Refused:
        if door.exists(entry.task):
            raise
        # A queue takes any id, and may keep that of a deleted task.
        return Outcome.ENDED
    admission = door.admit(entry.task, entry.execution, admit_reason(entry.link))
    if admission in (Admission.ADMITTED, Admission.ALREADY_THERE):
        return Outcome.DISPATCHED
    # Where the queue is gone, the intent stays open and the task is pushed back.
    return Outcome.OPEN if admission is Admission.QUEUE_GONE else Outcome.ENDED


def point_surely(door: Queues, task: str, queue: str) -> None:
    """Points again where an answer was lost, after looking: the task is ours meanwhile."""
    try:
        door.point(task, queue)
    except OutcomeUnknown:
        state = door.task_states([task]).get(task)
        if state is not None and state.queue != queue and state.status is Status.QUEUED:
            door.point(task, queue)


def admit_reason(link: str) -> str:
    """The status_reason of a dispatched task; its words keep the stock glue off (decision 8)."""
    return f"allocated by policy manager: {link}"


@dataclass(frozen=True, slots=True)
class Verified:
    """What a look at the tasks just moved has found.

    `undone` were taken out again: their users had aborted or dequeued them within the
    milliseconds of a move (or enqueued them elsewhere); `pointed` were pointed again. A user's
    dequeue of the `unclean` would leave them queued in no queue: they go back for a clean state.
    """

    undone: tuple[LedgerEntry, ...] = ()
    pointed: tuple[LedgerEntry, ...] = ()
    unclean: tuple[LedgerEntry, ...] = ()


def verify(door: Queues, entries: Sequence[LedgerEntry]) -> Verified:
    """Takes out of its execution queue what should not be there, soon after the move."""
    states = door.task_states(entry.task for entry in entries)
    undone: list[LedgerEntry] = []
    pointed: list[LedgerEntry] = []
    unclean: list[LedgerEntry] = []
    for entry in entries:
        state = states.get(entry.task)
        if state is None:
            continue  # perhaps deleted: the next round reads it by its id
        if state.status is Status.QUEUED and state.before == Status.QUEUED:
            unclean.append(entry)  # it was enqueued twice to its intake queue (M6, trap 1)
        if state.status in (Status.CREATED, Status.STOPPED):
            # The glue passes through `stopped` too, but then the task is not in the queue.
            if door.claim(entry.execution, entry.task):
                undone.append(entry)
        elif state.status is Status.QUEUED and state.queue != entry.execution:
            place = door.queue(entry.execution)
            if place is not None and any(at.task == entry.task for at in place.entries):
                door.point(entry.task, entry.execution)
                pointed.append(entry)
    return Verified(tuple(undone), tuple(pointed), tuple(unclean))


def dispatched(entry: LedgerEntry, at: datetime) -> LedgerEntry:
    """The entry of a task that has reached its execution queue."""
    return replace(entry, stage=Stage.DISPATCHED, dispatched_at=at, doubtful_since=None)
