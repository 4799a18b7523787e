"""How this process is seen from outside: its vital signs and counters, and who shows them."""

import logging
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial

from bot.compose import now
from bot.gauges import Published
from bot.listening import Listener, Pages
from bot.metrics import CountingHandler, Metrics
from bot.readiness import Readiness
from bot.settings import Settings
from bot.state_gauges import State
from bot.vitals import RoundSeen, Vitals
from controller.calls import Call
from controller.leading import Role, Standing
from controller.publishing import Viewer
from controller.round import Report
from storage.database import Database, StorageError


@dataclass(frozen=True)
class Outlook:
    """Made before what it looks at, which tells it; `listener` shows it."""

    settings: Settings
    database: Database
    metrics: Metrics = field(default_factory=Metrics)
    vitals: Vitals = field(default_factory=lambda: Vitals(time.monotonic))

    def called(self, call: Call) -> None:
        """A round made this call."""
        self.vitals.called(call)
        self.metrics.called(call)

    def watched(self, run: Callable[[], Report]) -> Callable[[], Report]:
        """Rounds that are noted and counted."""
        return self.vitals.watched(run, self._round_over)

    def listener(
        self,
        viewer: Viewer,
        slack: Callable[[], bool] | None,
        standing: Callable[[], Standing],
    ) -> Listener | None:
        """Bound already; raises `OSError` where the port is taken. None where it is off."""
        port = self.settings.metrics_port
        if port is None:
            return None
        logging.getLogger().addHandler(CountingHandler(self.metrics))

        def leads() -> bool:
            return standing().role is Role.LEADER

        self.metrics.add(State(self.database, leads, slack, self.settings.has_kubernetes))
        self.metrics.add(Published(viewer.view, leads))
        readiness = Readiness(
            database=self.database,
            clock=now,
            seen=viewer.seen,
            vitals=self.vitals,
            interval=timedelta(seconds=self.settings.round_seconds),
            standing=standing,
            slack=slack,
        )
        pages = Pages(
            stuck=self.vitals.stuck,
            checks=readiness.checks,
            metrics=partial(self._page, viewer),
        )
        return Listener(pages, self.settings.metrics_host, port)

    def _page(self, viewer: Viewer) -> tuple[str, bytes]:
        with suppress(StorageError):  # `poolkeeper_database_up` tells
            if (view := viewer.view()) is not None:
                configuration = view.snapshot.configuration
                pools = {pool.name for pool in configuration.pools}
                self.metrics.keep(pools, configuration.policy_by_name.keys())
        return self.metrics.page()

    def _round_over(self, seen: RoundSeen) -> None:
        self.metrics.round_over(seen)
