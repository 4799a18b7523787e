"""One time for all replicas: the database server's, whatever the clocks of their machines say.

What a replica writes (a request, a message that is to wait, since when a task is in doubt) another
one compares with its own time; and two that lead one after the other must agree on which digest is
due. So a replica counts from the server's clock, by its own monotonic one, and looks again now and
then. A machine's clock that is wrong, or is set while all runs, then decides nothing.
"""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from storage.errors import StorageError

log = logging.getLogger(__name__)

EVERY_S: Final = 60.0
"""How often the server's clock is looked at."""

_LOOKS: Final = 3
_SLOWEST_S: Final = 1.0
"""An answer that took longer does not say when the server said it."""

_SAME: Final = timedelta(seconds=0.2)
"""Less is left as it is: an answer's way is not the same each time, and time is not to jump."""

_WRONG: Final = timedelta(seconds=5)
"""From here on a machine's clock is said to be wrong."""


@dataclass(frozen=True)
class _Anchor:
    """The server's time when the monotonic clock showed these seconds."""

    at: datetime
    elapsed: float

    def now(self, elapsed: float) -> datetime:
        return self.at + timedelta(seconds=elapsed - self.elapsed)


class SharedClock:
    """The time in UTC, for all threads. `local` is this machine's; `elapsed` is monotonic.

    `server` gives the database server's, or None where there is none: then `local` is the time.
    """

    def __init__(
        self,
        local: Callable[[], datetime],
        elapsed: Callable[[], float],
        server: Callable[[], datetime | None],
    ) -> None:
        self._local = local
        self._elapsed = elapsed
        self._server = server
        self._anchor: _Anchor | None = None
        self._said: timedelta | None = None

    def __call__(self) -> datetime:
        anchor = self._anchor
        return self._local() if anchor is None else anchor.now(self._elapsed())

    def measure(self) -> None:
        """Looks at the server's clock; one that cannot be seen now is as it was before."""
        try:
            found = self._look()
        except StorageError as error:
            log.info("the database's clock could not be read", extra={"error": error})
            return
        if found is None:
            return
        before, elapsed = self._anchor, self._elapsed()
        if before is None or abs(found.now(elapsed) - before.now(elapsed)) >= _SAME:
            self._anchor = found
        self._warn(self._local() - self())

    def _look(self) -> _Anchor | None:
        """The most exact of some looks: that with the quickest answer."""
        best: tuple[float, _Anchor] | None = None
        for _ in range(_LOOKS):
            begun = self._elapsed()
            at = self._server()
            took = self._elapsed() - begun
            if at is not None and took < (best[0] if best else _SLOWEST_S):
                best = took, _Anchor(at, begun + took / 2)
        return best[1] if best else None

    def _warn(self, ahead: timedelta) -> None:
        """Once when it is found wrong, and again when it is wrong by something else."""
        said = self._said or timedelta()
        if abs(ahead) < _WRONG:
            self._said = None
        elif abs(ahead - said) >= _WRONG:
            self._said = ahead
            log.warning(
                "this machine's clock is not the database's, whose time counts; set one of them "
                "right",
                extra={"ahead_seconds": round(ahead.total_seconds())},
            )
