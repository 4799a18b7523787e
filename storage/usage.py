"""Usage over time, packed: of every hour its samples, its sums, and its part of the day's sums.

Samples are rows until their hour is over. Then all three pages are written and the rows deleted in
one transaction, so that whatever dies when, each sample counts once in each. A page is a document
of numbers; which policy and pool a number means stands in `series`, where renames reach it.
"""

import json
import zlib
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from fractions import Fraction
from itertools import groupby
from typing import Any

from sqlalchemy import delete, func, insert, select
from sqlalchemy.orm import Session

from domain.amounts import format_amount
from domain.ledger import Sample
from domain.usage import DAY, HOUR, Resolution, Since, Usage, added_up, start_of, usage_of
from storage import samples
from storage.tables import SampleRow, SeriesRow, UsageRow
from storage.values import put_rows, table_of

_SERIES = table_of(SeriesRow)
_PAGES = table_of(UsageRow)
_SAMPLES = table_of(SampleRow)
_SPAN = {Resolution.MINUTE: HOUR, Resolution.HOUR: HOUR, Resolution.DAY: DAY}
_LONGEST = timedelta(days=1)

Pair = tuple[str, str]


def pack(session: Session, before: datetime, since: Since) -> bool:
    """Pack the samples of the oldest hour that was over before then; False when there is none.

    What is kept begins with a whole day: of a part of one, the other part would be missed.
    """
    oldest = session.execute(select(func.min(_SAMPLES.c.at))).scalar()
    if oldest is None or start_of(oldest, HOUR) + HOUR > before:
        return False
    hour = start_of(oldest, HOUR)
    taken = samples.between(session, hour, hour + HOUR)
    numbers = _Numbers(session)
    uses = [usage_of(sample) for sample in taken]
    if hour >= start_of(since.minutes, DAY):
        earlier = _read(session, Resolution.MINUTE, hour)
        _write(session, Resolution.MINUTE, hour, _minutes(hour, taken, numbers, earlier))
    if hour >= start_of(since.hours, DAY):
        _add(session, Resolution.HOUR, added_up(uses, HOUR), numbers)
    _add(session, Resolution.DAY, added_up(uses, DAY), numbers)
    gone = delete(_SAMPLES).where(_SAMPLES.c.at >= hour, _SAMPLES.c.at < hour + HOUR)
    session.connection().execute(gone)
    return True


def forget(session: Session, since: Since) -> int:
    """Forget what is older than each resolution is kept, by whole days; how many pages."""
    count = 0
    for resolution, at in (
        (Resolution.MINUTE, since.minutes),
        (Resolution.HOUR, since.hours),
        (Resolution.DAY, since.days),
    ):
        old = (_PAGES.c.resolution == resolution, _PAGES.c.at < start_of(at, DAY))
        count += session.connection().execute(delete(_PAGES).where(*old)).rowcount
    return count


def between(session: Session, start: datetime, end: datetime) -> tuple[Usage, ...]:
    """What was used from `start` on and before `end`, as finely as it is kept, in order of time.

    An hour or a day that the period cuts into is given whole.
    """
    names = _names(session)
    found = [usage_of(sample) for sample in samples.between(session, start, end)]
    hours, days = _finer(session, start, end)
    for resolution, at, document in _pages(session, start, end):
        if resolution is Resolution.MINUTE:
            each = (usage_of(one) for one in _samples(at, document, names))
            found += [one for one in each if start <= one.at < end]
        elif (resolution is Resolution.HOUR and at not in hours) or (
            resolution is Resolution.DAY and at not in days
        ):
            found += _usages(at, _SPAN[resolution], document, names)
    return tuple(sorted(found, key=lambda one: (one.at, one.policy, one.pool)))


def _names(session: Session) -> dict[int, Pair]:
    """The policy and pool that each number means."""
    return {row.id: (row.policy, row.pool) for row in session.execute(select(_SERIES))}


class _Numbers:
    """The number of each policy and pool; a new one for those that have none yet."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self.names = _names(session)
        # After a rename two may mean the same; the older one goes on.
        self._known = {pair: number for number, pair in sorted(self.names.items(), reverse=True)}

    def of(self, policy: str, pool: str) -> int:
        pair = (policy, pool)
        if pair not in self._known:
            statement = insert(_SERIES).values(policy=policy, pool=pool)
            (key,) = self._session.connection().execute(statement).inserted_primary_key or (0,)
            self._known[pair] = int(key)
            self.names[int(key)] = pair
        return self._known[pair]


def _minutes(
    hour: datetime, taken: Sequence[Sample], numbers: _Numbers, earlier: list[Any] | None
) -> list[Any]:
    """A minute's samples are a list; those of the next are mostly the same, and shrink well."""
    made = list(earlier or ())
    for (at, seconds), group in groupby(taken, key=lambda one: (one.at, one.seconds)):
        rows = sorted(
            [numbers.of(one.policy, one.pool), format_amount(one.used), one.running, one.waiting]
            for one in group
        )
        made.append([(at - hour) // timedelta(microseconds=1), seconds, rows])
    return made


def _samples(hour: datetime, document: Iterable[Any], names: dict[int, Pair]) -> Iterator[Sample]:
    for offset, seconds, rows in document:
        at = hour + timedelta(microseconds=offset)
        for number, used, running, waiting in rows:
            policy, pool = names[number]
            yield Sample(
                at=at, policy=policy, pool=pool, used=Fraction(used), running=running,
                waiting=waiting, seconds=seconds,
            )  # fmt: skip


def _add(
    session: Session, resolution: Resolution, usages: Sequence[Usage], numbers: _Numbers
) -> None:
    """Add to the page of an hour or a day."""
    at, length = usages[0].at, usages[0].length
    earlier = _usages(at, length, _read(session, resolution, at) or (), numbers.names)
    rows = [
        [
            numbers.of(one.policy, one.pool),
            one.seconds,
            format_amount(one.used),
            format_amount(one.peak),
            one.running,
            one.waiting,
        ]
        for one in added_up((*earlier, *usages), length)
    ]
    _write(session, resolution, at, rows)


def _usages(
    at: datetime, length: timedelta, document: Iterable[Any], names: dict[int, Pair]
) -> list[Usage]:
    return [
        Usage(
            at=at,
            length=length,
            policy=names[number][0],
            pool=names[number][1],
            seconds=seconds,
            used=Fraction(used),
            peak=Fraction(peak),
            running=running,
            waiting=waiting,
        )
        for number, seconds, used, peak, running, waiting in document
    ]


def _finer(session: Session, start: datetime, end: datetime) -> tuple[set[datetime], set[datetime]]:
    """The hours of which there are minutes, and the days of which there are hours.

    Of a day that the period cuts into, what is finer may all lie outside it.
    """
    whole = (_PAGES.c.at >= start_of(start, DAY), _PAGES.c.at < start_of(end, DAY) + DAY)
    finer = _PAGES.c.resolution.in_([Resolution.MINUTE, Resolution.HOUR])
    rows = session.execute(select(_PAGES.c.resolution, _PAGES.c.at).where(finer, *whole)).all()
    minutes = {row.at for row in rows if row.resolution is Resolution.MINUTE}
    return minutes, {start_of(row.at, DAY) for row in rows}


def _pages(
    session: Session, start: datetime, end: datetime
) -> list[tuple[Resolution, datetime, list[Any]]]:
    # Every resolution is named so that the primary key serves.
    every = _PAGES.c.resolution.in_(list(Resolution))
    statement = select(_PAGES).where(every, _PAGES.c.at > start - _LONGEST, _PAGES.c.at < end)
    rows = session.execute(statement.order_by(_PAGES.c.at)).all()
    return [
        (row.resolution, row.at, _unpacked(row.document))
        for row in rows
        if row.at + _SPAN[row.resolution] > start
    ]


def _read(session: Session, resolution: Resolution, at: datetime) -> list[Any] | None:
    same = (_PAGES.c.resolution == resolution, _PAGES.c.at == at)
    document = session.execute(select(_PAGES.c.document).where(*same)).scalar()
    return None if document is None else _unpacked(document)


def _write(session: Session, resolution: Resolution, at: datetime, document: list[Any]) -> None:
    packed = zlib.compress(json.dumps(document, separators=(",", ":")).encode(), 9)
    put_rows(session, _PAGES, [{"resolution": resolution, "at": at, "document": packed}])


def _unpacked(document: bytes) -> list[Any]:
    found: list[Any] = json.loads(zlib.decompress(document))
    return found
