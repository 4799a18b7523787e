"""Single statements to PostgreSQL, on connections kept for them, and waiting for a lock."""

import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

import psycopg

from storage.postgresql_wire import Target, Wire, connect
from storage.sessions import BUSY_S

ANSWERS_S: Final = 2.0
"""Within which a server answers that is there."""


class Asking:
    """Single statements, each a transaction of its own, on connections that are kept for them.

    Within a move they go over the connection that holds its share: an answer proves that the
    share still stands.
    """

    def __init__(self, target: Target) -> None:
        self._target = target
        self._idle: deque[Wire] = deque()
        self._mine = threading.local()

    def first(self, statement: str, *values: object) -> Any:
        """The first row that it gives, None where there is none."""
        mine: Wire | None = getattr(self._mine, "wire", None)
        if mine is not None:
            return first(mine, statement, *values)
        wire, row = self.begin(statement, *values)
        self._idle.append(wire)
        return row

    def begin(self, statement: str, *values: object, answer_s: float = BUSY_S) -> tuple[Wire, Any]:
        """The same, and the connection; a kept one that turns out dead is replaced once."""
        try:
            kept = self._idle.pop()
        except IndexError:
            return self._anew(statement, *values, answer_s=answer_s)
        try:
            return kept, first(kept, statement, *values, answer_s=answer_s)
        except psycopg.Error as error:
            is_dead = isinstance(error, psycopg.OperationalError) and kept.closed
            kept.close()
            if not is_dead:
                raise
        return self._anew(statement, *values, answer_s=answer_s)

    def _anew(self, statement: str, *values: object, answer_s: float) -> tuple[Wire, Any]:
        wire = connect(self._target, autocommit=True)
        try:
            keep_when_silent(wire, 0)  # whatever the server does to others: a move may be long
            return wire, first(wire, statement, *values, answer_s=answer_s)
        except BaseException:
            wire.close()
            raise

    @contextmanager
    def within(self, wire: Wire) -> Iterator[None]:
        """What this thread asks goes over that connection."""
        self._mine.wire = wire
        try:
            yield
        finally:
            self._mine.wire = None

    def keep(self, wire: Wire) -> None:
        self._idle.append(wire)

    def close(self) -> None:
        """Close what nobody uses."""
        while self._idle:
            self._idle.pop().close()


def first(wire: Wire, statement: str, *values: object, answer_s: float = BUSY_S) -> Any:
    """The first row that the statement gives on this connection. Raises psycopg.Error."""
    wire.answer_s = answer_s
    return wire.execute(statement, values).fetchone()


def keep_when_silent(wire: Wire, limit_ms: int) -> None:
    """How long the server keeps a session that asks nothing, 0 for ever; before 14 it always is."""
    if wire.info.server_version >= 140_000:
        first(wire, "SELECT set_config('idle_session_timeout', %s, false)", str(limit_ms))


def waited(wire: Wire, lock: tuple[int, int], timeout_s: float) -> bool:
    """Take the lock for the session, alone; False when it is not to be had within that time."""
    limit = f"{max(1, int(timeout_s * 1_000))}ms"
    first(wire, "SELECT set_config('lock_timeout', %s, false)", limit)
    try:
        first(wire, "SELECT pg_advisory_lock(%s, %s)", *lock, answer_s=timeout_s + ANSWERS_S)
    except psycopg.errors.LockNotAvailable:
        return False
    return True
