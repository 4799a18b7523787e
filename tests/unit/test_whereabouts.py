"""Where a task of the ledger is, for everything that ClearML may show of it (decisions 1 to 3)."""

import pytest

from controller.ports import Status
from controller.whereabouts import Where, whereabouts
from domain.ledger import Stage
from tests.ledgers import OURS, entry, seen, state

QUEUED, RUNNING, STOPPED, CREATED = (
    Status.QUEUED,
    Status.IN_PROGRESS,
    Status.STOPPED,
    Status.CREATED,
)
BACK = "pushed back by policy manager: job on metal"

# what: (status, execution.queue, status_reason, the queues that hold it) and where that is
CASES = {
    "waits in its intake queue": (QUEUED, "intake", "", ["intake"], Where.INTAKE),
    "waits there, pointed already": (QUEUED, "metal", "", ["intake"], Where.INTAKE),
    "waits in its execution queue": (QUEUED, "metal", "", ["metal"], Where.EXECUTION),
    "waits there, not pointed": (QUEUED, "intake", "", ["metal"], Where.EXECUTION),
    "in both": (QUEUED, "metal", "", ["intake", "metal"], Where.EXECUTION),
    "in the glue's queue": (QUEUED, "glue", "k8s pending scheduler", ["glue"], Where.AGENT),
    "in an old glue's queue": (QUEUED, "old glue", "", ["old glue"], Where.AGENT),
    "in the glue's queue and another": (QUEUED, "glue", "", ["glue", "default"], Where.ELSEWHERE),
    "in somebody's queue": (QUEUED, "default", "", ["default"], Where.ELSEWHERE),
    "in another team's queue": (QUEUED, "other intake", "", ["other intake"], Where.ELSEWHERE),
    "in another pool's queue": (QUEUED, "spare", "", ["spare"], Where.ELSEWHERE),
    "claimed": (QUEUED, "intake", "", [], Where.NOWHERE),
    "claimed and pointed, or popped": (QUEUED, "metal", "", [], Where.NOWHERE),
    "popped by the glue's pod": (QUEUED, "glue", "", [], Where.NOWHERE),
    "runs": (RUNNING, "metal", "", [], Where.AGENT),
    "runs, its entry is left": (RUNNING, "metal", "", ["metal"], Where.AGENT),
    "runs in the glue's pod": (RUNNING, "glue", "", [], Where.AGENT),
    "runs from elsewhere": (RUNNING, "default", "", [], Where.ELSEWHERE),
    "runs from its intake queue": (RUNNING, "intake", "", [], Where.ELSEWHERE),
    "runs from no queue": (RUNNING, "", "", [], Where.ELSEWHERE),
    "passes through the glue": (
        STOPPED,
        "metal",
        "moving to k8s pending queue",
        [],
        Where.AGENT,
    ),
    "aborted while it ran": (STOPPED, "metal", "", [], Where.AGENT),
    "aborted in the queue": (STOPPED, "metal", "", ["metal"], Where.OVER),
    "aborted after the claim": (STOPPED, "intake", "", [], Where.OVER),
    "aborted, from no queue": (STOPPED, "", "", [], Where.OVER),
    "dequeued": (CREATED, "metal", "", [], Where.OVER),
    "dequeued, its entry is left": (CREATED, "metal", "", ["metal"], Where.OVER),
    "drafted by us": (CREATED, "intake", BACK, [], Where.HALF_BACK),
    "drafted by us, its entry is left": (CREATED, "metal", BACK, ["metal"], Where.OVER),
    "completed": (Status.COMPLETED, "metal", "", [], Where.AGENT),
    "failed in the glue's pod": (Status.FAILED, "glue", "", [], Where.AGENT),
    "completed elsewhere": (Status.COMPLETED, "default", "", [], Where.ELSEWHERE),
    "in a status we do not know": (Status.UNKNOWN, "metal", "", [], Where.AGENT),
}


@pytest.mark.parametrize("case", CASES)
def test_a_tasks_place_follows_from_status_pointer_and_entries(case: str) -> None:
    status, pointer, reason, holders, where = CASES[case]
    look = seen({queue: ["t1"] for queue in holders}, [state(status, pointer, reason)])

    assert whereabouts(entry(), look, OURS) is where


@pytest.mark.parametrize(
    ("gone", "where"), [([], Where.UNKNOWN), (["t1"], Where.OVER)], ids=["not read", "deleted"]
)
def test_a_task_without_a_state_is_over_only_if_it_is_known_to_be_deleted(
    gone: list[str], where: Where
) -> None:
    assert whereabouts(entry(), seen(gone=gone), OURS) is where


def test_a_deleted_task_whose_entry_is_left_is_over() -> None:
    assert whereabouts(entry(), seen({"metal": ["t1"]}, gone=["t1"]), OURS) is Where.OVER


@pytest.mark.parametrize(
    ("status", "where"),
    [(STOPPED, Where.OVER), (RUNNING, Where.ELSEWHERE), (QUEUED, Where.NOWHERE)],
    ids=["aborted", "runs by hand", "queued"],
)
def test_a_stray_task_has_no_execution_queue_that_no_pointer_could_mean(
    status: Status, where: Where
) -> None:
    stray = entry(stage=Stage.RETURNING, execution="", pool="", link="")

    assert whereabouts(stray, seen(states=[state(status, "")]), OURS) is where


def test_a_hidden_queue_of_ours_is_not_the_glues() -> None:
    look = seen({"spare": ["t1"]}, [state(QUEUED, "spare")])

    assert whereabouts(entry(), look, OURS) is Where.ELSEWHERE
    assert whereabouts(entry(), look, frozenset({"intake", "metal"})) is Where.AGENT
