"""When the reconciler runs: every interval, sooner while something is under way, at once on a word.

The one clock ticks (`controller.loop`); a tick sees whether it is time. A word is a nudge, a
configuration that was provisioned, or an admin's wish in the database, also from another process.
"""

import threading
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Final

from controller.cgpu import Reconciler, Report
from storage import cgpu, configurations
from storage.database import Database

TICK_S: Final = 1.0


class Pacer:
    """Runs a reconciler when it is time; `tick` is for the loop, never twice at a time."""

    def __init__(
        self,
        reconciler: Reconciler,
        database: Database,
        clock: Callable[[], datetime],
        interval: timedelta,
    ) -> None:
        self._reconciler = reconciler
        self._database = database
        self._clock = clock
        self._interval = interval
        self._nudged = threading.Event()
        self._words: tuple[int, int] | None = None
        self._last: datetime | None = None
        self._wait = interval

    def nudge(self) -> None:
        """Run soon."""
        self._nudged.set()

    def tick(self) -> Report | None:
        """Run if it is time."""
        now, words = self._clock(), self._latest_words()
        # A clock that was set back must not stop the runs until it has caught up.
        due = self._last is None or not timedelta() <= now - self._last < self._wait
        if not (due or words != self._words or self._nudged.is_set()):
            return None
        self._nudged.clear()  # before the run looks: a nudge from here on causes another
        self._words, self._last, self._wait = words, now, self._interval
        report = self._reconciler.run()
        if report.again is not None:
            self._wait = min(report.again, self._interval)
        return report

    def _latest_words(self) -> tuple[int, int]:
        with self._database.reading() as session:
            version = configurations.provisioned(session)
            return version.number if version else 0, cgpu.control(session).revision
