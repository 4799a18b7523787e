"""The ledger against what ClearML shows: what ended, what is lost, who waits, what is foreign."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import timedelta
from fractions import Fraction
from typing import Any

import pytest

from controller.accounting import (
    Patience,
    account,
    arrivals,
    foreign_tasks,
    foreign_use,
    strays,
    waiting_queues,
)
from controller.observe import Observation
from controller.ports import QueueEntry, QueueState, Status, TaskState
from domain.amounts import ZERO
from domain.ledger import LedgerEntry, OwnedQueue, Sighting, Stage
from domain.snapshot import Task, WaitingQueue
from tests.ledgers import (
    CONFIGURATION,
    INTAKE,
    METAL,
    NOW,
    OTHER_INTAKE,
    OWNED,
    SECOND,
    SPARE,
    entry,
    remembered,
    seen,
    sighting,
    state,
)

QUEUED, RUNNING, STOPPED = Status.QUEUED, Status.IN_PROGRESS, Status.STOPPED
PATIENCE = Patience(nowhere=timedelta(seconds=60), stopped=timedelta(seconds=30))
GLUE = "k8s pending scheduler"


def look(
    status: Status, pointer: str = "metal", reason: str = "", places: Iterable[str] = ()
) -> Observation:
    return seen({queue: ["t1"] for queue in places}, [state(status, pointer, reason)])


# what: (what ClearML shows, the entry's clocks, how the allocation ended or None)
ENDINGS: dict[str, tuple[Observation, dict[str, Any], str | None]] = {
    "it waits for an agent": (look(QUEUED, places=["metal"]), {}, None),
    "it runs": (look(RUNNING), {}, None),
    "it runs in the glue's pod": (look(RUNNING, "glue"), {}, None),
    "it is pending in the glue's queue": (look(QUEUED, "glue", GLUE, ["glue"]), {}, None),
    "it is pending in a glue's queue under another name": (
        look(QUEUED, "team's own", GLUE, ["team's own"]),
        {},
        None,
    ),
    "it runs from a queue of somebody's": (look(RUNNING, "default"), {}, None),
    "it completed": (look(Status.COMPLETED), {}, "completed"),
    "it failed": (look(Status.FAILED), {}, "failed"),
    "it was closed": (look(Status.CLOSED), {}, "closed"),
    "it was published": (look(Status.PUBLISHED), {}, "published"),
    "it is being published": (look(Status.PUBLISHING), {}, "publishing"),
    "it completed elsewhere": (look(Status.COMPLETED, "default"), {}, "completed"),
    "it was dequeued": (look(Status.CREATED), {}, "created"),
    "it was reset": (look(Status.CREATED, ""), {}, "created"),
    "it was deleted": (seen(gone=["t1"]), {}, "deleted"),
    "a listing lacks it": (seen(), {}, None),
    "a listing lacks it, long stopped": (seen(), {"stopped_since": NOW - 99 * SECOND}, None),
    "its status is none that we know": (look(Status.UNKNOWN), {}, None),
    "it is stopped for the first time": (look(STOPPED), {}, None),
    "it is stopped, not long enough": (look(STOPPED), {"stopped_since": NOW - 29 * SECOND}, None),
    "it is stopped long enough": (
        look(STOPPED),
        {"stopped_since": NOW - 30 * SECOND},
        "stopped",
    ),
    "it is stopped in its queue, long enough": (
        look(STOPPED, places=["metal"]),
        {"stopped_since": NOW - 30 * SECOND},
        "stopped",
    ),
    "it runs again after a long stop": (
        look(RUNNING),
        {"stopped_since": NOW - 99 * SECOND},
        None,
    ),
    "its user put it back into its intake queue": (
        look(QUEUED, "intake", places=["intake"]),
        {},
        "enqueued again",
    ),
    "its user gave it to another team": (
        look(QUEUED, "other intake", places=["other intake"]),
        {},
        "moved to another queue",
    ),
    "its user put it into a queue of somebody's": (
        look(QUEUED, "default", places=["default"]),
        {},
        "moved to another queue",
    ),
    "it is queued in no queue": (look(QUEUED), {}, None),
    "it has long been queued in no queue": (
        look(QUEUED),
        {"doubtful_since": NOW - 99 * SECOND},
        None,
    ),
}


@pytest.mark.parametrize("case", ENDINGS)
def test_an_allocation_ends_by_what_is_certain_and_by_nothing_else(case: str) -> None:
    shown, clocks, outcome = ENDINGS[case]

    result = account(remembered([entry(**clocks)]), shown, PATIENCE)

    assert [ended.outcome for ended in result.ended] == ([outcome] if outcome else [])
    assert not (result.ended and result.changed)


def test_what_ended_is_written_down_with_all_that_history_needs() -> None:
    [ended] = account(remembered([entry()]), look(Status.COMPLETED), PATIENCE).ended

    known = entry()
    assert (ended.task, ended.policy, ended.profile, ended.pool) == ("t1", "dev", "job", "metal")
    assert (ended.amount, ended.tier) == (known.amount, known.tier)
    assert (ended.first_seen, ended.dispatched_at) == (known.first_seen, known.dispatched_at)
    assert ended.ended_at == NOW


def test_a_dispatch_whose_time_is_not_known_counts_from_its_intent() -> None:
    known = entry(dispatched_at=None)

    [ended] = account(remembered([known]), look(Status.COMPLETED), PATIENCE).ended

    assert ended.dispatched_at == known.intended_at


# what: (what ClearML shows, the entry before, what changes in it)
CLOCKS: dict[str, tuple[Observation, LedgerEntry, dict[str, Any] | None]] = {
    "stopped: its clock starts": (look(STOPPED), entry(), {"stopped_since": NOW}),
    "stopped still: it runs on": (look(STOPPED), entry(stopped_since=NOW - SECOND), None),
    "not stopped any more: it is put back": (
        look(QUEUED, "glue", GLUE, ["glue"]),
        entry(stopped_since=NOW - 99 * SECOND),
        {"stopped_since": None},
    ),
    "in no queue: its clock starts": (look(QUEUED), entry(), {"doubtful_since": NOW}),
    "in no queue and unpointed: its clock starts": (
        look(QUEUED, "intake"),
        entry(),
        {"doubtful_since": NOW},
    ),
    "in no queue still: it runs on": (look(QUEUED), entry(doubtful_since=NOW - 59 * SECOND), None),
    "in no queue for too long: it is on its way back": (
        look(QUEUED),
        entry(doubtful_since=NOW - 60 * SECOND),
        {"stage": Stage.RETURNING},
    ),
    "started at last: its clock is put back": (
        look(RUNNING),
        entry(doubtful_since=NOW - 59 * SECOND),
        {"doubtful_since": None},
    ),
    "in its queue again: its clock is put back": (
        look(QUEUED, places=["metal"]),
        entry(doubtful_since=NOW - 59 * SECOND),
        {"doubtful_since": None},
    ),
    "taken by the glue's pod and shown nowhere": (look(QUEUED, "glue"), entry(), None),
    "nothing is known of it": (seen(), entry(doubtful_since=NOW - 99 * SECOND), None),
    "put into another pool's queue: it counts there": (
        look(QUEUED, "spare", places=["spare"]),
        entry(),
        {"execution": "spare", "pool": "spare", "link": "job on spare"},
    ),
    "run from another pool's queue: it counts there": (
        look(RUNNING, "spare"),
        entry(),
        {"execution": "spare", "pool": "spare", "link": "job on spare"},
    ),
    "in two pools' queues: it stays where it counts": (
        look(QUEUED, "spare", places=["spare", "metal"]),
        entry(),
        None,
    ),
    "in two pools' queues, and it counts in the second": (
        look(QUEUED, "metal", places=["spare", "metal"]),
        entry(execution="spare", pool="spare", link="job on spare"),
        None,
    ),
}


@pytest.mark.parametrize("case", CLOCKS)
def test_an_entrys_clocks_and_pool_follow_what_is_seen(case: str) -> None:
    shown, before, change = CLOCKS[case]

    result = account(remembered([before]), shown, PATIENCE)

    assert result.ended == ()
    assert result.changed == (() if change is None else (replace(before, **change),))


@pytest.mark.parametrize("stage", [Stage.INTENDED, Stage.RETURNING, Stage.DRAFTING])
def test_open_entries_are_not_accounted(stage: Stage) -> None:
    shown = look(Status.COMPLETED, places=["metal"])

    result = account(remembered([entry(stage=stage)]), shown, PATIENCE)

    assert (result.changed, result.ended, result.take_out) == ((), (), ())


@pytest.mark.parametrize(
    ("shown", "out"),
    [
        (look(QUEUED, places=["metal"]), []),
        (look(STOPPED, places=["metal"]), [("metal", "t1")]),
        (look(Status.CREATED, places=["metal"]), [("metal", "t1")]),
        (look(Status.FAILED, places=["metal"]), [("metal", "t1")]),
        (look(RUNNING, places=["metal"]), [("metal", "t1")]),
        (seen({"metal": ["t1"]}, gone=["t1"]), [("metal", "t1")]),
        (seen({"metal": ["t1"]}), []),
        (look(Status.UNKNOWN, places=["metal"]), []),
        (look(QUEUED, places=["metal", "intake"]), [("intake", "t1")]),
        (look(STOPPED, places=["default"]), []),
    ],
    ids=[
        "queued",
        "aborted",
        "dequeued",
        "failed",
        "running already",
        "deleted",
        "nothing is known of it",
        "in a status that we do not know",
        "in its intake queue too",
        "in a queue of somebody's",
    ],
)
def test_what_would_run_against_its_users_will_or_twice_is_taken_out(
    shown: Observation, out: Sequence[tuple[str, str]]
) -> None:
    assert list(account(remembered([entry()]), shown, PATIENCE).take_out) == list(out)


def times(**added: Any) -> Observation:
    """A look at dev's intake queue; each task with the time of its entry."""
    entries = tuple(QueueEntry(task, time) for task, time in added.items())
    queue = QueueState(id="intake", name="dev-jobs", entries=entries)
    return replace(seen(), queues={**seen().queues, "intake": queue})


def test_new_tasks_are_sighted_in_order_with_the_time_of_their_entries() -> None:
    look = times(t2=NOW - 9 * SECOND, t1=NOW - 5 * SECOND)

    found = arrivals(remembered(), look)

    assert found.queues == {"intake": ("t2", "t1"), "other intake": ()}
    assert [(new.task, new.queue, new.first_seen) for new in found.new] == [
        ("t2", "intake", NOW - 9 * SECOND),
        ("t1", "intake", NOW - 5 * SECOND),
    ]
    assert found.left == ()


@pytest.mark.parametrize("added", [None, NOW + timedelta(hours=1)], ids=["no time", "the future"])
def test_an_entry_without_a_credible_time_was_first_seen_now(added: Any) -> None:
    [new] = arrivals(remembered(), times(t1=added)).new

    assert new.first_seen == NOW


# what: (the sighting before, what the task is sighted as now; None: it stays as it is)
SIGHTS: dict[str, tuple[Sighting, Sighting | None]] = {
    "it waits on": (sighting(parameter="4"), None),
    "it came from another queue of the team": (
        sighting(queue="another", profile="x"),
        sighting(first_seen=NOW - SECOND),
    ),
    "it came from another team": (
        sighting(queue="other intake", policy="research"),
        sighting(first_seen=NOW - SECOND),
    ),
    "it was put back": (sighting(queue="", parameter="4"), sighting()),
    "it was put back, and given to another team": (
        sighting(queue="", policy="research"),
        sighting(first_seen=NOW - SECOND),
    ),
    "it was lost and is back": (sighting(stray_since=NOW - 9 * SECOND), sighting()),
}


@pytest.mark.parametrize("case", SIGHTS)
def test_a_first_sight_is_kept_while_a_task_waits_for_the_same_team(case: str) -> None:
    before, after = SIGHTS[case]

    found = arrivals(remembered(sightings=[before]), times(t1=NOW - SECOND))

    assert found.new == (() if after is None else (after,))
    assert found.queues["intake"] == ("t1",)


def test_what_the_ledger_has_does_not_wait() -> None:
    look = seen({"intake": ["t1", "t2"]})

    found = arrivals(remembered([entry("t1")], [sighting("t1")]), look)

    assert found.queues["intake"] == ("t2",)
    assert [new.task for new in found.new] == ["t2"]
    assert found.left == ()


def test_a_task_in_two_intake_queues_waits_in_the_first_only() -> None:
    found = arrivals(remembered(), seen({"other intake": ["t1"], "intake": ["t1"]}))

    assert found.queues == {"intake": ("t1",), "other intake": ()}
    assert [(new.task, new.policy) for new in found.new] == [("t1", "dev")]


def test_who_is_in_no_intake_queue_any_more_has_left() -> None:
    gone = sighting("t2")

    found = arrivals(remembered(sightings=[sighting("t1"), gone]), seen({"intake": ["t1"]}))

    assert found.left == (gone,)


@pytest.mark.parametrize(
    "owned",
    [
        [replace(INTAKE, retired=True), OTHER_INTAKE],
        [replace(INTAKE, id="deleted in ClearML"), OTHER_INTAKE],
        [replace(INTAKE, profile="x"), OTHER_INTAKE],
    ],
    ids=["retired", "deleted", "of an unknown profile"],
)
def test_nobody_waits_in_a_queue_that_is_not_there_or_not_configured(
    owned: list[OwnedQueue],
) -> None:
    found = arrivals(remembered(owned=owned), seen({"intake": ["t1"]}))

    assert found.new == ()
    assert not any(found.queues.values())


def test_the_snapshots_queues_come_in_the_configurations_order() -> None:
    known = {"t1": sighting("t1", parameter="4"), "t2": sighting("t2")}

    queues = waiting_queues(remembered(), {"intake": ("t2", "t1")}, known)

    first = NOW - timedelta(hours=2)
    assert queues == (
        WaitingQueue(
            policy="dev", profile="job", tasks=(Task("t2", first), Task("t1", first, "4"))
        ),
        WaitingQueue(policy="research", profile="job"),
    )


def shown(status: Status, pointer: str = "intake", places: Iterable[str] = ()) -> Observation:
    return seen({queue: ["t1"] for queue in places}, [state(status, pointer)])


@pytest.mark.parametrize(
    "look",
    [
        shown(QUEUED, places=["default"]),
        shown(QUEUED, places=["metal"]),
        shown(QUEUED, "default"),
        shown(RUNNING),
        shown(STOPPED),
        shown(Status.CREATED),
        shown(Status.COMPLETED),
        seen(),
    ],
    ids=[
        "moved to another queue",
        "moved to an execution queue",
        "taken from another queue",
        "started",
        "aborted",
        "dequeued",
        "completed",
        "deleted",
    ],
)
def test_who_left_and_is_not_lost_is_forgotten(look: Observation) -> None:
    assert strays([sighting()], remembered(), look, PATIENCE) == ((), ())


@pytest.mark.parametrize("pointer", ["intake", "metal"])
@pytest.mark.parametrize(
    ("since", "remember"),
    [(None, NOW), (NOW - 59 * SECOND, NOW - 59 * SECOND)],
    ids=["now", "soon"],
)
def test_who_is_queued_in_no_queue_is_watched_for_a_while(
    pointer: str, since: Any, remember: Any
) -> None:
    watched = sighting(stray_since=since)

    result = strays([watched], remembered(), shown(QUEUED, pointer), PATIENCE)

    assert result == ((replace(watched, stray_since=remember),), ())


def test_who_has_been_lost_for_long_goes_back_to_the_front() -> None:
    since = NOW - 60 * SECOND
    lost = sighting(stray_since=since)

    keep, [due] = strays([lost], remembered(), shown(QUEUED), PATIENCE)

    assert keep == ()
    assert (due.stage, due.intake, due.execution) == (Stage.RETURNING, "intake", "")
    assert (due.pool, due.amount) == ("", ZERO)
    assert (due.first_seen, due.doubtful_since) == (lost.first_seen, since)


def test_who_is_lost_and_has_no_queue_to_go_back_to_is_due_without_one() -> None:
    lost = sighting(stray_since=NOW - 60 * SECOND, profile="gone")

    _, [due] = strays([lost], remembered(), shown(QUEUED), PATIENCE)

    # Settling looks once more whether there is one, and makes a draft of the task where not.
    assert (due.stage, due.intake) == (Stage.RETURNING, "")


RETIRED_SPARE = replace(SPARE, retired=True)


@pytest.mark.parametrize(
    ("states", "queues", "foreign"),
    [
        ([], {}, {}),
        ([state(QUEUED, "metal")], {"metal": ["t1"]}, {"t1": METAL}),
        ([state(RUNNING, "metal")], {}, {"t1": METAL}),
        ([state(RUNNING, "spare")], {}, {"t1": RETIRED_SPARE}),
        ([state(STOPPED, "metal")], {"metal": ["t1"]}, {"t1": METAL}),
        ([state(STOPPED, "metal")], {}, {}),
        ([state(RUNNING, "default")], {}, {}),
        ([state(QUEUED, "intake")], {"intake": ["t1"]}, {}),
        ([], {"metal": ["t1"]}, {"t1": METAL}),
    ],
    ids=[
        "nothing",
        "it waits in a pool's queue",
        "it runs from there",
        "it runs from a retired one",
        "it was aborted, its entry is left",
        "it has ended",
        "it runs from somebody's queue",
        "it waits in an intake queue",
        "nobody knows the task",
    ],
)
def test_what_pools_queues_and_agents_have_and_the_ledger_has_not_is_foreign(
    states: list[TaskState], queues: dict[str, list[str]], foreign: dict[str, OwnedQueue]
) -> None:
    owned = [INTAKE, OTHER_INTAKE, METAL, RETIRED_SPARE]

    assert foreign_tasks(remembered(owned=owned), seen(queues, states)) == foreign


@pytest.mark.parametrize("stage", Stage)
def test_what_the_ledger_has_is_not_foreign(stage: Stage) -> None:
    look = seen({"metal": ["t1"]}, [state(QUEUED, "metal")])

    assert foreign_tasks(remembered([entry(stage=stage)]), look) == {}


def test_a_pools_queue_that_somebody_deleted_holds_nothing_foreign() -> None:
    owned = [replace(METAL, id="deleted in ClearML"), SPARE]

    assert foreign_tasks(remembered(owned=owned), seen({"spare": ["t1"]})) == {"t1": SPARE}


def test_foreign_use_is_the_allotment_of_the_queues_profile_by_pool() -> None:
    old = replace(METAL, profile="removed"), replace(METAL, pool="removed")
    tasks = {"a": METAL, "b": METAL, "c": SPARE, "d": old[0], "e": old[1]}

    assert foreign_use(tasks, CONFIGURATION) == {"metal": Fraction(4), "spare": Fraction(2)}
    assert foreign_use({}, CONFIGURATION) == {}


def test_retired_execution_queues_count_and_retired_intake_queues_do_not_serve() -> None:
    known = remembered(owned=[replace(INTAKE, retired=True), OTHER_INTAKE, METAL, RETIRED_SPARE])

    assert known.executions == (METAL, RETIRED_SPARE)
    assert known.intake_by_key == {("research", "job"): OTHER_INTAKE}
    assert known.ours == frozenset(queue.id for queue in OWNED)
