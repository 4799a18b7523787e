"""PostgreSQL, for the processes of several machines: transactions, and locks of the server.

One writes at a time, as in SQLite: a write transaction begins by taking the one writer's lock, and
is READ COMMITTED, so that every statement sees what was committed before it; nobody commits
meanwhile, so what it has read stays true. (A snapshot of the whole transaction would be taken
before the lock is got, and be old. SERIALIZABLE would have blocks run again when they collide, and
a block of a `with` cannot be.) We write some times a second at most, so the turns cost nothing.

Readers wait for nobody: REPEATABLE READ, READ ONLY, from one snapshot. Leadership and moves are
advisory locks (storage/postgresql_locks.py says which). None of it survives a pooler that gives
statements of one session to several connections: connect to the server itself.
"""

import os
import socket
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from typing import Any, Final, cast

import psycopg
from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.orm import Session

from storage.database import Database, Leadership
from storage.errors import DatabaseUnavailable
from storage.postgresql_asking import Asking
from storage.postgresql_errors import translated
from storage.postgresql_leading import claim_leadership, leader
from storage.postgresql_locks import WRITER, Moves, end_silent
from storage.postgresql_wire import ANSWER_S, Target, Wire, connect, target_of
from storage.schema import migrate
from storage.sessions import BUSY_S, Sessions

_OLDEST: Final = (13,)
_IS_ENABLED: Final = "SELECT enabled FROM switch"
_WRITERS_LOCK: Final = "SELECT pg_advisory_xact_lock(%s, %s)"
# Threads that read at the same time; each server has a hundred connections unless told otherwise.
_KEPT, _MORE = 5, 20
# Migrating waits for another process that does it; both may take their time.
_MIGRATING_S: Final = 120.0

_READER: Final = {
    "default_transaction_isolation": "repeatable read",
    "default_transaction_read_only": "on",
    "statement_timeout": int(ANSWER_S * 1_000),
}


class PostgreSQLDatabase(Database):
    """A database on a server."""

    is_shared = True

    def __init__(self, target: Target, sessions: Sessions) -> None:
        self.name = target.name
        self._target = target
        self._sessions = sessions
        self._asking = Asking(target)
        self._moves = Moves(self._asking)
        self._translated = partial(translated, target.name)

    @classmethod
    def open(cls, url: str) -> "PostgreSQLDatabase":
        """As `storage.database.open_database`."""
        target = target_of(url)
        reading, writing = reading_engine(target), writing_engine(target)
        migrating = writing_engine(target, patience_s=_MIGRATING_S)
        sessions = Sessions(target.name, reading, writing, partial(translated, target.name))
        try:
            with translated(target.name):
                check(target, reading)
                migrate(target.name, reading, migrating)
            return cls(target, sessions)
        except BaseException:
            sessions.close()
            raise
        finally:
            migrating.dispose()

    def transaction(self) -> AbstractContextManager[Session]:
        return self._sessions.transaction()

    def reading(self) -> AbstractContextManager[Session]:
        return self._sessions.reading()

    def lead(self, name: str = "") -> Leadership | None:
        with self._translated():
            return claim_leadership(self._target, self._asking, name or _this_process())

    def leader(self) -> str | None:
        with self._translated():
            return leader(self._asking)

    @contextmanager
    def moving(self) -> Iterator[None]:
        with self._translated(), self._moves.shared():
            yield

    def is_enabled(self) -> bool:
        with self._translated():
            row = self._asking.first(_IS_ENABLED)
        return row is None or bool(row[0])

    def drain_moves(self, timeout_s: float) -> bool:
        with self._translated():
            return self._moves.drain(timeout_s)

    def close(self) -> None:
        self._asking.close()
        self._sessions.close()


def reading_engine(target: Target) -> Engine:
    """An engine whose transactions can only read, all from the snapshot of their beginning."""
    engine = _engine(target, _READER, pool_size=_KEPT, max_overflow=_MORE)
    event.listen(engine, "begin", _take_snapshot)
    return engine


def writing_engine(target: Target, patience_s: float = BUSY_S) -> Engine:
    """An engine whose transactions begin with the writer's lock, or fail after that time.

    A writer that says nothing for as long as others wait for it loses its transaction: it may be
    on the other side of a network that is cut. The server sees to it, and where it misses one,
    who waits does.
    """
    patience = int(patience_s * 1_000)
    settings = {
        "statement_timeout": int(max(ANSWER_S, patience_s) * 1_000),
        "lock_timeout": patience,
        "idle_in_transaction_session_timeout": patience,
        "answer_s": max(ANSWER_S, patience_s),
    }
    engine = _engine(target, settings, pool_size=1, max_overflow=0)
    event.listen(engine, "begin", partial(_take_writers_lock, patience_s))
    return engine


def _engine(target: Target, settings: dict[str, Any], **pool: Any) -> Engine:
    return create_engine(
        "postgresql+psycopg://",
        creator=lambda: connect(target, **settings),
        pool_pre_ping=True,  # one that died while nobody used it is replaced before it is used
        pool_timeout=BUSY_S,
        hide_parameters=True,
        use_native_hstore=False,
        **pool,
    )


def _this_process() -> str:
    return f"{socket.gethostname()}:{os.getpid()}"


def _take_snapshot(connection: Connection) -> None:
    connection.exec_driver_sql("SELECT 1")


def _take_writers_lock(patience_s: float, connection: Connection) -> None:
    wire = cast(Wire, connection.connection.driver_connection)
    try:
        wire.execute(_WRITERS_LOCK, WRITER)
    except psycopg.errors.LockNotAvailable:
        wire.rollback()
        if not end_silent(wire, WRITER, patience_s):
            raise
        wire.execute(_WRITERS_LOCK, WRITER)


def check(target: Target, engine: Engine) -> None:
    """Raise DatabaseUnavailable for a server or a database that will not do."""
    with engine.connect() as connection:
        refuse_older(target, connection.dialect.server_version_info or ())
        encoding = connection.exec_driver_sql("SHOW server_encoding").scalar_one()
    if encoding != "UTF8":
        raise DatabaseUnavailable(
            target.name, f"its encoding is {encoding}; create it with ENCODING 'UTF8'"
        )


def refuse_older(target: Target, version: tuple[int | str, ...]) -> None:
    """Raise DatabaseUnavailable for a server that is too old."""
    if version < _OLDEST:
        found = ".".join(map(str, version))
        raise DatabaseUnavailable(
            target.name, f"it is PostgreSQL {found}, and {_OLDEST[0]} or newer is needed"
        )
