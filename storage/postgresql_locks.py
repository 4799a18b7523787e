"""Leadership and moves as advisory locks, which belong to a session and end with it.

Four locks in the database, all under one number of Poolkeeper's:
- WRITER, held by each write transaction;
- LEADER, held by the leader's own connection, together with a lock on a number of its own by which
  its other connections see whether that one still stands;
- MOVES, shared by whoever moves a task. PostgreSQL serves waiters in their order: a drain, which
  asks for it alone, waits for those who are inside, and later ones wait behind it.
"""

import threading
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

import psycopg

from storage.database import Leadership
from storage.postgresql_errors import translated
from storage.postgresql_wire import Target, Wire, connect
from storage.sessions import BUSY_S

WRITER: Final = (0x506B, 1)
LEADER: Final = (0x506B, 2)
MOVES: Final = (0x506B, 3)
_ONE_LEADER: Final = 0x506C
"""The first number of the lock that one leader's connection holds; the second is its own."""

_GATE_S: Final = 180.0
"""How long a move waits for a drain; longer than anybody drains."""

_PING_S: Final = 1.0
_PING_ANSWER_S: Final = 2.0
_PROOF_S: Final = 3.0
"""How old a proof of leadership may be. The server gives the lock away no sooner than 5 s after it
heard from the leader, by keepalives or `idle_session_timeout`; so who leads stops before."""

_SILENT_MS: Final = 5_000
_TAKEOVER_S: Final = 3.0
"""How long who takes over waits for moves of before. One that outlasts it is like a move of a
process that was killed: its intent is in the ledger, and is settled by looking."""

_HOLDER: Final = """
    SELECT application_name FROM pg_locks LEFT JOIN pg_stat_activity USING (pid)
    WHERE locktype = 'advisory' AND granted AND objsubid = 2
    AND classid = %s::int::oid AND objid = %s::int::oid
    AND pg_locks.database = (SELECT oid FROM pg_database WHERE datname = current_database())
"""
_NAME: Final = "poolkeeper, led by "


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
            return _first(mine, statement, *values)
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
            return kept, _first(kept, statement, *values, answer_s=answer_s)
        except psycopg.Error as error:
            is_dead = isinstance(error, psycopg.OperationalError) and kept.closed
            kept.close()
            if not is_dead:
                raise
        return self._anew(statement, *values, answer_s=answer_s)

    def _anew(self, statement: str, *values: object, answer_s: float) -> tuple[Wire, Any]:
        wire = connect(self._target, autocommit=True)
        try:
            _keep_when_silent(wire, 0)  # whatever the server does to others: a move may be long
            return wire, _first(wire, statement, *values, answer_s=answer_s)
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


def _first(wire: Wire, statement: str, *values: object, answer_s: float = BUSY_S) -> Any:
    wire.answer_s = answer_s
    return wire.execute(statement, values).fetchone()


class Moves:
    """The barrier around moves."""

    def __init__(self, asking: Asking) -> None:
        self._asking = asking

    @contextmanager
    def shared(self) -> Iterator[None]:
        """Be one of those who are moving."""
        wire, _ = self._asking.begin(
            "SELECT pg_advisory_lock_shared(%s, %s)", *MOVES, answer_s=_GATE_S
        )
        try:
            with self._asking.within(wire):
                yield
        finally:
            self._leave(wire)

    def _leave(self, wire: Wire) -> None:
        try:
            _first(wire, "SELECT pg_advisory_unlock_shared(%s, %s)", *MOVES)
        except psycopg.Error:
            wire.close()  # and the share is gone with it
        else:
            self._asking.keep(wire)

    def drain(self, timeout_s: float) -> bool:
        """Wait until everybody who was inside has left; False when it took longer."""
        wire, _ = self._asking.begin("SELECT 1")
        try:
            return _alone(wire, timeout_s)
        finally:
            wire.close()


def _alone(wire: Wire, timeout_s: float) -> bool:
    """Take the moves' lock for an instant, or not within that time."""
    if timeout_s <= 0:
        (taken,) = _first(wire, "SELECT pg_try_advisory_lock(%s, %s)", *MOVES)
    else:
        taken = _waited(wire, MOVES, timeout_s)
    if taken:
        _first(wire, "SELECT pg_advisory_unlock(%s, %s)", *MOVES)
    return bool(taken)


def _waited(wire: Wire, lock: tuple[int, int], timeout_s: float) -> bool:
    limit = f"{max(1, int(timeout_s * 1_000))}ms"
    _first(wire, "SELECT set_config('lock_timeout', %s, false)", limit)
    try:
        _first(wire, "SELECT pg_advisory_lock(%s, %s)", *lock, answer_s=timeout_s + _PING_ANSWER_S)
    except psycopg.errors.LockNotAvailable:
        return False
    return True


def leader(asking: Asking) -> str | None:
    """Who holds the leader's lock."""
    row = asking.first(_HOLDER, *LEADER)
    if row is None:
        return None
    return str(row[0] or "").removeprefix(_NAME) or "another session"


def claim_leadership(target: Target, asking: Asking, name: str) -> Leadership | None:
    """Take the leader's lock on a connection of its own; None when it is taken.

    Who takes it over goes through the locks of writers and moves before it leads: what the one
    before had begun is then over, and what it begins later is refused.
    """
    if leader(asking) is not None:
        return None
    wire = connect(target, autocommit=True, lock_timeout=0)
    try:
        if (number := _taken(wire, name)) is not None and _waited(wire, WRITER, _TAKEOVER_S):
            _first(wire, "SELECT pg_advisory_unlock(%s, %s)", *WRITER)
            _alone(wire, _TAKEOVER_S)
            return SessionLeadership(wire, number, asking, target.name)
    except BaseException:
        wire.close()
        raise
    _let_go(wire)
    return None


def _taken(wire: Wire, name: str) -> int | None:
    """Take the lock, and one on a number that no other leader has; the number."""
    (taken,) = _first(wire, "SELECT pg_try_advisory_lock(%s, %s)", *LEADER)
    if not taken:
        return None
    (number,) = _first(wire, "SELECT (random() * 2147483647)::int")
    _first(wire, "SELECT pg_advisory_lock(%s, %s)", _ONE_LEADER, number)
    _first(wire, "SELECT set_config('application_name', %s, false)", _NAME + name)
    # A leader that is frozen, or behind something that swallows all it says, is no leader.
    _keep_when_silent(wire, _SILENT_MS)
    return int(number)


def _keep_when_silent(wire: Wire, limit_ms: int) -> None:
    """How long the server keeps a session that asks nothing, 0 for ever; before 14 it always is."""
    if wire.info.server_version >= 140_000:
        _first(wire, "SELECT set_config('idle_session_timeout', %s, false)", str(limit_ms))


def _let_go(wire: Wire) -> None:
    """Give the locks back before the connection ends, which the server sees only later."""
    try:
        _first(wire, "SELECT pg_advisory_unlock_all()", answer_s=_PING_ANSWER_S)
    except psycopg.Error:
        pass
    finally:
        wire.close()


class SessionLeadership(Leadership):
    """Held as long as its connection stands, which a thread proves every second."""

    def __init__(self, wire: Wire, number: int, asking: Asking, database: str) -> None:
        self._wire = wire
        self._number = number
        self._asking = asking
        self._database = database
        self._ended = threading.Event()
        self._proved_at = time.monotonic()
        self._prover = threading.Thread(target=self._prove, name="leadership", daemon=True)
        self._prover.start()

    def is_held(self) -> bool:
        return not self._ended.is_set() and time.monotonic() - self._proved_at < _PROOF_S

    def is_confirmed(self) -> bool:
        if self._ended.is_set():
            return False
        with translated(self._database):
            # Shared, so that two who ask at once do not take each other for the leader.
            (gone,) = self._asking.first(
                "SELECT pg_try_advisory_xact_lock_shared(%s, %s)", _ONE_LEADER, self._number
            )
        return not gone

    def release(self) -> None:
        self._ended.set()
        self._prover.join()
        _let_go(self._wire)

    def _prove(self) -> None:
        while not self._ended.wait(_PING_S):
            began = time.monotonic()
            try:
                _first(self._wire, "SELECT 1", answer_s=_PING_ANSWER_S)
            except psycopg.Error:
                self._ended.set()  # the lock was that session's
                self._wire.close()
            else:
                self._proved_at = began
