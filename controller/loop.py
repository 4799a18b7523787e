"""The one clock: APScheduler's short ticks for rounds, and slower ones for all that recurs.

APScheduler 3 drops a run that falls into a running one. So a nudge only sets a flag; each tick
looks at the flag and at the time since the last round, and rounds never overlap. Other jobs tick
in threads of their own, each never twice at a time; what one misses it finds at its next tick.
"""

import logging
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from apscheduler.schedulers.background import BackgroundScheduler

from controller.ports import ClearMLError
from controller.round import Report

log = logging.getLogger(__name__)

_TICK_S = 0.2
_TOLD_AFTER = 3
"""How many rounds in a row may find ClearML away before the admins are told, once."""


@dataclass(frozen=True, kw_only=True)
class Outage:
    """ClearML has not answered `rounds` rounds in a row since `since`; `over` when it did again."""

    since: datetime
    rounds: int
    error: str
    over: bool = False


@dataclass(frozen=True, kw_only=True)
class Heard:
    """Whom the loop tells: of each round, of an outage once and when it is over, of a fault.

    Each round and each run of a job, with what is told of it, happens in a `turn`.
    """

    round: Callable[[Report], None]
    outage: Callable[[Outage], None]
    fault: Callable[[Exception], None]
    turn: Callable[[], AbstractContextManager[object]] = nullcontext


class Loop:
    """Runs `run` every `interval`, at once when nudged, and never twice at a time."""

    def __init__(
        self,
        run: Callable[[], Report],
        interval: timedelta,
        clock: Callable[[], datetime],
        heard: Heard,
    ) -> None:
        self._run = run
        self._interval = interval
        self._clock = clock
        self._heard = heard
        self._nudged = threading.Event()
        self._last: datetime | None = None
        self._outage: Outage | None = None
        self._scheduler = BackgroundScheduler(timezone="UTC", logger=_quiet())

    def every(self, seconds: float, job: Callable[[], object]) -> None:
        """Runs `job` so often, beginning when the loop starts; its fault is heard, and it goes on.

        It is to be said before `start`.
        """

        def tick() -> None:
            with self._heard.turn():
                self._guarded(job)

        self._add(tick, seconds)

    def start(self) -> None:
        """The first round runs at once."""
        self._add(self._tick, _TICK_S)
        self._scheduler.start()

    def nudge(self) -> None:
        """Another round soon; one that runs now does not count, for it may have looked already."""
        self._nudged.set()

    def stop(self) -> None:
        """Waits for the round that runs; one that was not started has none."""
        if self._scheduler.running:
            self._scheduler.shutdown(wait=True)

    def _add(self, tick: Callable[[], None], seconds: float) -> None:
        self._scheduler.add_job(
            tick,
            "interval",
            seconds=seconds,
            max_instances=1,
            coalesce=True,
            misfire_grace_time=None,
            # By the scheduler's own clock, which is the machine's: that may not be the one by which
            # all replicas agree, and a first time in its future would be waited for.
            next_run_time=datetime.now(UTC),
        )

    def _tick(self) -> None:
        now = self._clock()
        # A clock that was set back must not stop the rounds until it has caught up.
        due = self._last is None or not timedelta() <= now - self._last < self._interval
        if not (due or self._nudged.is_set()):
            return
        self._nudged.clear()  # before the round looks: a nudge from here on causes another
        self._last = now
        with self._heard.turn():
            self._guarded(self._round)

    def _guarded(self, work: Callable[[], object]) -> None:
        try:
            work()
        except Exception as error:  # the boundary: one fault must not end the ticks
            self._heard.fault(error)

    def _round(self) -> None:
        try:
            report = self._run()
        except ClearMLError as error:
            self._away(error)
            return
        if self._outage is not None and self._outage.rounds >= _TOLD_AFTER:
            self._heard.outage(replace(self._outage, over=True))
        self._outage = None
        self._heard.round(report)

    def _away(self, error: ClearMLError) -> None:
        log.warning("ClearML is away, the round ended", extra={"error": error})
        before = self._outage
        since = before.since if before else self._clock()
        rounds = before.rounds + 1 if before else 1
        self._outage = Outage(since=since, rounds=rounds, error=str(error))
        if rounds == _TOLD_AFTER:
            self._heard.outage(self._outage)


def _quiet() -> logging.Logger:
    """Does not warn of every tick that falls into a round: that is what ticks are made for."""
    quiet = logging.getLogger(f"{__name__}.ticks")
    quiet.setLevel(logging.ERROR)
    return quiet
