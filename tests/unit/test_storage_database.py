"""Opening, transactions, leadership and the barrier around moves, within one process."""

import os
import shutil
import sqlite3
import stat
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path

import pytest

from domain.ledger import LedgerEntry, Stage
from domain.snapshot import Tier
from storage import ledger, switch
from storage.database import (
    Database,
    DatabaseTooNew,
    DatabaseUnavailable,
    StorageError,
    open_database,
)

NOW = datetime(2026, 12, 1, 10, tzinfo=UTC)
ENTRY = LedgerEntry(
    task="t1",
    policy="dev",
    profile="4xGPU",
    pool="bare-metal",
    link="low",
    intake="q1",
    execution="q2",
    amount=Fraction(4),
    tier=Tier.RESERVED,
    stage=Stage.INTENDED,
    first_seen=NOW,
    intended_at=NOW,
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "poolkeeper.db"


@pytest.fixture
def database(path: Path) -> Iterator[Database]:
    database = open_database(f"sqlite:///{path}")
    yield database
    database.close()


def refusal(url: str) -> str:
    """What opening says, which must be one sentence in one line."""
    with pytest.raises(StorageError) as caught:
        open_database(url)
    message = str(caught.value)
    assert message.endswith(".")
    assert "\n" not in message
    assert ". " not in message
    return message


def turn(database: Database, enabled: bool) -> None:
    with database.transaction() as session:
        switch.set_enabled(session, enabled, "U1", NOW)


def tasks(database: Database) -> list[str]:
    with database.reading() as session:
        return [entry.task for entry in ledger.entries(session)]


def test_a_new_database_is_its_owners_alone_and_in_wal_mode(database: Database, path: Path) -> None:
    with database.transaction() as session:
        ledger.put(session, [ENTRY])

    for file in path.parent.iterdir():
        assert stat.S_IMODE(file.stat().st_mode) == 0o600, file
    with sqlite3.connect(path) as connection:
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)


def test_opening_waits_for_another_that_is_making_the_file(path: Path) -> None:
    other = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    other.execute("BEGIN IMMEDIATE")

    with ThreadPoolExecutor(1) as threads:
        opening = threads.submit(open_database, str(path))
        try:
            with pytest.raises(TimeoutError):
                opening.result(timeout=0.2)
        finally:
            other.close()

        opening.result(timeout=20).close()


def test_a_path_will_do_and_may_hold_what_urls_may_not(tmp_path: Path) -> None:
    path = tmp_path / "100% ä?b#c.db"

    open_database(str(path)).close()

    assert path.is_file()


def test_the_lock_files_of_a_link_are_those_of_the_file(path: Path, database: Database) -> None:
    link = path.with_name("link.db")
    link.symlink_to(path)
    other = open_database(str(link))
    leadership = other.lead()

    assert leadership is not None
    assert database.lead() is None

    leadership.release()
    other.close()


@pytest.mark.parametrize(
    ("url", "says"),
    [
        ("sqlite://", "must be a file"),
        ("sqlite:///:memory:", "must be a file"),
        ("", "must be a file"),
        ("sqlite:///a.db?mode=ro", "without options"),
        ("postgresql://me:secret@host/db", "SQLite only, and a postgresql URL"),
        ("://", "cannot be read"),
    ],
)
def test_what_names_no_sqlite_file_is_refused_without_repeating_it(url: str, says: str) -> None:
    message = refusal(url)

    assert says in message
    assert "secret" not in message


def test_a_missing_directory_is_not_made(tmp_path: Path) -> None:
    message = refusal(str(tmp_path / "missing" / "a.db"))

    assert f"the directory {tmp_path / 'missing'} does not exist" in message
    assert not (tmp_path / "missing").exists()


def test_a_directory_is_no_database(tmp_path: Path) -> None:
    assert "is a directory" in refusal(str(tmp_path))


def test_a_file_of_something_else_is_no_database(path: Path) -> None:
    path.write_bytes(b"PK\x03\x04" * 5000)

    assert "file is not a database" in refusal(str(path))
    assert path.read_bytes() == b"PK\x03\x04" * 5000


def test_a_damaged_database_is_refused(path: Path, database: Database) -> None:
    database.close()
    path.write_bytes(path.read_bytes()[:100] + os.urandom(8000))

    assert "malformed" in refusal(str(path))


def test_a_database_of_another_program_is_left_alone(path: Path) -> None:
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE recipes (name)")

    assert "is not Poolkeeper's" in refusal(str(path))
    with sqlite3.connect(path) as connection:
        assert connection.execute("SELECT name FROM sqlite_master").fetchall() == [("recipes",)]


def test_a_database_of_a_newer_version_is_refused_and_the_remedy_named(
    path: Path, database: Database
) -> None:
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")

    with pytest.raises(DatabaseTooNew, match=r"newer Poolkeeper \(revision 9999\): install"):
        open_database(str(path))


READ_ONLY = """
import os, sys
from storage.database import StorageError, open_database
open_database(sys.argv[1] + "/warm.db").close()
if os.geteuid() == 0:  # to whom no mode of a file is an obstacle
    os.setuid(65534)
try:
    open_database(sys.argv[1] + "/poolkeeper.db")
except StorageError as error:
    print(error)
"""


def test_a_file_that_may_not_be_written_is_refused() -> None:
    # pytest's own directories are closed to other users.
    folder = Path(tempfile.mkdtemp())
    try:
        folder.chmod(0o755)
        open_database(str(folder / "poolkeeper.db")).close()
        (folder / "poolkeeper.db").chmod(0o444)
        answer = subprocess.run(
            [sys.executable, "-c", READ_ONLY, str(folder)], capture_output=True, text=True
        )
    finally:
        shutil.rmtree(folder)

    assert answer.stderr == ""
    assert "this user may not read and write it; change its owner or its mode." in answer.stdout


def test_an_exception_rolls_back_everything(database: Database) -> None:
    def write_and_fail() -> None:
        with database.transaction() as session:
            ledger.put(session, [ENTRY])
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        write_and_fail()

    assert tasks(database) == []


def test_a_refused_statement_is_said_in_one_sentence_and_chained(database: Database) -> None:
    with pytest.raises(StorageError) as caught, database.transaction() as session:
        ledger.put(session, [replace(ENTRY, policy=None)])  # type: ignore[arg-type]

    assert str(caught.value).endswith("NOT NULL constraint failed: ledger.policy")
    assert caught.value.__cause__ is not None
    assert tasks(database) == []


def test_a_reader_keeps_its_snapshot_while_others_write(database: Database) -> None:
    with database.reading() as session:
        with database.transaction() as writer:
            ledger.put(writer, [ENTRY])
        assert ledger.entries(session) == ()

    assert tasks(database) == ["t1"]


def test_a_reader_cannot_write(database: Database) -> None:
    with pytest.raises(DatabaseUnavailable, match="readonly"), database.reading() as session:
        ledger.put(session, [ENTRY])

    assert tasks(database) == []


def test_another_program_that_keeps_the_write_lock_is_an_error_and_not_a_hang(
    database: Database, path: Path
) -> None:
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")

    with pytest.raises(DatabaseUnavailable, match="locked"), database.transaction():
        pass

    other.close()
    with database.transaction() as session:
        ledger.put(session, [ENTRY])


def test_eight_threads_write_and_none_is_turned_away(path: Path, database: Database) -> None:
    second = open_database(str(path))  # as another process would: its threads share no lock
    start = threading.Barrier(8)

    def write(thread: int) -> None:
        start.wait()
        for number in range(25):
            with (second if thread % 2 else database).transaction() as session:
                before = len(ledger.entries(session))
                ledger.put(session, [replace(ENTRY, task=f"{thread}-{number}")])
                assert len(ledger.entries(session)) == before + 1

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(write, range(8)))

    second.close()
    assert len(tasks(database)) == 200


def test_one_leads_and_the_other_learns_who(database: Database, path: Path) -> None:
    assert database.leader_pid() is None
    other = open_database(str(path))

    leadership = database.lead()

    assert leadership is not None
    assert other.lead() is None
    assert other.leader_pid() == os.getpid()

    leadership.release()
    leadership.release()

    assert other.leader_pid() is None
    second = other.lead()
    assert second is not None
    second.release()
    other.close()


def test_asking_who_leads_never_costs_anybody_the_leadership(database: Database) -> None:
    asked, stop = threading.Barrier(3), threading.Event()

    def ask() -> None:
        database.leader_pid()
        asked.wait()
        while not stop.is_set():
            database.leader_pid()

    with ThreadPoolExecutor(2) as threads:
        asking = [threads.submit(ask) for _ in range(2)]
        asked.wait()
        try:
            for _ in range(2_000):
                leadership = database.lead()
                assert leadership is not None
                leadership.release()
        finally:
            stop.set()
        for one in asking:
            one.result()


def test_the_switch_is_read_as_last_committed(database: Database, path: Path) -> None:
    other = open_database(str(path))
    assert database.is_enabled()

    for enabled in (False, True, False):
        turn(other, enabled)
        assert database.is_enabled() is enabled

    other.close()


def test_draining_waits_for_a_move_that_had_begun(database: Database) -> None:
    inside, finish = threading.Event(), threading.Event()

    def move() -> None:
        with database.moving():
            inside.set()
            finish.wait()

    mover = threading.Thread(target=move)
    mover.start()
    inside.wait()
    try:
        assert not database.drain_moves(0.05)
    finally:
        finish.set()
        mover.join()
    assert database.drain_moves(0)


def test_a_move_that_raises_is_over(database: Database) -> None:
    with pytest.raises(ZeroDivisionError), database.moving():
        raise ZeroDivisionError

    assert database.drain_moves(0)


def test_moves_do_not_wait_for_one_another(database: Database) -> None:
    together = threading.Barrier(8, timeout=20)

    def move(_: int) -> None:
        with database.moving():
            together.wait()

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(move, range(8)))


def test_an_unbroken_chain_of_moves_does_not_keep_a_drain_waiting(database: Database) -> None:
    stop = threading.Event()

    def move_on() -> None:
        while not stop.is_set():
            with database.moving():
                sum(range(30_000))

    with ThreadPoolExecutor(6) as threads:
        moving = [threads.submit(move_on) for _ in range(6)]
        try:
            drained = [database.drain_moves(10) for _ in range(5)]
        finally:
            stop.set()
        for one in moving:
            one.result()

    assert drained == [True] * 5


def test_after_a_drained_disable_nobody_who_read_enabled_is_still_moving(
    database: Database,
) -> None:
    counting = threading.Lock()
    begun = ended = 0

    def move_until_disabled(moved: threading.Event) -> None:
        nonlocal begun, ended
        while True:
            with database.moving():
                if not database.is_enabled():
                    return
                with counting:
                    begun += 1
                sum(range(20_000))
                with counting:
                    ended += 1
            moved.set()

    for _ in range(20):
        turn(database, True)
        moved = [threading.Event() for _ in range(4)]
        movers = [threading.Thread(target=move_until_disabled, args=(one,)) for one in moved]
        for mover in movers:
            mover.start()
        for one in moved:
            one.wait()

        turn(database, False)
        drained = database.drain_moves(10)
        with counting:
            at_acknowledgement = (begun, ended)
        for mover in movers:
            mover.join()

        assert drained
        assert at_acknowledgement == (begun, ended)
        assert begun == ended
