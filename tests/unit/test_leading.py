"""Leading as a state: it begins, ends and begins again, with leaderships that a test takes away."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import pytest

from controller.leading import Leading, Role, check_of
from storage.database import Leadership, LeadershipLost, StorageError, open_database
from tests.sandbox_support import wait_until

NOW = datetime(2026, 12, 1, 10, tzinfo=UTC)


@dataclass
class Held(Leadership):
    """A leadership."""

    held: bool = True
    released: int = 0

    def is_held(self) -> bool:
        return self.held

    def is_confirmed(self) -> bool:
        return self.held

    def release(self) -> None:
        self.held = False
        self.released += 1


@dataclass
class Term:
    """What a term did, in its order; `fault` is what its beginning raises."""

    leadership: Leadership
    did: list[str] = field(default_factory=list)
    fault: Exception | None = None

    def begin(self) -> None:
        self.did.append("begun")
        if self.fault is not None:
            raise self.fault

    def end(self) -> None:
        assert isinstance(self.leadership, Held)
        self.did.append("ended" if not self.leadership.released else "ended after the release")


@dataclass
class Stage:
    """A process that leads when `free` has a leadership for it, or hears an error."""

    free: list[Held | StorageError] = field(default_factory=list)
    terms: list[Term] = field(default_factory=list)
    faults: list[Exception] = field(default_factory=list)
    ended: threading.Event = field(default_factory=threading.Event)

    def __post_init__(self) -> None:
        self.leading = Leading(self._lead, self._term, lambda: NOW)

    def _lead(self) -> Held | None:
        found = self.free.pop(0) if self.free else None
        if isinstance(found, StorageError):
            raise found
        return found

    def _term(self, leadership: Leadership) -> Term:
        fault = self.faults.pop(0) if self.faults else None
        self.terms.append(Term(leadership, fault=fault))
        return self.terms[-1]

    def wait_for(self, role: Role) -> None:
        wait_until(lambda: self.leading.standing().role is role, f"it is {role}")


@contextmanager
def running(stage: Stage, first: Held | None = None) -> Iterator[Callable[[], None]]:
    """Gives what ends it and waits until it has."""
    thread = threading.Thread(target=stage.leading.run, args=(stage.ended, first))
    thread.start()

    def end() -> None:
        stage.ended.set()
        thread.join(timeout=10)
        assert not thread.is_alive()

    try:
        yield end
    finally:
        end()


def test_a_process_that_may_not_lead_follows_and_leads_when_it_may() -> None:
    stage = Stage()
    assert stage.leading.standing().role is Role.UNKNOWN

    with running(stage):
        stage.wait_for(Role.FOLLOWER)
        assert stage.terms == []
        stage.free.append(Held())
        stage.wait_for(Role.LEADER)

    assert [term.did for term in stage.terms] == [["begun", "ended"]]


def test_a_lost_leadership_ends_its_term_and_another_one_begins_a_new_one() -> None:
    first, second = Held(), Held()
    stage = Stage()

    with running(stage, first):
        stage.wait_for(Role.LEADER)
        first.held = False
        stage.wait_for(Role.FOLLOWER)
        stage.free.append(second)
        stage.wait_for(Role.LEADER)

    assert [term.leadership for term in stage.terms] == [first, second]
    assert [term.did for term in stage.terms] == [["begun", "ended"]] * 2


def test_the_leadership_is_released_at_the_end_and_after_what_it_was_for() -> None:
    held = Held()
    stage = Stage()

    with running(stage, held) as end:
        stage.wait_for(Role.LEADER)
        end()

    assert held.released == 1
    assert stage.terms[0].did == ["begun", "ended"]
    assert stage.leading.standing().role is Role.FOLLOWER


def test_who_leads_is_unknown_while_the_database_is_away_and_it_is_asked_again() -> None:
    stage = Stage(free=[StorageError("away"), StorageError("away"), Held()])

    with running(stage):
        stage.wait_for(Role.LEADER)

    assert len(stage.terms) == 1


@pytest.mark.parametrize("fault", [StorageError("away"), ZeroDivisionError("a mistake")])
def test_a_term_that_cannot_begin_is_ended_and_tried_again(fault: Exception) -> None:
    first, second = Held(), Held()
    stage = Stage(free=[second], faults=[fault])

    with running(stage, first):
        wait_until(lambda: len(stage.terms) == 2, "a second term")

    assert [term.did for term in stage.terms] == [["begun", "ended"]] * 2
    assert first.released == second.released == 1


def test_whoever_asks_before_a_write_is_stopped_once_the_leadership_is_lost(
    tmp_path: Path,
) -> None:
    held, database = Held(), open_database(str(tmp_path / "here.sqlite3"))
    check = check_of(database, held)
    check()

    held.held = False

    with pytest.raises(LeadershipLost, match="does not lead any more"):
        check()
    database.close()
