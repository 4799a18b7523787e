"""The door to the database: transactions, leadership, and the barrier around moves.

Everything else in this package takes the session that `transaction()` or `reading()` gives, and
commits nothing by itself.
"""

import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

from sqlalchemy import Engine
from sqlalchemy.orm import Session

from storage.errors import DatabaseTooNew, DatabaseUnavailable, StorageError, translated
from storage.locks import Leadership, MoveGuard, claim_leadership, leader_pid
from storage.schema import migrate
from storage.sqlite import BUSY_S, QuickRead, engine_for, look, path_of, prepare

__all__ = [
    "Database",
    "DatabaseTooNew",
    "DatabaseUnavailable",
    "Leadership",
    "Session",
    "StorageError",
    "open_database",
    "why_unusable",
]

_IS_ENABLED = "SELECT enabled FROM switch"


def open_database(url: str) -> "Database":
    """Open `sqlite:///path` or a plain path; a new file is made, an older one migrated.

    The directory must be there. Raises DatabaseTooNew, DatabaseUnavailable, or StorageError for
    a URL that names no SQLite file.
    """
    path = path_of(url)
    prepare(path)
    reading, writing = engine_for(path, read_only=True), engine_for(path, read_only=False)
    try:
        with translated(path):
            migrate(path, reading, writing)
        return Database(path, reading, writing)
    except BaseException:
        reading.dispose()
        writing.dispose()
        raise


def why_unusable(url: str) -> str:
    """Why `open_database` would fail, as far as can be told without opening anything; "" if not."""
    try:
        look(path_of(url))
    except StorageError as error:
        return str(error)
    return ""


class Database:
    """An open database, to be shared by all threads of a process."""

    def __init__(self, path: Path, reading: Engine, writing: Engine) -> None:
        self.path = path
        self._reading = reading
        self._writing = writing
        self._turn = threading.Lock()
        self._switch = QuickRead(path, _IS_ENABLED)
        self._moves = MoveGuard(self._beside("moves.lock"), self._beside("moves.gate"))

    @contextmanager
    def transaction(self) -> Iterator[Session]:
        """Take the write lock; commit when the block ends, roll back when it raises.

        Not to be nested: the inner one would wait for the outer, and is refused after 5 s. Raises
        DatabaseUnavailable when another writer does not finish within that time.
        """
        # Threads take turns here: SQLite's own waiting is by ever longer naps, and unfair.
        if not self._turn.acquire(timeout=BUSY_S):
            raise DatabaseUnavailable(self.path, f"another thread writes for over {BUSY_S:g} s")
        try:
            with self._session(self._writing) as session:
                yield session
        finally:
            self._turn.release()

    @contextmanager
    def reading(self) -> Iterator[Session]:
        """The state as it is now, whatever others commit meanwhile; writing is refused."""
        with self._session(self._reading) as session:
            yield session

    def lead(self) -> Leadership | None:
        """Become the one process that runs rounds; None, after 0.2 s, when another one is already.

        Held until `release()` or the death of the process, `kill -9` included.
        """
        return claim_leadership(self._beside("leader.lock"))

    def leader_pid(self) -> int | None:
        """The process that leads, None when none does."""
        return leader_pid(self._beside("leader.lock"))

    def moving(self) -> AbstractContextManager[None]:
        """Held around each single move; storage/switch.py says why. Not to be nested."""
        return self._moves.shared()

    def is_enabled(self) -> bool:
        """The management switch as last committed by any process; cheap enough for every move."""
        with translated(self.path):
            enabled = self._switch.first()
        return enabled is None or bool(enabled)

    def drain_moves(self, timeout_s: float) -> bool:
        """Wait until every move that had begun is over; False when some outlast `timeout_s`.

        Moves that are about to begin wait meanwhile. Not to be called from inside a move.
        """
        return self._moves.drain(timeout_s)

    def close(self) -> None:
        """Close the connections and locks that nobody uses; leadership is released apart."""
        self._switch.close()
        self._moves.close()
        self._reading.dispose()
        self._writing.dispose()

    @contextmanager
    def _session(self, engine: Engine) -> Iterator[Session]:
        with translated(self.path), Session(engine, expire_on_commit=False) as session:
            session.connection()  # begins now, not at the first statement
            yield session
            session.commit()

    def _beside(self, suffix: str) -> Path:
        return self.path.with_name(f"{self.path.name}.{suffix}")
