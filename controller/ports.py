"""What the controller asks of ClearML, and what it is told: values, errors and one door.

Codes and side effects are those of facts/clearml.md; the door's promises are tested by the
contract suite, on the sandbox always and on a real server where one is named.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Protocol

from domain.tasks import TaskFacts


class ClearMLError(Exception):
    """Something went wrong between Poolkeeper and ClearML."""


class Unavailable(ClearMLError):
    """ClearML did not answer, or answered that it cannot now. Nothing is known of the call."""


class OutcomeUnknown(Unavailable):
    """A write got no usable answer: it may or may not have happened. Look before going on."""


class Unsuitable(ClearMLError):
    """This server or these credentials cannot be worked with until somebody changes something."""


class Refused(ClearMLError):
    """ClearML understood the call and said no."""

    def __init__(self, call: str, code: int, subcode: int, message: str) -> None:
        super().__init__(f"ClearML refused {call} with {code}/{subcode}: {message}")
        self.call, self.code, self.subcode, self.message = call, code, subcode, message


class Status(StrEnum):
    """A ClearML task's status, as far as Poolkeeper tells them apart."""

    CREATED = "created"
    QUEUED = "queued"
    IN_PROGRESS = "in_progress"
    STOPPED = "stopped"
    PUBLISHED = "published"
    PUBLISHING = "publishing"
    CLOSED = "closed"
    FAILED = "failed"
    COMPLETED = "completed"
    UNKNOWN = "unknown"

    @classmethod
    def _missing_(cls, value: object) -> "Status":  # noqa: ARG003  enum's signature
        return cls.UNKNOWN


@dataclass(frozen=True, slots=True)
class QueueEntry:
    """A task in a queue, and when it was put there."""

    task: str
    added: datetime | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class QueueState:
    """A ClearML queue as listed. `hidden` is the glue's system tag (decision 6)."""

    id: str
    name: str
    hidden: bool = False
    entries: tuple[QueueEntry, ...] = ()
    marks: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True, slots=True)
class TaskState:
    """A task's status, and the queue that its `execution.queue` names, "" where it names none.

    `reason` is its status_reason; `before` its `enqueue_status`, the status that a dequeue gives
    it back, "" where there is none or it was not asked for.
    """

    id: str
    status: Status
    queue: str = ""
    reason: str = ""
    before: str = ""


class Admission(StrEnum):
    """How ClearML answered an admit."""

    ADMITTED = "admitted"
    NOT_QUEUED = "not_queued"
    """The task was aborted or dequeued in the meantime; it was not moved."""
    ALREADY_THERE = "already_there"
    QUEUE_GONE = "queue_gone"
    TASK_GONE = "task_gone"


class Queues(Protocol):
    """The door to ClearML.

    Reads are repeated a few times before they raise `Unavailable`. Writes are made once; one
    without a usable answer raises `OutcomeUnknown`. What ClearML refuses beyond the answers
    listed here raises `Refused`. One door belongs to one thread.
    """

    def server_version(self) -> str: ...

    def queues(self, *, marks: bool = False) -> tuple[QueueState, ...]:
        """Every queue, hidden ones too, with its entries in order; `marks` adds metadata."""

    def queue(self, queue: str) -> QueueState | None:
        """One queue with entries and marks, or None where there is none of this id."""

    def task_states(self, tasks: Iterable[str]) -> dict[str, TaskState]:
        """The tasks that a listing by id finds; one it does not find may still exist."""

    def exists(self, task: str) -> bool: ...

    def tasks_in(
        self, queues: Iterable[str], statuses: Iterable[Status], *, page: int | None = None
    ) -> tuple[TaskState, ...]:
        """All tasks of these statuses whose `execution.queue` is one of `queues`.

        With `page`, from 0, only so many as one call gives; the page after the last is empty.
        """

    def parameters(self, tasks: Sequence[str], path: str) -> dict[str, object]:
        """The raw values at a dynamic profile's parameter path, by task, where there are any."""

    def details(self, tasks: Iterable[str]) -> dict[str, TaskFacts]:
        """Names and owners of the tasks that a listing by id finds."""

    def claim(self, queue: str, task: str) -> bool:
        """Take the task out of the queue; True for exactly one of those who try."""

    def point(self, task: str, queue: str) -> None:
        """Make the task's `execution.queue` name `queue`."""

    def admit(self, task: str, queue: str, status_reason: str) -> Admission:
        """Put a task that is still queued at the end of `queue`."""

    def to_front(self, queue: str, task: str) -> bool:
        """Make the task the queue's first; False where it is not in there."""

    def draft(self, task: str, status_reason: str) -> bool:
        """Make a queued task that is in no queue a draft; False where it is not queued."""

    def enqueue(self, task: str, queue: str, status_reason: str) -> bool:
        """Put a draft at the end of `queue`, as its user would; False where that is refused."""

    def create_queue(self, name: str, marks: Mapping[str, str], *, hidden: bool) -> str | None:
        """A new queue's id, or None where the name is taken."""

    def rename_queue(self, queue: str, name: str) -> bool:
        """False where another queue has the name."""

    def mark_queue(self, queue: str, marks: Mapping[str, str]) -> None:
        """Add or replace entries of the queue's metadata."""

    def delete_queue(self, queue: str) -> bool:
        """Delete an empty queue; True also where it is gone already, False where it has tasks."""

    def watched(self, queues: Iterable[str]) -> frozenset[str]:
        """Those of the queues that at least one worker serves."""

    def workers(self, queues: Iterable[str]) -> dict[str, frozenset[str]]:
        """The workers that serve each of the queues, by their ids; none for a queue without."""

    def watch(self, worker: str, queues: Sequence[str]) -> None:
        """Register `worker` as one that serves `queues`, until ten minutes from now."""
