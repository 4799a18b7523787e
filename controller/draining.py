"""Emptying the queues that are no longer configured, and deleting them when they are empty.

Tasks waiting in a removed link's queue go back to the front of their intake queue; those in a
removed policy's queue become drafts, as in ClearML Enterprise. Running ones run on and count.
"""

from dataclasses import replace
from datetime import datetime

from controller.accounting import Remembered
from controller.observe import Observation
from controller.ports import Queues
from domain.amounts import ZERO
from domain.ledger import LedgerEntry, OwnedQueue, Role, Stage
from domain.snapshot import Tier


def leaving(remembered: Remembered, seen: Observation) -> tuple[LedgerEntry, ...]:
    """Entries, open from now on, for the tasks that still wait in retired queues.

    What is in a retired execution queue and not in the ledger is foreign: it is left to agents.
    """
    known = {entry.task: entry for entry in remembered.entries}
    first_seen = {sighting.task: sighting.first_seen for sighting in remembered.sightings}
    out: list[LedgerEntry] = []
    for queue in remembered.owned:
        state = seen.queues.get(queue.id)
        if not queue.retired or state is None:
            continue
        for at in state.entries:
            entry = known.get(at.task)
            if queue.role is Role.INTAKE and entry is None:
                out.append(_to_draft(queue, at.task, seen, first_seen.get(at.task, seen.at)))
            elif queue.role is Role.EXECUTION and entry and entry.stage is Stage.DISPATCHED:
                out.append(replace(entry, stage=Stage.RETURNING))
    return tuple(out)


def delete_empty(door: Queues, remembered: Remembered, seen: Observation) -> tuple[OwnedQueue, ...]:
    """Deletes the retired queues that hold nothing and that no task of the ledger came through."""
    in_use = {queue for entry in remembered.entries for queue in (entry.intake, entry.execution)}
    gone = []
    for queue in remembered.owned:
        state = seen.queues.get(queue.id)
        if not queue.retired or queue.id in in_use or (state and state.entries):
            continue
        if state is None or door.delete_queue(queue.id):
            gone.append(queue)
    return tuple(gone)


def _to_draft(queue: OwnedQueue, task: str, seen: Observation, first_seen: datetime) -> LedgerEntry:
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
        first_seen=first_seen,
        intended_at=seen.at,
    )
