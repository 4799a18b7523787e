"""Sessions on a database's two engines: one whose transactions write, one whose only read."""

import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Final

from sqlalchemy import Engine
from sqlalchemy.orm import Session

from storage.errors import DatabaseUnavailable

BUSY_S: Final = 5.0
"""How long a writer waits for another one, of this process or another, before it gives up."""

Translated = Callable[[], AbstractContextManager[None]]
"""What makes StorageErrors of the vendors' errors in a block."""


class Sessions:
    """Gives sessions. The engines begin their transactions as the database's contract says."""

    def __init__(self, name: str, reading: Engine, writing: Engine, translated: Translated) -> None:
        self._name = name
        self._reading = reading
        self._writing = writing
        self._translated = translated
        self._turn = threading.Lock()

    @contextmanager
    def transaction(self) -> Iterator[Session]:
        # Threads take turns here: SQLite's own waiting is by ever longer naps, and unfair; and in
        # PostgreSQL every thread that waits would hold a connection.
        if not self._turn.acquire(timeout=BUSY_S):
            raise DatabaseUnavailable(self._name, f"another thread writes for over {BUSY_S:g} s")
        try:
            with self._session(self._writing) as session:
                yield session
        finally:
            self._turn.release()

    @contextmanager
    def reading(self) -> Iterator[Session]:
        with self._session(self._reading) as session:
            yield session

    def close(self) -> None:
        self._reading.dispose()
        self._writing.dispose()

    @contextmanager
    def _session(self, engine: Engine) -> Iterator[Session]:
        with self._translated(), Session(engine, expire_on_commit=False) as session:
            session.connection()  # begins now, not at the first statement
            yield session
            session.commit()
