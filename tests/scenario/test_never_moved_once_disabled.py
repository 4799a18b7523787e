"""Once `poolkeeper disable` has answered, no further task is moved, whatever was planned before."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from domain.configuration import Membership, Team
from tests.poolkeeper_support import (
    NOWHERE,
    USER,
    Installation,
    installed,
    one_profile,
    run_counts,
)
from tests.sandbox_support import Sandbox, wait_until

MANY = 500


@pytest.fixture
def there(clearml: Sandbox, tmp_path: Path) -> Iterator[Installation]:
    with installed(clearml, tmp_path / "here") as installation:
        yield installation


def test_a_disable_stops_a_batch_that_is_under_way(there: Installation) -> None:
    clearml = there.clearml
    there.apply(one_profile({"metal": MANY}, {"dev": (0, None)}))
    tasks = clearml.bulk_enqueue(there.intake(), MANY)
    # The batch stands still after its twentieth claim, so that it is certainly not over.
    held = clearml.fault("hold", "queues.remove_task", user=USER, nth=20)
    process = there.start("run")
    process.wait_until_held(held)
    disabling = there.start("disable", "--yes")
    wait_until(lambda: there.audit("disable"), "the switch is off", 60)
    held.release()

    assert disabling.wait() == 0
    answered = clearml.last_call()
    moved = [task for task in tasks if task not in clearml.entries(there.intake())]
    assert len(moved) == 20
    # Rounds go on, and move nothing.
    wait_until(lambda: looks(clearml, answered) >= 3, "three more rounds", 60)
    assert clearml.calls("queues.remove_task", USER, since=answered) == []
    assert clearml.entries(there.intake()) == tasks[20:]
    wait_until(lambda: sorted(there.entries()) == sorted(moved), "the rest waits again", 60)

    code, said = there.command("enable")
    assert (code, said.strip()) == (0, "Management is enabled.")
    arrived = partial(clearml.entries, there.execution())
    wait_until(lambda: len(arrived()) == MANY, "the others are moved", 60)
    assert sorted(arrived()) == sorted(tasks)
    assert clearml.entries(there.intake()) == []
    assert process.end() == 0


def looks(clearml: Sandbox, since: int) -> int:
    return len(clearml.calls("queues.get_all", USER, since=since))


def test_a_move_that_hangs_is_said_instead_of_acknowledged(there: Installation) -> None:
    """Its wait is cut short by killing the mover, whose locks the kernel then frees."""
    clearml = there.clearml
    there.apply(one_profile({"metal": 1}, {"dev": (0, None)}))
    task = clearml.queued_task(there.intake())
    held = clearml.fault("hold", "tasks.edit", user=USER)
    process = there.start("run")
    process.wait_until_held(held)

    disabling = there.start("disable", "--yes")
    wait_until(lambda: there.audit("disable"), "the switch is off", 60)
    assert disabling.popen.poll() is None
    process.kill()

    assert disabling.wait() == 0
    assert clearml.queues_holding(task) == []


def test_an_open_move_goes_back_instead_of_forward(there: Installation) -> None:
    """It was claimed when it died; disabled in between, its task waits in its intake queue."""
    clearml = there.clearml
    there.apply(one_profile({"metal": 2}, {"dev": (0, None)}))
    tasks = clearml.bulk_enqueue(there.intake(), 3)
    clearml.fault("refuse", "tasks.edit", nth=0)
    controller = there.controller()
    controller.round()
    clearml.clear_faults()
    assert clearml.queues_holding(tasks[0]) == []
    there.switch(enabled=False)

    controller.clock.advance(NOWHERE)
    controller.round()
    controller.clock.advance(NOWHERE)
    controller.round()

    assert clearml.entries(there.intake()) == tasks
    assert clearml.entries(there.execution()) == []
    there.switch(enabled=True)
    controller.round()
    assert clearml.entries(there.execution()) == tasks[:2]
    assert run_counts(clearml, tasks) == dict.fromkeys(tasks, 0)


@pytest.mark.parametrize("disabled_at", ["tasks.get_all", "queues.get_all"])
def test_an_open_move_is_not_finished_by_a_round_that_began_before(
    there: Installation, disabled_at: str
) -> None:
    """The switch is read when the task would be moved, not only when the round begins."""
    clearml = there.clearml
    there.apply(one_profile({"metal": 2}, {"dev": (0, None)}))
    task = clearml.queued_task(there.intake())
    clearml.fault("refuse", "tasks.edit", nth=0)
    controller = there.controller()
    controller.round()
    clearml.clear_faults()
    controller.round()
    controller.clock.advance(NOWHERE)
    held = clearml.fault("hold", disabled_at, user=USER)

    with there.in_background(controller.round):
        held.wait_until_holding()
        there.switch(enabled=False)
        held.release()

    assert clearml.entries(there.execution()) == []
    assert clearml.entries(there.intake()) == [task]


def test_a_task_that_is_to_be_sent_back_stays(there: Installation) -> None:
    """Its user is not on the team's list; that it becomes a draft waits for the enable, too."""
    clearml = there.clearml
    team = Team(clearml_users=(("", "somebody"),))
    strict = one_profile({"metal": 1}, {"dev": (0, None)})
    policies = tuple(
        replace(policy, team=team, membership=Membership.RETURN) for policy in strict.policies
    )
    there.apply(replace(strict, policies=policies))
    task = clearml.queued_task(there.intake())
    controller = there.controller()
    controller.round()
    assert there.stages() == {task: "drafting"}

    there.switch(enabled=False)
    controller.rounds(3)
    assert clearml.entries(there.intake()) == [task]
    assert there.entries() == {}

    there.switch(enabled=True)
    controller.rounds(2)
    assert clearml.entries(there.intake()) == []
    assert clearml.status(task) == "created"
