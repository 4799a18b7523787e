"""The copy of the ledger that the execution queues carry in their metadata.

A task in an execution queue does not tell whose it is. The copy does, so that a lost database is
rebuilt with every policy's use and every pool's, and nothing is over-committed (rule 2).
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import datetime

from controller.ports import Queues, QueueState
from controller.queue_plan import BACKUP
from domain.amounts import format_amount, parse_amount
from domain.ledger import LedgerEntry, OwnedQueue, Role, Stage
from domain.snapshot import Tier

_FIELDS = 5


class Copies:
    """Keeps the copies equal to the ledger: what changed since this process wrote it is written.

    They lose what ended, too: a task that ended here may be run elsewhere by its user later, and
    must not be taken for an allocation.
    """

    def __init__(self) -> None:
        self._written: dict[str, str] = {}

    def write(self, door: Queues, entries: Iterable[LedgerEntry], queues: Iterable[str]) -> None:
        """To each of the execution queues the entries that went, or are to go, through it."""
        for queue, text in _texts(entries, queues).items():
            if self._written.get(queue) != text:
                self._written.pop(queue, None)  # not known, where there is no answer
                door.mark_queue(queue, {BACKUP: text})
                self._written[queue] = text


def _texts(entries: Iterable[LedgerEntry], queues: Iterable[str]) -> dict[str, str]:
    by_queue: dict[str, dict[str, list[str]]] = {queue: {} for queue in queues}
    for entry in entries:
        if entry.execution in by_queue:
            by_queue[entry.execution][entry.task] = [
                entry.policy,
                entry.intake,
                format_amount(entry.amount),
                str(entry.tier),
                entry.first_seen.isoformat(),
            ]
    return {
        queue: json.dumps(copies, separators=(",", ":"), sort_keys=True)
        for queue, copies in by_queue.items()
    }


def read_copies(
    states: Mapping[str, QueueState], owned: Iterable[OwnedQueue], at: datetime
) -> Iterator[LedgerEntry]:
    """The entries that the listed execution queues carry; what cannot be read is passed over."""
    owned = tuple(owned)
    # A policy may have another name since; the queue that its task came from knows it.
    policies = {queue.id: queue.owner for queue in owned if queue.role is Role.INTAKE}
    for queue in owned:
        state = states.get(queue.id) if queue.role is Role.EXECUTION else None
        for task, copy in _copies(state.marks.get(BACKUP, "") if state else "").items():
            entry = _entry(queue, task, copy, at)
            if entry is not None:
                yield replace(entry, policy=policies.get(entry.intake, entry.policy))


def _copies(text: str) -> dict[str, object]:
    try:
        copies = json.loads(text or "{}")
    except ValueError:
        return {}
    return copies if isinstance(copies, dict) else {}


def _entry(queue: OwnedQueue, task: str, copy: object, at: datetime) -> LedgerEntry | None:
    if not isinstance(copy, list) or len(copy) != _FIELDS:
        return None
    policy, intake, amount, tier, first_seen = map(str, copy)
    try:
        exact = parse_amount(amount)
        if exact is None:
            return None
        return LedgerEntry(
            task=task,
            policy=policy,
            profile=queue.profile,
            pool=queue.pool,
            link=queue.owner,
            intake=intake,
            execution=queue.id,
            amount=exact,
            tier=Tier(tier),
            stage=Stage.DISPATCHED,
            first_seen=datetime.fromisoformat(first_seen),
            intended_at=at,
            dispatched_at=at,
        )
    except ValueError:
        return None
