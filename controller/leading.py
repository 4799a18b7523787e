"""Leading: of all processes on one database one runs rounds, as long as it holds the leadership.

Leading begins and ends any number of times in the life of a process. What only the leader does is
a term, made anew each time: what the last one remembered may have been changed by others since.
"""

import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Final, Protocol

from storage.database import Database, Leadership, LeadershipLost, StorageError

log = logging.getLogger(__name__)

_TRY_S: Final = 0.5
"""How often a follower tries to lead."""

_LOOK_S: Final = 0.5
"""How often a leader looks whether it still is one. Before each write outside it asks anyway."""


class Term(Protocol):
    """What runs while this process leads; `end` returns when nothing of it runs any more."""

    def begin(self) -> None: ...

    def end(self) -> None: ...


class Role(StrEnum):
    """What this process is; UNKNOWN while the database does not say."""

    LEADER = "leader"
    FOLLOWER = "follower"
    UNKNOWN = "unknown"


@dataclass(frozen=True, kw_only=True)
class Standing:
    """This process's role, and since when it has that."""

    role: Role
    since: datetime


class Leading:
    """Tries to lead, begins a term when it may, and ends it when the leadership is gone."""

    def __init__(
        self,
        lead: Callable[[], Leadership | None],
        term: Callable[[Leadership], Term],
        clock: Callable[[], datetime],
        beat: Callable[[], None] = lambda: None,
    ) -> None:
        """`beat` hears that a follower lives; a leader's loop says that itself."""
        self._lead = lead
        self._term = term
        self._clock = clock
        self._beat = beat
        self._standing = Standing(role=Role.UNKNOWN, since=clock())

    def standing(self) -> Standing:
        """How this process stands now; for other threads to read."""
        return self._standing

    def run(self, ended: threading.Event, first: Leadership | None = None) -> None:
        """Leads whenever it may until it `ended`; `first` is a leadership that it has already."""
        leadership = first
        while not ended.is_set():
            self._beat()
            if leadership is None:
                leadership = self._try()
            if leadership is None:
                ended.wait(_TRY_S)
                continue
            try:
                self._serve(leadership, ended)
            finally:
                leadership.release()
                leadership = None

    def _try(self) -> Leadership | None:
        try:
            leadership = self._lead()
        except StorageError as error:
            if self._standing.role is not Role.UNKNOWN:
                log.warning(
                    "the database does not say who leads, it is asked again",
                    extra={"error": error},
                )
            self._is_now(Role.UNKNOWN)
            return None
        if leadership is None:
            self._is_now(Role.FOLLOWER)
        return leadership

    def _serve(self, leadership: Leadership, ended: threading.Event) -> None:
        """One term. A fault at its beginning ends it, and the process tries again."""
        term = self._term(leadership)
        self._is_now(Role.LEADER)
        try:
            term.begin()
            while leadership.is_held() and not ended.wait(_LOOK_S):
                pass
        except Exception:  # the boundary: whatever keeps a term from beginning may be over soon
            log.exception("leading could not begin, it is tried again")
            ended.wait(_TRY_S)
        finally:
            if ended.is_set():
                log.info("ending after the round that runs")
            else:
                log.warning("the leadership is lost: what runs ends, and this process follows")
            self._is_now(Role.FOLLOWER)
            term.end()

    def _is_now(self, role: Role) -> None:
        if role is not self._standing.role:
            self._standing = Standing(role=role, since=self._clock())
            log.info("this process's role", extra={"role": role})


def check_of(database: Database, leadership: Leadership) -> Callable[[], None]:
    """What is asked before each write that only the leader may make; raises `LeadershipLost`."""

    def check() -> None:
        if not leadership.is_held():
            raise LeadershipLost(database.name)

    return check
