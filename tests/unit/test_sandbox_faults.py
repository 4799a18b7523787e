"""The sandbox's faults do what they say: on which side of the write, to whom, and how often."""

import threading
from collections.abc import Callable

import pytest

from tests.sandbox_support import Answer, Sandbox, wait_until


def in_background(call: Callable[[], object]) -> Callable[[], list[object]]:
    """Runs the call in a thread; the function given back waits for what came of it."""
    results: list[object] = []

    def run() -> None:
        try:
            results.append(call())
        except ConnectionError as err:
            results.append(err)

    thread = threading.Thread(target=run)
    thread.start()

    def wait() -> list[object]:
        thread.join(timeout=10)
        assert results, "the call has not come back"
        return results

    return wait


@pytest.mark.parametrize(
    ("action", "code", "subcode", "written"),
    [
        ("error_before", 500, 1, False),
        ("error_after", 500, 100, True),
    ],
)
def test_an_error_comes_before_or_after_the_write(
    clearml: Sandbox, action: str, code: int, subcode: int, written: bool
) -> None:
    queue = clearml.create_queue("intake")
    task = clearml.queued_task(queue)
    clearml.fault(action, "queues.remove_task")

    answer = clearml.call("queues.remove_task", queue=queue, task=task)

    assert (answer.code, answer.subcode) == (code, subcode)
    assert clearml.entries(queue) == ([] if written else [task])


@pytest.mark.parametrize(("action", "written"), [("refuse", False), ("drop_response", True)])
def test_a_connection_is_cut_before_or_after_the_write(
    clearml: Sandbox, action: str, written: bool
) -> None:
    queue = clearml.create_queue("intake")
    task = clearml.queued_task(queue)
    clearml.fault(action, "queues.remove_task")

    with pytest.raises(ConnectionError):
        clearml.call("queues.remove_task", queue=queue, task=task)

    assert clearml.entries(queue) == ([] if written else [task])
    assert clearml.calls("queues.remove_task")[0]["code"] is None


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_held_call_waits_on_its_side_of_the_write(clearml: Sandbox, when: str) -> None:
    queue = clearml.create_queue("intake")
    task = clearml.queued_task(queue)
    fault = clearml.fault("hold", "queues.remove_task", when=when)

    wait = in_background(lambda: clearml.call("queues.remove_task", queue=queue, task=task))
    fault.wait_until_holding()
    during = clearml.entries(queue)
    fault.release()
    (answer,) = wait()

    assert during == ([task] if when == "before" else [])
    assert isinstance(answer, Answer)
    assert answer.data == {"removed": 1}
    assert fault.holding() == 0


def test_a_held_call_that_is_dropped_never_happens(clearml: Sandbox) -> None:
    queue = clearml.create_queue("intake")
    task = clearml.queued_task(queue)
    fault = clearml.fault("hold", "queues.remove_task")

    wait = in_background(lambda: clearml.call("queues.remove_task", queue=queue, task=task))
    fault.wait_until_holding()
    clearml.clear_faults()
    (outcome,) = wait()

    assert isinstance(outcome, ConnectionError)
    assert clearml.entries(queue) == [task]


def test_somebody_else_acts_between(clearml: Sandbox) -> None:
    queue = clearml.create_queue("intake")
    task = clearml.queued_task(queue)
    steps = [
        {"call": "queues.get_next_task", "body": {"queue": "$queue"}, "worker": "agent:0"},
        {"call": "tasks.started", "body": {"task": "$popped", "force": True}, "worker": "agent:0"},
    ]
    clearml.fault("do", "queues.remove_task", steps=steps)

    answer = clearml.call("queues.remove_task", queue=queue, task=task)

    assert (answer.code, answer.subcode) == (400, 703)
    assert clearml.status(task) == "in_progress"
    assert [run["worker"] for run in clearml.runs(task)] == ["agent:0"]


def test_a_lost_race_can_be_answered(clearml: Sandbox) -> None:
    queue = clearml.create_queue("intake")
    task = clearml.queued_task(queue)
    pop = {"call": "queues.get_next_task", "body": {"queue": "$queue"}}
    clearml.fault("answer", "queues.remove_task", steps=[pop], answer={"data": {"removed": 0}})

    answer = clearml.call("queues.remove_task", queue=queue, task=task)

    assert (answer.code, answer.data) == (200, {"removed": 0})
    assert clearml.entries(queue) == []


def test_a_removal_that_loses_the_race_in_the_middle_says_0(clearml: Sandbox) -> None:
    queue = clearml.create_queue("intake")
    task = clearml.queued_task(queue)
    pop = {"call": "queues.get_next_task", "body": {"queue": "$queue"}}
    clearml.fault("do", "queues.remove_task", when="before_entry", steps=[pop])

    answer = clearml.call("queues.remove_task", queue=queue, task=task)

    assert (answer.code, answer.data) == (200, {"removed": 0})


@pytest.mark.parametrize(
    ("when", "code", "subcode", "left_in_target"),
    [("before_status", 400, 121, False), ("before_entry", 200, 0, True)],
)
def test_an_abort_in_the_middle_of_an_enqueue_is_refused_or_slips_through(
    clearml: Sandbox, when: str, code: int, subcode: int, left_in_target: bool
) -> None:
    queue, target = clearml.create_queue("intake"), clearml.create_queue("target")
    task = clearml.queued_task(queue)
    clearml.ok("queues.remove_task", queue=queue, task=task)
    stop = {"call": "tasks.stop", "body": {"task": "$task"}}
    clearml.fault("do", "tasks.enqueue", when=when, steps=[stop])

    answer = clearml.call("tasks.enqueue", task=task, queue=target, update_execution_queue=False)

    assert (answer.code, answer.subcode) == (code, subcode)
    assert clearml.status(task) == "stopped"
    assert clearml.queues_holding(task) == ([target] if left_in_target else [])


def test_a_fault_waits_for_its_call_its_body_its_user_and_its_turn(clearml: Sandbox) -> None:
    queue = clearml.create_queue("intake")
    other = clearml.create_queue("other")
    mover = clearml.add_user("mover")
    fault = clearml.fault(
        "error_before", "queues.peek_task", match={"queue": queue}, user="mover", nth=2
    )

    codes = [
        clearml.call("queues.peek_task", queue=queue).code,
        mover.call("queues.peek_task", queue=other).code,
        mover.call("queues.get_num_entries", queue=queue).code,
        mover.call("queues.peek_task", queue=queue).code,
        mover.call("queues.peek_task", queue=queue).code,
        mover.call("queues.peek_task", queue=queue).code,
    ]

    assert codes == [200, 200, 200, 200, 500, 200]
    assert fault.fired() == 1


def test_a_fault_with_nth_0_fires_until_it_is_cleared(clearml: Sandbox) -> None:
    clearml.fault("error_before", "debug.ping", nth=0)

    broken = [clearml.call("debug.ping").code for _ in range(3)]
    clearml.clear_faults()

    assert broken == [500, 500, 500]
    assert clearml.call("debug.ping").code == 200


def test_a_delayed_call_takes_its_time(clearml: Sandbox) -> None:
    queue = clearml.create_queue("intake")
    task = clearml.queued_task(queue)
    clearml.fault("delay", "queues.remove_task", seconds=0.3)

    wait = in_background(lambda: clearml.call("queues.remove_task", queue=queue, task=task))
    wait_until(lambda: clearml.calls("queues.remove_task"), "the call has arrived")
    during = clearml.entries(queue)
    wait()

    assert (during, clearml.entries(queue)) == ([task], [])


def test_an_outage_ends_when_it_is_lifted(clearml: Sandbox) -> None:
    clearml.outage("refuse")
    with pytest.raises(ConnectionError):
        clearml.call("debug.ping")

    clearml.outage("503")
    busy = clearml.call("debug.ping").code
    clearml.outage("")

    assert busy == 503
    assert clearml.call("debug.ping").code == 200


def test_the_log_tells_who_called_what_and_what_came_of_it(clearml: Sandbox) -> None:
    queue = clearml.create_queue("intake")
    mover = clearml.add_user("mover")
    clearml.reset_calls()
    before = clearml.last_call()

    mover.call("queues.remove_task", queue=queue, task="nobody")
    clearml.as_worker("gpu:0").call("queues.peek_task", queue=queue)

    first, second = clearml.calls(since=before)
    assert (first["call"], first["user"]) == ("queues.remove_task", "mover")
    assert (first["code"], first["subcode"]) == (400, 703)
    assert first["body"] == {"queue": queue, "task": "nobody"}
    assert (second["worker"], second["code"]) == ("gpu:0", 200)
    assert clearml.calls(user="mover") == [first]
    assert clearml.call_counts() == {"queues.remove_task": 1, "queues.peek_task": 1}
