"""What policies use, as it is taken; `storage.usage` packs it when the hour is over."""

from collections.abc import Iterable
from datetime import datetime

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
