"""SQLite, for the processes of one machine: a file in WAL mode, and lock files beside it.

Write transactions begin IMMEDIATE, with the file's only write lock; leadership and moves are locks
of storage/locks.py.
"""

import os
import sqlite3
import time
from collections import deque
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from typing import Any, Final

from sqlalchemy import URL, Connection, Engine, create_engine, event, make_url
from sqlalchemy.exc import ArgumentError
from sqlalchemy.orm import Session

from storage.database import Database, Leadership
from storage.errors import DatabaseUnavailable, StorageError, translated
from storage.locks import MoveGuard, claim_leadership, leader
from storage.schema import migrate
from storage.sessions import BUSY_S, Sessions

_IS_ENABLED: Final = "SELECT enabled FROM switch"
_PRAGMAS: Final = ("foreign_keys=ON", "synchronous=NORMAL")
# More than the threads of one process; a thread that waits for a connection helps nobody.
_CONNECTIONS: Final = 40


class SQLiteDatabase(Database):
    """A database file, by its path with all links resolved."""

    is_shared = False

    def __init__(self, path: Path, sessions: Sessions) -> None:
        self.path = path
        self.name = str(path)
        self._sessions = sessions
        self._switch = QuickRead(path, _IS_ENABLED)
        self._moves = MoveGuard(self._beside("moves.lock"), self._beside("moves.gate"))

    @classmethod
    def open(cls, url: str) -> "SQLiteDatabase":
        """As `storage.database.open_database`."""
        path = path_of(url)
        prepare(path)
        reading, writing = engine_for(path, read_only=True), engine_for(path, read_only=False)
        sessions = Sessions(str(path), reading, writing, partial(translated, path))
        try:
            with translated(path):
                migrate(str(path), reading, writing)
            return cls(path, sessions)
        except BaseException:
            sessions.close()
            raise

    def transaction(self) -> AbstractContextManager[Session]:
        return self._sessions.transaction()

    def reading(self) -> AbstractContextManager[Session]:
        return self._sessions.reading()

    def lead(self, name: str = "") -> Leadership | None:
        return claim_leadership(self._beside("leader.lock"), name)

    def leader(self) -> str | None:
        return leader(self._beside("leader.lock"))

    def moving(self) -> AbstractContextManager[None]:
        return self._moves.shared()

    def is_enabled(self) -> bool:
        with translated(self.path):
            enabled = self._switch.first()
        return enabled is None or bool(enabled)

    def drain_moves(self, timeout_s: float) -> bool:
        return self._moves.drain(timeout_s)

    def close(self) -> None:
        self._switch.close()
        self._moves.close()
        self._sessions.close()

    def _beside(self, suffix: str) -> Path:
        return self.path.with_name(f"{self.path.name}.{suffix}")


def path_of(url: str) -> Path:
    """The database file that a URL like `sqlite:///path`, or a plain path, names."""
    if "://" not in url:
        name, driver, options = url, "sqlite", False
    else:
        try:
            parsed = make_url(url)
        except ArgumentError as error:
            raise StorageError(
                "The database URL cannot be read: write sqlite:///path/to/file."
            ) from error
        name, driver, options = parsed.database or "", parsed.drivername, bool(parsed.query)
    if driver != "sqlite" or options:
        # The URL itself is not repeated: it may hold a password.
        raise StorageError(
            f"The state is kept in SQLite or PostgreSQL, and a {driver} URL was given: write"
            " sqlite:///path/to/file, without options, or postgresql://user:password@host/name."
        )
    if not name.strip() or name.startswith((":memory:", "file:")):
        raise StorageError("The database must be a file: write sqlite:///path/to/file.")
    # The locks lie beside the file itself, by whatever link it is reached.
    return Path(name).resolve()


def look(path: Path) -> None:
    """Raise DatabaseUnavailable where there can be no database, without touching anything."""
    if path.is_dir():
        raise DatabaseUnavailable(path, "it is a directory")
    if not path.parent.is_dir():
        raise DatabaseUnavailable(path, f"the directory {path.parent} does not exist; create it")
    if path.exists() and not os.access(path, os.R_OK | os.W_OK):
        raise DatabaseUnavailable(
            path, "this user may not read and write it; change its owner or its mode"
        )
    if not os.access(path.parent, os.W_OK | os.X_OK):
        raise DatabaseUnavailable(path, f"this user may not write to the directory {path.parent}")


def prepare(path: Path) -> None:
    """Make the file, readable by its owner only, unless it is there; turn on the WAL."""
    look(path)
    try:
        # Never opened again by other means than SQLite: closing any descriptor of a database
        # drops the locks that SQLite holds on it for this process.
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
    except FileExistsError:
        pass
    except OSError as error:
        raise DatabaseUnavailable(path, error.strerror or str(error)) from error
    with translated(path):
        _turn_on_wal(path)


def _turn_on_wal(path: Path) -> None:
    """Set the journal mode, which stays with the file."""
    connection = sqlite3.connect(path, timeout=BUSY_S, isolation_level=None)
    deadline = time.monotonic() + BUSY_S
    try:
        # The change needs the file alone, and SQLite does not wait for that by itself.
        while connection.execute("PRAGMA journal_mode").fetchone()[0] != "wal":
            try:
                connection.execute("PRAGMA journal_mode=WAL")
            except sqlite3.OperationalError:
                if time.monotonic() >= deadline:
                    raise
                time.sleep(0.01)
    finally:
        connection.close()


def engine_for(path: Path, *, read_only: bool) -> Engine:
    """An engine whose transactions take the write lock at once, or can only read."""
    engine = create_engine(
        URL.create("sqlite", database=str(path)),
        connect_args={"timeout": BUSY_S, "isolation_level": None},
        max_overflow=_CONNECTIONS,
        hide_parameters=True,
    )

    def configure(connection: Any, _record: object) -> None:
        for pragma in (*_PRAGMAS, *(("query_only=ON",) if read_only else ())):
            connection.execute(f"PRAGMA {pragma}")

    def begin(connection: Connection) -> None:
        # Deferred, a transaction that reads before it writes can be refused half-way.
        connection.exec_driver_sql("BEGIN" if read_only else "BEGIN IMMEDIATE")
        if read_only:
            # The snapshot is that of the first read, so read.
            connection.exec_driver_sql("SELECT 1 FROM sqlite_master LIMIT 1")

    event.listen(engine, "connect", configure)
    event.listen(engine, "begin", begin)
    return engine


class QuickRead:
    """One question, prepared on plain connections, that sees every commit made before it."""

    def __init__(self, path: Path, question: str) -> None:
        self._path = path
        self._question = question
        self._idle: deque[sqlite3.Connection] = deque()

    def first(self) -> Any:
        """The first column of the first row, None where there is no row."""
        try:
            connection = self._idle.pop()
        except IndexError:
            connection = sqlite3.connect(
                self._path, timeout=BUSY_S, isolation_level=None, check_same_thread=False
            )
        # Read to the end: a statement left half-read keeps its snapshot, and the next answer old.
        rows = connection.execute(self._question).fetchall()
        self._idle.append(connection)  # one that failed is not kept
        return rows[0][0] if rows else None

    def close(self) -> None:
        """Close what nobody uses."""
        while self._idle:
            self._idle.pop().close()
