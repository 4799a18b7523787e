"""What the database says to those who look from outside, within a bounded time.

A database may take a connection and never answer. Whoever asks waits for a while and no longer;
one question at a time is under way, so that the threads which answer probes are not used up.
"""

import threading
from collections import Counter
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Generic, TypeVar

from controller import cgpu_view
from controller.publishing import View, Viewer
from domain.cgpu_drift_kinds import DriftKind
from storage import outbox
from storage.database import Database, Session, StorageError
from storage.outbox import Backlog

WAIT_S: Final = 2.0

Drifts = Counter[DriftKind]
Found = TypeVar("Found")


@dataclass(frozen=True, kw_only=True)
class Glance:
    """The view that people are shown, None before the first, and what waits in the database.

    `drifts` is None where no cluster is set up, and before the first look at it.
    """

    view: View | None
    backlog: Backlog
    drifts: Drifts | None


class Glances:
    """Takes glances for any number of threads."""

    def __init__(self, database: Database, viewer: Viewer, *, has_cgpu: bool) -> None:
        self._database = database
        self._viewer = viewer
        self._drifts = _KnownDrifts() if has_cgpu else None
        self._take = Asked(self._taken)

    def take(self) -> Glance:
        """Raises `StorageError` where the database cannot be read, or not in time."""
        return self._take.answer(WAIT_S)

    def _taken(self) -> Glance:
        view = self._viewer.view()
        with self._database.reading() as session:
            backlog = outbox.backlog(session)
            drifts = None if self._drifts is None else self._drifts.of(session)
        return Glance(view=view, backlog=backlog, drifts=drifts)


class Asked(Generic[Found]):
    """A question that is under way once at most; who asks meanwhile waits for the same answer."""

    def __init__(self, ask: Callable[[], Found]) -> None:
        self._ask = ask
        self._lock = threading.Lock()
        self._under_way: Future[Found] | None = None

    def answer(self, within_s: float) -> Found:
        """Raises what asking raised, or `StorageError` where there is no answer in time."""
        with self._lock:
            answer = self._under_way
            if answer is None:
                answer = self._under_way = Future()
                # Nobody waits for it at the process's end.
                threading.Thread(target=self._run, args=(answer,), daemon=True).start()
        try:
            return answer.result(within_s)
        except TimeoutError as error:
            raise StorageError(f"There is no answer within {within_s:g} s.") from error

    def _run(self, answer: "Future[Found]") -> None:
        try:
            found = self._ask()
        except BaseException as error:  # it is raised where the answer is waited for
            self._over()
            answer.set_exception(error)
        else:
            self._over()
            answer.set_result(found)

    def _over(self) -> None:
        with self._lock:
            self._under_way = None


class _KnownDrifts:
    """Counted once a look: reading a large cluster takes longer than a scrape should."""

    def __init__(self) -> None:
        self._known: tuple[datetime | None, Drifts | None] = (None, None)

    def of(self, session: Session) -> Drifts | None:
        """None before the first look."""
        at = cgpu_view.looked_at(session)
        if at != self._known[0]:
            view = cgpu_view.last_view(session)
            found = None if view is None else Counter(drift.kind for drift in view.drifts)
            self._known = (at, found)
        return self._known[1]
