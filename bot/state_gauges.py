"""What this process is and what waits in the database, as gauges, read anew at every scrape."""

import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime

from prometheus_client import Metric
from prometheus_client.registry import Collector

from bot.gauges import gauge, one
from controller import cgpu_view
from domain.cgpu_drift_kinds import DriftKind
from storage import outbox
from storage.database import Database, Session, StorageError

_Drifts = Counter[DriftKind]


class _Waits:
    """Since when the same thing is the first."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._first: tuple[object, float] = (None, 0.0)

    def since(self, first: object) -> float:
        """Seconds; 0 where there is none."""
        now = self._clock()
        if first is None or first != self._first[0]:
            self._first = (first, now)
        return now - self._first[1]


class _KnownDrifts:
    """Counted once a look: reading a large cluster takes longer than a scrape should."""

    def __init__(self) -> None:
        self._known: tuple[datetime | None, _Drifts | None] = (None, None)

    def of(self, session: Session) -> _Drifts | None:
        """None before the first look."""
        at = cgpu_view.looked_at(session)
        if at != self._known[0]:
            view = cgpu_view.last_view(session)
            found = None if view is None else Counter(drift.kind for drift in view.drifts)
            self._known = (at, found)
        return self._known[1]


@dataclass(eq=False)
class State(Collector):
    """`slack` says whether Slack is connected, None where there is no bot.

    What all replicas share is shown by whoever `leads`; `has_cgpu` where a cluster is set up.
    """

    database: Database
    leads: Callable[[], bool]
    slack: Callable[[], bool] | None
    has_cgpu: bool
    _waits: _Waits = field(default_factory=lambda: _Waits(time.monotonic))
    _drifts: _KnownDrifts = field(default_factory=_KnownDrifts)

    def describe(self) -> Iterator[Metric]:
        """Nothing: registering must not look."""
        yield from ()

    def collect(self) -> Iterator[Metric]:
        leads = self.leads()
        yield one("poolkeeper_leader", "1 on the replica that runs the rounds.", leads)
        if self.slack is not None:
            yield one("poolkeeper_slack_connected", "1 while Slack is connected.", self.slack())
        try:
            shared = list(self._shared()) if leads else []
            self.database.is_enabled()
            up = True
        except StorageError:
            shared, up = [], False
        yield one("poolkeeper_database_up", "1 while the database can be read.", up)
        yield from shared

    def _shared(self) -> Iterator[Metric]:
        with self.database.reading() as session:
            backlog = outbox.backlog(session)
            drifts = self._drifts.of(session) if self.has_cgpu else None
        yield one(
            "poolkeeper_outbox_messages", "Messages that are still to be sent.", backlog.count
        )
        yield one(
            "poolkeeper_outbox_oldest_seconds",
            "How long the first of them has been so, as far as this process has seen.",
            self._waits.since(backlog.first),
        )
        if drifts is not None:
            yield gauge(
                "poolkeeper_cgpu_drifts",
                "What differs from the provisioned cGPU policy, by kind.",
                ("kind",),
                (((kind,), drifts[kind]) for kind in DriftKind),
            )
