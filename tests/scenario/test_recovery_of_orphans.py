"""Tasks that are queued in no queue: nothing in ClearML brings them back, so Poolkeeper does.

An agent that has just taken a task leaves it looking the same; hence the patience.
"""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from tests.poolkeeper_support import (
    NOWHERE,
    STOPPED,
    Agent,
    Installation,
    drive,
    installed,
    most_at_once,
    one_profile,
    run_counts,
)
from tests.sandbox_support import Sandbox, wait_until

FULL = one_profile({"metal": 0}, {"dev": (0, None)})
ROOM = one_profile({"metal": 2}, {"dev": (0, None)})
ALMOST = NOWHERE - timedelta(seconds=5)


@pytest.fixture
def there(clearml: Sandbox, tmp_path: Path) -> Iterator[Installation]:
    with installed(clearml, tmp_path / "here") as installation:
        yield installation


def test_a_task_whose_taker_died_goes_to_the_front_of_its_intake_queue(
    there: Installation,
) -> None:
    clearml = there.clearml
    there.apply(FULL)
    tasks = clearml.bulk_enqueue(there.intake(), 3)
    controller = there.controller()
    controller.round()
    first_seen = there.sightings()[tasks[0]].first_seen
    assert clearml.as_worker("dying").pop(there.intake()) == tasks[0]

    controller.round()
    controller.clock.advance(ALMOST)
    controller.round()
    assert clearml.entries(there.intake()) == tasks[1:]

    controller.clock.advance(NOWHERE - ALMOST)
    controller.rounds(2)
    assert clearml.entries(there.intake()) == tasks
    assert there.sightings()[tasks[0]].first_seen == first_seen
    assert clearml.execution_queue(tasks[0]) == there.intake()


def test_one_that_was_never_seen_is_found_by_the_sweep(there: Installation) -> None:
    clearml = there.clearml
    there.apply(FULL)
    task, waiting = clearml.bulk_enqueue(there.intake(), 2)
    clearml.as_worker("dying").pop(there.intake())

    controller = there.controller()
    controller.round()
    controller.clock.advance(NOWHERE)
    controller.rounds(2)

    assert clearml.entries(there.intake()) == [task, waiting]


def test_one_lost_while_poolkeeper_runs_is_found_by_a_later_sweep(there: Installation) -> None:
    """It came and went between two looks."""
    clearml = there.clearml
    there.apply(FULL)
    controller = there.controller()
    controller.round()
    task = clearml.queued_task(there.intake())
    clearml.as_worker("dying").pop(there.intake())

    controller.clock.advance(timedelta(minutes=5))
    controller.round()
    controller.clock.advance(NOWHERE)
    controller.rounds(2)

    assert clearml.entries(there.intake()) == [task]


def test_a_task_that_starts_within_the_patience_is_not_touched(there: Installation) -> None:
    clearml = there.clearml
    there.apply(ROOM)
    task = clearml.queued_task(there.intake())
    controller = there.controller()
    controller.round()
    agent = clearml.as_worker("slow")
    assert agent.pop(there.execution()) == task
    controller.round()
    controller.clock.advance(ALMOST)
    controller.round()
    start = clearml.last_call()
    agent.started(task)

    controller.clock.advance(NOWHERE)
    controller.rounds(3)

    assert clearml.status(task) == "in_progress"
    assert there.stages() == {task: "dispatched"}
    writes = {entry["call"] for entry in clearml.calls(since=start, user="poolkeeper")}
    assert writes <= {"queues.get_all", "tasks.get_all"}


def test_a_dispatched_task_whose_agent_died_goes_back_and_runs_once(there: Installation) -> None:
    clearml = there.clearml
    there.apply(one_profile({"metal": 1}, {"dev": (0, None)}))
    tasks = clearml.bulk_enqueue(there.intake(), 3)
    controller = there.controller()
    controller.round()
    assert clearml.as_worker("dying").pop(there.execution()) == tasks[0]
    controller.round()
    assert there.stages() == {tasks[0]: "dispatched"}  # it counts as long as it is in doubt
    assert clearml.entries(there.intake()) == tasks[1:]

    agents = Agent(clearml, (there.execution(),))
    controller.clock.advance(NOWHERE)
    drive(controller, agents, lambda: not there.entries() and not there.sightings())

    assert run_counts(clearml, tasks) == dict.fromkeys(tasks, 1)
    assert most_at_once(clearml) == {"job on metal": 1}
    started = sorted(tasks, key=lambda task: str(clearml.runs(task)[0]["time"]))
    assert started == tasks


def test_a_task_that_somebody_took_during_a_claim_without_an_answer(there: Installation) -> None:
    """Its intent is open, and it may be ours, half moved; it is not, and starts a little later."""
    clearml = there.clearml
    there.apply(ROOM)
    task = clearml.queued_task(there.intake())
    pop = {"call": "queues.get_next_task", "body": {"queue": there.intake()}, "worker": "slow"}
    clearml.fault("do", "queues.remove_task", steps=[pop])
    clearml.fault("refuse", "queues.remove_task")
    controller = there.controller()
    controller.round()
    controller.clock.advance(ALMOST)
    controller.rounds(2)
    assert clearml.queues_holding(task) == []
    assert there.stages() == {task: "intended"}

    clearml.as_worker("slow").started(task)
    controller.recover()
    clearml.completed(task)
    controller.recover()

    assert run_counts(clearml, [task]) == {task: 1}
    assert clearml.as_worker("another").pop(there.execution()) is None
    assert there.entries() == {}


def test_one_whose_policy_is_removed_meanwhile_becomes_a_draft(there: Installation) -> None:
    clearml = there.clearml
    there.apply(one_profile({"metal": 0}, {"dev": (0, None), "research": (0, None)}))
    task = clearml.queued_task(there.intake("research"))
    controller = there.controller()
    controller.round()
    clearml.as_worker("dying").pop(there.intake("research"))
    there.apply(FULL)

    controller.recover()

    assert clearml.status(task) == "created"
    assert (there.entries(), there.sightings()) == ({}, {})


def test_a_task_that_is_stopped_counts_until_that_is_believed(there: Installation) -> None:
    """The k8s glue stops every task on its way to a pod."""
    clearml = there.clearml
    there.apply(one_profile({"metal": 1}, {"dev": (0, None)}))
    first, second = clearml.bulk_enqueue(there.intake(), 2)
    controller = there.controller()
    controller.round()
    clearml.as_worker("glue").pop(there.execution())
    clearml.stop(first, force=True, status_reason="moving to k8s pending queue")

    controller.round()
    controller.clock.advance(STOPPED - timedelta(seconds=5))
    controller.round()
    assert there.stages() == {first: "dispatched"}
    controller.clock.advance(timedelta(seconds=5))
    controller.rounds(2)

    assert there.stages() == {second: "dispatched"}
    assert [(ended.task, ended.outcome) for ended in there.ended()] == [(first, "stopped")]


def test_tasks_of_the_glue_keep_their_allocation_and_are_never_moved(there: Installation) -> None:
    clearml = there.clearml
    there.apply(ROOM)
    tasks = clearml.bulk_enqueue(there.intake(), 5)
    clearml.start_agents(
        there.execution(), style="glue", slots=4, run_seconds=0.3, poll_seconds=0.05
    )
    controller = there.controller()

    def done() -> bool:
        controller.round()
        states = clearml.dump()["tasks"]
        return all(states[task]["status"] == "completed" for task in tasks)

    wait_until(done, "all have run in pods", 60)

    assert run_counts(clearml, tasks) == dict.fromkeys(tasks, 1)
    assert most_at_once(clearml) == {"job on metal": 2}
    # A look that catches a task in its queue and then stopped may try in vain to take it out.
    claims = [c for c in clearml.calls("queues.remove_task", "poolkeeper") if c["code"] == 200]
    assert sorted(claim["body"]["task"] for claim in claims) == sorted(tasks)
    controller.rounds(2)
    assert there.entries() == {}
