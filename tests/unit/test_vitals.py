"""Whether a process lives and is ready, by what its parts noted."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from bot.glancing import Glance, Glances
from bot.readiness import Check, Readiness, is_ready
from bot.vitals import Ended, RoundSeen, Vitals
from controller import references
from controller.calls import Call, Result
from controller.leading import Role, Standing
from controller.ports import Unavailable
from controller.publishing import View, Viewer
from controller.round import Report
from domain.configuration import Configuration
from domain.snapshot import Plan, Snapshot
from storage.database import Database, LeadershipLost, open_database

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
CALL = Call("tasks.get_all", Result.OK, 0.1)


@dataclass
class Time:
    """Monotonic seconds, put forward by the test."""

    now: float = 1000.0

    def __call__(self) -> float:
        return self.now


def run(vitals: Vitals, does: Callable[[], Report]) -> list[RoundSeen]:
    """One round that does this; what was heard of it."""
    heard: list[RoundSeen] = []
    with suppress(Exception):
        vitals.watched(does, heard.append)()
    return heard


def raising(error: Exception) -> Callable[[], Report]:
    def raises() -> Report:
        raise error

    return raises


def nothing() -> Report:
    return Report(at=NOON)


def test_it_lives_while_its_loop_ticks() -> None:
    time = Time()
    vitals = Vitals(time)

    for _ in range(10):
        time.now += 100
        vitals.beat()
        assert vitals.stuck() == ""

    time.now += 200
    assert vitals.stuck() == "The loop has not ticked for 200 s."


def test_a_long_round_lives_while_its_calls_end_and_others_calls_do_not_help_it() -> None:
    time = Time()
    vitals = Vitals(time)
    stuck: list[str] = []

    def long() -> Report:
        for _ in range(5):
            time.now += 100
            vitals.called(CALL)
            stuck.append(vitals.stuck())
        for _ in range(2):
            time.now += 100
            vitals.beat()
            with references.under("a job"):
                vitals.called(CALL)
        stuck.append(vitals.stuck())
        return nothing()

    with references.under("a round"):
        run(vitals, long)

    assert stuck == [*[""] * 5, "A round has got no further for 200 s."]
    assert vitals.stuck() == ""


@pytest.mark.parametrize(
    ("does", "ended"),
    [
        (nothing, Ended.UNPROVISIONED),
        (raising(Unavailable("no")), Ended.AWAY),
        (raising(LeadershipLost("x")), Ended.INTERRUPTED),
        (raising(ValueError("a fault")), Ended.FAILED),
    ],
)
def test_how_a_round_ended_is_heard_and_kept(does: Callable[[], Report], ended: Ended) -> None:
    time = Time()
    vitals = Vitals(time)

    [seen] = run(vitals, does)

    time.now += 7
    assert seen.ended is ended
    assert vitals.last_round() == (7, ended)


@dataclass
class Scene:
    """What is asked, with all its surroundings at will."""

    database: Database
    time: Time
    role: Role = Role.LEADER
    seen: datetime | None = NOON
    slack: bool | None = True

    def __post_init__(self) -> None:
        self.vitals = Vitals(self.time)

    def checks(self) -> dict[str, Check]:
        slack = self.slack
        readiness = Readiness(
            glance=self.glance,
            clock=lambda: NOON + timedelta(seconds=5),
            vitals=self.vitals,
            interval=timedelta(seconds=5),
            standing=lambda: Standing(role=self.role, since=NOON),
            slack=None if slack is None else lambda: bool(slack),
        )
        return {check.name: check for check in readiness.checks()}

    def glance(self) -> Glance:
        """As the database has it, with a view of the time that was `seen`."""
        taken = Glances(self.database, Viewer(self.database), has_cgpu=False).take()
        snapshot = Snapshot(taken_at=NOON, configuration=Configuration())
        if self.seen is None:
            return taken
        return replace(taken, view=View(at=self.seen, version=1, snapshot=snapshot, plan=Plan()))

    def wrong(self) -> set[str]:
        """The checks that fail and count."""
        checks = self.checks()
        wrong = {name for name, check in checks.items() if check.counts and not check.ok}
        assert is_ready(tuple(checks.values())) == (not wrong)
        return wrong


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return Scene(open_database(f"sqlite:///{tmp_path / 'x.sqlite3'}"), Time())


def test_a_leader_is_ready_from_its_first_round_on_and_until_they_stop(scene: Scene) -> None:
    assert scene.wrong() == {"round"}

    run(scene.vitals, nothing)
    assert scene.wrong() == set()

    scene.time.now += 61
    assert scene.wrong() == {"round"}


def test_a_clearml_that_is_away_is_shown_and_does_not_count(scene: Scene) -> None:
    run(scene.vitals, raising(Unavailable("no")))

    assert scene.wrong() == set()
    assert scene.checks()["clearml"] == Check(
        "clearml", False, "ClearML did not answer the last round; the log says why.", counts=False
    )


def test_a_round_that_failed_counts_and_its_error_is_told_to_nobody_here(scene: Scene) -> None:
    run(scene.vitals, raising(ValueError("s3cret")))

    assert scene.wrong() == {"round"}
    assert "s3cret" not in str(scene.checks())


def test_a_follower_needs_no_rounds_and_shows_how_old_its_view_is(scene: Scene) -> None:
    scene.role, scene.seen = Role.FOLLOWER, NOON - timedelta(hours=1)

    assert scene.wrong() == set()
    assert scene.checks()["view"].reason == "What people are shown was seen 3605 s ago."
    assert not scene.checks()["view"].ok


def test_who_does_not_know_who_leads_is_not_ready(scene: Scene) -> None:
    run(scene.vitals, nothing)
    scene.role = Role.UNKNOWN

    assert scene.wrong() == {"leadership"}


def test_slack_counts_where_it_is_set_up(scene: Scene) -> None:
    run(scene.vitals, nothing)

    scene.slack = False
    assert scene.wrong() == {"slack"}
    scene.slack = None
    assert "slack" not in scene.checks()
    assert scene.wrong() == set()


def test_a_database_that_cannot_be_read_counts(scene: Scene) -> None:
    run(scene.vitals, nothing)
    assert scene.wrong() == set()

    scene.database.close()
    path = scene.database.path if hasattr(scene.database, "path") else None
    assert path is not None
    path.write_bytes(b"this is no database")

    assert "database" in scene.wrong()
