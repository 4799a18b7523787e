"""Finishing or undoing what is open in the ledger, by looking at where each task really is.

After a crash or a lost answer an intent says what was wanted, not what was done. Most places tell
at once. Only a task that is queued in no queue does not: it may be ours, half moved, or an
agent's that has taken it and not yet started it; it is ours to put somewhere only when it is
found so again after a while (facts/clearml.md, decision 2 and M6).
"""

import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from heapq import merge
from operator import attrgetter

from controller.accounting import earliest
from controller.moves import Guard, Outcome, dispatched, finish, point_surely
from controller.observe import Observation
from controller.ports import Admission, ClearMLError, Queues, Status, Unavailable
from controller.whereabouts import PUSHED_BACK, Where, whereabouts
from domain.ledger import LedgerEntry, Stage

log = logging.getLogger(__name__)

_ENOUGH = 3
"""So many entries without an answer are an outage; each may have cost half a minute."""


@dataclass(frozen=True, kw_only=True)
class Standing:
    """What settling needs to know of the system as it stands.

    `intakes` are the ids of the configured intake queues by (policy, profile), `executions` those
    of the configured execution queues, `ours` all that Poolkeeper owns. `guard` says whether a
    task may go forward; `patience` is how long one must be queued in no queue before it is
    nobody's.
    """

    seen: Observation
    intakes: Mapping[tuple[str, str], str]
    executions: frozenset[str]
    ours: frozenset[str]
    guard: Guard
    patience: timedelta


@dataclass(frozen=True, slots=True)
class Settled:
    """What became of an open entry: `entry` None where it is out of the ledger.

    `waits` is set for a task that is back in its intake queue.
    """

    before: LedgerEntry
    entry: LedgerEntry | None
    waits: bool = False


def settle_all(
    door: Queues,
    entries: Iterable[LedgerEntry],
    standing: Standing,
    save: Callable[[Settled], None],
) -> None:
    """Settles what is open; each result is saved before the next entry is touched.

    Tasks that go back to the front go in the reverse of their order, so that they keep it; while
    one stays open, those before it wait with it. An entry whose settling ClearML does not answer
    stays open; `Unavailable` is raised where that happens again and again.
    """
    held_up: set[str] = set()
    unanswered = 0
    for entry in reversed(_in_order(entries, standing.seen)):
        if entry.stage is Stage.RETURNING and entry.intake in held_up:
            continue
        try:
            settled = _Settling(door, standing, save).settle(entry)
        except ClearMLError as error:
            log.warning("an open move stays open", extra={"task": entry.task, "error": error})
            held_up.add(entry.intake)
            unanswered += isinstance(error, Unavailable)
            if unanswered == _ENOUGH:
                raise
            continue
        save(settled)
        if settled.entry is not None and settled.entry.stage is Stage.RETURNING:
            held_up.add(entry.intake)


def _in_order(entries: Iterable[LedgerEntry], seen: Observation) -> list[LedgerEntry]:
    """As the tasks stood in their intake queues, as far as one can tell.

    An execution queue keeps the order of those in it; for others, and between two queues, the
    first sights tell. Who is back already was behind those who are not.
    """
    places = {
        (queue.id, at.task): place
        for queue in seen.queues.values()
        for place, at in enumerate(queue.entries)
    }
    lanes: dict[str, list[LedgerEntry]] = {}
    back: list[LedgerEntry] = []
    nowhere: list[LedgerEntry] = []
    for entry in entries:
        if (entry.execution, entry.task) in places:
            lanes.setdefault(entry.execution, []).append(entry)
        elif (entry.intake, entry.task) in places:
            back.append(entry)
        else:
            nowhere.append(entry)
    for lane in lanes.values():
        lane.sort(key=lambda entry: places[entry.execution, entry.task])
    back.sort(key=lambda entry: places[entry.intake, entry.task])
    nowhere.sort(key=attrgetter("first_seen"))
    return [*merge(*lanes.values(), nowhere, key=attrgetter("first_seen")), *back]


class _Settling:
    def __init__(self, door: Queues, standing: Standing, save: Callable[[Settled], None]) -> None:
        self._door = door
        self._standing = standing
        self._save = save

    def settle(self, entry: LedgerEntry) -> Settled:
        where = whereabouts(entry, self._standing.seen, self._standing.ours)
        if where is Where.UNKNOWN:
            return Settled(entry, entry)
        if where is Where.NOWHERE and not self._is_nobodys(entry):
            since = earliest(entry.doubtful_since, self._standing.seen.at)
            return Settled(entry, replace(entry, doubtful_since=since))
        if entry.stage is Stage.INTENDED:
            return self._intended(entry, where)
        if entry.stage is Stage.RETURNING:
            return self._returning(entry, where)
        return self._drafting(entry, where)

    def _is_nobodys(self, entry: LedgerEntry) -> bool:
        since = entry.doubtful_since
        return since is not None and self._standing.seen.at - since >= self._standing.patience

    def _intended(self, entry: LedgerEntry, where: Where) -> Settled:
        if where is Where.INTAKE:
            return Settled(entry, None, waits=True)
        if where in (Where.EXECUTION, Where.AGENT):
            return self._is_dispatched(entry)
        if where is Where.NOWHERE:
            return self._forward_or_back(entry)
        return self._give_up(entry)

    def _forward_or_back(self, entry: LedgerEntry) -> Settled:
        # Under the guard like every move: who disables management waits for it.
        with self._standing.guard.moving():
            enabled = self._standing.guard.is_enabled()
            if enabled and entry.execution in self._standing.executions:
                outcome = finish(self._door, entry)
                if outcome is Outcome.DISPATCHED:
                    return self._is_dispatched(entry)
                if outcome is Outcome.ENDED:
                    return Settled(entry, None)
        return self._push_back(entry)

    def _returning(self, entry: LedgerEntry, where: Where) -> Settled:
        if where is Where.AGENT:
            return self._is_dispatched(entry)
        if where is Where.EXECUTION and not self._door.claim(entry.execution, entry.task):
            return self._is_dispatched(entry)
        if where in (Where.EXECUTION, Where.NOWHERE):
            return self._push_back(entry)
        if where is Where.INTAKE:
            return self._is_back(entry)
        if where is Where.HALF_BACK:
            return self._enqueue_again(entry)
        return self._give_up(entry)

    def _drafting(self, entry: LedgerEntry, where: Where) -> Settled:
        is_served = entry.intake in self._standing.intakes.values()
        if where is Where.INTAKE:
            with self._standing.guard.moving():
                # What waits in a served queue stays there once management is disabled.
                if is_served and not self._standing.guard.is_enabled():
                    return Settled(entry, None, waits=True)
                if not self._door.claim(entry.intake, entry.task):
                    return Settled(entry, None)
        if where in (Where.INTAKE, Where.NOWHERE):
            why = "its user is not on the team's list" if is_served else "its queue was removed"
            self._door.draft(entry.task, f"{PUSHED_BACK}: {why}")
        if where is Where.AGENT and entry.pool:
            return self._is_dispatched(entry)
        return Settled(entry, None)

    def _is_dispatched(self, entry: LedgerEntry) -> Settled:
        return Settled(entry, dispatched(entry, entry.dispatched_at or self._standing.seen.at))

    def _give_up(self, entry: LedgerEntry) -> Settled:
        """The task's user has decided otherwise; nothing of ours may run it."""
        if entry.execution in self._standing.seen.places.get(entry.task, ()):
            self._door.claim(entry.execution, entry.task)
        return Settled(entry, None)

    def _push_back(self, entry: LedgerEntry) -> Settled:
        """A task that is in no queue goes to the front of its intake queue."""
        intake = self._standing.intakes.get((entry.policy, entry.profile))
        if intake is None:
            return self._drafting(self._saved(entry, Stage.DRAFTING), Where.NOWHERE)
        # The queue that it came from may have been deleted, and another made in its place.
        entry = self._saved(entry, Stage.RETURNING, intake)
        state = self._door.task_states([entry.task]).get(entry.task)
        if state is not None and state.status is Status.IN_PROGRESS and entry.pool:
            return self._is_dispatched(entry)
        if state is None or state.status is not Status.QUEUED:
            return Settled(entry, None)
        if state.before in ("", Status.QUEUED):
            # A later dequeue would leave it queued in no queue: it needs a clean state first.
            point_surely(self._door, entry.task, entry.intake)
            if not self._door.draft(entry.task, _reason(entry)):
                return Settled(entry, None)
            return self._enqueue_again(entry)
        point_surely(self._door, entry.task, entry.intake)
        admission = self._door.admit(entry.task, entry.intake, _reason(entry))
        if admission is Admission.QUEUE_GONE:
            return Settled(entry, entry)
        in_intake = admission in (Admission.ADMITTED, Admission.ALREADY_THERE)
        return self._is_back(entry) if in_intake else Settled(entry, None)

    def _enqueue_again(self, entry: LedgerEntry) -> Settled:
        if not self._door.enqueue(entry.task, entry.intake, _reason(entry)):
            return Settled(entry, None)
        return self._is_back(entry)

    def _is_back(self, entry: LedgerEntry) -> Settled:
        self._door.to_front(entry.intake, entry.task)
        return Settled(entry, None, waits=True)

    def _saved(self, entry: LedgerEntry, stage: Stage, intake: str = "") -> LedgerEntry:
        saved = replace(entry, stage=stage, intake=intake or entry.intake)
        self._save(Settled(entry, saved))
        return saved


def _reason(entry: LedgerEntry) -> str:
    return f"{PUSHED_BACK}: {entry.link}"
