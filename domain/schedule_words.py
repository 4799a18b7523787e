"""Schedules as people write them: `09:00 mon-fri Europe/Berlin`."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import time
from difflib import get_close_matches
from functools import lru_cache
from typing import Final
from zoneinfo import available_timezones

from domain.names import quoted
from domain.schedules import Timing

_DAYS: Final = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_FULL: Final = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_SPANS: Final = {
    "daily": frozenset(range(7)),
    "weekdays": frozenset(range(5)),
    "weekends": frozenset({5, 6}),
}
_TIME: Final = re.compile(r"([01]?[0-9]|2[0-3]):([0-5][0-9])")


@dataclass(frozen=True, kw_only=True)
class Misreading:
    """Why a text is no schedule: a sentence without its full stop, with the remedy."""

    reason: str


def parse_schedule(text: str, zone: str = "UTC") -> Timing | Misreading:
    """Read `TIME [days] [zone]`: in any case, every day where no days are said, `zone` if none.

    Days are names (`mon`, `monday`), ranges (`fri-mon`), `daily`, `weekdays` or `weekends`, with
    commas or spaces between them.
    """
    first, *rest = text.split() or [""]
    if (found := _TIME.fullmatch(first)) is None:
        return Misreading(reason=f"{_said(first)} is no time; write it as 09:00")
    days: frozenset[int] = frozenset()
    named: str | None = None
    for word in rest:
        if read := _days(word):
            days |= read
        elif named is None and (known := _zones().get(word.lower())) is not None:
            named = known
        else:
            return Misreading(reason=_unread(word))
    at = time(int(found[1]), int(found[2]))
    return Timing(at=at, days=days or _SPANS["daily"], zone=named or zone)


def schedule_text(timing: Timing) -> str:
    """A text that `parse_schedule` reads so, as `09:00 mon-fri Europe/Berlin`."""
    return f"{timing.at:%H:%M} {_days_text(timing.days)} {timing.zone}"


def _days(word: str) -> frozenset[int]:
    """The days that a word means, none where it means something else."""
    days: set[int] = set()
    for part in word.lower().strip(",").split(","):
        if (read := _SPANS.get(part) or _range(part)) is None:
            return frozenset()
        days |= read
    return frozenset(days)


def _range(part: str) -> frozenset[int] | None:
    first, dash, last = part.partition("-")
    start, end = _day(first), _day(last if dash else first)
    if start is None or end is None:
        return None
    return frozenset((start + step) % 7 for step in range((end - start) % 7 + 1))


def _day(name: str) -> int | None:
    for names in (_DAYS, _FULL):
        if name in names:
            return names.index(name)
    return None


def _days_text(days: Iterable[int]) -> str:
    """Runs of three days or more as ranges."""
    if (chosen := frozenset(days)) == _SPANS["daily"]:
        return "daily"
    runs: list[list[int]] = []
    for day in sorted(chosen):
        if runs and runs[-1][-1] == day - 1:
            runs[-1].append(day)
        else:
            runs.append([day])
    return ",".join(_run_text(run) for run in runs)


def _run_text(run: list[int]) -> str:
    if len(run) > 2:
        return f"{_DAYS[run[0]]}-{_DAYS[run[-1]]}"
    return ",".join(_DAYS[day] for day in run)


def _unread(word: str) -> str:
    """Why a word is neither days nor a zone, or is one too many."""
    if word.lower() in _zones():
        return f"{_said(word)} is a second time zone; name one"
    if (near := _near(word.lower())) is None:
        return f"{_said(word)} is neither days nor a time zone; write mon-fri or Europe/Berlin"
    return f"{_said(word)} is neither days nor a time zone; did you mean {near}?"


def _near(word: str) -> str | None:
    """What somebody may have meant: the zone of a city, or something spelt like it."""
    cities = [zone for low, zone in _zones().items() if low.rpartition("/")[2] == word]
    if cities:
        return cities[0]
    near = get_close_matches(word, [*_DAYS, *_FULL, *_SPANS, *_zones()], n=1)
    return _zones().get(near[0], near[0]) if near else None


def _said(word: str) -> str:
    return quoted(word if len(word) <= 40 else f"{word[:40]}…")


@lru_cache(maxsize=1)
def _zones() -> dict[str, str]:
    """Lower case → the name as IANA has it."""
    return {zone.lower(): zone for zone in sorted(available_timezones())}
