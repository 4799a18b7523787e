"""Bringing the ledger and ClearML together before a round decides.

Each step is a look, a pure comparison and a transaction; what is still open afterwards keeps its
amount and is looked at again in the next round.
"""

import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import partial

from controller import accounting, draining, membership
from controller.accounting import Patience, Remembered
from controller.backup import read_copies
from controller.journal import Journal
from controller.moves import Guard
from controller.observe import Observation, observe
from controller.ports import Queues, Status
from controller.queue_plan import desired_queues, key_of
from controller.settling import Standing, settle_all
from controller.whereabouts import Where, whereabouts
from domain.ledger import LedgerEntry, Role, Sighting, Stage, Version

log = logging.getLogger(__name__)

_SWEEP = timedelta(minutes=5)


@dataclass(frozen=True, kw_only=True)
class Rules:
    """What the operator may set about rounds; `hold_after` None switches holds off."""

    patience: Patience = field(default_factory=Patience)
    hold_after: timedelta | None = timedelta(seconds=1800)


@dataclass(frozen=True, kw_only=True)
class Balanced:
    """The ledger and ClearML after their comparison.

    `waiting` gives the tasks of each configured intake queue in order, `sightings` their first
    sights with parameters.
    """

    remembered: Remembered
    seen: Observation
    waiting: Mapping[str, tuple[str, ...]]
    sightings: Mapping[str, Sighting]


class Bookkeeping:
    """Remembers between rounds only what saves calls; nothing is lost with it."""

    def __init__(
        self,
        door: Callable[[], Queues],
        journal: Journal,
        guard: Guard,
        clock: Callable[[], datetime],
        rules: Rules,
    ) -> None:
        self._door = door
        self._journal = journal
        self._guard = guard
        self._clock = clock
        self._rules = rules
        self._foreign: frozenset[str] | None = None
        self._swept_at: datetime | None = None
        self._sweep_page = 0

    def balance(self, version: Version, heal: Callable[[], object]) -> Balanced:
        """Raises `ClearMLError` where ClearML does not answer. `heal` makes missing queues."""
        remembered, seen = self._look(version)
        if _lacks_queues(remembered, seen):
            heal()
            remembered, seen = self._look(version)
        remembered = self._restored(remembered, seen)
        self._account(remembered, seen)
        remembered = self._journal.remembered(version)
        self._drain(remembered, seen)
        self._look_for_strays(remembered, seen)
        remembered = self._journal.remembered(version)
        if any(entry.stage is not Stage.DISPATCHED for entry in remembered.entries):
            self._settle(remembered, seen)
            remembered, seen = self._look(version)
        return self._welcomed(remembered, seen)

    def _look(self, version: Version) -> tuple[Remembered, Observation]:
        remembered = self._journal.remembered(version)
        return remembered, observe(
            self._door(), remembered.entries, remembered.owned, self._clock()
        )

    def _restored(self, remembered: Remembered, seen: Observation) -> Remembered:
        """Takes back from the queues' copies what the database does not know (any more)."""
        foreign = frozenset(accounting.foreign_tasks(remembered, seen))
        if self._foreign is not None and foreign <= self._foreign:
            self._foreign = foreign
            return remembered
        states = {queue.id: queue for queue in self._door().queues(marks=True)}
        copies = [
            copy
            for copy in read_copies(states, remembered.owned, seen.at)
            if copy.task not in remembered.tasks
        ]
        missing = {copy.task for copy in copies} - seen.states.keys()
        found = self._door().task_states(missing) if missing else {}
        seen = replace(seen, states={**seen.states, **found})
        alive = [copy for copy in copies if _is_alive(copy, remembered, seen)]
        self._journal.put(alive)
        self._foreign = foreign  # not before: the copies of a round that failed here are unread
        if alive:
            log.warning(
                "the ledger was rebuilt from the queues' copies", extra={"tasks": len(alive)}
            )
        return replace(remembered, entries=(*remembered.entries, *alive))

    def _account(self, remembered: Remembered, seen: Observation) -> None:
        allotments = accounting.account(remembered, seen, self._rules.patience)
        for queue, task in allotments.take_out:
            if self._door().claim(queue, task):
                log.warning("a task was taken out", extra={"task": task, "queue": queue})
                self._journal.taken_out(task, seen.at)
        self._journal.accounted(allotments)

    def _drain(self, remembered: Remembered, seen: Observation) -> None:
        self._journal.put(draining.leaving(remembered, seen))
        self._journal.deleted(draining.delete_empty(self._door(), remembered, seen))

    def _look_for_strays(self, remembered: Remembered, seen: Observation) -> None:
        left = accounting.arrivals(remembered, seen).left
        if left:
            found = self._door().task_states(sighting.task for sighting in left)
            keep, due = accounting.strays(
                left,
                remembered,
                replace(seen, states={**seen.states, **found}),
                self._rules.patience,
            )
            self._journal.arrived(keep, {gone.task for gone in left} - {kept.task for kept in keep})
            self._journal.put(due)
        self._journal.arrived(tuple(self._swept(remembered, seen)), ())

    def _swept(self, remembered: Remembered, seen: Observation) -> Iterable[Sighting]:
        """Tasks queued in no queue that were never seen in one; the next rounds watch them.

        A sweep reads a page a round, for where thousands wait it would hold up the one that ran it.
        """
        if not self._sweep_page:
            if self._swept_at is not None and seen.at - self._swept_at < _SWEEP:
                return
            self._swept_at = seen.at
        owned = {queue.id: queue for queue in remembered.owned if queue.id in seen.queues}
        tasks = self._door().tasks_in(owned, [Status.QUEUED], page=self._sweep_page)
        self._sweep_page = self._sweep_page + 1 if tasks else 0
        known = remembered.tasks | {sighting.task for sighting in remembered.sightings}
        for task in tasks:
            if task.id in known or task.id in seen.places or task.queue not in owned:
                continue
            queue = owned[task.queue]
            if queue.role is Role.EXECUTION:
                log.warning("a foreign task is queued in no queue", extra={"task": task.id})
                continue
            yield Sighting(
                task=task.id,
                policy=queue.owner,
                profile=queue.profile,
                queue="",
                first_seen=seen.at,
                stray_since=seen.at,
            )

    def _settle(self, remembered: Remembered, seen: Observation) -> None:
        configured = [
            queue for queue in remembered.owned if not queue.retired and queue.id in seen.queues
        ]
        intakes = [queue for queue in configured if queue.role is Role.INTAKE]
        executions = [queue for queue in configured if queue.role is Role.EXECUTION]
        entries = [entry for entry in remembered.entries if entry.stage is not Stage.DISPATCHED]
        missing = {entry.task for entry in entries} - seen.states.keys()
        found = self._door().task_states(missing) if missing else {}
        standing = Standing(
            seen=replace(seen, states={**seen.states, **found}),
            intakes={(queue.owner, queue.profile): queue.id for queue in intakes},
            executions=frozenset(queue.id for queue in executions),
            ours=remembered.ours,
            guard=self._guard,
            patience=self._rules.patience.nowhere,
        )
        settle_all(self._door(), entries, standing, self._journal.settled)

    def _welcomed(self, remembered: Remembered, seen: Observation) -> Balanced:
        arrivals = accounting.arrivals(remembered, seen)
        new = self._with_parameters(remembered, arrivals.new)
        if new:
            facts = self._door().details(sighting.task for sighting in new)
            self._journal.described(facts.values(), seen.at)
        self._journal.arrived(new, ())
        gone = self._send_back(remembered, arrivals.queues, seen.at)
        waiting = {
            queue: tuple(task for task in tasks if task not in gone)
            for queue, tasks in arrivals.queues.items()
        }
        sightings = {sighting.task: sighting for sighting in (*remembered.sightings, *new)}
        return Balanced(remembered=remembered, seen=seen, waiting=waiting, sightings=sightings)

    def _send_back(
        self, remembered: Remembered, waiting: Mapping[str, tuple[str, ...]], at: datetime
    ) -> frozenset[str]:
        """Tasks of people who are not listed; the next round makes drafts of them."""
        guarded = membership.guarded(remembered, waiting)
        if not guarded or not self._guard.is_enabled():
            return frozenset()
        facts = self._journal.facts(guarded)
        entries = membership.to_send_back(remembered, waiting, facts, at)
        records = [membership.record(entry, facts[entry.task]) for entry in entries]
        self._journal.sent_back(entries, records)
        return frozenset(entry.task for entry in entries)

    def _with_parameters(
        self, remembered: Remembered, new: Iterable[Sighting]
    ) -> tuple[Sighting, ...]:
        """Task details are read for new tasks of dynamic profiles only."""
        new = tuple(new)
        values: dict[str, object] = {}
        for profile in remembered.configuration.profiles:
            tasks = [sighting.task for sighting in new if sighting.profile == profile.name]
            if profile.parameter is not None and tasks:
                values |= self._door().parameters(tasks, profile.parameter)
        read = partial(_with_parameter, values)
        return tuple(map(read, new))


def _with_parameter(values: Mapping[str, object], sighting: Sighting) -> Sighting:
    return replace(sighting, parameter=values.get(sighting.task))


def _lacks_queues(remembered: Remembered, seen: Observation) -> bool:
    """Whether somebody deleted a queue that the configuration needs."""
    there = {
        key_of(queue) for queue in remembered.owned if not queue.retired and queue.id in seen.queues
    }
    return any(key_of(queue) not in there for queue in desired_queues(remembered.configuration))


def _is_alive(copy: LedgerEntry, remembered: Remembered, seen: Observation) -> bool:
    where = whereabouts(copy, seen, remembered.ours)
    state = seen.states.get(copy.task)
    if state is None or where not in (Where.EXECUTION, Where.AGENT, Where.NOWHERE):
        return False
    return state.status in (Status.QUEUED, Status.IN_PROGRESS, Status.STOPPED)
