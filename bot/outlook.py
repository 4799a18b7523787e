"""How this process is seen from outside: its vital signs and counters, and who shows them."""

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from bot.glancing import Glances
from bot.listening import Listener, Pages
from bot.metrics import CountingHandler, Metrics
from bot.metrics_page import MetricsPage
from bot.readiness import Readiness
from bot.settings import Settings
from bot.vitals import RoundSeen, Vitals
from controller.calls import Call
from controller.leading import Standing
from controller.publishing import Viewer
from controller.round import Report
from storage.database import Database


@dataclass(frozen=True)
class Outlook:
    """Made before what it looks at, which tells it; `listener` shows it."""

    settings: Settings
    database: Database
    clock: Callable[[], datetime]
    metrics: Metrics = field(default_factory=Metrics)
    vitals: Vitals = field(default_factory=lambda: Vitals(time.monotonic))

    def called(self, call: Call) -> None:
        """A round or a job has made this call."""
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
        glances = Glances(self.database, viewer, has_cgpu=self.settings.has_kubernetes)
        readiness = Readiness(
            glance=glances.take,
            clock=self.clock,
            vitals=self.vitals,
            interval=timedelta(seconds=self.settings.round_seconds),
            standing=standing,
            slack=slack,
        )
        page = MetricsPage(self.metrics, glances.take, standing, slack)
        pages = Pages(stuck=self.vitals.stuck, checks=readiness.checks, metrics=page.text)
        return Listener(pages, self.settings.metrics_host, port)

    def _round_over(self, seen: RoundSeen) -> None:
        self.metrics.round_over(seen)
