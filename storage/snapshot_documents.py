"""The snapshot document of `poolkeeper plan`: ALLOCATION.md, chapter "The files"."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain

from domain.amounts import format_amount
from domain.configuration import Configuration, Policy
from domain.snapshot import Allocation, Snapshot, WaitingQueue
from storage.document_errors import place, value_of
from storage.document_problems import DocumentError, Problem, nearest, shown
from storage.document_shapes import SNAPSHOT


def read_snapshot(tree: object, configuration: Configuration) -> Snapshot:
    """The snapshot that `tree` describes, of a system that runs `configuration`.

    Raises DocumentError with everything that keeps it from being read; a policy, profile or pool
    that the configuration does not have is among that, and so is a task that is there twice.
    """
    snapshot: Snapshot = value_of(tree, SNAPSHOT)
    error = DocumentError(chain(_strangers(snapshot, configuration), _repeated(snapshot)))
    if error.problems:
        raise error
    return replace(snapshot, configuration=configuration)


def check_snapshot(tree: object) -> None:
    """Raises DocumentError for what is wrong with a snapshot whatever its configuration."""
    error = DocumentError(_repeated(value_of(tree, SNAPSHOT)))
    if error.problems:
        raise error


def _strangers(snapshot: Snapshot, configuration: Configuration) -> Iterator[Problem]:
    known = {
        "policy": configuration.policy_by_name,
        "profile": configuration.profile_by_name,
        "pool": configuration.pool_by_name,
    }
    named = [
        *_names("queues", snapshot.queues, ("policy", "profile")),
        *_names("allocations", snapshot.allocations, ("policy", "profile", "pool")),
        *((f"foreign.{place([pool])}", "pool", pool) for pool in snapshot.foreign),
    ]
    for where, kind, name in named:
        if name not in known[kind]:
            close = nearest(name, known[kind])
            remedy = f"did you mean {shown(close)}?" if close else "take the entry away"
            yield Problem(where, f"the configuration has no {kind} {shown(name)}", remedy)
    for index, queue in enumerate(snapshot.queues):
        policy = configuration.policy_by_name.get(queue.policy)
        if queue.profile in configuration.profile_by_name and policy is not None:
            yield from _without_intake(f"queues[{index}]", policy, queue.profile)


def _without_intake(where: str, policy: Policy, profile: str) -> Iterator[Problem]:
    if all(queue.profile != profile for queue in policy.queues):
        what = f"the policy {shown(policy.name)} has no queue for the profile {shown(profile)}"
        yield Problem(where, what, "give it one in the configuration or take the entry away")


def _names(
    key: str, entries: Sequence[WaitingQueue | Allocation], kinds: tuple[str, ...]
) -> Iterator[tuple[str, str, str]]:
    for index, entry in enumerate(entries):
        for kind in kinds:
            yield f"{key}[{index}].{kind}", kind, getattr(entry, kind)


def _repeated(snapshot: Snapshot) -> Iterator[Problem]:
    queues = Counter((queue.policy, queue.profile) for queue in snapshot.queues)
    for (policy, profile), times in queues.items():
        if times > 1:
            what = f"{shown(policy)} with {shown(profile)} stands here {times} times"
            yield Problem("queues", what, "join the entries")
    tasks = Counter(task.id for queue in snapshot.queues for task in queue.tasks)
    tasks.update(allocation.task for allocation in snapshot.allocations)
    for task, times in tasks.items():
        if times > 1:
            what = f"the task {shown(task)} is there {times} times"
            yield Problem("queues and allocations", what, "leave one of them")


def write_snapshot(snapshot: Snapshot) -> dict[str, object]:
    """The document of a snapshot; its configuration is a document of its own."""
    hold_after = snapshot.hold_after
    return {
        "taken_at": snapshot.taken_at.isoformat(),
        "enabled": snapshot.enabled,
        "hold_after_s": None if hold_after is None else hold_after.total_seconds(),
        "queues": [
            {
                "policy": queue.policy,
                "profile": queue.profile,
                "tasks": [
                    {
                        "id": task.id,
                        "first_seen": task.first_seen.isoformat(),
                        "parameter": task.parameter,
                    }
                    for task in queue.tasks
                ],
            }
            for queue in snapshot.queues
        ],
        "allocations": [
            {
                "task": allocation.task,
                "policy": allocation.policy,
                "profile": allocation.profile,
                "pool": allocation.pool,
                "amount": format_amount(allocation.amount),
            }
            for allocation in snapshot.allocations
        ],
        "foreign": {pool: format_amount(amount) for pool, amount in snapshot.foreign.items()},
    }


def read_running(tree: object, configuration: Configuration) -> Snapshot:
    """The snapshot of a running system, whose allocations may outlive their policy or pool."""
    snapshot: Snapshot = value_of(tree, SNAPSHOT)
    return replace(snapshot, configuration=configuration)
