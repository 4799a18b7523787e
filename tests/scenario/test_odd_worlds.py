"""What people do to ClearML and to the configuration while tasks wait and run."""

from collections.abc import Callable, Iterator
from datetime import timedelta
from fractions import Fraction
from pathlib import Path

import pytest

from domain.snapshot import Reason
from tests.crowds import dispatched
from tests.poolkeeper_support import (
    USER,
    Agent,
    Controller,
    Installation,
    drive,
    installed,
    most_at_once,
    one_profile,
    ran_after_abort,
    run_counts,
)
from tests.sandbox_support import NO_SUCH_ID, Doc, Sandbox


@pytest.fixture
def there(clearml: Sandbox, tmp_path: Path) -> Iterator[Installation]:
    with installed(clearml, tmp_path / "here") as installation:
        yield installation


def all_done(there: Installation, tasks: list[str]) -> Callable[[], bool]:
    def done() -> bool:
        known = there.clearml.dump()["tasks"]
        return all(known[task]["status"] == "completed" for task in tasks)

    return done


def finish(
    there: Installation, controller: Controller, tasks: list[str], *pools: str, running: int = 0
) -> None:
    """All tasks run, each once; the first `running` do so already."""
    queues = tuple(there.execution(pool) for pool in pools)
    agents = Agent(there.clearml, queues, list(tasks[:running]))
    drive(controller, agents, all_done(there, tasks))
    controller.rounds(2)
    assert run_counts(there.clearml, tasks) == dict.fromkeys(tasks, 1)
    assert ran_after_abort(there.clearml) == []
    assert (there.entries(), there.sightings()) == ({}, {})


def used(controller: Controller) -> dict[str, Fraction]:
    """What the next round counts in each pool."""
    return {pool.name: pool.used for pool in controller.round().plan.pools}


# The configuration changes under the load -------------------------------------------------------


def test_a_pool_that_is_shrunk_below_its_use_gets_nothing_until_there_is_room(
    there: Installation,
) -> None:
    clearml = there.clearml
    there.apply(one_profile({"metal": 4}, {"dev": (0, None)}))
    tasks = clearml.bulk_enqueue(there.intake(), 8)
    controller = there.controller()
    controller.round()
    agents = Agent(clearml, (there.execution(),))
    agents.start()
    there.apply(one_profile({"metal": 2}, {"dev": (0, None)}))

    report = controller.round()
    assert report.moved == ()
    assert {waiting.reason for waiting in report.plan.waiting} == {Reason.NO_CAPACITY}
    for task in tasks[:2]:  # 4 of 2 are in use, then 2 of 2
        clearml.completed(task)
        assert controller.round().moved == ()
    clearml.completed(tasks[2])
    assert len(controller.round().moved) == 1

    agents.running = [tasks[3]]
    drive(controller, agents, all_done(there, tasks))
    assert run_counts(clearml, tasks) == dict.fromkeys(tasks, 1)


def test_a_removed_link_gives_back_who_waits_and_counts_who_runs(there: Installation) -> None:
    """Tasks of two queues go back to one, and keep the order in which they came."""
    clearml = there.clearml
    both = one_profile({"metal": 3, "h100": 2}, {"dev": (0, None)})
    there.apply(both)
    tasks = [clearml.queued_task(there.intake()) for _ in range(7)]
    controller = there.controller()
    controller.round()
    assert clearml.entries(there.execution("metal")) == tasks[:3]
    assert clearml.entries(there.execution("h100")) == tasks[3:5]
    running = Agent(clearml, (there.execution("metal"),))
    worker = clearml.as_worker("agent")
    assert worker.pop(there.execution("metal")) == tasks[0]
    worker.started(tasks[0])
    retired = there.execution("metal")

    # The pools stay, and nobody is linked to them any more.
    there.apply(one_profile({"other": 0}, {"dev": (0, None)}))
    controller.rounds(2)

    assert clearml.entries(there.intake()) == tasks[1:]
    assert there.stages() == {tasks[0]: "dispatched"}
    assert retired in clearml.dump()["queues"]
    there.apply(both)
    assert used(controller)["metal"] == 3
    running.running = [tasks[0]]
    finish(there, controller, tasks, "metal", "h100", running=1)
    assert most_at_once(clearml) == {"job on metal": 3, "job on h100": 2}


def test_a_removed_policy_leaves_drafts_and_lets_the_dispatched_run(there: Installation) -> None:
    clearml = there.clearml
    there.apply(one_profile({"metal": 2}, {"dev": (1, None), "research": (1, None)}))
    dev = clearml.bulk_enqueue(there.intake("dev"), 3)
    research = clearml.bulk_enqueue(there.intake("research"), 3)
    controller = there.controller()
    controller.round()
    assert there.entries().keys() == {dev[0], research[0]}

    there.apply(one_profile({"metal": 2}, {"dev": (1, None)}))
    finish(there, controller, [*dev, research[0]], "metal")

    assert [clearml.status(task) for task in research[1:]] == ["created"] * 2
    assert "research-jobs" not in {q["name"] for q in clearml.dump()["queues"].values()}
    assert most_at_once(clearml) == {"job on metal": 2}


@pytest.mark.parametrize(
    ("renames", "pools", "policies"),
    [
        (["policy:dev=ml"], {"metal": 2}, {"ml": (0, 2)}),
        (["pool:metal=iron", "link:job on metal=job on iron"], {"iron": 2}, {"dev": (0, 2)}),
    ],
    ids=["a policy", "a pool and its link"],
)
def test_what_is_renamed_keeps_its_queue_its_tasks_and_its_use(
    there: Installation,
    renames: list[str],
    pools: dict[str, int | str],
    policies: dict[str, tuple[int, int | None]],
) -> None:
    clearml = there.clearml
    there.apply(one_profile({"metal": 2}, {"dev": (0, 2)}))
    ids = {queue.id for queue in there.owned()}
    tasks = clearml.bulk_enqueue(there.intake(), 4)
    controller = there.controller()
    controller.round()
    start = clearml.last_call()

    there.apply(one_profile(pools, policies), *renames)
    report = controller.round()

    assert {queue.id for queue in there.owned()} == ids
    assert report.moved == ()
    assert [policy.usage for policy in report.plan.policies] == [2]
    assert clearml.calls("queues.remove_task", since=start) == []
    finish(there, controller, tasks, *pools)


def test_a_name_that_another_takes_over_does_not_inherit_the_use(there: Installation) -> None:
    """dev is removed and research is called dev now: its limit is not filled by the old dev."""
    clearml = there.clearml
    there.apply(one_profile({"metal": 4}, {"dev": (0, 2), "research": (0, 2)}))
    old = clearml.bulk_enqueue(there.intake("dev"), 2)
    research = there.intake("research")
    controller = there.controller()
    controller.round()
    Agent(clearml, (there.execution(),)).start()

    there.apply(one_profile({"metal": 4}, {"dev": (0, 2)}), "policy:research=dev")
    controller.rounds(2)
    assert there.intake("dev") == research
    new = clearml.bulk_enqueue(research, 2)
    report = controller.round()

    assert len(report.moved) == 2
    assert [policy.usage for policy in report.plan.policies] == [2]
    finish(there, controller, [*old, *new], "metal", running=2)


# People in ClearML ------------------------------------------------------------------------------


def test_queues_that_are_renamed_by_hand_are_served_on(there: Installation) -> None:
    clearml = there.clearml
    there.apply(one_profile({"metal": 1}, {"dev": (0, None)}))
    tasks = clearml.bulk_enqueue(there.intake(), 3)
    clearml.ok("queues.update", queue=there.intake(), name="our queue")
    clearml.ok("queues.update", queue=there.execution(), name="their queue")

    controller = there.controller()
    there.apply(one_profile({"metal": 1}, {"dev": (0, 5)}))  # provisioning leaves them their names
    finish(there, controller, tasks, "metal")

    queues = clearml.dump()["queues"]
    assert queues[there.intake()]["name"] == "our queue"
    assert queues[there.execution()]["name"] == "their queue"


@pytest.mark.parametrize("which", ["intake", "execution"])
def test_a_queue_that_is_deleted_by_hand_is_made_again(there: Installation, which: str) -> None:
    """ClearML makes drafts of its tasks; all others, and those that come, run."""
    clearml = there.clearml
    there.apply(one_profile({"metal": 2}, {"dev": (0, None)}))
    tasks = clearml.bulk_enqueue(there.intake(), 4)
    controller = there.controller()
    controller.round()
    gone = there.intake() if which == "intake" else there.execution()
    drafts = tasks[2:] if which == "intake" else tasks[:2]
    clearml.ok("queues.delete", queue=gone, force=True)

    controller.rounds(2)

    assert [clearml.status(task) for task in drafts] == ["created"] * 2
    assert len(there.audit("queue made again")) == 1
    for task in drafts:
        clearml.enqueue(task, there.intake())
    finish(there, controller, tasks, "metal")


def test_tasks_go_to_the_queue_that_was_made_in_place_of_a_deleted_one(
    there: Installation,
) -> None:
    """They had come from the deleted one, and are put back when their link is removed."""
    clearml = there.clearml
    there.apply(one_profile({"metal": 2}, {"dev": (0, None)}))
    tasks = clearml.bulk_enqueue(there.intake(), 2)
    controller = there.controller()
    controller.round()
    clearml.ok("queues.delete", queue=there.intake())
    controller.round()

    there.apply(one_profile({"other": 0}, {"dev": (0, None)}))
    controller.rounds(2)

    assert clearml.entries(there.intake()) == tasks


@pytest.mark.parametrize("when", ["waiting", "dispatched", "running"])
def test_a_task_that_is_deleted_is_forgotten(there: Installation, when: str) -> None:
    clearml = there.clearml
    there.apply(one_profile({"metal": 0 if when == "waiting" else 1}, {"dev": (0, None)}))
    task, other = clearml.bulk_enqueue(there.intake(), 2)
    controller = there.controller()
    controller.round()
    if when == "running":
        Agent(clearml, (there.execution(),)).start()
    clearml.ok("tasks.delete", task=task, force=True)
    there.apply(one_profile({"metal": 1}, {"dev": (0, None)}))

    finish(there, controller, [other], "metal")


Moved = Callable[[Installation, str], None]


def to_another_pool(there: Installation, task: str) -> None:
    there.clearml.ok("queues.remove_task", queue=there.execution("metal"), task=task)
    there.clearml.ok("queues.add_task", queue=there.execution("h100"), task=task)


def test_a_task_that_is_moved_to_another_pool_counts_there(there: Installation) -> None:
    clearml = there.clearml
    there.apply(one_profile({"metal": 1, "h100": 1}, {"dev": (0, None)}))
    task = clearml.queued_task(there.intake())
    controller = there.controller()
    controller.round()
    assert used(controller) == {"metal": 1, "h100": 0}

    to_another_pool(there, task)

    assert used(controller) == {"metal": 0, "h100": 1}
    Agent(clearml, (there.execution("h100"),)).start()
    assert used(controller) == {"metal": 0, "h100": 1}
    assert there.entries()[task].link == "job on h100"


def test_a_task_that_is_moved_to_a_queue_of_somebodys_own_is_no_longer_ours(
    there: Installation,
) -> None:
    clearml = there.clearml
    there.apply(one_profile({"metal": 1}, {"dev": (0, None)}))
    tasks = clearml.bulk_enqueue(there.intake(), 2)
    own = clearml.create_queue("my own queue")
    controller = there.controller()
    controller.round()
    clearml.enqueue(tasks[0], own)

    controller.round()

    assert there.stages() == {tasks[1]: "dispatched"}
    assert [ended.outcome for ended in there.ended()] == ["moved to another queue"]
    agents = Agent(clearml, (own, there.execution()))
    drive(controller, agents, all_done(there, tasks))
    assert run_counts(clearml, tasks) == dict.fromkeys(tasks, 1)


def test_a_task_that_is_moved_to_another_teams_intake_queue_is_theirs(there: Installation) -> None:
    clearml = there.clearml
    there.apply(one_profile({"metal": 1}, {"dev": (0, None), "research": (0, None)}))
    task = clearml.queued_task(there.intake("dev"))
    controller = there.controller()
    controller.round()
    clearml.enqueue(task, there.intake("research"))

    controller.round()

    assert there.entries()[task].policy == "research"
    finish(there, controller, [task], "metal")


@pytest.mark.parametrize("ending", ["completed", "aborted"])
def test_a_task_that_ended_between_two_looks_and_waits_again(
    there: Installation, ending: str
) -> None:
    """Two runs by its user's own wish, and two allocations."""
    clearml = there.clearml
    there.apply(one_profile({"metal": 1}, {"dev": (0, None)}))
    task, other = clearml.bulk_enqueue(there.intake(), 2)
    controller = there.controller()
    controller.round()
    agents = Agent(clearml, (there.execution(),))
    if ending == "completed":
        agents.turn()
        clearml.completed(task)
        clearml.enqueue(task, there.intake(), force=True)
    else:
        clearml.stop(task)
        clearml.enqueue(task, there.intake())

    assert clearml.entries(there.intake()) == [other, task]
    drive(
        controller,
        Agent(clearml, (there.execution(),)),
        lambda: all_done(there, [task, other])() and not there.entries(),
    )
    assert run_counts(clearml, [task, other]) == {task: 1 + (ending == "completed"), other: 1}
    assert most_at_once(clearml) == {"job on metal": 1}
    assert sorted(ended.outcome for ended in there.ended()) == [
        "completed",
        "completed",
        "enqueued again",
    ]


AGAINST = {
    "stopped": {"call": "tasks.stopped", "force": True},
    "failed": {"call": "tasks.failed", "force": True},
    "completed": {"call": "tasks.completed", "force": True},
    "started by hand": {"call": "tasks.started", "force": True},
}


@pytest.mark.parametrize("deed", AGAINST)
@pytest.mark.parametrize("where", ["intake", "execution"])
def test_a_task_that_is_no_longer_queued_is_taken_out_of_its_queue(
    there: Installation, deed: str, where: str
) -> None:
    """ClearML leaves it there, and an agent would run it: against a will, or a second time."""
    clearml = there.clearml
    there.apply(one_profile({"metal": 1}, {"dev": (0, None)}))
    task = clearml.queued_task(there.intake())
    controller = there.controller()
    if where == "execution":
        controller.round()
    call = str(AGAINST[deed]["call"])
    clearml.ok(call, task=task, force=True)
    assert clearml.queues_holding(task) == [getattr(there, where)()]

    controller.round()

    assert clearml.queues_holding(task) == []
    assert clearml.as_worker("late").pop(there.execution()) is None
    if where == "execution":
        assert [record.subject for record in there.audit("slip")] == [task]


def test_a_task_that_was_enqueued_twice_can_be_dequeued_once_dispatched(
    there: Installation,
) -> None:
    """The second, refused enqueue makes ClearML forget what a dequeue is to make of the task."""
    clearml = there.clearml
    there.apply(one_profile({"metal": 2}, {"dev": (0, None)}))
    tasks = clearml.bulk_enqueue(there.intake(), 2)
    again = clearml.call("tasks.enqueue", task=tasks[0], queue=there.intake())
    assert (again.code, again.subcode) == (400, 706)
    controller = there.controller()
    controller.rounds(2)
    assert clearml.entries(there.execution()) == tasks[::-1]

    clearml.dequeue(tasks[0])

    assert clearml.status(tasks[0]) == "created"
    finish(there, controller, tasks[1:], "metal")
    assert clearml.runs(tasks[0]) == []


def test_a_task_that_was_put_back_from_a_vanished_queue_can_be_dequeued(
    there: Installation,
) -> None:
    """The refused move made ClearML forget the same."""
    clearml = there.clearml
    there.apply(one_profile({"metal": 1}, {"dev": (0, None)}))
    task = clearml.queued_task(there.intake())
    delete = {"call": "queues.delete", "body": {"queue": there.execution()}}
    clearml.fault("do", "tasks.edit", user=USER, when="after", steps=[delete])
    controller = there.controller()
    controller.round()
    assert clearml.queues_holding(task) == []
    there.apply(one_profile({"metal": 0}, {"dev": (0, None)}))
    controller.recover()
    assert clearml.entries(there.intake()) == [task]

    clearml.dequeue(task)

    assert clearml.status(task) == "created"


def test_one_task_in_two_intake_queues_runs_once(there: Installation) -> None:
    clearml = there.clearml
    there.apply(one_profile({"metal": 2}, {"dev": (0, None), "research": (0, None)}))
    task = clearml.queued_task(there.intake("research"))
    clearml.ok("queues.add_task", queue=there.intake("dev"), task=task)
    other = clearml.queued_task(there.intake("dev"))
    controller = there.controller()

    report = controller.round()

    assert report.snapshot is not None
    assert sum(len(queue.tasks) for queue in report.snapshot.queues) == 2
    assert clearml.queues_holding(task) == [there.execution()]
    finish(there, controller, [task, other], "metal")


def test_ids_of_nothing_in_an_intake_queue_hold_nobody_up(there: Installation) -> None:
    clearml = there.clearml
    there.apply(one_profile({"metal": 2}, {"dev": (0, None)}))
    for number in range(3):
        clearml.ok("queues.add_task", queue=there.intake(), task=f"{number}{NO_SUCH_ID[1:]}")
    tasks = clearml.bulk_enqueue(there.intake(), 2)
    controller = there.controller()

    controller.rounds(3)

    assert there.entries().keys() == set(tasks)
    assert clearml.entries(there.intake()) == []
    finish(there, controller, tasks, "metal")


def test_foreign_tasks_count_and_are_not_touched(there: Installation) -> None:
    clearml = there.clearml
    there.apply(one_profile({"metal": 3}, {"dev": (0, None)}))
    waits = clearml.queued_task(there.execution())
    runs = clearml.queued_task(there.execution())
    agent = clearml.as_worker("agent")
    assert agent.pop(there.execution()) == waits
    agent.started(waits)
    tasks = clearml.bulk_enqueue(there.intake(), 2)
    controller = there.controller()

    report = controller.round()

    assert report.snapshot is not None
    assert report.snapshot.foreign == {"metal": 2}
    assert len(report.moved) == 1
    controller.recover()
    assert clearml.entries(there.execution()) == [runs, tasks[0]]
    assert clearml.status(waits) == "in_progress"
    # They end, and what they had is free.
    for task in (waits, runs):
        clearml.completed(task)
    clearml.call("queues.remove_task", queue=there.execution(), task=runs)
    assert len(controller.round().moved) == 1


def test_a_hidden_queue_of_a_users_own_is_left_alone(there: Installation) -> None:
    clearml = there.clearml
    there.apply(one_profile({"metal": 1}, {"dev": (0, None)}))
    hidden = clearml.create_queue("my secret", system_tags=["k8s-glue"])
    theirs = clearml.queued_task(hidden)
    tasks = clearml.bulk_enqueue(there.intake(), 2)
    controller = there.controller()

    controller.recover()

    assert clearml.entries(hidden) == [theirs]
    assert there.entries().keys() == {tasks[0]}
    finish(there, controller, tasks, "metal")


def test_times_of_a_clock_that_is_ahead_give_nobody_a_future(there: Installation) -> None:
    """Entries were added an hour from now, as this machine's clock has it."""
    clearml = there.clearml
    there.apply(one_profile({"metal": 1}, {"dev": (0, None)}))
    there.clock.advance(-timedelta(hours=1))
    tasks = clearml.bulk_enqueue(there.intake(), 3)
    controller = there.controller()

    controller.round()

    now = there.clock()
    assert all(sighting.first_seen <= now for sighting in there.sightings().values())
    assert clearml.entries(there.intake()) == tasks[1:]
    finish(there, controller, tasks, "metal")


# Parameters -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fields", "amount"),
    [
        ({}, "2"),
        ({"runtime": {"gpus": ""}}, "2"),
        ({"runtime": {"gpus": "  "}}, "2"),
        ({"runtime": {"gpus": "NaN"}}, "2"),
        ({"runtime": {"gpus": "-1"}}, "2"),
        ({"runtime": {"gpus": -1}}, "2"),
        ({"runtime": {"gpus": "1e999"}}, "2"),
        ({"runtime": {"gpus": float("inf")}}, "2"),
        ({"runtime": {"gpus": float("nan")}}, "2"),
        ({"runtime": {"gpus": True}}, "2"),
        ({"runtime": {"gpus": {"gpus": 1}}}, "2"),
        ({"runtime": {"gpus": [1]}}, "2"),
        ({"runtime": {"gpus": None}}, "2"),
        ({"runtime": {"gpus": "x" * 10_000}}, "2"),
        ({"runtime": {"gpus": "1/7"}}, "1/7"),
        ({"runtime": {"gpus": "0.5"}}, "1/2"),
        ({"runtime": {"gpus": 3}}, "3"),
        ({"runtime": {"gpus": 0.1}}, "1/10"),
    ],
    ids=lambda value: str(value)[:40] if isinstance(value, dict) else None,
)
def test_a_parameter_that_says_no_amount_means_the_default(
    there: Installation, fields: Doc, amount: str
) -> None:
    clearml = there.clearml
    there.apply(
        one_profile({"metal": 4}, {"dev": (0, None)}, allotment=2, parameter="runtime.gpus")
    )
    task = clearml.queued_task(there.intake(), **fields)
    controller = there.controller()

    controller.round()

    assert there.entries()[task].amount == Fraction(amount)
    assert used(controller) == {"metal": Fraction(amount)}
    finish(there, controller, [task], "metal")


# Crowds -----------------------------------------------------------------------------------------


def test_two_thousand_tasks_in_one_queue(there: Installation) -> None:
    clearml = there.clearml
    there.apply(one_profile({"metal": 300}, {"dev": (0, None)}))
    tasks = clearml.bulk_enqueue(there.intake(), 2000)
    controller = there.controller()

    report = controller.round()

    assert len(report.moved) == 300
    assert clearml.entries(there.execution()) == tasks[:300]
    assert clearml.entries(there.intake()) == tasks[300:]
    controller.round()
    assert len(there.entries()) == 300
    assert len(there.sightings()) == 1700


def test_more_queues_than_a_page_lists(there: Installation) -> None:
    """Five hundred are listed at a time, and ours may be anywhere among them."""
    clearml = there.clearml
    names = [f"queue {number}" for number in range(510)]
    for name in names:
        clearml.create_queue(name)
    there.apply(one_profile({"metal": 1}, {"dev": (0, None)}))
    for name in names:
        clearml.create_queue(f"another {name}")
    tasks = clearml.bulk_enqueue(there.intake(), 2)
    controller = there.controller()

    finish(there, controller, tasks, "metal")

    assert there.audit("queue made again") == []


def test_more_allocations_than_a_page_lists(there: Installation) -> None:
    """Read by id, for the glue has them; none is taken for ended because a list was cut."""
    clearml = there.clearml
    there.apply(one_profile({"metal": 510}, {"dev": (0, None)}))
    tasks = dispatched(there, 510)
    pending = clearml.create_queue("k8s_scheduler", system_tags=["k8s-glue"])
    glue = clearml.as_worker("glue")
    for task in tasks:
        assert glue.pop(there.execution()) == task
        glue.enqueue(task, pending, status_reason="k8s pending scheduler")
    controller = there.controller()

    controller.recover()

    assert there.stages() == dict.fromkeys(tasks, "dispatched")
    assert clearml.calls("queues.remove_task", USER) == []
