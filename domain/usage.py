"""What policies used over time: samples by the minute, added up exactly to hours and days.

Days are UTC's. Adding up keeps GPU-seconds: an hour has those of its samples, a day those of its
hours, to the last fraction.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Final

from domain.amounts import ZERO, Amount
from domain.ledger import Sample

HOUR: Final = timedelta(hours=1)
DAY: Final = timedelta(days=1)


class Resolution(StrEnum):
    """How finely usage is kept."""

    MINUTE = "minute"
    """Every sample, in pages of an hour."""
    HOUR = "hour"
    DAY = "day"


@dataclass(frozen=True, kw_only=True, slots=True)
class Usage:
    """What one policy used of one pool from `at` on, for `length`; of no pool, what waited.

    `seconds` is how much of that was sampled, `used` is in GPU-seconds; `peak`, `running` and
    `waiting` are the most that was seen at a time.
    """

    at: datetime
    length: timedelta
    policy: str
    pool: str
    seconds: int
    used: Amount
    peak: Amount
    running: int
    waiting: int


@dataclass(frozen=True, kw_only=True)
class Since:
    """From when on each resolution is kept; what is older is not written, and forgotten."""

    minutes: datetime
    hours: datetime
    days: datetime


@dataclass(frozen=True, kw_only=True)
class Kept:
    """How long things are kept; `audit` is None for ever."""

    minutes: timedelta = timedelta(days=14)
    hours: timedelta = timedelta(days=180)
    days: timedelta = timedelta(days=1830)
    history: timedelta = timedelta(days=31)
    audit: timedelta | None = None

    def since(self, now: datetime) -> Since:
        """From when on usage is kept, by its resolution."""
        return Since(minutes=now - self.minutes, hours=now - self.hours, days=now - self.days)


def start_of(at: datetime, length: timedelta) -> datetime:
    """The beginning of the hour or the day, in UTC, that holds the instant."""
    day = at.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    return day + (at - day) // length * length


def usage_of(sample: Sample) -> Usage:
    """A sample stands for the seconds that it says."""
    return Usage(
        at=sample.at,
        length=timedelta(seconds=sample.seconds),
        policy=sample.policy,
        pool=sample.pool,
        seconds=sample.seconds,
        used=sample.used * sample.seconds,
        peak=sample.used,
        running=sample.running,
        waiting=sample.waiting,
    )


def added_up(usages: Iterable[Usage], length: timedelta) -> tuple[Usage, ...]:
    """The same by the hour or the day: one for each policy and pool in each, in order of time."""
    found: dict[tuple[datetime, str, str], Usage] = {}
    for one in usages:
        key = (start_of(one.at, length), one.policy, one.pool)
        so_far = found.get(key)
        found[key] = Usage(
            at=key[0],
            length=length,
            policy=one.policy,
            pool=one.pool,
            seconds=one.seconds + (so_far.seconds if so_far else 0),
            used=one.used + (so_far.used if so_far else ZERO),
            peak=max(one.peak, so_far.peak if so_far else ZERO),
            running=max(one.running, so_far.running if so_far else 0),
            waiting=max(one.waiting, so_far.waiting if so_far else 0),
        )
    return tuple(found[key] for key in sorted(found))
