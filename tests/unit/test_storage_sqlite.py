"""What is SQLite's own: which file a URL names, how it is made, and what it refuses."""

import os
import shutil
import sqlite3
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path

import pytest

from storage import switch
from storage.database import (
    Database,
    DatabaseTooNew,
    DatabaseUnavailable,
    StorageError,
    open_database,
)

NOW = datetime(2026, 12, 1, 10, tzinfo=UTC)


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


def test_a_new_database_is_its_owners_alone_and_in_wal_mode(database: Database, path: Path) -> None:
    with database.transaction() as session:
        switch.set_enabled(session, False, "U1", NOW)

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
        ("mysql://me:secret@host/db", "SQLite or PostgreSQL, and a mysql URL"),
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


def test_another_program_that_keeps_the_write_lock_is_an_error_and_not_a_hang(
    database: Database, path: Path
) -> None:
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")

    with pytest.raises(DatabaseUnavailable, match="locked"), database.transaction():
        pass

    other.close()
    with database.transaction() as session:
        switch.set_enabled(session, False, "U1", NOW)
