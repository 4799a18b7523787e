"""ClearML is away, answers wrongly, or lets nobody in: nothing is decided, and it goes on later."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from controller.loop import Heard, Loop
from controller.ports import ClearMLError
from controller.round import Report
from tests.poolkeeper_support import (
    NOWHERE,
    USER,
    Agent,
    Clock,
    Installation,
    drive,
    installed,
    most_at_once,
    one_profile,
    run_counts,
)
from tests.sandbox_support import Sandbox, wait_until

CONFIGURATION = one_profile({"metal": 2}, {"dev": (0, None)})


@pytest.fixture
def there(clearml: Sandbox, tmp_path: Path) -> Iterator[Installation]:
    with installed(clearml, tmp_path / "here") as installation:
        yield installation


def test_an_outage_is_told_once_and_once_when_it_is_over(there: Installation) -> None:
    """From the start: the process waits for a ClearML that is away, and for one that goes."""
    clearml = there.clearml
    there.apply(CONFIGURATION)
    tasks = clearml.bulk_enqueue(there.intake(), 4)
    clearml.outage("refuse")

    process = there.start("run")
    process.wait_for("ClearML is away at the start")
    wait_until(lambda: there.audit("does not answer"), "the outage is on record", 60)
    before = clearml.last_call()
    wait_until(lambda: clearml.last_call() > before + 6, "further rounds fail", 60)
    clearml.outage("")
    wait_until(lambda: len(clearml.entries(there.execution())) == 2, "it goes on", 60)
    wait_until(lambda: there.audit("answers again"), "its end is on record", 60)

    assert len(there.audit("does not answer")) == 1
    assert len(there.audit("answers again")) == 1
    assert process.log.count("ClearML does not answer: since=") == 1
    assert process.log.count("ClearML answers again: since=") == 1
    assert there.audit("round failed") == []
    assert run_counts(clearml, tasks) == dict.fromkeys(tasks, 0)
    assert process.end() == 0


@pytest.mark.parametrize("mode", ["refuse", "503"])
def test_a_round_without_answers_decides_nothing(there: Installation, mode: str) -> None:
    clearml = there.clearml
    there.apply(CONFIGURATION)
    tasks = clearml.bulk_enqueue(there.intake(), 4)
    controller = there.controller()
    controller.round()
    Agent(clearml, (there.execution(),)).start()
    known, seen = there.entries(), there.sightings()
    clearml.outage(mode)

    for _ in range(2):
        controller.clock.advance(NOWHERE)
        with pytest.raises(ClearMLError):
            controller.round()

    assert (there.entries(), there.sightings()) == (known, seen)
    clearml.outage("")
    assert controller.round().moved == ()
    agents = Agent(clearml, (there.execution(),), tasks[:2])
    states = clearml.dump
    drive(
        controller,
        agents,
        lambda: {states()["tasks"][task]["status"] for task in tasks} == {"completed"},
    )
    assert run_counts(clearml, tasks) == dict.fromkeys(tasks, 1)
    assert most_at_once(clearml) == {"job on metal": 2}


@pytest.mark.parametrize("call", ["queues.remove_task", "tasks.edit", "tasks.enqueue"])
def test_an_outage_in_the_middle_of_the_moves(there: Installation, call: str) -> None:
    """From some call on nothing is answered, and what had been written stays written."""
    clearml = there.clearml
    there.apply(one_profile({"metal": 3}, {"dev": (0, None)}))
    tasks = clearml.bulk_enqueue(there.intake(), 5)
    for every in ("queues.remove_task", "tasks.edit", "tasks.enqueue", "tasks.get_all"):
        clearml.fault("drop_response" if every == call else "refuse", every, nth=2, user=USER)
        clearml.fault("refuse", every, nth=3, user=USER)
    controller = there.controller()
    agents = Agent(clearml, (there.execution(),))

    states = clearml.dump
    drive(
        controller,
        agents,
        lambda: {states()["tasks"][task]["status"] for task in tasks} == {"completed"},
    )

    assert run_counts(clearml, tasks) == dict.fromkeys(tasks, 1)
    assert most_at_once(clearml)["job on metal"] <= 3


def test_many_open_moves_do_not_wait_for_one_answer_each(there: Installation) -> None:
    """An outage ends the round soon, and is counted as one."""
    clearml = there.clearml
    there.apply(one_profile({"metal": 0}, {"dev": (0, None), "research": (0, None)}))
    tasks = clearml.bulk_enqueue(there.intake("research"), 20)
    controller = there.controller()
    controller.round()
    there.apply(one_profile({"metal": 0}, {"dev": (0, None)}))
    clearml.fault("refuse", "queues.remove_task", nth=0, user=USER)

    with pytest.raises(ClearMLError):
        controller.round()

    assert len(clearml.calls("queues.remove_task")) == 3
    clearml.clear_faults()
    controller.rounds(2)
    assert [clearml.status(task) for task in tasks] == ["created"] * 20


def test_an_answer_that_takes_long_is_waited_for(there: Installation) -> None:
    clearml = there.clearml
    there.apply(CONFIGURATION)
    tasks = clearml.bulk_enqueue(there.intake(), 3)
    for call in ("queues.remove_task", "tasks.edit", "tasks.enqueue"):
        for when in ("before", "after"):
            clearml.fault("delay", call, seconds=0.2, when=when, user=USER)

    there.controller().round()

    assert clearml.entries(there.execution()) == tasks[:2]
    assert set(there.stages().values()) == {"dispatched"}


def test_tokens_that_expire_are_renewed_without_a_call_made_twice(there: Installation) -> None:
    clearml = there.clearml
    there.apply(CONFIGURATION)
    tasks = clearml.bulk_enqueue(there.intake(), 3)
    controller = there.controller()
    controller.round()
    clearml.expire_tokens()

    agents = Agent(clearml, (there.execution(),))
    states = clearml.dump
    drive(
        controller,
        agents,
        lambda: {states()["tasks"][task]["status"] for task in tasks} == {"completed"},
    )

    assert run_counts(clearml, tasks) == dict.fromkeys(tasks, 1)


@pytest.mark.parametrize(
    ("env", "words"),
    [
        ({"CLEARML_API_SECRET_KEY": "wrong"}, "CLEARML_API_SECRET_KEY"),
        ({"CLEARML_API_ACCESS_KEY": ""}, "CLEARML_API_ACCESS_KEY"),
    ],
    ids=["a wrong secret", "no access key"],
)
def test_credentials_that_are_refused_end_the_start_with_a_sentence(
    there: Installation, env: dict[str, str], words: str
) -> None:
    code, said = there.command("run", **env)

    assert code == 1
    assert words in said
    assert "Traceback" not in said
    assert "wrong" not in said


def test_a_server_that_is_too_old_is_refused(there: Installation) -> None:
    there.clearml.reset(server_version="1.16.2", api_version="2.30")
    there.clearml.add_user(USER)

    code, said = there.command("run")

    assert code == 1
    assert "ClearML server 1.16.2 is too old: 1.17" in said
    assert "Traceback" not in said


def test_a_clock_that_is_set_back_does_not_prolong_the_patience(there: Installation) -> None:
    clearml = there.clearml
    there.apply(CONFIGURATION)
    task = clearml.queued_task(there.intake())
    controller = there.controller()
    controller.round()
    clearml.as_worker("dying").pop(there.execution())
    controller.round()

    controller.clock.advance(-timedelta(hours=1))
    controller.round()
    assert there.stages() == {task: "dispatched"}
    controller.clock.advance(NOWHERE)
    controller.rounds(2)

    assert clearml.queues_holding(task) == [there.execution()]


def test_a_clock_that_is_set_back_does_not_stop_the_rounds() -> None:
    clock = Clock()
    times: list[datetime] = []

    def run() -> Report:
        times.append(clock())
        return Report(at=times[-1])

    nothing = Heard(round=lambda _: None, outage=lambda _: None, fault=lambda _: None)
    loop = Loop(run, timedelta(seconds=0.1), clock, nothing)
    loop.start()
    try:
        wait_until(lambda: times, "the first round")
        clock.advance(-timedelta(hours=1))
        wait_until(lambda: times[-1] < times[0] - timedelta(minutes=59), "a round an hour earlier")
    finally:
        loop.stop()


def test_a_queue_that_is_deleted_between_two_looks_of_a_round(there: Installation) -> None:
    """The round does without it, and the next one makes it again."""
    clearml = there.clearml
    there.apply(CONFIGURATION)
    tasks = clearml.bulk_enqueue(there.intake(), 2)
    controller = there.controller()
    clearml.fault("refuse", "queues.add_or_update_metadata", user=USER)
    with pytest.raises(ClearMLError):
        controller.round()
    delete = {"call": "queues.delete", "body": {"queue": there.execution()}}
    clearml.fault("do", "queues.get_all", user=USER, nth=2, steps=[delete])

    assert controller.round().moved == ()

    controller.round()
    assert clearml.entries(there.execution()) == tasks
