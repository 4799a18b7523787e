"""What the database keeps to when processes race for it, or are killed with -9 in the middle."""

import os
import re
import signal
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest

from storage import audit, ledger, switch
from storage.database import Database, Leadership, open_database
from tests.children import children
from tests.conftest import Opener
from tests.postgres_support import Postgres
from tests.sandbox_support import wait_until

SOON_S = 2.0
"""Within which a server notices that a process is dead; the kernel knows at once."""
NOW = datetime(2026, 12, 1, 10, tzinfo=UTC)

OPEN_AND_WRITE = """
import sys
from datetime import UTC, datetime
from domain.ledger import AuditRecord
from storage import audit
from storage.database import open_database
print("ready", flush=True)
sys.stdin.readline()
with open_database(sys.argv[1]).transaction() as session:
    audit.record(session, AuditRecord(
        at=datetime.now(UTC), actor=sys.argv[2], action="open", subject="database"))
"""

IMPORTS_OF_OPENING = """
import sys
from storage.database import open_database
open_database(sys.argv[1])
print(*sorted({"alembic", "psycopg"} & sys.modules.keys()), flush=True)
"""

WRITE_AND_WAIT = """
import sys
from datetime import UTC, datetime
from domain.ledger import Sighting
from storage import ledger
from storage.database import open_database
database = open_database(sys.argv[1])
with database.transaction() as session:
    ledger.see(session, [
        Sighting(task=str(n), policy="dev", profile="p", queue="q", first_seen=datetime.now(UTC))
        for n in range(20_000)  # more than stays in memory: some of it is in the WAL already
    ])
    print("written", flush=True)
    sys.stdin.read()
"""

LEAD_AND_WAIT = """
import sys
from storage.database import open_database
database = open_database(sys.argv[1])
leadership = database.lead()
print("leading" if leadership else "refused", flush=True)
sys.stdin.read()
"""

LEAD_AND_WRITE_WHEN_TOLD = """
import sys
from datetime import UTC, datetime
from storage import switch
from storage.database import StorageError, open_database
database = open_database(sys.argv[1])
leadership = database.lead()
print("leading" if leadership else "refused", flush=True)
sys.stdin.readline()
held = leadership.is_held()
try:
    with database.as_leader(leadership).transaction() as session:
        switch.set_enabled(session, False, "U1", datetime.now(UTC))
    print(held, "written", flush=True)
except StorageError as error:
    print(held, type(error).__name__, flush=True)
"""

MOVE_AND_WAIT = """
import sys
from storage.database import open_database
database = open_database(sys.argv[1])
with database.moving():
    print("moving", flush=True)
    sys.stdin.read()
"""

# Four threads append one byte at the beginning of each move and one at its end.
MOVE_UNTIL_DISABLED = """
import os, sys
from concurrent.futures import ThreadPoolExecutor
from storage.database import open_database
database = open_database(sys.argv[1])
journal = os.open(sys.argv[2], os.O_WRONLY | os.O_APPEND)
def move_until_disabled(_):
    while True:
        with database.moving():
            if not database.is_enabled():
                return
            os.write(journal, b"(")
            sum(range(5_000))
            os.write(journal, b")")
print("ready", flush=True)
with ThreadPoolExecutor(4) as threads:
    list(threads.map(move_until_disabled, range(4)))
"""


@pytest.fixture
def database(open_: Opener) -> Database:
    return open_()


def says_who_leads(database: Database, pid: int) -> bool:
    return re.search(rf"\b{pid}$", database.leader() or "") is not None


def turn(database: Database, enabled: bool) -> None:
    with database.transaction() as session:
        switch.set_enabled(session, enabled, "U1", NOW)


def test_many_processes_can_open_a_fresh_database_at_once(empty_url: str) -> None:
    names = {"a", "b", "c", "d"}
    with children(OPEN_AND_WRITE, *((empty_url, name) for name in names)) as processes:
        for process in processes:
            assert process.says() == "ready"
        for process in processes:
            process.go()
        assert [process.ends() for process in processes] == [0, 0, 0, 0]

    with closing(open_database(empty_url)) as database, database.reading() as session:
        assert {record.actor for record in audit.records(session, 10)} == names


def test_what_opening_does_not_need_is_not_imported(empty_url: str) -> None:
    driver = [] if empty_url.startswith("sqlite") else ["psycopg"]
    for migrator in (["alembic"], []):
        with children(IMPORTS_OF_OPENING, (empty_url,)) as (process,):
            assert process.says().split() == [*migrator, *driver]


def test_a_process_killed_in_a_transaction_leaves_nothing_of_it(
    database: Database, database_url: str
) -> None:
    with children(WRITE_AND_WAIT, (database_url,)) as (process,):
        assert process.says() == "written"
        process.kill_9()

    with database.reading() as session:
        assert ledger.sightings(session) == ()
    turn(database, False)  # and the write lock is free
    assert not database.is_enabled()


def test_leadership_is_one_processs_and_free_when_that_is_killed(
    database: Database, database_url: str
) -> None:
    with children(LEAD_AND_WAIT, (database_url,)) as (process,):
        assert process.says() == "leading"
        assert database.lead() is None
        assert says_who_leads(database, process.pid)

        process.kill_9()

        wait_until(lambda: database.leader() is None, "nobody leads", SOON_S)
        leadership = database.lead()
        assert leadership is not None
        assert says_who_leads(database, os.getpid())

    with children(LEAD_AND_WAIT, (database_url,)) as (process,):
        assert process.says() == "refused"
    leadership.release()


def test_draining_waits_for_other_processes_too_unless_they_are_killed(
    database: Database, database_url: str
) -> None:
    with children(MOVE_AND_WAIT, (database_url,)) as (process,):
        assert process.says() == "moving"
        assert not database.drain_moves(0.05)

        process.kill_9()

        assert database.drain_moves(SOON_S)


def test_after_an_acknowledged_disable_no_process_moves_anything(
    database: Database, database_url: str, tmp_path: Path
) -> None:
    journal = tmp_path / "journal"
    for _ in range(3):
        journal.write_bytes(b"")
        turn(database, True)
        with children(
            MOVE_UNTIL_DISABLED, (database_url, journal), (database_url, journal)
        ) as processes:
            for process in processes:
                assert process.says() == "ready"
            while journal.stat().st_size < 200:
                pass

            turn(database, False)
            drained = database.drain_moves(20)
            acknowledged = journal.read_bytes()

            assert [process.ends() for process in processes] == [0, 0]

        assert drained
        assert acknowledged.count(b"(") == acknowledged.count(b")") > 0
        assert journal.read_bytes() == acknowledged


def test_a_leader_that_is_frozen_is_replaced_and_writes_nothing_when_it_wakes(
    postgres: Postgres,
) -> None:
    url = postgres.database()
    with (
        closing(open_database(url)) as database,
        children(LEAD_AND_WRITE_WHEN_TOLD, (url,)) as (process,),
    ):
        assert process.says() == "leading"
        os.kill(process.pid, signal.SIGSTOP)
        taken: list[Leadership] = []

        def takes_over() -> bool:
            taken.extend(one for one in [database.lead()] if one is not None)
            return bool(taken)

        wait_until(takes_over, "the other one leads", 10)
        os.kill(process.pid, signal.SIGCONT)
        process.go()

        assert process.says() == "False LeadershipLost"
        assert database.is_enabled()
        taken[0].release()
    postgres.give_back(url)
