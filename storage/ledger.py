"""Tasks between rounds: the ledger of allocations, what ended, and first sights of waiting ones."""

from collections.abc import Iterable, Mapping
from datetime import datetime

from sqlalchemy import Table, case, delete, update
from sqlalchemy.orm import Session

from domain.ledger import Ended, LedgerEntry, Role, Sighting
from domain.renames import Kind, Renames
from storage.tables import EndedRow, LedgerRow, QueueRow, SampleRow, SeriesRow, SightingRow
from storage.values import Values, table_of

_LEDGER = Values(LedgerRow, LedgerEntry)
_ENDED = Values(EndedRow, Ended)
_SIGHTINGS = Values(SightingRow, Sighting)
_SAMPLES = table_of(SampleRow)
_SERIES = table_of(SeriesRow)
_QUEUES = table_of(QueueRow)

_NAMES: tuple[tuple[Table, str, Kind], ...] = (
    *(
        (_LEDGER.table, kind.value, kind)
        for kind in (Kind.POLICY, Kind.PROFILE, Kind.POOL, Kind.LINK)
    ),
    (_SIGHTINGS.table, "policy", Kind.POLICY),
    (_SIGHTINGS.table, "profile", Kind.PROFILE),
    (_QUEUES, "profile", Kind.PROFILE),
    (_QUEUES, "pool", Kind.POOL),
    (_ENDED.table, "policy", Kind.POLICY),
    (_ENDED.table, "profile", Kind.PROFILE),
    (_ENDED.table, "pool", Kind.POOL),
    (_SAMPLES, "policy", Kind.POLICY),
    (_SAMPLES, "pool", Kind.POOL),
    (_SERIES, "policy", Kind.POLICY),
    (_SERIES, "pool", Kind.POOL),
)
"""Which columns hold which names. A digest reads ended tasks and usage by today's names."""


def entries(session: Session) -> tuple[LedgerEntry, ...]:
    """Every entry of any stage, by `intended_at`, then task."""
    table = _LEDGER.table
    return _LEDGER.read(session, _LEDGER.select().order_by(table.c.intended_at, table.c.task))


def put(session: Session, entries: Iterable[LedgerEntry]) -> None:
    """Write the entries, each replacing the one of its task."""
    _LEDGER.put(session, entries)


def remove(session: Session, tasks: Iterable[str]) -> None:
    """Take these tasks' entries out without a trace; tasks that have none are passed over."""
    _LEDGER.remove(session, tasks)


def end(session: Session, ended: Iterable[Ended]) -> None:
    """Write these allocations down as over, and take their tasks' entries out."""
    over = tuple(ended)
    _ENDED.add(session, over)
    _LEDGER.remove(session, (one.task for one in over))


def ended_between(session: Session, start: datetime, end: datetime) -> tuple[Ended, ...]:
    """What ended at `start` or later and before `end`, in the order of ending."""
    table = _ENDED.table
    when = (table.c.ended_at >= start, table.c.ended_at < end)
    return _ENDED.read(session, _ENDED.select().where(*when).order_by(table.c.ended_at, table.c.id))


def prune_ended(session: Session, before: datetime) -> int:
    """Forget what ended before that time; how many there were."""
    statement = delete(_ENDED.table).where(_ENDED.table.c.ended_at < before)
    return session.connection().execute(statement).rowcount


def sightings(session: Session) -> tuple[Sighting, ...]:
    """Every first sight, by its time, then task."""
    table = _SIGHTINGS.table
    return _SIGHTINGS.read(session, _SIGHTINGS.select().order_by(table.c.first_seen, table.c.task))


def see(session: Session, sightings: Iterable[Sighting]) -> None:
    """Write the sightings, each replacing the one of its task."""
    _SIGHTINGS.put(session, sightings)


def forget(session: Session, tasks: Iterable[str]) -> None:
    """Drop these tasks' sightings; tasks that have none are passed over."""
    _SIGHTINGS.remove(session, tasks)


def rename(session: Session, renames: Renames) -> None:
    """Call policies, profiles, pools and links by their new names in all that is remembered.

    All renames of a kind happen at once, so names can be swapped. What a queue is called in
    ClearML stays as it is: whoever renames it there says so with `put_queue`.
    """
    for table, column, kind in _NAMES:
        _rename(session, table, column, renames.by_kind.get(kind, {}))
    for role, kind in ((Role.INTAKE, Kind.POLICY), (Role.EXECUTION, Kind.LINK)):
        _rename(session, _QUEUES, "owner", renames.by_kind.get(kind, {}), role)


def _rename(
    session: Session, table: Table, name: str, new: Mapping[str, str], role: Role | None = None
) -> None:
    if not new:
        return
    column = table.c[name]
    statement = update(table).where(column.in_(new)).values({name: case(dict(new), value=column)})
    if role is not None:
        statement = statement.where(table.c.role == role)
    session.connection().execute(statement)
