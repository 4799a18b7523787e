"""When digests are due, by the wall clock of a time zone, across its changes.

A digest belongs to a local date (DESIGN.md, "Digest per team channel"), and is due at the first
instant at which the clock there shows the scheduled time or later. So the hour that an autumn
change repeats sends nothing twice, and the one that a spring change leaves out loses nothing.
"""

from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

_DAY = timedelta(days=1)
_SECOND = timedelta(seconds=1)


@dataclass(frozen=True, kw_only=True)
class Timing:
    """A time of day on some weekdays (0 is Monday) in an IANA time zone."""

    at: time
    days: frozenset[int]
    zone: str


@dataclass(frozen=True, kw_only=True)
class Schedule(Timing):
    """When a channel gets its digest, of which policies (none: all), and who said so when."""

    channel: str
    policies: tuple[str, ...] = ()
    on: bool = True
    by: str
    changed_at: datetime


def due(schedule: Schedule, now: datetime, last: date | None) -> date | None:
    """The local date whose digest is to be sent now, None when there is none.

    `last` is the date of the last digest. After a time without a running program only the latest
    digest that was missed is due. What lay before the schedule was last changed never is. Raises
    ZoneInfoNotFoundError where this machine does not know the zone.
    """
    if not schedule.on or not schedule.days:
        return None
    # Where the clock goes back over midnight, tomorrow has begun once already.
    latest = now.astimezone(ZoneInfo(schedule.zone)).date() + _DAY
    dates = (latest - days * _DAY for days in range(9))
    passed = (day for day in dates if _is_on(schedule, day) and instant(schedule, day) <= now)
    found = next(passed, None)
    if found is None or (last is not None and found <= last):
        return None
    return found if instant(schedule, found) >= schedule.changed_at else None


def period(timing: Timing, day: date) -> tuple[datetime, datetime]:
    """What the digest of that date tells about, in UTC: since the scheduled date before it.

    Raises ValueError for a schedule without days.
    """
    before = (day - days * _DAY for days in range(1, 8))
    start = next((other for other in before if _is_on(timing, other)), None)
    if start is None:
        raise ValueError("a schedule without days has no periods")
    return instant(timing, start), instant(timing, day)


def instant(timing: Timing, day: date) -> datetime:
    """When the clock first shows the time of that date or a later one, in UTC."""
    zone = ZoneInfo(timing.zone)
    wall = datetime.combine(day, timing.at)
    first, second = (wall.replace(tzinfo=zone, fold=fold).astimezone(UTC) for fold in (0, 1))
    if first <= second:
        return first
    # The clock jumps over that time, somewhere between the two: find where it lands.
    while first - second > _SECOND:
        middle = second + (first - second) // _SECOND // 2 * _SECOND
        shown = middle.astimezone(zone).replace(tzinfo=None)
        first, second = (middle, second) if shown >= wall else (first, middle)
    return first


def _is_on(timing: Timing, day: date) -> bool:
    return day.weekday() in timing.days
