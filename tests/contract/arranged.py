"""What the recordings do between their lines without saying so, and what cannot be replayed.

Who recorded them made tasks, queued and popped them off the record; the labels and the snapshots
show what must have happened. The keys are line numbers: each arrangement goes before its line.
"""

import time
from collections.abc import Callable
from typing import Any

from tests.contract.replay import Replay, basic
from tests.sandbox_support import wait_until

Arrangement = Callable[[Replay], None]


def each(*parts: Arrangement) -> Arrangement:
    def arrange(replay: Replay) -> None:
        for part in parts:
            part(replay)

    return arrange


def queue(label: str, name: str) -> Arrangement:
    return lambda replay: replay.learn(label, replay.person.create_queue(name))


def task(label: str, name: str, **fields: Any) -> Arrangement:
    def arrange(replay: Replay) -> None:
        ours = {key: replay.ids.get(value, value) for key, value in fields.items() if key != "tags"}
        tags = {"tags": fields["tags"]} if "tags" in fields else {}
        replay.learn(label, replay.person.create_task(name, **ours, **tags))

    return arrange


def tasks(first: int, last: int) -> Arrangement:
    return each(*(task(f"T{number}", f"task {number}") for number in range(first, last + 1)))


def project(label: str, name: str) -> Arrangement:
    return lambda replay: replay.learn(
        label, replay.person.ok("projects.create", name=name, description="")["id"]
    )


def enqueue(label: str, to: str = "QA", reason: str = "", force: bool = False) -> Arrangement:
    def arrange(replay: Replay) -> None:
        words = {"status_reason": reason, "force": force}
        replay.person.enqueue(replay.ours(label), replay.ours(to), **words)

    return arrange


def tick(replay: Replay) -> None:
    """Lets the clock go on, so that the next change has a time of its own."""
    began = time.time()
    wait_until(lambda: time.time() - began > 0.002, "the clock goes on")


def about(action: str, label: str, **fields: Any) -> Arrangement:
    return lambda replay: _ok(replay, action, task=replay.ours(label), **fields)


def _ok(replay: Replay, action: str, **body: Any) -> None:
    replay.person.ok(action, **body)


def pop(label: str = "QA") -> Arrangement:
    return lambda replay: _ok(replay, "queues.get_next_task", queue=replay.ours(label))


def remove(label: str, of: str = "QA") -> Arrangement:
    return lambda replay: _ok(
        replay, "queues.remove_task", queue=replay.ours(of), task=replay.ours(label)
    )


def clear(*labels: str) -> Arrangement:
    def arrange(replay: Replay) -> None:
        for label in labels or ("QA", "QB"):
            _ok(replay, "queues.clear_queue", queue=replay.ours(label))

    return arrange


def started(label: str, **fields: Any) -> Arrangement:
    return about("tasks.started", label, force=True, **fields)


def running(label: str, **fields: Any) -> Arrangement:
    return each(enqueue(label), pop(), started(label, **fields))


def fresh(*parts: Arrangement) -> Arrangement:
    """With empty queues; MOVE's scenarios begin so."""
    return each(clear(), *parts)


SUBMITTED = "submitted"
PULLED = {"status_message": "pulled by agent"}

LIFECYCLE: dict[int, Arrangement] = {
    1: each(queue("QA", "lifeA-a102e2"), queue("QB", "life B"), task("T1", "life-1"), tasks(2, 9)),
    35: enqueue("T2", reason="first"),
    44: enqueue("T2"),
    59: enqueue("T3"),
    77: each(enqueue("T3", force=True), pop(), started("T3")),
    88: pop(),
    105: enqueue("T3"),
    107: enqueue("T3"),
    109: enqueue("T3"),
    113: pop(),
    120: enqueue("T5"),
    134: remove("T6"),
}

MOVE: dict[int, Arrangement] = {
    1: each(queue("QA", "move A"), queue("QB", "mvB-ec5c74"), tasks(1, 22)),
    2: enqueue("T1", reason=SUBMITTED),
    8: fresh(enqueue("T2", reason=SUBMITTED)),
    15: enqueue("T3", reason=SUBMITTED),
    18: fresh(enqueue("T4", reason=SUBMITTED)),
    26: enqueue("T5", reason=SUBMITTED),
    30: fresh(enqueue("T6", reason=SUBMITTED)),
    35: fresh(enqueue("T7", reason=SUBMITTED)),
    40: fresh(enqueue("T8", reason=SUBMITTED), remove("T8")),
    45: each(enqueue("T9", reason=SUBMITTED), remove("T9")),
    49: enqueue("T10", reason=SUBMITTED),
    58: running("T11", **PULLED),
    66: fresh(enqueue("T12"), pop()),
    71: fresh(running("T13")),
    74: each(enqueue("T14", reason=SUBMITTED), pop()),
    76: started("T14"),
    79: each(enqueue("T15"), remove("T15"), about("tasks.stop", "T15")),
    84: each(enqueue("T16"), remove("T16"), about("tasks.stop", "T16")),
    86: fresh(about("tasks.delete", "T17")),
    89: clear("QB"),
    90: each(enqueue("T18"), remove("T18")),
    93: each(*(enqueue(label, "QB") for label in ("T21", "T20", "T19"))),
    96: fresh(enqueue("T22", reason=SUBMITTED)),
}

_PROJECT = "851f1b10f2b74cefb35cb9c36e7bc33a"
LISTING: dict[int, Arrangement] = {
    1: each(
        project("PROJ", "lp-c3626b"),
        queue("QA", "lsA-12f7d1"),
        queue("QB", "lsB-bcdf49"),
        *(
            task(f"T{number}", f"ls-{number}", project=_PROJECT, tags=[f"t{number % 2}"])
            for number in range(6)
        ),
        *(each(tick, enqueue(label)) for label in ("T0", "T1", "T2")),
        *(each(tick, enqueue(label, "QB")) for label in ("T3", "T4")),
        each(tick, pop("QB"), started("T3")),
        each(tick, enqueue("T5"), about("tasks.dequeue", "T5")),
    ),
}


def _unlabelled_queue(replay: Replay) -> None:
    """PARAMS' task waits in a queue that has no label; line 55 shows its id."""
    ours = replay.person.create_queue("params")
    replay.ids["10df5f777be84a66ab61e3fd0865ac5e"] = ours
    replay.person.enqueue(replay.ours("T"), ours)


PARAMS: dict[int, Arrangement] = {
    43: _unlabelled_queue,
    56: started("T"),
    58: about("tasks.completed", "T"),
}

QUEUES: dict[int, Arrangement] = {
    1: each(
        task("T2", "task-f971ef"), task("T3", "task-45a64b"), task("T4", "task-aaccd2"),
        tasks(5, 6),
    ),
}  # fmt: skip

WORKERS: dict[int, Arrangement] = {
    1: each(
        queue("QA", "wkA-6a0977"), task("T1", "wk-1"), task("T2", "wk-2"), enqueue("T1"),
        enqueue("T2"),
    ),
    10: each(pop(), started("T1")),
}  # fmt: skip

ARRANGED: dict[str, dict[int, Arrangement]] = {
    "admit": {}, "auth": {}, "listing": LISTING, "move": MOVE, "params": PARAMS, "queues": QUEUES,
    "tasks_lifecycle": LIFECYCLE, "workers": WORKERS,
}  # fmt: skip

# The Authorization header where the recording used another than good keys.
AUTHORIZATION: dict[str, dict[int, str | None]] = {
    "auth": {
        4: basic("nobody", "nothing"),
        5: basic("__TESTS__KEY", "not the secret"),
        6: None,
        7: None,
        8: "Bearer garbage",
        9: "Digest garbage",
    }
}

# Lines of which only status, code and subcode are compared, each with its reason.
ONLY_CODES: dict[tuple[str, int], str] = {
    ("listing", 21): "the first of all tasks on the recorded server, which other files had made",
}
