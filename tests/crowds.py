"""Crowds for tests of scale: thousands of tasks that wait, and ledgers full of dispatched ones."""

from collections.abc import Sequence
from datetime import UTC, datetime
from fractions import Fraction

from domain.ledger import LedgerEntry, OwnedQueue, Role, Stage
from domain.snapshot import Tier
from storage import ledger
from tests.poolkeeper_support import Installation

THEN = datetime(2026, 11, 1, 9, tzinfo=UTC)


def of_role(there: Installation, role: Role) -> list[OwnedQueue]:
    return [queue for queue in there.owned() if queue.role is role]


def shares(count: int, among: int) -> list[int]:
    """As even as can be: 10 among 4 are 3, 3, 2, 2."""
    return [count // among + (number < count % among) for number in range(among)]


def wait_in_line(there: Installation, count: int) -> None:
    """So many tasks more, spread over all intake queues."""
    intakes = of_role(there, Role.INTAKE)
    for queue, share in zip(intakes, shares(count, len(intakes)), strict=True):
        there.clearml.bulk_enqueue(queue.id, share)


def dispatched(there: Installation, count: int, *, running: bool = False) -> Sequence[str]:
    """So many tasks in the execution queues and in the ledger, as rounds would have left them."""
    executions, intake = of_role(there, Role.EXECUTION), of_role(there, Role.INTAKE)[0]
    entries: list[LedgerEntry] = []
    for queue, share in zip(executions, shares(count, len(executions)), strict=True):
        tasks = there.clearml.bulk_enqueue(queue.id, share)
        entries += (_entry(task, queue, intake) for task in tasks)
    if running:
        for queue in executions:
            while task := there.clearml.pop(queue.id):
                there.clearml.started(task)
    with there.database.transaction() as session:
        ledger.put(session, entries)
    return [entry.task for entry in entries]


def _entry(task: str, queue: OwnedQueue, intake: OwnedQueue) -> LedgerEntry:
    return LedgerEntry(
        task=task,
        policy=intake.owner,
        profile=queue.profile,
        pool=queue.pool,
        link=queue.owner,
        intake=intake.id,
        execution=queue.id,
        amount=Fraction(1),
        tier=Tier.SHARED,
        stage=Stage.DISPATCHED,
        first_seen=THEN,
        intended_at=THEN,
        dispatched_at=THEN,
    )
