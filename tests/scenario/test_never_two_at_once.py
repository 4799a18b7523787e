"""Two Poolkeepers: refused on one database; with two databases, a mistake, nothing is run twice."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.poolkeeper_support import (
    USER,
    Agent,
    Installation,
    installed,
    one_profile,
    ran_after_abort,
    run_counts,
)
from tests.sandbox_support import Sandbox, wait_until

CONFIGURATION = one_profile({"metal": 3, "h100": 3}, {"dev": (2, None), "research": (2, 3)})


@pytest.fixture
def both(clearml: Sandbox, tmp_path: Path) -> Iterator[tuple[Installation, Installation]]:
    """Two installations of one configuration on one ClearML; each believes to be alone."""
    with installed(clearml, tmp_path / "one") as one, installed(clearml, tmp_path / "two") as two:
        one.apply(CONFIGURATION)
        two.apply(CONFIGURATION)
        yield one, two


def completed(clearml: Sandbox, tasks: list[str]) -> bool:
    states = clearml.dump()["tasks"]
    return all(states[task]["status"] == "completed" for task in tasks)


def test_a_second_process_on_the_same_database_refuses(clearml: Sandbox, tmp_path: Path) -> None:
    with installed(clearml, tmp_path / "here") as there:
        first = there.start("run")
        first.wait_for("nothing is provisioned")

        code, said = there.command("run")

        assert code == 1
        assert f"Another poolkeeper (process {first.popen.pid}) runs on sqlite:///" in said
        first.kill()
        second = there.start("run")
        second.wait_for("nothing is provisioned")
        assert second.end() == 0


def test_the_second_adopts_the_queues_of_the_first(
    both: tuple[Installation, Installation],
) -> None:
    one, two = both

    assert one.owned() == two.owned()
    assert len(one.clearml.dump()["queues"]) == 1 + len(one.owned())


@pytest.mark.parametrize("call", ["queues.remove_task", "tasks.edit", "tasks.enqueue"])
@pytest.mark.parametrize("when", ["before", "after"])
def test_one_does_whole_rounds_inside_a_move_of_the_other(
    both: tuple[Installation, Installation], call: str, when: str
) -> None:
    """The first is held in a move; the second looks and moves all it can meanwhile."""
    one, two = both
    clearml = one.clearml
    tasks = clearml.bulk_enqueue(one.intake("dev"), 4)
    tasks += clearml.bulk_enqueue(one.intake("research"), 4)
    agents = Agent(clearml, (one.execution("metal"), one.execution("h100")))
    fault = clearml.fault("hold", call, user=USER, when=when)
    second = two.controller()

    first = one.start("run", POOLKEEPER_NOWHERE_SECONDS="60")
    fault.wait_until_holding(60)
    for _ in range(3):
        second.round()
        agents.turn()
    fault.release()

    def all_done() -> bool:
        second.round()
        agents.turn()
        return completed(clearml, tasks)

    wait_until(all_done, f"all have run: {first.log}", 60)
    assert run_counts(clearml, tasks) == dict.fromkeys(tasks, 1)
    assert ran_after_abort(clearml) == []


def test_both_at_full_speed(both: tuple[Installation, Installation]) -> None:
    one, _ = both
    clearml = one.clearml
    tasks = clearml.bulk_enqueue(one.intake("dev"), 60)
    tasks += clearml.bulk_enqueue(one.intake("research"), 60)
    queues = (one.execution("metal"), one.execution("h100"))
    clearml.start_agents(*queues, slots=6, run_seconds=0.05, poll_seconds=0.05)

    for there in both:
        there.start("run", POOLKEEPER_ROUND_SECONDS="0.1", POOLKEEPER_NOWHERE_SECONDS="60")

    wait_until(lambda: completed(clearml, tasks), "all have run", 90)
    assert run_counts(clearml, tasks) == dict.fromkeys(tasks, 1)
