"""When channels get their digests, and which one each got last."""

from collections.abc import Iterable
from dataclasses import replace
from datetime import date

from sqlalchemy import select, update
from sqlalchemy.orm import Session

from domain.renames import Kind, Renames
from domain.schedules import Schedule
from storage.tables import ScheduleRow
from storage.values import Values

_SCHEDULES = Values(ScheduleRow, Schedule)
_COLUMN = _SCHEDULES.table.c


def schedules(session: Session) -> tuple[Schedule, ...]:
    """Every one, those that are off too, by channel."""
    return _SCHEDULES.read(session, _SCHEDULES.select().order_by(_COLUMN.channel))


def schedule(session: Session, channel: str) -> Schedule | None:
    """The channel's, None when it never had one."""
    found = _SCHEDULES.read(session, _SCHEDULES.select().where(_COLUMN.channel == channel))
    return found[0] if found else None


def put(session: Session, schedule: Schedule) -> None:
    """Keep the schedule in place of the channel's; which digest was the last stays known."""
    _SCHEDULES.put(session, (schedule,))


def remove(session: Session, channel: str) -> None:
    """Forget the channel's schedule, as when the channel is gone."""
    _SCHEDULES.remove(session, (channel,))


def last_dates(session: Session) -> dict[str, date]:
    """The local date of the last digest, by channel; those that had none are left out."""
    sent = select(_COLUMN.channel, _COLUMN.last_date).where(_COLUMN.last_date.is_not(None))
    return {row.channel: row.last_date for row in session.execute(sent)}


def mark(session: Session, channel: str, day: date) -> None:
    """Note that the digest of that date is in the outbox, in the transaction that puts it there."""
    statement = update(_SCHEDULES.table).where(_COLUMN.channel == channel)
    session.connection().execute(statement.values(last_date=day))


def rename(session: Session, renames: Renames) -> None:
    """Call policies by their new names; a policy that is gone is told about no more."""
    _SCHEDULES.put(session, _renamed(schedules(session), renames))


def _renamed(kept: Iterable[Schedule], renames: Renames) -> Iterable[Schedule]:
    for one in kept:
        names = tuple(renames.current(Kind.POLICY, name) for name in one.policies)
        if names != one.policies:
            yield replace(one, policies=names)
