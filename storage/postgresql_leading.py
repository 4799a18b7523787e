"""Leadership as a lock of the leader's own connection, taken over only when nothing of it goes on.

The leader proves every second that the connection stands. The server lets go of it when it hears
nothing for five seconds: then the leader has stopped, for its last proof is older than three.
"""

import threading
import time
from typing import Final

import psycopg

from storage.database import Leadership
from storage.postgresql_asking import ANSWERS_S, Asking, first, keep_when_silent, waited
from storage.postgresql_errors import translated
from storage.postgresql_locks import HOLDERS, LEADER, ONE_LEADER, WRITER, alone, end_silent
from storage.postgresql_wire import Target, Wire, connect

_PING_S: Final = 1.0
_PROOF_S: Final = 3.0
"""How old a proof of leadership may be. The server gives the lock away no sooner than 5 s after it
heard from the leader, by keepalives or `idle_session_timeout`; so who leads stops before."""

_SILENT_MS: Final = 5_000
_TAKEOVER_S: Final = 3.0
"""How long who takes over waits for moves of before. One that outlasts it is like a move of a
process that was killed: its intent is in the ledger, and is settled by looking."""

_HOLDER: Final = f"SELECT application_name {HOLDERS}"
_NAME: Final = "poolkeeper, led by "


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
        if (number := _taken(wire, name)) is not None:
            end_silent(wire, WRITER, _PROOF_S)
            if waited(wire, WRITER, _TAKEOVER_S):
                first(wire, "SELECT pg_advisory_unlock(%s, %s)", *WRITER)
                alone(wire, _TAKEOVER_S)
                return SessionLeadership(wire, number, asking, target.name)
    except BaseException:
        wire.close()
        raise
    _let_go(wire)
    return None


def _taken(wire: Wire, name: str) -> int | None:
    """Take the lock, and one on a number that no other leader has; the number."""
    (taken,) = first(wire, "SELECT pg_try_advisory_lock(%s, %s)", *LEADER)
    if not taken:
        return None
    (number,) = first(wire, "SELECT (random() * 2147483647)::int")
    first(wire, "SELECT pg_advisory_lock(%s, %s)", ONE_LEADER, number)
    first(wire, "SELECT set_config('application_name', %s, false)", _NAME + name)
    # A leader that is frozen, or behind something that swallows all it says, is no leader.
    keep_when_silent(wire, _SILENT_MS)
    return int(number)


def _let_go(wire: Wire) -> None:
    """Give the locks back before the connection ends, which the server sees only later."""
    try:
        first(wire, "SELECT pg_advisory_unlock_all()", answer_s=ANSWERS_S)
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
                "SELECT pg_try_advisory_xact_lock_shared(%s, %s)", ONE_LEADER, self._number
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
                first(self._wire, "SELECT 1", answer_s=ANSWERS_S)
            except psycopg.Error:
                self._ended.set()  # the lock was that session's
                self._wire.close()
            else:
                self._proved_at = began
