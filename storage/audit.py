"""Who did what: written once, never changed, and kept unless the operator says for how long."""

from datetime import datetime

from sqlalchemy import delete
from sqlalchemy.orm import Session

from domain.ledger import AuditRecord
from storage.tables import AuditRow
from storage.values import Values

_AUDIT = Values(AuditRow, AuditRecord)


def record(session: Session, record: AuditRecord) -> None:
    """Write the record down."""
    words = (record.actor, record.action, record.subject, record.detail, record.reference)
    _AUDIT.add(session, (record,), searchable="\n".join(words).casefold())


def records(
    session: Session, limit: int, contains: str = "", before: datetime | None = None
) -> tuple[AuditRecord, ...]:
    """The latest records, newest first, at most `limit`.

    `contains` is text that must occur in one of a record's words as it stands, in any case;
    `before` leaves out what is as new or newer.
    """
    column = _AUDIT.table.c
    statement = _AUDIT.select().order_by(column.at.desc(), column.id.desc()).limit(limit)
    if contains:
        statement = statement.where(
            column.searchable.contains(contains.casefold(), autoescape=True)
        )
    if before is not None:
        statement = statement.where(column.at < before)
    return _AUDIT.read(session, statement)


def prune(session: Session, before: datetime) -> int:
    """Forget what was done before that time; how many records there were."""
    statement = delete(_AUDIT.table).where(_AUDIT.table.c.at < before)
    return session.connection().execute(statement).rowcount
