"""For how long each table's rows are kept. A table without a rule fails a test.

What grows with tasks, messages and time is forgotten by age; what people decided is kept.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy.orm import Session

from domain.usage import Kept
from storage import (
    alerts,
    audit,
    cards,
    deliveries,
    ledger,
    outbox,
    people,
    requests,
    tasks,
    usage,
)

_TEXT_KEPT: Final = timedelta(days=1)
"""For whoever looks into what was sent; pictures' figures are most of a database otherwise."""


@dataclass(frozen=True, kw_only=True)
class Rule:
    """What becomes of these tables' rows, in words; `forget` does it, where it is by age."""

    tables: tuple[str, ...]
    says: str
    forget: Callable[[Session, Kept, datetime], object] | None = None


def _history(prune: Callable[[Session, datetime], int]) -> Callable[[Session, Kept, datetime], int]:
    return lambda session, kept, now: prune(session, now - kept.history)


def _audit(session: Session, kept: Kept, now: datetime) -> None:
    if kept.audit is not None:
        audit.prune(session, now - kept.audit)


def _outbox(session: Session, kept: Kept, now: datetime) -> None:
    outbox.prune(session, now - kept.history)
    outbox.empty(session, now - _TEXT_KEPT)


RULES: Final = (
    Rule(tables=("ledger", "sightings"), says="Until the task has ended or left its queue."),
    Rule(
        tables=("samples",),
        says="Until their hour is over; then they are added up and packed into `usage`.",
    ),
    Rule(
        tables=("usage",),
        says="By `POOLKEEPER_KEEP_MINUTES_DAYS`, `_HOURS_DAYS` and `_DAYS_DAYS`.",
        forget=lambda session, kept, now: usage.forget(session, kept.since(now)),
    ),
    Rule(tables=("series",), says="Always: one row for each policy with each pool."),
    Rule(
        tables=("ended",),
        says="`POOLKEEPER_KEEP_HISTORY_DAYS` after the end.",
        forget=_history(ledger.prune_ended),
    ),
    Rule(
        tables=("tasks",),
        says="`POOLKEEPER_KEEP_HISTORY_DAYS` after the task was last seen.",
        forget=_history(tasks.prune),
    ),
    Rule(
        tables=("outbox",),
        says="What is unsent, until it is; then its text a day longer, and its key by "
        "`POOLKEEPER_KEEP_HISTORY_DAYS`.",
        forget=_outbox,
    ),
    Rule(
        tables=("cards",),
        says="`POOLKEEPER_KEEP_HISTORY_DAYS` after the last edit.",
        forget=_history(cards.prune),
    ),
    Rule(
        tables=("alerts",),
        says="`POOLKEEPER_KEEP_HISTORY_DAYS` after it was over.",
        forget=_history(alerts.prune),
    ),
    Rule(
        tables=("viewers",),
        says="`POOLKEEPER_KEEP_HISTORY_DAYS` after Home was opened last.",
        forget=_history(people.prune_viewers),
    ),
    Rule(
        tables=("requests",),
        says="`POOLKEEPER_KEEP_HISTORY_DAYS` after the decision; the last one, always.",
        forget=_history(requests.prune),
    ),
    Rule(
        tables=("deliveries",),
        says="One day.",
        forget=lambda session, _, now: deliveries.prune(session, now - deliveries.KEPT),
    ),
    Rule(
        tables=("audit",),
        says="Always, or by `POOLKEEPER_KEEP_AUDIT_DAYS`.",
        forget=_audit,
    ),
    Rule(tables=("versions",), says="Always: one row for each configuration that was approved."),
    Rule(
        tables=("queues",), says="Until the queue is no longer configured and empty, and deleted."
    ),
    Rule(
        tables=("draft", "switch", "cgpu_control"),
        says="One row, which the next one replaces.",
    ),
    Rule(tables=("views",), says="One row for each thing that is published; the next replaces it."),
    Rule(
        tables=("working_copies", "preferences"),
        says="One row for each person; a closed editor's is empty.",
    ),
    Rule(tables=("schedules",), says="One row for each channel."),
    Rule(
        tables=("cgpu_nodes", "cgpu_installers", "cgpu_restarts", "cgpu_patches"),
        says="One row for each node or installer, while there is one.",
    ),
    Rule(tables=("cgpu_changes",), says="Always: one row for each change of the cGPU policy."),
)
