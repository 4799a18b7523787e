"""What this process has done, counted for Prometheus; what it sees is in `bot.gauges`.

Labels are pools, policies and words from fixed tables, never tasks or what people type. What is
counted of a pool or policy that is gone is forgotten with it.
"""

import logging
import platform
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from importlib import metadata
from typing import Final

from prometheus_client import (
    CONTENT_TYPE_LATEST,
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    Metric,
    ProcessCollector,
    disable_created_metrics,
    generate_latest,
)
from prometheus_client.registry import Collector

from bot.vitals import Ended, RoundSeen
from controller.calls import Call
from controller.moves import Moved, Outcome
from controller.round import Report
from domain.snapshot import Tier

_WAITS_S: Final = (1, 5, 15, 60, 300, 900, 1800, 3600, 7200, 14400, 43200, 86400, 259200)
_ROUNDS_S: Final = (0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 180)
_CALLS_S: Final = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 30)
_LEVELS: Final = ("WARNING", "ERROR", "CRITICAL")


class Metrics:
    """The counters of a process, in a registry of its own; counting waits for nobody."""

    def __init__(self) -> None:
        # Two series in three would say since when; Prometheus has no use for that in this format.
        disable_created_metrics()  # type: ignore[no-untyped-call]
        self._registry = registry = CollectorRegistry()
        ProcessCollector(registry=registry)
        _say_build(registry)
        self._rounds = _Rounds(registry)
        self._tasks = _Tasks(registry)
        self._calls = _Calls(registry)
        self._logged = Counter(
            "poolkeeper_log_records",
            "Records of the log from WARNING on.",
            ["level"],
            registry=registry,
        )
        _begin(self._logged, _LEVELS)

    def page(self, more: Iterable[Metric] = ()) -> tuple[str, bytes]:
        """The content type, and these and all that was counted, in the text format."""
        return CONTENT_TYPE_LATEST, generate_latest(_Together(self._registry, more))

    def keep(self, pools: Collection[str], policies: Collection[str]) -> None:
        """Forgets what was counted of all others."""
        self._tasks.keep(pools, policies)

    def called(self, call: Call) -> None:
        self._calls.count(call)

    def round_over(self, seen: RoundSeen) -> None:
        self._rounds.count(seen)
        if seen.report is not None:
            self._tasks.count(seen.report)

    def logged(self, level: str) -> None:
        """A record of that level was logged; lower ones are not counted."""
        if level in _LEVELS:
            self._logged.labels(level).inc()


class _Rounds:
    def __init__(self, registry: CollectorRegistry) -> None:
        self._ended = Counter(
            "poolkeeper_rounds", "Rounds, by how they ended.", ["ended"], registry=registry
        )
        self._seconds = Histogram(
            "poolkeeper_round_duration_seconds",
            "How long rounds took.",
            buckets=_ROUNDS_S,
            registry=registry,
        )
        _begin(self._ended, Ended)

    def count(self, seen: RoundSeen) -> None:
        self._ended.labels(seen.ended).inc()
        self._seconds.observe(seen.seconds)


class _Tasks:
    def __init__(self, registry: CollectorRegistry) -> None:
        self._dispatches = Counter(
            "poolkeeper_dispatches",
            "Tasks that were moved to an execution queue.",
            ["pool", "policy"],
            registry=registry,
        )
        self._waits = Histogram(
            "poolkeeper_task_wait_seconds",
            "How long tasks had waited when they were dispatched.",
            ["tier"],
            buckets=_WAITS_S,
            registry=registry,
        )
        self._moves = Counter(
            "poolkeeper_moves", "Moves of tasks, by how they ended.", ["outcome"], registry=registry
        )
        self._slipped = Counter(
            "poolkeeper_slipped_tasks",
            "Tasks that slipped through ClearML's unsynchronised writes and were put right.",
            registry=registry,
        )
        _begin(self._waits, Tier)
        _begin(self._moves, Outcome)

    def count(self, report: Report) -> None:
        self._slipped.inc(len(report.slipped.undone) + len(report.slipped.pointed))
        for move in report.moved:
            self._moves.labels(move.outcome).inc()
            if move.outcome is Outcome.DISPATCHED:
                self._dispatched(move, report)

    def keep(self, pools: Collection[str], policies: Collection[str]) -> None:
        for family in list(self._dispatches.collect()):
            for sample in family.samples:
                pool, policy = sample.labels["pool"], sample.labels["policy"]
                if pool not in pools or policy not in policies:
                    self._dispatches.remove(pool, policy)

    def _dispatched(self, move: Moved, report: Report) -> None:
        entry = move.entry
        self._dispatches.labels(entry.pool, entry.policy).inc()
        waited = (report.at - entry.first_seen).total_seconds()
        self._waits.labels(entry.tier).observe(max(0.0, waited))


class _Calls:
    def __init__(self, registry: CollectorRegistry) -> None:
        self._results = Counter(
            "poolkeeper_clearml_calls",
            "Requests to ClearML, by call and result.",
            ["call", "result"],
            registry=registry,
        )
        self._seconds = Histogram(
            "poolkeeper_clearml_call_duration_seconds",
            "How long requests to ClearML took.",
            ["call"],
            buckets=_CALLS_S,
            registry=registry,
        )

    def count(self, call: Call) -> None:
        self._results.labels(call.name, call.result).inc()
        self._seconds.labels(call.name).observe(call.seconds)


@dataclass(frozen=True)
class _Together(Collector):
    """What was counted, and what is seen at this scrape."""

    counted: CollectorRegistry
    seen: Iterable[Metric]

    def collect(self) -> Iterator[Metric]:
        yield from self.counted.collect()
        yield from self.seen


class CountingHandler(logging.Handler):
    """Counts what is logged, of every logger."""

    def __init__(self, metrics: Metrics) -> None:
        super().__init__(logging.WARNING)
        self._metrics = metrics

    def emit(self, record: logging.LogRecord) -> None:
        self._metrics.logged(record.levelname)


def _say_build(registry: CollectorRegistry) -> None:
    build = Gauge(
        "poolkeeper_build_info",
        "Always 1; says which Poolkeeper runs on which Python.",
        ["version", "python"],
        registry=registry,
    )
    build.labels(metadata.version("poolkeeper"), platform.python_version()).set(1)


def _begin(metric: Counter | Histogram, values: Iterable[str]) -> None:
    """What may happen is there from the start, so that its first time is seen as an increase."""
    for value in values:
        metric.labels(value)
