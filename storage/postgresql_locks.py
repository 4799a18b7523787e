"""The advisory locks, which belong to a session and end with it, and the barrier around moves.

Those of a database, under numbers of Poolkeeper's:
- WRITER, held by each write transaction;
- LEADER, held by the leader's own connection, together with a lock on a number of its own by which
  its other connections see whether that one still stands;
- MOVES, shared by whoever moves a task. PostgreSQL serves waiters in their order: a drain, which
  asks for it alone, waits for those who are inside, and later ones wait behind it.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import psycopg

from storage.postgresql_asking import Asking, first, waited
from storage.postgresql_wire import Wire

WRITER: Final = (0x506B, 1)
LEADER: Final = (0x506B, 2)
MOVES: Final = (0x506B, 3)
ONE_LEADER: Final = 0x506C
"""The first number of the lock that one leader's connection holds; the second is its own."""

_GATE_S: Final = 180.0
"""How long a move waits for a drain; longer than anybody drains."""

HOLDERS: Final = """
    FROM pg_locks LEFT JOIN pg_stat_activity USING (pid)
    WHERE locktype = 'advisory' AND granted AND objsubid = 2
    AND classid = %s::int::oid AND objid = %s::int::oid
    AND pg_locks.database = (SELECT oid FROM pg_database WHERE datname = current_database())
"""
"""What a query for the sessions that hold a lock goes on with."""

_END_SILENT: Final = f"""
    SELECT pg_terminate_backend(pid) {HOLDERS}
    AND usename = current_user AND wait_event_type = 'Client'
    AND state_change <= clock_timestamp() - make_interval(secs => %s)
"""


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
            first(wire, "SELECT pg_advisory_unlock_shared(%s, %s)", *MOVES)
        except psycopg.Error:
            wire.close()  # and the share is gone with it
        else:
            self._asking.keep(wire)

    def drain(self, timeout_s: float) -> bool:
        """Wait until everybody who was inside has left; False when it took longer."""
        wire, _ = self._asking.begin("SELECT 1")
        try:
            return alone(wire, timeout_s)
        finally:
            wire.close()


def alone(wire: Wire, timeout_s: float) -> bool:
    """Take the moves' lock for an instant, or not within that time."""
    if timeout_s <= 0:
        (taken,) = first(wire, "SELECT pg_try_advisory_lock(%s, %s)", *MOVES)
    else:
        taken = waited(wire, MOVES, timeout_s)
    if taken:
        first(wire, "SELECT pg_advisory_unlock(%s, %s)", *MOVES)
    return bool(taken)


def end_silent(wire: Wire, lock: tuple[int, int], silent_s: float) -> bool:
    """End the sessions that hold the lock and have said nothing for that time; whether there were.

    The server's own `idle_in_transaction_session_timeout` misses some: libpq's Flush, which
    psycopg's `executemany` sends, turns its timer off until the client asks for the next thing.
    (So did 15.18; PostgreSQL starts the timer only where it says that it is ready for a query.)
    """
    return bool(wire.execute(_END_SILENT, (*lock, silent_s)).fetchall())
