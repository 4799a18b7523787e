"""The door to ClearML keeps what controller.ports promises: on the sandbox, and on a real server.

`make contract-clearml` says how a server is named. Whatever is made there is removed again.
"""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import pytest

from controller.clearml_queues import ClearMLQueues
from controller.ports import Admission, QueueState, Refused, Status, TaskState
from domain.tasks import TaskFacts
from tests.contract.clearml_places import PLACES, Place, real_place
from tests.sandbox_support import NO_SUCH_ID, Doc, Sandbox

REASON = "allocated by policy manager: a link"
NO_IDS = [NO_SUCH_ID, "not an id", ""]


@pytest.fixture(params=PLACES)
def place(request: pytest.FixtureRequest) -> Iterator[Place]:
    if request.param == "sandbox":
        sandbox: Sandbox = request.getfixturevalue("clearml")
        place = Place(sandbox, sandbox.url, sandbox)
    else:
        place = real_place()
    try:
        yield place
    finally:
        place.tidy()
    assert place.left() == ()


@pytest.fixture
def only_sandbox(clearml: Sandbox) -> Place:
    """For what takes minutes on a real server, or asks the sandbox's log."""
    return Place(clearml, clearml.url, clearml)


@pytest.fixture
def door(place: Place) -> ClearMLQueues:
    return place.door()


def listed(door: ClearMLQueues, queue: str, *, marks: bool = False) -> QueueState:
    return next(state for state in door.queues(marks=marks) if state.id == queue)


def tasks_of(state: QueueState | None) -> list[str]:
    assert state is not None
    return [entry.task for entry in state.entries]


def test_the_server_says_its_version(door: ClearMLQueues) -> None:
    assert [part.isdigit() for part in door.server_version().split(".")[:2]] == [True, True]


@pytest.mark.parametrize("hidden", [True, False])
def test_a_queue_is_listed_whether_it_is_hidden_or_not(
    place: Place, door: ClearMLQueues, hidden: bool
) -> None:
    queue = place.create_queue(system_tags=["k8s-glue"] if hidden else [])

    state = listed(door, queue)

    assert (state.name, state.hidden, state.entries) == (place.name("queue"), hidden, ())


def test_entries_come_in_order_and_with_their_times(place: Place, door: ClearMLQueues) -> None:
    queue = place.create_queue()
    first, second, third = (place.queued(queue) for _ in range(3))
    place.person.ok("queues.move_task_to_front", queue=queue, task=third)

    state = listed(door, queue)

    assert tasks_of(state) == [third, first, second]
    assert tasks_of(door.queue(queue)) == [third, first, second]
    times = {entry.task: entry.added for entry in state.entries if entry.added is not None}
    assert all(time.utcoffset() is not None for time in times.values())
    assert times[first] <= times[second] <= times[third]


@pytest.mark.parametrize("queue", NO_IDS)
def test_a_queue_that_there_is_not_is_none(door: ClearMLQueues, queue: str) -> None:
    assert door.queue(queue) is None


def test_more_queues_than_a_page_holds_are_all_listed_once(only_sandbox: Place) -> None:
    made = {only_sandbox.create_queue(f"{number}") for number in range(1_003)}
    # Those made between two pages shift the rest by as many as come before it.
    assert only_sandbox.sandbox is not None
    new = [{"call": "queues.create", "body": {"name": f"new {number}"}} for number in range(30)]
    only_sandbox.sandbox.fault("do", "queues.get_all", when="after", steps=new)

    found = [state.id for state in only_sandbox.door().queues()]

    assert len(found) == len(set(found))
    assert made < set(found)


@pytest.mark.parametrize(
    "value",
    [
        "plain",
        "",
        "x" * 300_000,
        '{"a.b": ["$set", "__x", "%2E"]}',
        "line\nbreak\ttab 'quote' \"quotes\" \\ / <!channel> *",
        "pool h100 · 4 GPU – 池 🐢 \u202eright to left",
    ],
    ids=["plain", "empty", "long", "json", "punctuation", "unicode"],
)
def test_a_mark_comes_back_as_it_was_written(place: Place, door: ClearMLQueues, value: str) -> None:
    queue = place.create_queue()

    door.mark_queue(queue, {"poolkeeper_ledger": value})

    assert listed(door, queue, marks=True).marks == {"poolkeeper_ledger": value}
    state = door.queue(queue)
    assert state is not None
    assert state.marks == {"poolkeeper_ledger": value}


def test_marking_replaces_some_marks_and_keeps_the_others(
    place: Place, door: ClearMLQueues
) -> None:
    queue = door.create_queue(place.name("queue"), {"kept": "1", "changed": "2"}, hidden=True)
    assert queue is not None

    door.mark_queue(queue, {"changed": "3", "new": "4"})

    assert listed(door, queue, marks=True).marks == {"kept": "1", "changed": "3", "new": "4"}


def test_marks_are_listed_only_when_they_are_asked_for(place: Place, door: ClearMLQueues) -> None:
    queue = door.create_queue(place.name("queue"), {"mark": "1"}, hidden=False)
    assert queue is not None

    assert listed(door, queue).marks == {}


def test_a_queue_that_there_is_not_cannot_be_marked(door: ClearMLQueues) -> None:
    with pytest.raises(Refused):
        door.mark_queue(NO_SUCH_ID, {"mark": "1"})


@pytest.mark.parametrize("hidden", [True, False])
def test_a_queue_is_made_with_marks(place: Place, door: ClearMLQueues, hidden: bool) -> None:
    queue = door.create_queue(place.name("made"), {"role": "execution", "empty": ""}, hidden=hidden)

    assert queue is not None
    state = listed(door, queue, marks=True)
    assert (state.name, state.hidden) == (place.name("made"), hidden)
    assert state.marks == {"role": "execution", "empty": ""}


def test_a_name_that_is_taken_makes_no_queue(place: Place, door: ClearMLQueues) -> None:
    place.create_queue("taken")

    assert door.create_queue(place.name("taken"), {}, hidden=False) is None
    assert door.create_queue(f" {place.name('taken')} ", {}, hidden=True) is None


def test_a_name_that_is_too_short_is_refused(door: ClearMLQueues) -> None:
    with pytest.raises(Refused, match="400/800"):
        door.create_queue("ab", {}, hidden=False)


def test_a_renamed_queue_keeps_its_id_and_its_entries(place: Place, door: ClearMLQueues) -> None:
    queue = place.create_queue("before")
    task = place.queued(queue)

    assert door.rename_queue(queue, place.name("after · with 点"))

    state = listed(door, queue)
    assert state.name == place.name("after · with 点")
    assert tasks_of(state) == [task]


def test_a_queue_may_be_given_the_name_that_it_has(place: Place, door: ClearMLQueues) -> None:
    queue = place.create_queue("same")

    assert door.rename_queue(queue, place.name("same"))


def test_a_queue_is_not_renamed_to_another_ones_name(place: Place, door: ClearMLQueues) -> None:
    queue, _ = place.create_queue("one"), place.create_queue("other")

    assert not door.rename_queue(queue, place.name("other"))
    assert listed(door, queue).name == place.name("one")


def test_an_empty_queue_is_deleted_and_may_be_gone_already(
    place: Place, door: ClearMLQueues
) -> None:
    queue = place.create_queue()

    assert door.delete_queue(queue)
    assert door.queue(queue) is None
    assert door.delete_queue(queue)


def test_a_queue_with_tasks_is_not_deleted(place: Place, door: ClearMLQueues) -> None:
    queue = place.create_queue()
    task = place.queued(queue)

    assert not door.delete_queue(queue)
    assert tasks_of(door.queue(queue)) == [task]


def test_a_tasks_state_says_status_queue_reason_and_what_it_was_before(
    place: Place, door: ClearMLQueues
) -> None:
    queue = place.create_queue()
    task = place.draft()
    place.person.enqueue(task, queue, status_reason="because")

    states = door.task_states([task, task])

    assert states == {
        task: TaskState(
            id=task, status=Status.QUEUED, queue=queue, reason="because", before="created"
        )
    }


def test_a_draft_has_neither_queue_nor_reason(place: Place, door: ClearMLQueues) -> None:
    task = place.draft()

    assert door.task_states([task]) == {task: TaskState(id=task, status=Status.CREATED)}


def test_tasks_that_there_are_not_have_no_state(place: Place, door: ClearMLQueues) -> None:
    task, deleted = place.draft(), place.draft()
    place.delete_task(deleted)

    assert door.task_states([task, deleted, NO_SUCH_ID]).keys() == {task}


def test_no_tasks_asked_for_are_none_found(place: Place, door: ClearMLQueues) -> None:
    queue = place.create_queue()
    place.queued(queue)

    assert door.task_states([]) == {}
    assert door.tasks_in([], [Status.QUEUED]) == ()
    assert door.tasks_in([queue], []) == ()
    assert door.parameters([], "runtime.gpus") == {}


def test_tasks_by_id_come_in_pages(only_sandbox: Place) -> None:
    assert only_sandbox.sandbox is not None
    tasks = only_sandbox.sandbox.bulk_enqueue(only_sandbox.create_queue(), 1_001)
    door = only_sandbox.door()
    only_sandbox.sandbox.reset_calls()

    found = door.task_states(tasks)

    assert found.keys() == set(tasks)
    assert only_sandbox.sandbox.call_counts()["tasks.get_all"] == 3


def test_tasks_in_queues_come_in_pages(only_sandbox: Place) -> None:
    assert only_sandbox.sandbox is not None
    queues = [only_sandbox.create_queue(f"{number}") for number in range(2)]
    tasks = {task for at in queues for task in only_sandbox.sandbox.bulk_enqueue(at, 501)}

    door = only_sandbox.door()
    found = door.tasks_in(queues, [Status.QUEUED])
    pages = [door.tasks_in(queues, [Status.QUEUED], page=page) for page in range(4)]

    assert len(found) == 1_002
    assert {task.id for task in found} == tasks
    assert [len(page) for page in pages] == [500, 500, 2, 0]
    assert [task for page in pages for task in page] == list(found)
    assert [task.id for task in found] == sorted(tasks)


def test_tasks_in_queues_are_those_of_the_queues_and_statuses_asked_for(
    place: Place, door: ClearMLQueues
) -> None:
    one, other = place.create_queue("one"), place.create_queue("other")
    queued, running, aborted, _elsewhere = (place.queued(at) for at in (one, one, one, other))
    place.person.started(running)
    place.person.stop(aborted)

    found = door.tasks_in([one, one], [Status.QUEUED, Status.IN_PROGRESS])

    assert {(task.id, task.status, task.queue) for task in found} == {
        (queued, Status.QUEUED, one),
        (running, Status.IN_PROGRESS, one),
    }


def test_tasks_that_pickers_hide_are_found_too(place: Place, door: ClearMLQueues) -> None:
    queue = place.create_queue()
    task = place.queued(queue, system_tags=["hidden"])

    assert [found.id for found in door.tasks_in([queue], [Status.QUEUED])] == [task]
    assert door.task_states([task]).keys() == {task}


def test_details_are_names_and_owners_of_the_tasks_that_there_are(
    place: Place, door: ClearMLQueues
) -> None:
    owner = place.person.ok("users.get_current_user")["user"]["id"]
    odd = place.name("a *name* <!channel> \u202e 名")
    plain, task = place.draft(), place.person.create_task(odd)

    assert door.details([plain, task, NO_SUCH_ID]) == {
        plain: TaskFacts(task=plain, name=place.name("task"), user=owner),
        task: TaskFacts(task=task, name=odd, user=owner),
    }
    assert door.details([]) == {}


def test_a_task_exists_until_it_is_deleted(place: Place, door: ClearMLQueues) -> None:
    task = place.draft()

    assert door.exists(task)
    place.delete_task(task)
    assert not door.exists(task)


def item(section: str, name: str, value: str) -> Doc:
    return {section: {name: {"section": section, "name": name, "value": value}}}


PARAMETERS: dict[str, tuple[str, Doc, object]] = {
    "runtime": ("runtime.gpus", {"runtime": {"gpus": 2}}, 2),
    "runtime, text": ("runtime.gpus", {"runtime": {"gpus": "1/7"}}, "1/7"),
    "runtime, float": ("runtime.gpus", {"runtime": {"gpus": 0.5}}, 0.5),
    "runtime, list": ("runtime.gpus", {"runtime": {"gpus": [1, 2]}}, [1, 2]),
    "runtime, nested": ("runtime.request.gpus", {"runtime": {"request": {"gpus": 3}}}, 3),
    "runtime, dotted": ("runtime.request.gpus", {"runtime": {"request.gpus": 4}}, 4),
    "runtime, underscores": ("runtime.__gpus", {"runtime": {"__gpus": 5}}, 5),
    "runtime, absent": ("runtime.gpus", {"runtime": {"gpu": 2}}, None),
    "runtime, null": ("runtime.gpus", {"runtime": {"gpus": None}}, None),
    "runtime, nested, absent": ("runtime.request.gpus", {"runtime": {"request": 3}}, None),
    "hyperparams": ("hyperparams.Args.gpus", {"hyperparams": item("Args", "gpus", "2")}, "2"),
    "hyperparams, empty": ("hyperparams.Args.gpus", {"hyperparams": item("Args", "gpus", "")}, ""),
    "hyperparams, absent": ("hyperparams.Args.gpus", {"hyperparams": item("Args", "g", "2")}, None),
    "hyperparams, none": ("hyperparams.Args.gpus", {}, None),
    "hyperparams, other section": (
        "hyperparams.General.gpus",
        {"hyperparams": item("Args", "gpus", "2")},
        None,
    ),
    "configuration": (
        "configuration.test",
        {"configuration": {"test": {"name": "test", "value": "6"}}},
        "6",
    ),
    "configuration, absent": ("configuration.test", {}, None),
}
PARAMETERS |= {
    f"hyperparams, {name}": (
        f"hyperparams.Args.{name}",
        {"hyperparams": item("Args", name, "7")},
        "7",
    )
    for name in ("a.b", "a.b.c", "a$b", "a__b", "_a", "__a", "a/b", "a b", "a.__b$", "größe")
}
PARAMETERS |= {
    f"configuration, {name}": (
        f"configuration.{name}",
        {"configuration": {name: {"name": name, "value": "8"}}},
        "8",
    )
    for name in ("a.b", "a$b", "a__b", "_a")
}


@pytest.mark.parametrize("case", PARAMETERS)
def test_a_parameter_is_read_at_its_path(place: Place, door: ClearMLQueues, case: str) -> None:
    path, fields, value = PARAMETERS[case]
    task = place.draft(**fields)
    without = place.draft()

    found = door.parameters([task, without, NO_SUCH_ID], path)

    assert found == ({} if value is None else {task: value})


@pytest.mark.parametrize("key", ["gpus", "request.gpus"])
def test_a_runtime_key_is_read_as_its_own_call_stores_it(
    place: Place, door: ClearMLQueues, key: str
) -> None:
    task = place.draft()
    place.person.ok("tasks.edit_runtime", task=task, add_or_update={key: "3"})

    assert door.parameters([task], f"runtime.{key}") == {task: "3"}


def test_a_claim_takes_the_task_out_and_changes_nothing_else(
    place: Place, door: ClearMLQueues
) -> None:
    queue = place.create_queue()
    first, task = place.queued(queue), place.queued(queue)
    before = place.person.task(task)

    assert door.claim(queue, task)

    assert tasks_of(door.queue(queue)) == [first]
    assert place.person.task(task) == before


def test_a_task_is_claimed_once(place: Place, door: ClearMLQueues) -> None:
    queue = place.create_queue()
    task = place.queued(queue)

    assert [door.claim(queue, task) for _ in range(3)] == [True, False, False]


def test_what_is_not_there_cannot_be_claimed(place: Place, door: ClearMLQueues) -> None:
    queue, other = place.create_queue("one"), place.create_queue("other")
    task = place.queued(queue)

    assert not door.claim(other, task)
    assert not door.claim(queue, NO_SUCH_ID)
    assert not door.claim(NO_SUCH_ID, task)
    assert tasks_of(door.queue(queue)) == [task]


def test_of_eight_who_claim_a_task_at_once_exactly_one_gets_it(place: Place) -> None:
    queue = place.create_queue()
    start = Barrier(8)
    tasks = [place.queued(queue) for _ in range(10)]

    def claims(_: int) -> list[bool]:
        door = place.door()
        door.server_version()
        start.wait(timeout=30)
        return [door.claim(queue, task) for task in tasks]

    with ThreadPoolExecutor(8) as threads:
        answers = list(threads.map(claims, range(8)))

    assert [sum(won) for won in zip(*answers, strict=True)] == [1] * len(tasks)


def test_pointing_keeps_the_rest_of_execution(place: Place, door: ClearMLQueues) -> None:
    intake, target = place.create_queue("intake"), place.create_queue("target")
    artifact = {"key": "data", "type": "custom", "uri": "s3://bucket/data"}
    task = place.queued(intake, execution={"test_split": 7, "artifacts": [artifact]})
    before = place.person.task(task)

    door.point(task, target)

    after = place.person.task(task)
    assert after["execution"] == {**before["execution"], "queue": target}
    assert after["execution"]["test_split"] == 7
    assert after["status"] == "queued"
    assert tasks_of(door.queue(intake)) == [task]


def test_a_task_that_there_is_not_cannot_be_pointed(place: Place, door: ClearMLQueues) -> None:
    with pytest.raises(Refused, match="400/101"):
        door.point(NO_SUCH_ID, place.create_queue())


def test_an_admitted_task_is_the_last_of_its_queue_with_the_reason(
    place: Place, door: ClearMLQueues
) -> None:
    intake, target = place.create_queue("intake"), place.create_queue("target")
    first = place.queued(target)
    task = place.halfway(intake, target)

    assert door.admit(task, target, REASON) is Admission.ADMITTED

    assert tasks_of(door.queue(target)) == [first, task]
    shown = place.shown(task, "status", "status_reason", "execution.queue", "enqueue_status")
    assert shown == {
        "status": "queued",
        "status_reason": REASON,
        "execution": {"queue": target},
        "enqueue_status": "created",
    }


def aborted(place: Place, task: str, _target: str) -> None:
    place.person.stop(task)


def dequeued(place: Place, task: str, _target: str) -> None:
    place.person.dequeue(task)


def started(place: Place, task: str, _target: str) -> None:
    place.person.started(task)


def completed(place: Place, task: str, _target: str) -> None:
    place.person.started(task)
    place.person.completed(task)


def there(place: Place, task: str, target: str) -> None:
    place.person.ok("queues.add_task", queue=target, task=task)


def no_queue(place: Place, _task: str, target: str) -> None:
    place.person.ok("queues.delete", queue=target)


def no_task(place: Place, task: str, _target: str) -> None:
    place.delete_task(task)


@pytest.mark.parametrize(
    ("meanwhile", "answer"),
    [
        (aborted, Admission.NOT_QUEUED),
        (dequeued, Admission.NOT_QUEUED),
        (started, Admission.NOT_QUEUED),
        (completed, Admission.NOT_QUEUED),
        (there, Admission.ALREADY_THERE),
        (no_queue, Admission.QUEUE_GONE),
        (no_task, Admission.TASK_GONE),
    ],
)
def test_what_happened_between_claim_and_admit_is_its_answer(
    place: Place,
    door: ClearMLQueues,
    meanwhile: Callable[[Place, str, str], None],
    answer: Admission,
) -> None:
    intake, target = place.create_queue("intake"), place.create_queue("target")
    task = place.halfway(intake, target)
    meanwhile(place, task, target)
    before = door.task_states([task])

    assert door.admit(task, target, REASON) is answer

    if answer is Admission.NOT_QUEUED:
        assert tasks_of(door.queue(target)) == []
        assert door.task_states([task]) == before


def test_a_task_is_put_first(place: Place, door: ClearMLQueues) -> None:
    queue, other = place.create_queue("one"), place.create_queue("other")
    first, second = place.queued(queue), place.queued(queue)

    assert door.to_front(queue, second)
    assert tasks_of(door.queue(queue)) == [second, first]

    assert not door.to_front(other, second)
    assert not door.to_front(NO_SUCH_ID, second)
    assert not door.to_front(queue, NO_SUCH_ID)


def test_a_queued_task_in_no_queue_is_made_a_draft(place: Place, door: ClearMLQueues) -> None:
    queue = place.create_queue()
    task = place.queued(queue)
    door.claim(queue, task)

    assert door.draft(task, "pushed back by policy manager: a link")

    state = door.task_states([task])[task]
    assert state.status is Status.CREATED
    assert state.reason == "pushed back by policy manager: a link"


@pytest.mark.parametrize("meanwhile", [aborted, dequeued, started, completed])
def test_what_is_not_queued_is_not_made_a_draft(
    place: Place, door: ClearMLQueues, meanwhile: Callable[[Place, str, str], None]
) -> None:
    queue = place.create_queue()
    task = place.queued(queue)
    door.claim(queue, task)
    meanwhile(place, task, queue)
    before = place.person.task(task)

    assert not door.draft(task, REASON)

    assert place.person.task(task) == before


def test_a_task_that_there_is_not_is_not_made_a_draft(door: ClearMLQueues) -> None:
    assert not door.draft(NO_SUCH_ID, REASON)


def test_a_draft_is_enqueued_as_its_user_would(place: Place, door: ClearMLQueues) -> None:
    queue = place.create_queue()
    first, task = place.queued(queue), place.draft()

    assert door.enqueue(task, queue, REASON)

    assert tasks_of(door.queue(queue)) == [first, task]
    assert door.task_states([task])[task] == TaskState(
        id=task, status=Status.QUEUED, queue=queue, reason=REASON, before="created"
    )


@pytest.mark.parametrize("meanwhile", [started, completed, there, no_queue, no_task])
def test_what_cannot_be_enqueued_is_refused(
    place: Place, door: ClearMLQueues, meanwhile: Callable[[Place, str, str], None]
) -> None:
    queue = place.create_queue()
    task = place.draft()
    meanwhile(place, task, queue)

    assert not door.enqueue(task, queue, REASON)


def test_a_watched_queue_is_one_that_a_worker_serves(place: Place, door: ClearMLQueues) -> None:
    one, two, three = (place.create_queue(name) for name in ("one", "two", "three"))

    assert door.watched([one, two, three]) == frozenset()
    door.watch(place.name("worker"), [one, two])

    assert door.watched([one, two, three]) == {one, two}
    assert door.watched([two]) == {two}
    assert door.watched([]) == frozenset()


def test_watching_again_replaces_what_is_watched(place: Place, door: ClearMLQueues) -> None:
    one, two = place.create_queue("one"), place.create_queue("two")
    door.watch(place.name("worker"), [one])

    door.watch(place.name("worker"), [two])

    assert door.watched([one, two]) == {two}


def test_a_queue_that_there_is_not_cannot_be_watched(place: Place, door: ClearMLQueues) -> None:
    with pytest.raises(Refused):
        door.watch(place.name("worker"), [NO_SUCH_ID])


def test_what_the_tests_made_is_removed_again(place: Place) -> None:
    queue = place.create_queue("hidden", system_tags=["k8s-glue"])
    made: list[Any] = [queue, place.queued(queue), place.draft(system_tags=["hidden"])]
    assert set(place.left()) == set(made)

    place.tidy()

    assert place.left() == ()
