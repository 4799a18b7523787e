"""A database in which every table holds something, made the way Poolkeeper makes it."""

from dataclasses import replace
from datetime import UTC, date, datetime, time, timedelta
from fractions import Fraction

from sqlalchemy import func, select
from sqlmodel import SQLModel

from domain.cgpu_memory import Change, InstallerMemory, NodeMemory, Patch, Proof
from domain.ledger import AuditRecord, Ended, LedgerEntry, OwnedQueue, Role, Sample, Sighting, Stage
from domain.people import Preferences
from domain.renames import Kind, Renames
from domain.requests import NewRequest, RequestKind
from domain.schedules import Schedule
from domain.snapshot import Tier
from domain.tasks import TaskFacts
from domain.usage import Since
from storage import (
    alerts,
    audit,
    cards,
    cgpu,
    configurations,
    deliveries,
    ledger,
    outbox,
    people,
    queues,
    requests,
    samples,
    schedules,
    switch,
    tasks,
    usage,
    views,
    working_copies,
)
from storage.alerts import Alert
from storage.cards import Card
from storage.configurations import Approval, DraftContent
from storage.database import Database, Session
from storage.outbox import Message
from storage.working_copies import WorkingCopy
from tests.configurations import WORKED

NOW = datetime(2026, 12, 1, 10, 30, 15, 123456, tzinfo=UTC)
HOUR = timedelta(hours=1)
NAMES = ("Größe 100%", "emoji \U0001f600", "line\nbreak", "quote ' \" \\ \t", "a\0b", "")
RENAMES = Renames({Kind.POOL: {"metal": "bare-metal"}})


def fill(database: Database) -> None:
    """Fills an empty database, `NAMES` among what people have typed."""
    with database.transaction() as session:
        _fill_rounds(session)
        _fill_configurations(session)
        _fill_bot(session)
        _fill_cgpu(session)


def counts(database: Database) -> dict[str, int]:
    """How many rows each table has."""
    with database.reading() as session:
        return {
            name: session.execute(select(func.count()).select_from(table)).scalar_one()
            for name, table in SQLModel.metadata.tables.items()
        }


def _fill_rounds(session: Session) -> None:
    entry = LedgerEntry(
        task="t1",
        policy="dev",
        profile="4xGPU",
        pool="bare-metal",
        link="low",
        intake="q1",
        execution="q2",
        amount=Fraction(1, 7),
        tier=Tier.RESERVED,
        stage=Stage.INTENDED,
        first_seen=NOW,
        intended_at=NOW,
    )
    ended = Ended(
        task="t0",
        policy="dev",
        profile="4xGPU",
        pool="bare-metal",
        amount=Fraction(1, 7),
        tier=Tier.SHARED,
        first_seen=NOW - HOUR,
        dispatched_at=NOW,
        ended_at=NOW,
        outcome="completed",
    )
    sight = Sighting(
        task="t2", policy="dev", profile="p", queue="q", first_seen=NOW, parameter={"a": [1, None]}
    )
    ledger.put(session, [entry, replace(entry, task="t3", dispatched_at=NOW)])
    ledger.end(session, [ended] * 3)
    ledger.see(session, [sight])
    queues.put_queue(
        session, OwnedQueue(id="q1", role=Role.INTAKE, profile="p", owner="dev", name="dev-p")
    )
    sample = Sample(
        at=NOW - 3 * HOUR, policy="dev", pool="a", used=Fraction(2), running=1, waiting=0
    )
    samples.add(session, [sample, replace(sample, at=NOW)])
    while usage.pack(session, NOW - HOUR, Since(minutes=NOW - 48 * HOUR, hours=NOW, days=NOW)):
        pass
    views.publish(session, "snapshot", '{"names":"half \ud83d"}', NOW)
    switch.set_enabled(session, False, "U1", NOW)
    tasks.remember(
        session, [TaskFacts(task=f"n{n}", name=name, user="u") for n, name in enumerate(NAMES)], NOW
    )


def _fill_configurations(session: Session) -> None:
    for number in (1, 2):
        configurations.add_version(session, WORKED, RENAMES, Approval(by="ann", at=NOW, note="n"))
        configurations.mark_provisioned(session, number)
    draft = DraftContent(configuration=WORKED, renames=RENAMES, base=2, by="ann", at=NOW)
    configurations.save_draft(session, draft, None)
    copy = WorkingCopy(user="ann", configuration=WORKED, base=2, changed_at=NOW)
    working_copies.put(session, copy)
    asked = NewRequest(
        kind=RequestKind.PROVISION,
        hash="h",
        base=2,
        configuration=WORKED,
        renames=RENAMES,
        reason=NAMES[1],
        by="ann",
        at=NOW,
        expires_at=NOW + HOUR,
    )
    requests.add(session, asked)


def _fill_bot(session: Session) -> None:
    for number, name in enumerate(NAMES):
        record = AuditRecord(at=NOW, actor="U1", action="save", subject="draft", detail=name)
        audit.record(session, record)
        outbox.put(
            session,
            Message(key=f"k{number}", channel="C1", payload={"text": name}, not_before=NOW),
        )
    alerts.raise_(session, Alert(cause="down", kind="outage", text="It is away.", since=NOW))
    cards.put(session, Card(key="status", channel="C1", ts="1.2", hash="abc", updated_at=NOW))
    deliveries.first_time(session, "Ev1", NOW)
    people.prefer(session, Preferences(user="ann", notify=True))
    people.seen(session, "ann", NOW)
    schedule = Schedule(
        channel="C1",
        policies=("dev",),
        at=time(9, 5),
        days=frozenset({0, 4}),
        zone="Europe/Berlin",
        on=True,
        by="ann",
        changed_at=NOW,
    )
    schedules.put(session, schedule)
    schedules.mark(session, "C1", date(2026, 11, 30))


def _fill_cgpu(session: Session) -> None:
    begun = Change(id=0, policy=3, version=1, by="ann", started_at=NOW)
    change = cgpu.begin_change(session, begun)
    installer = InstallerMemory(uid="i1", generation=1, policy=3, since=NOW)
    node = NodeMemory(
        node="gpu-1", uid="n1", boot="b", setting=3, generation=1, loaded=3, proof=Proof.READ
    )
    before = cgpu.memory(session)
    after = replace(before, installers={"i1": installer}, nodes={"gpu-1": node})
    cgpu.learn(session, before, after)
    cgpu.put_patch(session, Patch(change=change.id, installer="i1", before=None, at=NOW))
    cgpu.wish_restart(session, "gpu-1", "ann", NOW)
