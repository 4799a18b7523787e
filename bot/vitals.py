"""What the parts of this process note as they go, for the probes: ticks, rounds, calls.

A note is one assignment and waits for nobody; whoever asks reads it at any time. Times are
monotonic seconds: a clock that is set must neither kill a process nor keep a dead one.
"""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from controller import references
from controller.calls import Call
from controller.ports import ClearMLError
from controller.round import Report
from storage.errors import LeadershipLost

BEAT_S: Final = 2.0
_STUCK_S: Final = 180.0
"""Longer than the longest call: three attempts of 5 s to connect and 30 s to read (the door)."""


class Ended(StrEnum):
    """How a round ended."""

    DONE = "done"
    UNPROVISIONED = "unprovisioned"
    """There is no configuration yet, so there was nothing to do."""
    ALARM = "alarm"
    """Its plan failed the check of the books and was not carried out."""
    AWAY = "away"
    """ClearML did not answer, or refused; nothing was decided, or what was is settled later."""
    INTERRUPTED = "interrupted"
    """This process stopped leading, so another one goes on with it."""
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class RoundSeen:
    """A round that is over; `report` is None where it raised."""

    ended: Ended
    seconds: float
    report: Report | None = None


class Vitals:
    """The notes. `clock` is monotonic, in seconds."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._beat = self._progress = clock()
        self._running: str | None = None
        self._last: tuple[float, Ended] | None = None

    def beat(self) -> None:
        """The loop ticks."""
        self._beat = self._clock()

    def called(self, _: Call) -> None:
        """A call has ended, one way or the other: whatever made it gets on."""
        self._beat = self._clock()
        if self._running is not None and references.current() == self._running:
            self._progress = self._beat

    def watched(
        self, run: Callable[[], Report], heard: Callable[[RoundSeen], None]
    ) -> Callable[[], Report]:
        """Rounds that are noted, and of each of which `heard` is told when it is over."""

        def watched() -> Report:
            begun = self._progress = self._clock()
            self._running, ended, report = references.current(), Ended.FAILED, None
            try:
                report = run()
                ended = _ended(report)
            except ClearMLError:
                ended = Ended.AWAY
                raise
            except LeadershipLost:
                ended = Ended.INTERRUPTED
                raise
            finally:
                self._running = None
                self._last = (self._clock(), ended)
                heard(RoundSeen(ended, self._clock() - begun, report))
            return report

        return watched

    def last_round(self) -> tuple[float, Ended] | None:
        """How many seconds ago the last round ended, and how."""
        last = self._last
        return None if last is None else (self._clock() - last[0], last[1])

    def stuck(self) -> str:
        """Why this process is to be started anew, in a sentence; "" while it lives."""
        now = self._clock()
        if (silent := now - self._beat) > _STUCK_S:
            return f"The loop has not ticked for {silent:.0f} s."
        if self._running is not None and (still := now - self._progress) > _STUCK_S:
            return f"A round has got no further for {still:.0f} s."
        return ""


def _ended(report: Report) -> Ended:
    if report.version is None:
        return Ended.UNPROVISIONED
    return Ended.ALARM if report.alarms else Ended.DONE
