"""Databases as earlier revisions left them: what they hold, and how it is put into one.

`tests/upgrades/NNNN.sql` has rows in every table of that revision, as INSERTs that name their
columns. They were written by `python -m tests.upgrade_support`, which makes what is missing and
never touches what is there: a fixture is what some version really wrote. A new revision gets one
of its own, with a line in `fill` for each new table; what the earlier ones hold stays as it is.
"""

import re
import sqlite3
import sys
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from datetime import UTC, date, datetime, time, timedelta
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory

import psycopg

from domain.cgpu_memory import Change, InstallerMemory, Memory, NodeMemory, Patch, Proof
from domain.configuration import Configuration, Team
from domain.ledger import (
    AuditRecord,
    Ended,
    LedgerEntry,
    OwnedQueue,
    Role,
    Sample,
    Sighting,
    Stage,
)
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
    schema,
    switch,
    tasks,
    usage,
    views,
    working_copies,
)
from storage.database import Session, open_database
from storage.sqlite import engine_for
from tests.poolkeeper_support import one_profile

FOLDER = Path(__file__).parent / "upgrades"
NOW = datetime(2026, 11, 30, 9, 30, 15, 250_000, tzinfo=UTC)
HOUR, MINUTE = timedelta(hours=1), timedelta(minutes=1)
SEVENTH = Fraction(1, 7)
ODD = "naïve “résumé” – it's 100 % *bold* <!here> \N{SNOWMAN}"
_SINCE = Since(minutes=NOW - 99 * HOUR, hours=NOW - 99 * HOUR, days=NOW - 99 * HOUR)


def teams(reserved: int = 2) -> Configuration:
    made = one_profile(
        {"bare-metal": 8, "h100": "16"}, {"dev": (reserved, 16), "research": (3, None)}, "1/7"
    )
    team = Team(channel="C0123456789", users=("U_CLEO",), clearml_users=(("U_CLEO", "5f3c"),))
    first, second = made.policies
    return replace(made, policies=(replace(first, team=team), second))


def fill(session: Session) -> None:
    """Something in every table."""
    _configurations(session)
    _tasks(session)
    _people(session)
    _cgpu(session)


def _configurations(session: Session) -> None:
    for number, reserved in ((1, 1), (2, 2)):
        approval = configurations.Approval(by="U_ADA", at=NOW - HOUR, note=ODD)
        renames = Renames({Kind.POOL: {"metal": "bare-metal"}} if number == 2 else {})
        configurations.add_version(session, teams(reserved), renames, approval)
        configurations.mark_provisioned(session, number)
    content = configurations.DraftContent(configuration=teams(3), base=2, by="U_BEN", at=NOW)
    configurations.save_draft(session, content, None)
    requests.add(
        session,
        NewRequest(
            kind=RequestKind.PROPOSAL, hash="ab12", base=2, configuration=teams(4), subject="dev",
            reason=ODD, by="U_CLEO", at=NOW, expires_at=NOW + 24 * HOUR,
        ),
    )  # fmt: skip
    working_copies.put(
        session,
        working_copies.WorkingCopy(
            user="U_ADA", configuration=teams(5), base=2, changed_at=NOW, origin=teams(2)
        ),
    )
    switch.set_enabled(session, False, "U_ADA", NOW)


def _tasks(session: Session) -> None:
    entry = LedgerEntry(
        task="a" * 32, policy="dev", profile="job", pool="bare-metal", link="job on bare-metal",
        intake="1" * 32, execution="2" * 32, amount=SEVENTH, tier=Tier.SHARED,
        stage=Stage.DISPATCHED, first_seen=NOW - HOUR, intended_at=NOW - MINUTE,
        dispatched_at=NOW,
    )  # fmt: skip
    ledger.put(session, [entry])
    ledger.see(
        session,
        [
            Sighting(
                task="b" * 32, policy="research", profile="job", queue="3" * 32, first_seen=NOW,
                parameter={"gpus": [1, "2"]},
            )
        ],
    )  # fmt: skip
    ledger.end(
        session,
        [
            Ended(
                task="c" * 32, policy="dev", profile="job", pool="h100", amount=3 * SEVENTH,
                tier=Tier.RESERVED, first_seen=NOW - 9 * HOUR, dispatched_at=NOW - 8 * HOUR,
                ended_at=NOW - HOUR, outcome="completed",
            )
        ],
    )  # fmt: skip
    for role, owner, number in ((Role.INTAKE, "dev", "1"), (Role.EXECUTION, "job on h100", "2")):
        queue = OwnedQueue(
            id=number * 32, role=role, profile="job", owner=owner, name=f"queue {number}",
            pool="" if role is Role.INTAKE else "h100",
        )  # fmt: skip
        queues.put_queue(session, queue)
    tasks.remember(session, [TaskFacts(task="a" * 32, name=ODD, user="5f3c")], NOW)
    for at in (NOW - 2 * HOUR, NOW):  # one is packed, the other stays a row
        samples.add(
            session,
            [
                Sample(at=at, policy="dev", pool="h100", used=SEVENTH, running=1, waiting=0),
                Sample(at=at, policy="dev", pool="", used=Fraction(0), running=0, waiting=4),
            ],
        )
        usage.pack(session, NOW, _SINCE)


def _people(session: Session) -> None:
    audit.record(
        session, AuditRecord(at=NOW, actor="U_ADA", action="saved", subject="draft", detail=ODD)
    )
    message = outbox.Message(
        key="k", channel="C1", payload={"text": ODD, "blocks": [1]}, not_before=NOW
    )
    outbox.put(session, message)
    outbox.mark_sent(session, message, NOW + MINUTE, {"ts": "17.5"})
    views.publish(session, "snapshot", ODD, NOW)
    schedules.put(
        session,
        Schedule(
            channel="C1", policies=("dev",), at=time(9, 30), days=frozenset({0, 4}),
            zone="Europe/Berlin", by="U_CLEO", changed_at=NOW,
        ),
    )  # fmt: skip
    schedules.mark(session, "C1", date(2026, 11, 30))
    people.prefer(session, Preferences(user="U_CLEO", notify=True))
    people.seen(session, "U_CLEO", NOW)
    cards.put(
        session, cards.Card(key="request:1", channel="C1", ts="1.2", hash="x", updated_at=NOW)
    )
    deliveries.first_time(session, "Ev1", NOW)
    alerts.raise_(session, alerts.Alert(cause="clearml-down", kind="outage", text=ODD, since=NOW))


def _cgpu(session: Session) -> None:
    change = Change(id=0, policy=3, version=2, by="U_ADA", started_at=NOW)
    begun = cgpu.begin_change(session, change)
    installer = InstallerMemory(uid="u-1", generation=2, policy=3, since=NOW, images="i:1.5.10")
    node = NodeMemory(
        node="n-1", uid="u-2", boot="b-1", setting=3, generation=2, loaded=1, proof=Proof.BOOTED
    )
    patch = Patch(change=begun.id, installer="u-1", before=None, at=NOW)
    after = Memory(installers={"u-1": installer}, nodes={"n-1": node}, patches={"u-1": patch})
    cgpu.learn(session, Memory(), after)
    cgpu.wish_restart(session, "n-1", "U_ADA", NOW)


Known = dict[str, object]


def known(session: Session) -> Known:
    """All of it, by the table that it comes from, read through the domain."""
    start, end = NOW - 99 * HOUR, NOW + 99 * HOUR
    copy = working_copies.get(session, "U_ADA")
    memory = cgpu.memory(session)
    return {
        "versions": configurations.versions(session),
        "draft": configurations.draft(session),
        "requests": requests.requests(session, 9),
        "working_copies": copy and (copy.configuration, copy.base, copy.revision),
        "switch": switch.switch_state(session),
        "ledger": ledger.entries(session),
        "sightings": ledger.sightings(session),
        "ended": ledger.ended_between(session, start, end),
        "queues": queues.owned_queues(session),
        "tasks": tasks.facts(session, ["a" * 32]),
        "samples": usage.between(session, NOW, end),
        "usage": usage.between(session, start, NOW),
        "audit": audit.records(session, 9),
        "outbox": outbox.find(session, "k"),
        "views": views.published(session, "snapshot"),
        "schedules": (schedules.schedules(session), schedules.last_dates(session)),
        "preferences": people.notified(session),
        "viewers": people.viewers(session, start),
        "cards": cards.card(session, "request:1"),
        "alerts": alerts.raised(session),
        "cgpu_changes": memory.change,
        "cgpu_patches": memory.patches,
        "cgpu_installers": memory.installers,
        "cgpu_nodes": memory.nodes,
        "cgpu_restarts": memory.restarts,
        "cgpu_control": memory.control,
    }


def fixture(revision: str) -> str:
    return (FOLDER / f"{revision}.sql").read_text()


def for_postgresql(script: str) -> str:
    """The same with bytes as PostgreSQL writes them, and numbers that go on after the rows'."""
    numbered = sorted(set(re.findall(r"^INSERT INTO (\w+) \(id, ", script, re.MULTILINE)))
    # A table whose one row is numbered by us has no sequence.
    goes_on = "".join(
        f"SELECT setval(s, 1000) FROM pg_get_serial_sequence('{table}', 'id') AS s "
        "WHERE s IS NOT NULL;\n"
        for table in numbered
    )
    return re.sub(r"X'([0-9A-F]*)'", r"'\\x\1'", script) + goes_on


def run_script(url: str, script: str) -> None:
    """On a database of either kind."""
    if url.startswith("postgresql"):
        with psycopg.connect(url, autocommit=True, options="-c timezone=UTC") as connection:
            connection.execute(for_postgresql(script).encode())
        return
    with closing(sqlite3.connect(url.removeprefix("sqlite:///"))) as connection:
        connection.executescript(script)


def _written(path: Path, revision: str) -> str:
    """INSERTs of all rows, with the columns that the tables had at that revision."""
    with TemporaryDirectory() as folder:
        old = Path(folder) / "old.sqlite3"
        engine = engine_for(old, read_only=False)
        with engine.begin() as connection:
            schema.upgrade(connection, revision)
        engine.dispose()
        with closing(sqlite3.connect(old)) as then, closing(sqlite3.connect(path)) as now:
            tables = then.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
            return "".join(
                _inserts(now, table, then.execute(f"PRAGMA table_info({table})").fetchall())
                for (table,) in sorted(tables)
                if table != "alembic_version"
            )


def _inserts(now: sqlite3.Connection, table: str, columns: list[tuple[object, ...]]) -> str:
    names = [str(column[1]) for column in columns]
    kinds = [str(column[2]) for column in columns]
    shown = ", ".join(f'"{name}"' if name in ("on", "by", "user") else name for name in names)
    lines = []
    for row in now.execute(f"SELECT {shown} FROM {table}"):
        values = ", ".join(_literal(value, kind) for value, kind in zip(row, kinds, strict=True))
        lines.append(f"INSERT INTO {table} ({shown}) VALUES ({values});\n")
    assert lines, f"nothing stands in {table}"
    return "".join(lines)


def _literal(value: object, kind: str) -> str:
    if value is None:
        return "NULL"
    if kind == "BOOLEAN":
        return "true" if value else "false"
    if isinstance(value, bytes):
        return f"X'{value.hex().upper()}'"
    return str(value) if isinstance(value, int) else "'" + str(value).replace("'", "''") + "'"


def write_missing(said: Callable[[str], object]) -> None:
    """A fixture for each revision that has none."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "now.sqlite3"
        database = open_database(str(path))
        with database.transaction() as session:
            fill(session)
        database.close()
        for revision in schema.revisions():
            target = FOLDER / f"{revision}.sql"
            if not target.exists():
                target.write_text(_written(path, revision))
                said(f"{target}\n")


if __name__ == "__main__":
    write_missing(sys.stdout.write)
