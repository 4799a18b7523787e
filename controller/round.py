"""One round: look, decide, write down, move, look again (DESIGN.md, "The flows")."""

import logging
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial

from controller import accounting, references
from controller.backup import Copies
from controller.bookkeeping import Balanced, Bookkeeping, Rules
from controller.books import violations
from controller.journal import Journal
from controller.moves import Moved, Mover, Outcome, Verified, verify
from controller.ports import Queues
from controller.provisioning import QueueProvisioning, apply
from controller.publishing import Publisher, View
from domain.allocation import allocate
from domain.ledger import AuditRecord, LedgerEntry, Stage, Version
from domain.snapshot import Allocation, Plan, Snapshot
from storage.database import Database

log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class Report:
    """What one round saw, decided and did; `snapshot` is None while nothing is provisioned.

    `reference` is that of the alarms in the audit.
    """

    at: datetime
    version: Version | None = None
    snapshot: Snapshot | None = None
    plan: Plan = field(default_factory=Plan)
    moved: tuple[Moved, ...] = ()
    slipped: Verified = field(default_factory=Verified)
    alarms: tuple[str, ...] = ()
    reference: str = ""


@dataclass(frozen=True, kw_only=True)
class Collaborators:
    """What rounds work with. `door` gives the calling thread's door; `clock` is in UTC."""

    door: Callable[[], Queues]
    database: Database
    mover: Mover
    publisher: Publisher
    clock: Callable[[], datetime]
    reference: Callable[[], str]


class Rounds:
    """Runs rounds, one at a time; who runs them holds the leadership."""

    def __init__(self, with_: Collaborators, rules: Rules) -> None:
        self._with = with_
        self._rules = rules
        self._journal = Journal(with_.database)
        self._bookkeeping = Bookkeeping(
            with_.door, self._journal, with_.database, with_.clock, rules
        )
        self._publisher = with_.publisher
        self._copies = Copies()

    def run(self) -> Report:
        """One round. `ClearMLError` ends it with nothing decided, or with what was decided open."""
        # 1 What was approved is put in force first.
        in_force = self._journal.in_force()
        version = in_force.version
        if in_force.coming is not None:
            version = apply(self._with.door(), self._with.database, in_force.coming)
        if version is None:
            return Report(at=self._with.clock())
        # 2 Open intents are finished or undone; 3 everything is looked at.
        heal = partial(self._heal, version)
        balanced = self._bookkeeping.balance(version, heal)
        # 4 The decision, and a check of it.
        snapshot = snapshot_of(balanced, self._rules, enabled=in_force.enabled)
        plan = allocate(snapshot)
        alarms = violations(snapshot, plan)
        report = Report(
            at=balanced.seen.at, version=version, snapshot=snapshot, plan=plan, alarms=alarms
        )
        if alarms:
            report = self._alarmed(report)
        else:
            # 5 Intents are written; 6 tasks are moved; 7 and looked at once more.
            intents = self._intend(balanced, plan)
            if intents:
                report = self._carried_out(report, intents)
        # 8 Everybody may see it.
        self._publisher.publish(
            View(
                at=snapshot.taken_at,
                version=version.number,
                snapshot=snapshot,
                plan=plan,
                queues=balanced.seen.queues,
            )
        )
        return report

    def _heal(self, version: Version) -> None:
        """Makes again what somebody deleted in ClearML."""
        steps = QueueProvisioning(
            door=self._with.door(),
            database=self._with.database,
            configuration=version.configuration,
        ).carry_out()
        for step in steps:
            self._say("queue made again", step.queue.name, f"it was gone: {step.act}")

    def _intend(self, balanced: Balanced, plan: Plan) -> tuple[LedgerEntry, ...]:
        intents = tuple(intents_of(balanced, plan, self._with.clock()))
        self._journal.put(intents)
        queues = [q.id for q in balanced.remembered.executions if q.id in balanced.seen.queues]
        self._copies.write(self._with.door(), (*balanced.remembered.entries, *intents), queues)
        return intents

    def _carried_out(self, report: Report, intents: Sequence[LedgerEntry]) -> Report:
        moved = self._with.mover.carry_out(intents, self._record)
        done = [move.entry for move in moved if move.outcome is Outcome.DISPATCHED]
        slipped = verify(self._with.door(), done) if done else Verified()
        self._journal.verified(slipped, self._with.clock())
        return replace(report, moved=moved, slipped=slipped)

    def _record(self, batch: Sequence[Moved]) -> None:
        self._journal.moved(batch, self._with.clock())

    def _alarmed(self, report: Report) -> Report:
        """Nothing moves on a plan that is wrong; the admins find it under its reference."""
        reference = references.current() or self._with.reference()
        for alarm in report.alarms:
            log.error(
                "a plan is wrong and was not carried out",
                extra={"alarm": alarm, "reference": reference},
            )
            self._say("alarm", "books", alarm, reference)
        return replace(report, reference=reference)

    def _say(self, action: str, subject: str, detail: str, reference: str = "") -> None:
        self._journal.say(
            AuditRecord(
                at=self._with.clock(),
                actor="poolkeeper",
                action=action,
                subject=subject,
                detail=detail,
                reference=reference or references.current(),
            )
        )


def snapshot_of(balanced: Balanced, rules: Rules, *, enabled: bool) -> Snapshot:
    """What the round decides from: everything that counts, and everything that waits."""
    remembered, seen = balanced.remembered, balanced.seen
    foreign = accounting.foreign_tasks(remembered, seen)
    return Snapshot(
        taken_at=seen.at,
        configuration=remembered.configuration,
        enabled=enabled,
        hold_after=rules.hold_after,
        queues=accounting.waiting_queues(remembered, balanced.waiting, balanced.sightings),
        allocations=tuple(
            Allocation(
                task=entry.task,
                policy=entry.policy,
                profile=entry.profile,
                pool=entry.pool,
                amount=entry.amount,
            )
            for entry in remembered.entries
            if entry.pool  # one without is on its way back, and in no pool
        ),
        foreign=accounting.foreign_use(foreign, remembered.configuration),
    )


def intents_of(balanced: Balanced, plan: Plan, at: datetime) -> Iterator[LedgerEntry]:
    """An open entry for every task that the plan dispatches, in its order."""
    remembered = balanced.remembered
    executions = {
        (queue.profile, queue.pool): queue.id
        for queue in remembered.executions
        if not queue.retired and queue.id in balanced.seen.queues
    }
    for dispatch in plan.dispatch:
        if (dispatch.profile, dispatch.pool) not in executions:
            continue  # somebody deleted its queue since the look began; the next round makes it
        yield LedgerEntry(
            task=dispatch.task,
            policy=dispatch.policy,
            profile=dispatch.profile,
            pool=dispatch.pool,
            link=dispatch.link,
            intake=remembered.intake_by_key[(dispatch.policy, dispatch.profile)].id,
            execution=executions[(dispatch.profile, dispatch.pool)],
            amount=dispatch.amount,
            tier=dispatch.tier,
            stage=Stage.INTENDED,
            first_seen=balanced.sightings[dispatch.task].first_seen,
            intended_at=at,
        )
