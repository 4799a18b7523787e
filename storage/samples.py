"""What policies used over time, for digests and charts."""

from collections.abc import Iterable
from datetime import datetime

from sqlalchemy import delete
from sqlalchemy.orm import Session

from domain.ledger import Sample
from storage.tables import SampleRow
from storage.values import Values

_SAMPLES = Values(SampleRow, Sample)


def add(session: Session, samples: Iterable[Sample]) -> None:
    """Keep the samples."""
    _SAMPLES.add(session, samples)


def between(session: Session, start: datetime, end: datetime) -> tuple[Sample, ...]:
    """The samples taken at `start` or later and before `end`, oldest first."""
    column = _SAMPLES.table.c
    statement = _SAMPLES.select().where(column.at >= start, column.at < end)
    return _SAMPLES.read(session, statement.order_by(column.at, column.id))


def prune(session: Session, before: datetime) -> int:
    """Forget the samples taken before that time; how many there were."""
    statement = delete(_SAMPLES.table).where(_SAMPLES.table.c.at < before)
    return session.connection().execute(statement).rowcount
