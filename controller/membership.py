"""Whose tasks may wait in a team's queue, where its list says so (`membership: return`). Pure.

ClearML's open-source server lets everybody enqueue everywhere; a task of somebody who is not
listed is taken out of the queue and made a draft again, before it can be dispatched.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime

from controller import references
from controller.accounting import Remembered
from domain.amounts import ZERO
from domain.configuration import Membership, Policy
from domain.ledger import AuditRecord, LedgerEntry, OwnedQueue, Stage
from domain.snapshot import Tier
from domain.tasks import TaskFacts

SENT_BACK = "sent back"
"""The audit's word for it; its subject is the policy."""

Waiting = Mapping[str, Sequence[str]]
"""Ids of tasks by the id of their intake queue."""


def is_stranger(policy: Policy, task: TaskFacts) -> bool:
    """Whether the task's user is known, and not one of the team's where these are listed."""
    listed = {clearml for _, clearml in policy.team.clearml_users} if policy.team else set()
    return bool(listed and task.user) and task.user not in listed


def guarded(remembered: Remembered, waiting: Waiting) -> frozenset[str]:
    """The tasks that wait where only listed users' may."""
    queues = (queue for policy, queue in _strict(remembered))
    return frozenset(task for queue in queues for task in waiting.get(queue.id, ()))


def to_send_back(
    remembered: Remembered, waiting: Waiting, facts: Mapping[str, TaskFacts], at: datetime
) -> tuple[LedgerEntry, ...]:
    """Entries, open from now on, that take strangers' tasks out of those queues."""
    first_seen = {sighting.task: sighting.first_seen for sighting in remembered.sightings}
    return tuple(
        _to_draft(queue, task, (first_seen.get(task, at), at))
        for policy, queue in _strict(remembered)
        for task in waiting.get(queue.id, ())
        if task in facts and is_stranger(policy, facts[task])
    )


def record(entry: LedgerEntry, facts: TaskFacts) -> AuditRecord:
    return AuditRecord(
        at=entry.intended_at,
        actor="poolkeeper",
        action=SENT_BACK,
        subject=entry.policy,
        detail=f"{entry.task} is a draft again: {facts.user} is not among the team's ClearML users",
        reference=references.current(),
    )


def _strict(remembered: Remembered) -> Iterator[tuple[Policy, OwnedQueue]]:
    policies = remembered.configuration.policy_by_name
    for (owner, _), queue in remembered.intake_by_key.items():
        policy = policies.get(owner)
        if policy is not None and policy.membership is Membership.RETURN and policy.team:
            yield policy, queue


def _to_draft(queue: OwnedQueue, task: str, times: tuple[datetime, datetime]) -> LedgerEntry:
    return LedgerEntry(
        task=task,
        policy=queue.owner,
        profile=queue.profile,
        pool="",
        link="",
        intake=queue.id,
        execution="",
        amount=ZERO,
        tier=Tier.SHARED,
        stage=Stage.DRAFTING,
        first_seen=times[0],
        intended_at=times[1],
    )
