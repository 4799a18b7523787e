"""Holds: a large task that has waited long keeps a pool from a stream of small ones.

ALLOCATION.md, shared tier.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TypeAlias

from domain.demand import Books, Group, Units
from domain.snapshot import Snapshot, Task

Turn: TypeAlias = tuple[int, int, datetime, int, str]


@dataclass(slots=True, eq=False)
class _Lot:
    """The old tasks of one queue that have one size: they are starved, or not, together.

    They would all hold `pool`, the first of their precedence that is large enough when empty.
    """

    group: Group
    units: Units
    pool: int
    places: list[int]
    _queued: list[int] = field(default_factory=list)
    _named: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        tasks = self.group.queue.tasks
        # The last of the list is the first in turn, so that tasks leave at its end.
        self._queued = sorted(self.places, key=lambda p: (tasks[p].first_seen, p), reverse=True)
        self._named = sorted(
            self.places, key=lambda p: (tasks[p].first_seen, tasks[p].id), reverse=True
        )

    def first(self, gone: set[int], *, by_name: bool) -> int | None:
        """The place whose turn is first, without the `gone`: ties go by place, or by id."""
        turns = self._named if by_name else self._queued
        while turns and turns[-1] in gone:
            turns.pop()
        return turns[-1] if turns else None


@dataclass(slots=True, eq=False)
class Holds:
    """The tasks that have waited long enough to hold a pool, once they starve."""

    _lots: Sequence[_Lot]
    _gone: dict[Group, set[int]] = field(default_factory=dict)

    def leave(self, group: Group, places: Iterable[int]) -> None:
        """Those tasks were dispatched."""
        if self._lots:
            self._gone.setdefault(group, set()).update(places)

    def holders(self, books: Books) -> dict[int, Task]:
        """Pool → the starved task that holds it, as the books stand."""
        best: dict[int, tuple[Turn, Task]] = {}
        for lot in self._lots:
            turn = self._turn(lot, books)
            if turn is not None and (lot.pool not in best or turn[0] < best[lot.pool][0]):
                best[lot.pool] = turn
        return {pool: task for pool, (_, task) in best.items()}

    def _turn(self, lot: _Lot, books: Books) -> tuple[Turn, Task] | None:
        """The lot's first task and its place among all starved ones; None: it does not starve."""
        group, policy = lot.group, lot.group.policy
        if any(books.free[pool] >= lot.units for pool in group.pools):
            return None
        limit, usage = books.limits[policy], books.usage[policy]
        is_inside = usage + lot.units <= books.reservations[policy]
        if not is_inside and limit is not None and usage + lot.units > limit:
            return None
        place = lot.first(self._gone.get(group, set()), by_name=not is_inside)
        if place is None:
            return None
        task = group.queue.tasks[place]
        if is_inside:
            return (0, policy, task.first_seen, place, task.id), task
        return (1, 0, task.first_seen, 0, task.id), task


def find_holds(snapshot: Snapshot, groups: Iterable[Group], books: Books) -> Holds:
    """Who has waited `hold_after` or longer; nobody when it is None."""
    if snapshot.hold_after is None:
        return Holds([])
    try:
        latest = snapshot.taken_at - snapshot.hold_after
    except OverflowError:  # longer than the calendar goes back
        return Holds([])
    lots = []
    for group in groups:
        tasks = group.queue.tasks
        old: dict[Units, list[int]] = {}
        for place in group.pending:
            if tasks[place].first_seen <= latest:
                old.setdefault(group.units[place], []).append(place)
        for units, places in old.items():
            pool = next(pool for pool in group.pools if books.resources[pool] >= units)
            lots.append(_Lot(group, units, pool, places))
    return Holds(lots)
