"""What a round reads from and writes to the database, one transaction for each wish."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TypeAlias

from controller import references
from controller.accounting import Allotments, Remembered
from controller.moves import Moved, Outcome, Verified, dispatched
from controller.settling import Settled
from domain.ledger import AuditRecord, Ended, LedgerEntry, OwnedQueue, Sighting, Stage, Version
from domain.tasks import TaskFacts
from storage import audit, configurations, ledger, queues, switch, tasks
from storage.database import Database, Session


@dataclass(frozen=True, kw_only=True)
class InForce:
    """The version that rounds serve, the one that waits to be applied, and the switch."""

    version: Version | None
    coming: Version | None
    enabled: bool


class Journal:
    """The ledger's pages as a round turns them. Thread-safe as the database is."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._read: _Pages | None = None

    def in_force(self) -> InForce:
        """With this a round begins; what others wrote before it is read anew."""
        self._read = None
        with self._database.reading() as session:
            return InForce(
                version=configurations.provisioned(session),
                coming=configurations.approved(session),
                enabled=switch.is_enabled(session),
            )

    def remembered(self, version: Version) -> Remembered:
        """The ledger as it stands; read again in a round only after something was written."""
        with self._database.reading() as session:
            # Nobody but the leader, and he here only, writes these pages while he runs a round.
            read = self._read = self._read or (ledger.entries(session), ledger.sightings(session))
            owned = queues.owned_queues(session)
        entries, sightings = read
        return Remembered(
            configuration=version.configuration,
            entries=entries,
            sightings=sightings,
            owned=owned,
        )

    def put(self, entries: Collection[LedgerEntry]) -> None:
        """Entries written or replaced: intents before they are carried out, above all."""
        if entries:
            with self._writing() as session:
                ledger.put(session, entries)

    def settled(self, settled: Settled) -> None:
        """What became of an open entry; a task that waits again keeps its first sight."""
        entry = settled.entry
        if entry == settled.before:
            return
        with self._writing() as session:
            if entry is not None:
                ledger.put(session, [entry])
                return
            ledger.remove(session, [settled.before.task])
            if settled.waits:
                if settled.before.stage is not Stage.INTENDED:
                    ledger.see(session, [_waits_again(settled.before)])
            else:
                ledger.forget(session, [settled.before.task])

    def accounted(self, allotments: Allotments) -> None:
        if allotments.changed or allotments.ended:
            with self._writing() as session:
                ledger.put(session, allotments.changed)
                ledger.end(session, allotments.ended)

    def arrived(self, new: Collection[Sighting], left: Collection[str]) -> None:
        if new or left:
            with self._writing() as session:
                ledger.forget(session, left)
                ledger.see(session, new)

    def described(self, facts: Iterable[TaskFacts], at: datetime) -> None:
        """Names and owners of tasks, for people; the round has no use for them."""
        with self._database.transaction() as session:
            tasks.remember(session, facts, at)

    def facts(self, ids: Iterable[str]) -> dict[str, TaskFacts]:
        with self._database.reading() as session:
            return tasks.facts(session, ids)

    def sent_back(self, entries: Collection[LedgerEntry], records: Iterable[AuditRecord]) -> None:
        """Tasks that are to become drafts, and why, on record."""
        if entries:
            with self._writing() as session:
                ledger.put(session, entries)
                ledger.forget(session, [entry.task for entry in entries])
                for record in records:
                    audit.record(session, record)

    def moved(self, batch: Sequence[Moved], at: datetime) -> None:
        """A batch of outcomes; a task that was not moved waits on with its first sight."""
        done = [moved.entry for moved in batch if moved.outcome is Outcome.DISPATCHED]
        over = [moved for moved in batch if moved.outcome not in (Outcome.DISPATCHED, Outcome.OPEN)]
        left = [moved.entry.task for moved in over if moved.outcome is not Outcome.WITHHELD]
        if not done and not over:
            return
        with self._writing() as session:
            ledger.put(session, [dispatched(entry, at) for entry in done])
            ledger.remove(session, [moved.entry.task for moved in over])
            ledger.forget(session, [*left, *(entry.task for entry in done)])

    def verified(self, verified: Verified, at: datetime) -> None:
        """Tasks taken out again: their allocations are over, and that they slipped is on record."""
        if verified == Verified():
            return
        back = [replace(dispatched(e, at), stage=Stage.RETURNING) for e in verified.unclean]
        with self._writing() as session:
            ledger.put(session, back)
            ledger.end(session, [_slipped(entry, at) for entry in verified.undone])
            for entry in verified.undone:
                text = "taken out of its execution queue again: it was aborted during its move"
                audit.record(session, _record(at, "slip", entry.task, text))
            for entry in verified.pointed:
                text = "pointed to its execution queue again: it was enqueued during its move"
                audit.record(session, _record(at, "slip", entry.task, text))

    def taken_out(self, task: str, at: datetime) -> None:
        text = "taken out of a queue in which an agent would have run it against its user's will"
        self.say(_record(at, "slip", task, text))

    def deleted(self, gone: Iterable[OwnedQueue]) -> None:
        for queue in gone:
            with self._writing() as session:
                queues.remove_queue(session, queue.id)

    def say(self, record: AuditRecord) -> None:
        with self._writing() as session:
            audit.record(session, record)

    @contextmanager
    def _writing(self) -> Iterator[Session]:
        try:
            with self._database.transaction() as session:
                yield session
        finally:
            self._read = None


_Pages: TypeAlias = tuple[tuple[LedgerEntry, ...], tuple[Sighting, ...]]


def _waits_again(entry: LedgerEntry) -> Sighting:
    return Sighting(
        task=entry.task,
        policy=entry.policy,
        profile=entry.profile,
        queue="",  # its parameter is to be read again, for it may have changed
        first_seen=entry.first_seen,
    )


def _slipped(entry: LedgerEntry, at: datetime) -> Ended:
    return Ended(
        task=entry.task,
        policy=entry.policy,
        profile=entry.profile,
        pool=entry.pool,
        amount=entry.amount,
        tier=entry.tier,
        first_seen=entry.first_seen,
        dispatched_at=entry.dispatched_at or at,
        ended_at=at,
        outcome="aborted during its move",
    )


def _record(at: datetime, action: str, subject: str, detail: str) -> AuditRecord:
    return AuditRecord(
        at=at,
        actor="poolkeeper",
        action=action,
        subject=subject,
        detail=detail,
        reference=references.current(),
    )
