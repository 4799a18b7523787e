"""Between any two writes of a move, and between the server's own, somebody else acts.

An agent takes the task, or its user aborts, dequeues, enqueues or deletes it, or a queue goes away.
Whoever was first wins: a task runs once, or not at all where its user said so.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from domain.ledger import Role
from tests.poolkeeper_support import (
    USER,
    Agent,
    Controller,
    Installation,
    drive,
    installed,
    one_profile,
    ran_after_abort,
    run_counts,
)
from tests.sandbox_support import Doc, Fault, Sandbox

CLAIM, POINT, ADMIT = "queues.remove_task", "tasks.edit", "tasks.enqueue"
FORWARD = [
    (CLAIM, "before"),
    (CLAIM, "before_entry"),
    (CLAIM, "after"),
    (POINT, "after"),
    (ADMIT, "before_status"),
    (ADMIT, "before_entry"),
    (ADMIT, "after"),
]
BACK = [*FORWARD, ("queues.move_task_to_front", "before")]


@pytest.fixture
def there(clearml: Sandbox, tmp_path: Path) -> Iterator[Installation]:
    with installed(clearml, tmp_path / "here") as installation:
        clearml.create_queue("elsewhere")
        yield installation


class Agents(Agent):
    """Agents on every queue but the intake queues, and whoever else runs a task."""

    def turn(self) -> None:
        dump = self.clearml.dump()
        self.running = [t for t, task in dump["tasks"].items() if task["status"] == "in_progress"]
        self.queues = tuple(id_ for id_ in dump["queues"] if id_ not in self.intakes)
        super().turn()

    intakes: frozenset[str] = frozenset()


def steps(there: Installation, deed: str, task: str, pool: str) -> list[Doc]:
    """What somebody does, as calls that nothing comes between; `pool` is its queue's id."""
    queues = there.clearml.dump()["queues"]
    elsewhere = next(id_ for id_, queue in queues.items() if queue["name"] == "elsewhere")
    intake = there.intake()
    the_task = {"task": task, "force": True}

    def taken(queue: str) -> list[Doc]:
        started = {"task": "$popped", "force": True}
        return [
            {"call": "queues.get_next_task", "body": {"queue": queue}, "worker": "a:0"},
            {"call": "tasks.started", "body": started, "worker": "a:0"},
        ]

    def enqueued(queue: str) -> Doc:
        return {"call": "tasks.enqueue", "body": {"task": task, "queue": queue}}

    def deleted(queue: str) -> list[Doc]:
        return [{"call": "queues.delete", "body": {"queue": queue, "force": True}}]

    return {
        "takes it from its intake queue": taken(intake),
        "takes it from the pool's queue": taken(pool),
        "aborts it": [{"call": "tasks.stop", "body": {"task": task}}],
        "dequeues it": [{"call": "tasks.dequeue", "body": {"task": task}}],
        "deletes it": [{"call": "tasks.delete", "body": the_task}],
        "enqueues it again": [enqueued(intake)],
        "aborts and enqueues it": [
            {"call": "tasks.stop", "body": {"task": task}},
            enqueued(intake),
        ],
        "enqueues it elsewhere": [enqueued(elsewhere)],
        "deletes the pool's queue": deleted(pool),
        "deletes its intake queue": deleted(intake),
    }[deed]


# How often the task may have run in the end. Deleting a queue makes drafts of what is in it.
DEEDS: dict[str, tuple[int, ...]] = {
    "takes it from its intake queue": (1,),
    "takes it from the pool's queue": (1,),
    "aborts it": (0,),
    "dequeues it": (0,),
    "deletes it": (0,),
    "enqueues it again": (1,),
    "aborts and enqueues it": (1,),
    "enqueues it elsewhere": (1,),
    "deletes the pool's queue": (0, 1),
    "deletes its intake queue": (0, 1),
}


def settle_down(there: Installation, controller: Controller) -> None:
    """Rounds and agents until nothing is open, nothing waits and nothing runs."""
    agents = Agents(there.clearml, ())

    def over() -> bool:
        owned = there.owned()
        agents.intakes = frozenset(queue.id for queue in owned if queue.role is Role.INTAKE)
        tasks = there.clearml.dump()["tasks"].values()
        alive = [task["id"] for task in tasks if task["status"] in ("queued", "in_progress")]
        return not alive and not there.entries() and not there.sightings()

    over()
    drive(controller, agents, over)


def check(there: Installation, task: str, deed: str, point: tuple[str, str], fault: Fault) -> None:
    case = (deed, *point)
    assert fault.fired() == 1, case
    runs = run_counts(there.clearml, [task])[task]
    state = there.clearml.dump()["tasks"].get(task, {"status": "deleted"})
    assert runs in DEEDS[deed], case
    over = {"aborts it": "stopped", "deletes it": "deleted"}.get(deed, "created")
    assert state["status"] == ("completed" if runs else over), case
    assert ran_after_abort(there.clearml) == [], case
    assert there.clearml.queues_holding(task) == [], case
    assert there.audit("round failed") == [], case


@pytest.mark.parametrize("deed", DEEDS)
def test_somebody_acts_while_a_task_is_dispatched(there: Installation, deed: str) -> None:
    there.apply(one_profile({"metal": 1}, {"dev": (1, None)}))
    controller = there.controller()
    for call, when in FORWARD:
        controller.round()  # makes again what was deleted
        task = there.clearml.queued_task(there.intake())
        deeds = steps(there, deed, task, there.execution())
        fault = there.clearml.fault("do", call, user=USER, when=when, steps=deeds)

        settle_down(there, controller)

        check(there, task, deed, (call, when), fault)
        there.clearml.clear_faults()


@pytest.mark.parametrize("deed", DEEDS)
def test_somebody_acts_while_a_task_is_put_back(there: Installation, deed: str) -> None:
    controller = there.controller()
    for number, (call, when) in enumerate(BACK):
        there.apply(one_profile({f"pool {number}": 1}, {"dev": (1, None)}))
        controller.round()  # makes again what was deleted
        task = there.clearml.queued_task(there.intake())
        controller.round()
        deeds = steps(there, deed, task, there.execution(f"pool {number}"))
        there.apply(one_profile({f"pool {number + 1}": 1}, {"dev": (1, None)}))
        fault = there.clearml.fault("do", call, user=USER, when=when, steps=deeds)

        settle_down(there, controller)

        check(there, task, deed, (call, when), fault)
        there.clearml.clear_faults()


def test_an_abort_finds_the_task_that_was_enqueued_during_its_move(there: Installation) -> None:
    """The server's own gap leaves it in the pool's queue, and pointing to its intake queue."""
    clearml = there.clearml
    there.apply(one_profile({"metal": 1}, {"dev": (1, None)}))
    task = clearml.queued_task(there.intake())
    again = steps(there, "enqueues it again", task, there.execution())
    fault = clearml.fault("do", ADMIT, user=USER, when="before_entry", steps=again)
    there.controller().round()
    assert fault.fired() == 1
    assert clearml.queues_holding(task) == [there.execution()]
    assert [record.subject for record in there.audit("slip")] == [task]

    clearml.stop(task)

    assert clearml.queues_holding(task) == []
    assert clearml.as_worker("agent").pop(there.execution()) is None
