"""One time for all replicas: the server's, whatever this machine's clock says or does."""

import logging
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controller.shared_clock import SharedClock
from storage.clocks import server_time
from storage.database import open_database
from storage.errors import StorageError

NOON = datetime(2026, 12, 1, 12, tzinfo=UTC)
SECOND = timedelta(seconds=1)


class Machine:
    """A machine's clocks and a server's; `way_s` is how long a question and its answer take."""

    def __init__(self, ahead: timedelta = timedelta()) -> None:
        self.passed = 0.0
        self.ahead = ahead
        self.server_ahead = timedelta()
        self.way_s = [0.0]
        self.away = False
        self.clock = SharedClock(self.local, lambda: self.passed, self.server)

    @property
    def true(self) -> datetime:
        return NOON + timedelta(seconds=self.passed)

    def local(self) -> datetime:
        return self.true + self.ahead

    def server(self) -> datetime | None:
        if self.away:
            raise StorageError("The database is away.")
        way = self.way_s.pop(0) if len(self.way_s) > 1 else self.way_s[0]
        self.passed += way / 2
        said = self.true + self.server_ahead
        self.passed += way / 2
        return said


def warnings(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [
        f"{one.getMessage()}: {vars(one)}"
        for one in caplog.records
        if one.levelno == logging.WARNING
    ]


@pytest.mark.parametrize("ahead", [timedelta(minutes=10), -timedelta(minutes=10)], ids=str)
def test_a_wrong_clock_counts_for_nothing_and_is_warned_of(
    ahead: timedelta, caplog: pytest.LogCaptureFixture
) -> None:
    machine = Machine(ahead)

    machine.clock.measure()
    machine.passed += 90

    assert machine.clock() == machine.true
    (said,) = warnings(caplog)
    assert f"'ahead_seconds': {ahead.total_seconds():.0f}" in said


def test_a_clock_that_is_set_while_all_runs_moves_nothing(caplog: pytest.LogCaptureFixture) -> None:
    machine = Machine()
    machine.clock.measure()
    before = machine.clock()

    machine.ahead = timedelta(hours=1)

    assert machine.clock() == before
    machine.clock.measure()
    machine.clock.measure()
    assert machine.clock() == machine.true
    assert len(warnings(caplog)) == 1


def test_small_differences_are_nothing_to_warn_of(caplog: pytest.LogCaptureFixture) -> None:
    machine = Machine(4 * SECOND)

    machine.clock.measure()

    assert machine.clock() == machine.true
    assert warnings(caplog) == []


def test_the_quickest_answer_counts_and_one_that_crawled_does_not() -> None:
    machine = Machine(timedelta(minutes=10))
    machine.way_s = [0.9, 0.001, 0.5, 0.5]
    machine.clock.measure()
    assert machine.clock() == machine.true

    crawling = Machine(timedelta(minutes=10))
    crawling.way_s = [30.0]
    crawling.clock.measure()

    assert crawling.clock() == crawling.local()


def test_a_database_that_is_away_leaves_the_time_as_it_was() -> None:
    machine = Machine(timedelta(minutes=10))
    machine.clock.measure()

    machine.away = True
    machine.clock.measure()
    machine.passed += 3600

    assert machine.clock() == machine.true


def test_another_server_with_another_clock_is_followed() -> None:
    machine = Machine()
    machine.clock.measure()

    machine.server_ahead = timedelta(minutes=3)
    machine.clock.measure()

    assert machine.clock() == machine.true + timedelta(minutes=3)


@given(
    aheads=st.lists(st.timedeltas(-timedelta(days=1), timedelta(days=1)), min_size=2, max_size=5),
    ways=st.lists(st.floats(0, 0.9), min_size=1, max_size=9),
)
def test_replicas_agree_within_the_ways_of_their_questions(
    aheads: list[timedelta], ways: list[float]
) -> None:
    machines = [Machine(ahead) for ahead in aheads]
    for machine in machines:
        machine.way_s = list(ways)
        machine.clock.measure()

    errors = [machine.clock() - machine.true for machine in machines]

    assert all(abs(error) <= SECOND / 2 for error in errors)


def test_a_file_has_the_clock_of_its_machine(tmp_path: Path) -> None:
    database = open_database(str(tmp_path / "clock.sqlite3"))
    with database.reading() as session:
        assert server_time(session) is None
    database.close()
    clock = SharedClock(lambda: NOON, lambda: 0.0, lambda: None)
    clock.measure()
    assert clock() == NOON
