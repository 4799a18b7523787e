"""The door to the database: transactions, leadership, and the barrier around moves.

Everything else in this package takes the session that `transaction()` or `reading()` gives, and
commits nothing by itself. What is promised here, storage/sqlite.py keeps for the processes of one
machine, and storage/postgresql.py for those of several.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager

from sqlalchemy.orm import Session

from storage.errors import (
    DatabaseTooNew,
    DatabaseUnavailable,
    LeadershipLost,
    StorageError,
)
from storage.names import is_postgresql

__all__ = [
    "Database",
    "DatabaseTooNew",
    "DatabaseUnavailable",
    "Leadership",
    "LeadershipLost",
    "Session",
    "StorageError",
    "open_database",
    "why_unusable",
]


def open_database(url: str) -> "Database":
    """Open `sqlite:///path`, a plain path, or `postgresql://user:password@host:port/name`.

    A new database is filled, an older one migrated; the SQLite file's directory, or the PostgreSQL
    database, must be there. Raises DatabaseTooNew, DatabaseUnavailable, or StorageError for a URL
    that names neither. No message repeats a password.
    """
    # Each engine is imported only where it is used: a command on SQLite starts without psycopg.
    if is_postgresql(url):
        from storage.postgresql import PostgreSQLDatabase

        return PostgreSQLDatabase.open(url)
    from storage.sqlite import SQLiteDatabase

    return SQLiteDatabase.open(url)


def why_unusable(url: str) -> str:
    """Why `open_database` would fail, as far as can be told without opening anything; "" if not."""
    try:
        if is_postgresql(url):
            from storage.postgresql_wire import target_of

            target_of(url)
        else:
            from storage.sqlite import look, path_of

            look(path_of(url))
    except StorageError as error:
        return str(error)
    return ""


class Leadership(ABC):
    """The right to run rounds, until it is released, lost, or the process dies."""

    @abstractmethod
    def is_held(self) -> bool:
        """Whether this process surely leads; costs nothing, so ask before every claim.

        False as well while there is no fresh proof of it.
        """

    @abstractmethod
    def is_confirmed(self) -> bool:
        """Whether it leads, asked of the database now. Raises DatabaseUnavailable."""

    @abstractmethod
    def release(self) -> None:
        """Let somebody else lead; releasing again does nothing."""


class Database(ABC):
    """An open database, to be shared by all threads of a process."""

    name: str
    """What messages call it: a path, or a URL without password."""

    is_shared: bool
    """Whether several processes may run on it. Where they may not, who leads no more is dead."""

    @abstractmethod
    def transaction(self) -> AbstractContextManager[Session]:
        """Take the write lock; commit when the block ends, roll back when it raises.

        One writes at a time, of all processes, and sees all that was committed before: what a
        block has read stays true until it ends. Not to be nested: the inner one would wait for the
        outer, and is refused after 5 s. Raises DatabaseUnavailable when another writer does not
        finish within that time.
        """

    @abstractmethod
    def reading(self) -> AbstractContextManager[Session]:
        """The state as it is now, whatever others commit meanwhile; writing is refused."""

    @abstractmethod
    def lead(self, name: str = "") -> Leadership | None:
        """Become the one process that runs rounds; None when another one is already.

        Held until `release()` or the death of the process, `kill -9` included. On PostgreSQL it is
        lost with its connection too, and None may also mean that what another leader began to
        write is not over; both are told apart by trying again. `name` is what `leader()` says.
        """

    @abstractmethod
    def leader(self) -> str | None:
        """Who leads, in words for messages; None when nobody does."""

    def as_leader(self, leadership: Leadership) -> "Database":
        """The same database for what only a leader may do.

        Its transactions and moves raise LeadershipLost, and do nothing, once another process may
        lead: whoever leads next sees all that this one wrote, and is never overwritten by it.
        """
        return _Led(self, leadership)

    @abstractmethod
    def moving(self) -> AbstractContextManager[None]:
        """Held around each single move; storage/switch.py says why. Not to be nested."""

    @abstractmethod
    def is_enabled(self) -> bool:
        """The management switch as last committed by any process; cheap enough for every move."""

    @abstractmethod
    def drain_moves(self, timeout_s: float) -> bool:
        """Wait until every move that had begun is over; False when some outlast `timeout_s`.

        Moves that are about to begin wait meanwhile. Not to be called from inside a move.
        """

    @abstractmethod
    def close(self) -> None:
        """Close the connections and locks that nobody uses; leadership is released apart."""


class _Led(Database):
    """A database whose writes and moves are refused when the leadership is lost.

    The leadership is confirmed under the write lock, or under the share of the move; who takes
    over passes through both before it leads. So whatever was confirmed is over by then.
    """

    def __init__(self, database: Database, leadership: Leadership) -> None:
        self.name, self.is_shared = database.name, database.is_shared
        self._database = database
        self._leadership = leadership

    @contextmanager
    def transaction(self) -> Iterator[Session]:
        with self._database.transaction() as session:
            self._confirm()
            yield session

    def reading(self) -> AbstractContextManager[Session]:
        return self._database.reading()

    def lead(self, name: str = "") -> Leadership | None:
        return self._database.lead(name)

    def leader(self) -> str | None:
        return self._database.leader()

    @contextmanager
    def moving(self) -> Iterator[None]:
        with self._database.moving():
            self._confirm()
            yield

    def is_enabled(self) -> bool:
        return self._database.is_enabled()

    def drain_moves(self, timeout_s: float) -> bool:
        return self._database.drain_moves(timeout_s)

    def close(self) -> None:
        self._database.close()

    def _confirm(self) -> None:
        if not self._leadership.is_confirmed():
            raise LeadershipLost(self.name)
