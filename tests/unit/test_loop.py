"""The clock of rounds: real ticks, and rounds that the test holds, ends and lets fail."""

import logging
import threading
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from queue import SimpleQueue

import pytest

from controller import references
from controller.loop import Heard, Loop, Outage
from controller.ports import Unavailable, Unsuitable
from controller.round import Report
from tests.sandbox_support import wait_until

NEVER = timedelta(hours=1)
AT_ONCE = timedelta()
STARTED = datetime(2026, 12, 1, 10, tzinfo=UTC)


class Stage:
    """A loop whose rounds wait for the test, one by one, and what it told whom."""

    def __init__(self, interval: timedelta, clock: Callable[[], datetime] | None = None) -> None:
        self.begun = 0
        self.running = 0
        self.most_running = 0
        self.reports: list[Report] = []
        self.outages: list[Outage] = []
        self.faults: list[Exception] = []
        self._ends: SimpleQueue[Report | Exception] = SimpleQueue()
        self._counting = threading.Lock()
        heard = Heard(
            round=self.reports.append, outage=self.outages.append, fault=self.faults.append
        )
        self.loop = Loop(self._round, interval, clock or (lambda: datetime.now(UTC)), heard)

    def _round(self) -> Report:
        with self._counting:
            self.begun += 1
            self.running += 1
            self.most_running = max(self.most_running, self.running)
        end = self._ends.get(timeout=20)
        with self._counting:
            self.running -= 1
        if isinstance(end, Exception):
            raise end
        return end

    def end(self, *ends: Report | Exception) -> None:
        """Lets the round that runs, and those after it, end so."""
        for end in ends:
            self._ends.put(end)

    def wait_for_round(self, number: int) -> None:
        wait_until(lambda: self.begun >= number, f"round {number} begins")

    def wait_for_told(self, count: int) -> None:
        wait_until(
            lambda: len(self.reports) + len(self.faults) >= count, f"{count} rounds are told"
        )


def test_each_round_and_each_run_of_a_job_is_a_turn_with_what_is_told_of_it() -> None:
    seen: list[tuple[str, str]] = []
    numbers = iter(range(1000))

    def fails(who: str) -> Report:
        seen.append((who, references.current()))
        raise ValueError(who)

    heard = Heard(
        round=lambda _: None,
        outage=lambda _: None,
        fault=lambda error: seen.append((f"fault of {error}", references.current())),
        turn=lambda: references.under(f"turn {next(numbers)}"),
    )
    loop = Loop(lambda: fails("a round"), AT_ONCE, lambda: datetime.now(UTC), heard)
    loop.every(0.05, lambda: fails("a job"))
    loop.start()
    wait_until(lambda: len(seen) >= 8, "rounds and jobs have run")
    loop.stop()

    turns: dict[str, set[str]] = {}
    for who, turn in seen:
        turns.setdefault(turn, set()).add(who)
    assert "" not in turns
    assert {frozenset(whos) for whos in turns.values()} == {
        frozenset({"a round", "fault of a round"}),
        frozenset({"a job", "fault of a job"}),
    }


OK = Report(at=STARTED)
AWAY = Unavailable("no answer")


@pytest.fixture
def stages() -> Iterator[Callable[..., Stage]]:
    """Makes loops, started, that end with the test."""
    made: list[Stage] = []

    def stage(*arguments: object) -> Stage:
        made.append(Stage(*arguments))  # type: ignore[arg-type]
        made[-1].loop.start()
        return made[-1]

    yield stage
    for one in made:
        one.end(*[OK] * 1000)
        one.loop.stop()


Stages = Callable[..., Stage]


def test_the_first_round_runs_at_once_and_the_next_after_the_interval(stages: Stages) -> None:
    stage = stages(NEVER)
    stage.wait_for_round(1)
    stage.end(OK)
    stage.wait_for_told(1)
    often = stages(timedelta(seconds=0.1))

    often.end(OK, OK, OK)

    often.wait_for_round(4)
    assert stage.begun == 1


def test_a_nudge_during_a_round_causes_another_right_after(stages: Stages) -> None:
    stage = stages(NEVER)
    stage.wait_for_round(1)

    stage.loop.nudge()
    stage.end(OK)

    stage.wait_for_round(2)


def test_many_nudges_during_a_round_cause_one(stages: Stages) -> None:
    stage = stages(NEVER)
    stage.wait_for_round(1)
    for _ in range(10):
        stage.loop.nudge()

    stage.end(OK, OK, OK)

    stage.wait_for_told(2)
    # Ten more ticks of another loop, by the same clock, bring no third round here.
    other = stages(AT_ONCE)
    other.end(*[OK] * 10)
    other.wait_for_round(10)
    assert stage.begun == 2


def test_a_nudge_between_rounds_does_not_wait_for_the_interval(stages: Stages) -> None:
    stage = stages(NEVER)
    stage.end(OK)
    stage.wait_for_told(1)

    stage.loop.nudge()

    stage.wait_for_round(2)


def test_rounds_never_overlap(stages: Stages, caplog: pytest.LogCaptureFixture) -> None:
    stage, other = stages(AT_ONCE), stages(AT_ONCE)
    stage.wait_for_round(1)
    stage.loop.nudge()

    # While the round runs, another loop's ticks say that time passes.
    with caplog.at_level(logging.WARNING):
        other.end(*[OK] * 10)
        other.wait_for_round(10)

    assert (stage.begun, stage.running) == (1, 1)
    stage.end(OK, OK)
    stage.wait_for_round(3)
    assert stage.most_running == 1
    assert caplog.text == ""  # a long round is nothing to warn of, five times a second


def test_a_clock_that_is_set_back_does_not_stop_the_rounds(stages: Stages) -> None:
    behind = timedelta()
    stage = stages(timedelta(minutes=1), lambda: datetime.now(UTC) - behind)
    stage.end(OK)
    stage.wait_for_told(1)

    behind = timedelta(hours=3)

    stage.wait_for_round(2)


def test_a_clock_that_is_put_forward_makes_a_round_due(stages: Stages) -> None:
    ahead = timedelta()
    stage = stages(timedelta(minutes=1), lambda: datetime.now(UTC) + ahead)
    stage.end(OK)
    stage.wait_for_told(1)

    ahead = timedelta(minutes=2)

    stage.wait_for_round(2)


def test_an_outage_is_told_once_after_three_rounds_and_once_when_it_is_over(
    stages: Stages,
) -> None:
    stage = stages(AT_ONCE)
    stage.end(AWAY, AWAY)
    stage.wait_for_round(3)
    assert stage.outages == []

    stage.end(Unavailable("the third"), AWAY, Unsuitable("other keys"), AWAY)
    stage.wait_for_round(7)
    [began] = stage.outages
    assert (began.rounds, began.error, began.over) == (3, "the third", False)

    stage.end(OK, OK)
    stage.wait_for_told(2)
    [_, over] = stage.outages
    assert (over.rounds, over.since, over.over) == (6, began.since, True)
    assert stage.faults == []


def test_a_short_outage_is_not_told_and_the_next_is_counted_anew(stages: Stages) -> None:
    stage = stages(AT_ONCE)

    stage.end(AWAY, AWAY, OK, AWAY, AWAY, OK)
    stage.wait_for_told(2)
    assert stage.outages == []

    stage.end(AWAY, AWAY, AWAY, OK)
    stage.wait_for_told(3)
    assert [(outage.rounds, outage.over) for outage in stage.outages] == [(3, False), (3, True)]


def test_a_fault_in_a_round_is_told_and_does_not_end_the_rounds(stages: Stages) -> None:
    stage = stages(AT_ONCE)
    fault = ZeroDivisionError("in a round")

    stage.end(fault, OK, fault, OK)

    stage.wait_for_told(4)
    assert stage.faults == [fault, fault]
    assert stage.reports == [OK, OK]
    assert stage.outages == []


def test_a_listener_that_fails_does_not_end_the_rounds() -> None:
    told = 0
    faults: list[Exception] = []

    def hear(_: Report) -> None:
        nonlocal told
        told += 1
        raise ValueError(told)

    heard = Heard(round=hear, outage=lambda _: None, fault=faults.append)
    loop = Loop(lambda: OK, AT_ONCE, lambda: datetime.now(UTC), heard)
    loop.start()
    try:
        wait_until(lambda: len(faults) >= 2, "two faults are told")
    finally:
        loop.stop()

    assert [str(fault) for fault in faults[:2]] == ["1", "2"]


def test_stopping_waits_for_the_round_that_runs_and_none_follows(stages: Stages) -> None:
    stage = Stage(AT_ONCE)
    stage.loop.start()
    stage.wait_for_round(1)
    stopping = threading.Thread(target=stage.loop.stop)
    stopping.start()
    # Another loop's ticks say that time passes.
    other = stages(AT_ONCE)
    other.end(OK, OK, OK)
    other.wait_for_round(3)
    assert stopping.is_alive()

    stage.end(OK)

    stopping.join(timeout=10)
    assert not stopping.is_alive()
    assert (stage.begun, stage.reports) == (1, [OK])


def test_a_loop_that_was_never_started_can_be_stopped() -> None:
    stage = Stage(NEVER)

    stage.loop.stop()

    assert stage.begun == 0
