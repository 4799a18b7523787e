"""Where a task of the ledger is, told from what ClearML shows of it."""

from enum import StrEnum

from controller.observe import Observation
from controller.ports import Status
from domain.ledger import LedgerEntry

PUSHED_BACK = "pushed back by policy manager"
"""How the status_reason of a task begins that we put back (facts/clearml.md, decision 8)."""


class Where(StrEnum):
    """Where the task of a ledger entry is."""

    INTAKE = "intake"
    EXECUTION = "execution"
    AGENT = "agent"
    """Taken from its execution queue by an agent: on its way, running or ended."""
    NOWHERE = "nowhere"
    """Queued in no queue: half moved, or just taken by an agent that has not started it yet."""
    HALF_BACK = "half_back"
    """Made a draft by ourselves, to be enqueued again with a clean state."""
    ELSEWHERE = "elsewhere"
    """Its user has put it into another queue, or somebody ran it from there."""
    OVER = "over"
    """Aborted, dequeued or deleted."""
    UNKNOWN = "unknown"


def whereabouts(entry: LedgerEntry, seen: Observation, ours: frozenset[str]) -> Where:
    """Where the task is; `ours` are the ids of all of Poolkeeper's queues."""
    state = seen.states.get(entry.task)
    if state is None:
        return Where.OVER if entry.task in seen.gone else Where.UNKNOWN
    places = seen.places.get(entry.task, ())
    if state.status is Status.CREATED:
        half_back = state.reason.startswith(PUSHED_BACK) and not places
        return Where.HALF_BACK if half_back else Where.OVER
    if state.status is Status.QUEUED and places:
        return _queued(entry, places, all(seen.is_glue_queue(at, ours) for at in places))
    # An entry on its way back to its intake queue has no execution queue.
    taken = entry.execution != "" and state.queue == entry.execution
    with_agent = taken or seen.is_glue_queue(state.queue, ours)
    if state.status is Status.QUEUED:
        return Where.NOWHERE
    if state.status is Status.STOPPED and (places or not with_agent):
        return Where.OVER
    # The k8s glue passes through `stopped` too; the accounting waits before it ends such a task.
    return Where.AGENT if with_agent else Where.ELSEWHERE


def _queued(entry: LedgerEntry, places: tuple[str, ...], in_glue_queue: bool) -> Where:
    if entry.execution in places:
        return Where.EXECUTION
    if entry.intake in places:
        return Where.INTAKE
    return Where.AGENT if in_glue_queue else Where.ELSEWHERE
