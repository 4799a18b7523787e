"""The snapshot document of `poolkeeper plan`: ALLOCATION.md, chapter "The files"."""

from collections import Counter
from collections.abc import Iterator
from datetime import timedelta

from pydantic import ValidationError

from domain.configuration import Configuration, Policy
from domain.snapshot import Allocation, Snapshot, Task, WaitingQueue
from storage.document_errors import place, problems_of
from storage.document_models import AllocationEntry, SnapshotDocument, WaitingEntry
from storage.document_problems import DocumentError, Problem, nearest, shown


def read_snapshot(tree: object, configuration: Configuration) -> Snapshot:
    """The snapshot that `tree` describes, of a system that runs `configuration`.

    Raises DocumentError with everything that keeps it from being read; a policy, profile or pool
    that the configuration does not have is among that, and so is a task that is there twice.
    """
    document = _document(tree)
    if problems := [*_strangers(document, configuration), *_repeated(document)]:
        raise DocumentError(problems)
    hold = document.hold_after_s
    return Snapshot(
        taken_at=document.taken_at,
        configuration=configuration,
        enabled=document.enabled,
        hold_after=None if hold is None else timedelta(seconds=hold),
        queues=tuple(map(_queue, document.queues)),
        allocations=tuple(map(_allocation, document.allocations)),
        foreign=dict(document.foreign),
    )


def check_snapshot(tree: object) -> None:
    """Raises DocumentError for what is wrong with a snapshot whatever its configuration."""
    if problems := list(_repeated(_document(tree))):
        raise DocumentError(problems)


def _document(tree: object) -> SnapshotDocument:
    try:
        return SnapshotDocument.model_validate(tree)
    except ValidationError as error:
        raise DocumentError(problems_of(error, SnapshotDocument)) from None


def _queue(entry: WaitingEntry) -> WaitingQueue:
    tasks = tuple(Task(task.id, task.first_seen, task.parameter) for task in entry.tasks)
    return WaitingQueue(policy=entry.policy, profile=entry.profile, tasks=tasks)


def _allocation(entry: AllocationEntry) -> Allocation:
    return Allocation(
        task=entry.task,
        policy=entry.policy,
        profile=entry.profile,
        pool=entry.pool,
        amount=entry.amount,
    )


def _strangers(document: SnapshotDocument, configuration: Configuration) -> Iterator[Problem]:
    known = {
        "policy": configuration.policy_by_name,
        "profile": configuration.profile_by_name,
        "pool": configuration.pool_by_name,
    }
    named = [
        *_names("queues", document.queues, ("policy", "profile")),
        *_names("allocations", document.allocations, ("policy", "profile", "pool")),
        *((f"foreign.{place([pool])}", "pool", pool) for pool in document.foreign),
    ]
    for where, kind, name in named:
        if name not in known[kind]:
            close = nearest(name, known[kind])
            remedy = f"did you mean {shown(close)}?" if close else "take the entry away"
            yield Problem(where, f"the configuration has no {kind} {shown(name)}", remedy)
    for index, queue in enumerate(document.queues):
        policy = configuration.policy_by_name.get(queue.policy)
        if queue.profile in configuration.profile_by_name and policy is not None:
            yield from _without_intake(f"queues[{index}]", policy, queue.profile)


def _without_intake(where: str, policy: Policy, profile: str) -> Iterator[Problem]:
    if all(queue.profile != profile for queue in policy.queues):
        what = f"the policy {shown(policy.name)} has no queue for the profile {shown(profile)}"
        yield Problem(where, what, "give it one in the configuration or take the entry away")


def _names(
    key: str, entries: list[WaitingEntry] | list[AllocationEntry], kinds: tuple[str, ...]
) -> Iterator[tuple[str, str, str]]:
    for index, entry in enumerate(entries):
        for kind in kinds:
            yield f"{key}[{index}].{kind}", kind, getattr(entry, kind)


def _repeated(document: SnapshotDocument) -> Iterator[Problem]:
    queues = Counter((queue.policy, queue.profile) for queue in document.queues)
    for (policy, profile), times in queues.items():
        if times > 1:
            what = f"{shown(policy)} with {shown(profile)} stands here {times} times"
            yield Problem("queues", what, "join the entries")
    tasks = Counter(task.id for queue in document.queues for task in queue.tasks)
    tasks.update(allocation.task for allocation in document.allocations)
    for task, times in tasks.items():
        if times > 1:
            what = f"the task {shown(task)} is there {times} times"
            yield Problem("queues and allocations", what, "leave one of them")
