"""What this process is and what waits in the database, as gauges."""

import time
from collections.abc import Callable, Iterator

from prometheus_client import Metric

from bot.gauges import gauge, one
from bot.glancing import Drifts
from domain.cgpu_drift_kinds import DriftKind
from storage.outbox import Backlog


def about_replica(*, leads: bool, is_up: bool, slack: bool | None) -> Iterator[Metric]:
    """What each replica shows; `slack` is None where there is no bot."""
    yield one("poolkeeper_leader", "1 on the replica that runs the rounds.", leads)
    yield one("poolkeeper_database_up", "1 while the database can be read.", is_up)
    if slack is not None:
        yield one("poolkeeper_slack_connected", "1 while Slack is connected.", slack)


def about_drifts(drifts: Drifts) -> Metric:
    return gauge(
        "poolkeeper_cgpu_drifts",
        "What differs from the provisioned cGPU policy, by kind.",
        ("kind",),
        (((kind,), drifts[kind]) for kind in DriftKind),
    )


class Waits:
    """Remembers since when the same message is the first of the outbox."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._first: tuple[object, float] = (None, 0.0)

    def about(self, backlog: Backlog) -> Iterator[Metric]:
        yield one(
            "poolkeeper_outbox_messages", "Messages that are still to be sent.", backlog.count
        )
        yield one(
            "poolkeeper_outbox_oldest_seconds",
            "How long the first of them has been so, as far as this process has seen.",
            self._seconds(backlog.first),
        )

    def _seconds(self, first: object) -> float:
        now = self._clock()
        if first is None or first != self._first[0]:
            self._first = (first, now)
        return now - self._first[1]
