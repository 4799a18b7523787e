"""kill -9 of a real process before and after every write of a move, and of provisioning.

The server holds the call, the process is killed there, and the rounds go on as another process
would run them: with the database and ClearML, and nothing else. A call that is held before its
write is never made, or only after the next round has looked ("late").
"""

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from tests.poolkeeper_support import (
    USER,
    Agent,
    Installation,
    drive,
    installed,
    kill_at,
    most_at_once,
    one_profile,
    ran_after_abort,
    run_counts,
)
from tests.sandbox_support import Sandbox, wait_until


@pytest.fixture
def there(clearml: Sandbox, tmp_path: Path) -> Iterator[Installation]:
    with installed(clearml, tmp_path / "here") as installation:
        yield installation


def statuses(clearml: Sandbox, tasks: list[str]) -> set[str]:
    known = clearml.dump()["tasks"]
    return {known[task]["status"] for task in tasks}


def queues_that_poolkeeper_needs(there: Installation) -> bool:
    """Whether ClearML has the queues that the database knows, and no others of ours."""
    listed = {
        id_ for id_, queue in there.clearml.dump()["queues"].items() if queue["name"] != "default"
    }
    return listed == {queue.id for queue in there.owned() if not queue.retired}


COPY, CLAIM, POINT, ADMIT, VERIFY = (
    "queues.add_or_update_metadata",
    "queues.remove_task",
    "tasks.edit",
    "tasks.enqueue",
    "tasks.get_all",
)
MOVE = [
    *((call, 1, when) for call in (COPY, CLAIM, POINT, ADMIT) for when in ("before", "after")),
    *((call, 1, "late") for call in (CLAIM, POINT, ADMIT)),
    (CLAIM, 2, "after"),
    (VERIFY, 2, "before"),  # the first is the look before the decision
]


@pytest.mark.parametrize(
    ("call", "nth", "when"), MOVE, ids=[f"{call}-{nth}-{when}" for call, nth, when in MOVE]
)
def test_a_move_that_died_ends_with_each_task_run_once(
    there: Installation, call: str, nth: int, when: str
) -> None:
    clearml = there.clearml
    there.apply(one_profile({"metal": 2}, {"dev": (2, None)}))
    tasks = clearml.bulk_enqueue(there.intake(), 4)
    agents = Agent(clearml, (there.execution(),))
    side = "after" if when == "after" else "before"
    fault = clearml.fault("hold", call, user=USER, nth=nth, when=side)

    process = there.start("run")
    process.wait_until_held(fault)
    process.kill()
    controller = there.controller()
    if when == "late":
        controller.round()
        fault.release("continue")
    else:
        fault.release("drop")

    # Who was not moved waits in its order, and what was begun counts.
    controller.round()
    assert clearml.entries(there.intake()) == [t for t in tasks if t in waiting(there)]
    assert len(there.entries()) <= 2
    drive(controller, agents, lambda: statuses(clearml, tasks) == {"completed"})
    controller.recover()
    assert run_counts(clearml, tasks) == dict.fromkeys(tasks, 1)
    assert most_at_once(clearml) == {"job on metal": 2}
    assert (there.entries(), there.sightings()) == ({}, {})


def waiting(there: Installation) -> set[str]:
    """Tasks that were seen in an intake queue and are not in the ledger."""
    return there.sightings().keys() - there.entries().keys()


PROVISION = [
    ("queues.create", 1, "after"),
    ("queues.create", 2, "before"),
    (COPY, 1, "before"),  # the marks of what a queue is for
    ("queues.update", 1, "after"),
    ("queues.update", 3, "before"),
    ("queues.update", 4, "after"),
]


@pytest.mark.parametrize(
    ("call", "nth", "when"),
    PROVISION,
    ids=[f"{call}-{nth}-{when}" for call, nth, when in PROVISION],
)
def test_provisioning_that_died_is_finished_without_making_anything_twice(
    there: Installation, call: str, nth: int, when: str
) -> None:
    clearml = there.clearml
    there.apply(one_profile({"metal": 1, "h100": 1}, {"dev": (1, None), "research": (1, 2)}))
    ids = {name: there.intake(name) for name in ("dev", "research")}
    tasks = [clearml.queued_task(ids["dev"]), clearml.queued_task(ids["research"])]
    before = {there.execution("metal"), there.execution("h100")}
    # Two teams swap their names, and a pool and a team are new.
    coming = one_profile(
        {"metal": 1, "h100": 1, "new": 1},
        {"research": (1, None), "dev": (1, 2), "extra": (1, 1)},
    )
    swap = ("--rename", "policy:dev=research", "--rename", "policy:research=dev")
    fault = clearml.fault("hold", call, user=USER, nth=nth, when=when)

    process = there.start("apply", there.written(coming), "--yes", *swap)
    kill_at(process, fault)
    controller = there.controller()
    controller.round()

    assert (there.intake("research"), there.intake("dev")) == (ids["dev"], ids["research"])
    assert {there.execution("metal"), there.execution("h100")} == before
    assert queues_that_poolkeeper_needs(there)
    names = {queue["name"] for queue in clearml.dump()["queues"].values()}
    wanted = {"dev-jobs", "research-jobs", "extra-jobs"}
    wanted |= {f"pool {pool} · job on {pool}" for pool in ("metal", "h100", "new")}
    assert names == {"default", *wanted}
    assert {clearml.dump()["queues"][ids["dev"]]["name"]} == {"research-jobs"}
    agents = Agent(clearml, tuple(there.execution(pool) for pool in ("metal", "h100", "new")))
    drive(controller, agents, lambda: statuses(clearml, tasks) == {"completed"})
    assert run_counts(clearml, tasks) == dict.fromkeys(tasks, 1)


PUSH_BACK = [
    (CLAIM, "before"),
    (CLAIM, "after"),
    (POINT, "after"),
    (ADMIT, "before"),
    (ADMIT, "after"),
    ("queues.move_task_to_front", "after"),
    ("queues.delete", "before"),
    ("queues.delete", "after"),
]


@pytest.mark.parametrize(
    ("call", "when"), PUSH_BACK, ids=[f"{call}-{when}" for call, when in PUSH_BACK]
)
def test_a_removed_link_gives_its_tasks_back_in_order_whenever_it_dies(
    there: Installation, call: str, when: str
) -> None:
    clearml = there.clearml
    there.apply(one_profile({"metal": 3}, {"dev": (3, None)}))
    tasks = clearml.bulk_enqueue(there.intake(), 5)
    controller = there.controller()
    controller.round()
    there.apply(one_profile({"other": 0}, {"dev": (3, None)}))
    fault = clearml.fault("hold", call, user=USER, when=when)

    process = there.start("run")
    kill_at(process, fault)
    controller = there.controller()
    controller.recover()

    assert clearml.entries(there.intake()) == tasks
    assert there.entries() == {}
    assert queues_that_poolkeeper_needs(there)
    there.apply(one_profile({"other": 3}, {"dev": (3, None)}))
    agents = Agent(clearml, (there.execution("other"),))
    drive(controller, agents, lambda: statuses(clearml, tasks) == {"completed"})
    assert run_counts(clearml, tasks) == dict.fromkeys(tasks, 1)
    assert most_at_once(clearml) == {"job on metal": 3, "job on other": 3}


DRAFTING = [(CLAIM, "after"), ("tasks.dequeue", "before"), ("tasks.dequeue", "after")]


@pytest.mark.parametrize(
    ("call", "when"), DRAFTING, ids=[f"{call}-{when}" for call, when in DRAFTING]
)
def test_a_removed_policy_leaves_drafts_and_no_orphans_whenever_it_dies(
    there: Installation, call: str, when: str
) -> None:
    clearml = there.clearml
    there.apply(one_profile({"metal": 2}, {"dev": (1, None), "research": (1, 1)}))
    dev = clearml.bulk_enqueue(there.intake("dev"), 1)
    research = clearml.bulk_enqueue(there.intake("research"), 4)
    there.controller().round()
    there.apply(one_profile({"metal": 2}, {"dev": (1, None)}))
    fault = clearml.fault("hold", call, user=USER, when=when)

    process = there.start("run")
    kill_at(process, fault)
    controller = there.controller()
    agents = Agent(clearml, (there.execution(),))
    drive(controller, agents, lambda: statuses(clearml, dev + research[:1]) == {"completed"})
    controller.recover()

    assert [clearml.status(task) for task in research[1:]] == ["created"] * 3
    assert [clearml.queues_holding(task) for task in research[1:]] == [[], [], []]
    assert run_counts(clearml, dev + research) == {
        task: int(task not in research[1:]) for task in dev + research
    }
    assert there.entries() == {}
    assert queues_that_poolkeeper_needs(there)
    assert ran_after_abort(clearml) == []


def has_made(clearml: Sandbox, calls: int) -> bool:
    return len(clearml.calls(user=USER)) > calls


def test_any_instant_will_do(there: Installation) -> None:
    """Killed again and again under full load, at instants that nobody chose."""
    clearml = there.clearml
    there.apply(one_profile({"metal": 4, "h100": 4}, {"dev": (2, None), "research": (4, 5)}))
    tasks = clearml.bulk_enqueue(there.intake("dev"), 30)
    tasks += clearml.bulk_enqueue(there.intake("research"), 30)
    queues = (there.execution("metal"), there.execution("h100"))
    clearml.start_agents(*queues, slots=8, run_seconds=0.1, poll_seconds=0.05)

    for more in (11, 23, 37):  # calls that it may still make
        process = there.start("run", POOLKEEPER_NOWHERE_SECONDS="3")
        process.wait_for("ClearML answers")
        start = len(clearml.calls(user=USER))
        wait_until(partial(has_made, clearml, start + more), "it is at work", 60)
        process.kill()
    there.start("run", POOLKEEPER_NOWHERE_SECONDS="3")

    wait_until(lambda: statuses(clearml, tasks) == {"completed"}, "all have run", 90)
    assert run_counts(clearml, tasks) == dict.fromkeys(tasks, 1)
    assert max(most_at_once(clearml).values()) <= 4
    wait_until(lambda: not there.entries() and not there.sightings(), "the books are closed", 60)
