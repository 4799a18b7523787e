"""The simulated agents behave as the real ones do, and their runs are counted."""

from tests.sandbox_support import Sandbox, seconds, wait_until

QUICK = {"poll_seconds": 0.02, "run_seconds": 0.05}


def test_a_daemon_runs_what_it_pops_in_the_order_of_its_queues(clearml: Sandbox) -> None:
    first, second = clearml.create_queue("first"), clearml.create_queue("second")
    late = clearml.queued_task(second)
    early = clearml.queued_task(first)

    clearml.start_agents(first, second, **QUICK)
    wait_until(lambda: clearml.status(late) == "completed", "both have run")

    (one,), (other,) = clearml.runs(early), clearml.runs(late)
    assert one["time"] < other["time"]
    assert clearml.execution_queue(late) == second
    workers = clearml.ok("queues.get_all_ex", id=[first])["queues"][0]["workers"]
    assert [worker["name"] for worker in workers] == ["sandbox:gpu0"]


def test_a_daemon_runs_as_many_tasks_as_it_has_slots(clearml: Sandbox) -> None:
    queue = clearml.create_queue("served")
    tasks = clearml.bulk_enqueue(queue, 3, hyperparams=seconds(60))

    clearml.start_agents(queue, slots=2, **QUICK)
    wait_until(lambda: len(clearml.entries(queue)) == 1, "two slots are taken")

    statuses = wait_until(lambda: running_and_waiting(clearml, tasks), "both have started")
    assert statuses == ["in_progress", "in_progress", "queued"]


def running_and_waiting(clearml: Sandbox, tasks: list[str]) -> list[str]:
    statuses = [clearml.status(task) for task in tasks]
    return statuses if statuses.count("in_progress") == 2 else []


def test_a_running_task_that_is_aborted_stops(clearml: Sandbox) -> None:
    queue = clearml.create_queue("served")
    task = clearml.queued_task(queue, hyperparams=seconds(60))
    clearml.start_agents(queue, **QUICK)
    wait_until(lambda: clearml.task(task).get("last_worker"), "it runs")

    clearml.stop(task)
    asked = clearml.task(task)
    wait_until(lambda: clearml.status(task) == "stopped", "the agent has stopped it")

    assert (asked["status"], asked["status_message"]) == ("in_progress", "stopping")
    assert clearml.task(task)["status_reason"] == "worker execution aborted"


def test_a_daemon_looks_at_no_status_after_the_pop(clearml: Sandbox) -> None:
    queue = clearml.create_queue("served")
    task = clearml.create_task()
    clearml.enqueue(task, queue)
    clearml.ok("queues.remove_task", queue=queue, task=task)
    clearml.stop(task)
    clearml.ok("queues.add_task", queue=queue, task=task)

    clearml.start_agents(queue, **QUICK)
    wait_until(lambda: clearml.status(task) == "completed", "it has run")

    assert [run["after_abort"] for run in clearml.runs(task)] == [True]


def test_a_task_in_two_queues_is_counted_as_run_twice(clearml: Sandbox) -> None:
    one, other = clearml.create_queue("one"), clearml.create_queue("other")
    task = clearml.queued_task(one)
    clearml.ok("queues.add_task", queue=other, task=task)
    agents = [clearml.as_worker("agent:0"), clearml.as_worker("agent:1")]

    for agent, queue in zip(agents, (one, other), strict=True):
        popped = agent.pop(queue)
        assert popped == task
        agent.started(task)
        agent.started(task)

    assert [run["worker"] for run in clearml.runs(task)] == ["agent:0", "agent:1"]


def test_a_pop_counts_although_somebody_else_enqueues_before_the_start(clearml: Sandbox) -> None:
    one, other = clearml.create_queue("one"), clearml.create_queue("other")
    task = clearml.queued_task(one)

    clearml.pop(one)
    clearml.enqueue(task, other)
    clearml.started(task)
    clearml.pop(other)
    clearml.started(task)

    assert len(clearml.runs(task)) == 2


def test_an_abort_is_forgotten_when_the_user_enqueues_again_but_not_for_a_mover(
    clearml: Sandbox,
) -> None:
    queue, target = clearml.create_queue("intake"), clearml.create_queue("target")
    agent = clearml.as_worker("agent:0")
    again, moved = clearml.queued_task(queue), clearml.queued_task(queue)
    for task in (again, moved):
        clearml.stop(task)

    clearml.enqueue(again, target)
    clearml.enqueue(moved, target, status_reason="allocated by policy manager: target")
    for _ in range(2):
        popped = agent.pop(target)
        assert popped is not None
        agent.started(popped)

    assert [run["after_abort"] for run in clearml.runs(again)] == [False]
    assert [run["after_abort"] for run in clearml.runs(moved)] == [True]


def test_a_glue_moves_the_task_to_its_hidden_queue_and_a_pod_runs_it(clearml: Sandbox) -> None:
    queue = clearml.create_queue("link queue")
    task = clearml.queued_task(queue)

    clearml.start_agents(queue, style="glue", **QUICK)
    wait_until(lambda: clearml.status(task) == "completed", "the pod has run it")

    pending = clearml.ok("queues.get_all", name="^k8s_scheduler$")["queues"][0]
    visible = clearml.ok("queues.get_all")["queues"]
    steps = [change["to"] for change in clearml.history(task)]
    assert steps == ["queued", "stopped", "queued", "in_progress", "in_progress", "completed"]
    assert clearml.execution_queue(task) == pending["id"]
    assert pending["id"] not in [found["id"] for found in visible]
    assert clearml.task(task)["hyperparams"]["properties"]["k8s-queue"]["value"] == "link queue"
    assert [run["after_abort"] for run in clearml.runs(task)] == [False]


def test_a_pod_does_not_run_a_task_that_was_dequeued_meanwhile(clearml: Sandbox) -> None:
    queue = clearml.create_queue("link queue")
    task = clearml.queued_task(queue)
    take = {"call": "tasks.dequeue", "body": {"task": task}}
    fault = clearml.fault("do", "tasks.dequeue", match={"new_status": "in_progress"}, steps=[take])

    clearml.start_agents(queue, style="glue", **QUICK)
    fault.wait_until_fired()

    wait_until(lambda: len(clearml.calls("queues.get_next_task")) > 3, "the glue goes on")
    # A dequeued task has gone back to what it was before the glue's enqueue: stopped.
    assert clearml.status(task) == "stopped"
    assert clearml.runs(task) == []


def test_agents_go_on_after_an_outage(clearml: Sandbox) -> None:
    queue = clearml.create_queue("served")
    task = clearml.queued_task(queue, hyperparams=seconds(0.5))
    clearml.start_agents(queue, **QUICK)
    wait_until(lambda: clearml.runs(task), "it runs")

    clearml.outage("refuse")
    seen = clearml.last_call()
    wait_until(lambda: clearml.calls("tasks.completed", since=seen), "the agent tries to end it")
    clearml.outage("")

    wait_until(lambda: clearml.status(task) == "completed", "the agent has ended it")
    assert len(clearml.runs(task)) == 1
