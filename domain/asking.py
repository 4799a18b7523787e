"""How the groups ask: three ways to answer for a whole intake queue at once.

A fixed queue's tasks are alike, so counts suffice. A dynamic queue with few sizes asks size by
size, one with many asks task by task. All give what ALLOCATION.md's pass through a pool gives.
"""

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from heapq import heapify, heappop, heapreplace
from itertools import groupby
from typing import Protocol

from domain.demand import Group, Units


class Asking(Protocol):
    """A group while it settles; `index` is a place in its precedence of pools."""

    group: Group

    def restart(self, barred: Sequence[int]) -> None:
        """Every task asks its first pool again; the `barred`, ascending, never again."""

    def asks(self, index: int) -> bool:
        """Whether any task asks that pool."""

    def visit(self, index: int, room: Units, budget: Units) -> tuple[Units, bool]:
        """The pool answers all that ask it: what they took, and whether any moved on."""

    def accepted(self) -> Sequence[Sequence[int]]:
        """By index in the precedence, the places of the tasks that the pool accepted.

        Also empty where no pool accepted any.
        """


def asking(group: Group, most: Units) -> Asking | None:
    """The pending tasks of `most` or less, asking their first pool; None where there are none."""
    if not group.pending:
        return None
    if group.is_fixed:
        return FixedAsking(group) if group.units[group.pending[0]] <= most else None
    if group.has_few_sizes:
        lots = {size: places for size, places in group.lots().items() if size <= most}
        return LotAsking(group, lots) if lots else None
    units = group.units
    eligible = [place for place in group.pending if units[place] <= most]
    return SizedAsking(group, eligible) if eligible else None


class FixedAsking:
    """A fixed queue: the places that it wins go to the first in the queue."""

    __slots__ = ("_asking", "_unit", "_won", "group")

    def __init__(self, group: Group) -> None:
        self.group = group
        self._unit = group.units[group.pending[0]]
        self.restart(())

    def restart(self, barred: Sequence[int]) -> None:
        assert not barred, "nobody is barred from a fixed queue"
        # One more than there are pools: who has asked the last asks none.
        self._asking = [len(self.group.pending), *[0] * len(self.group.pools)]
        self._won = [0] * len(self.group.pools)

    def asks(self, index: int) -> bool:
        return self._asking[index] > 0

    def visit(self, index: int, room: Units, budget: Units) -> tuple[Units, bool]:
        unit, asking = self._unit, self._asking[index]
        won = max(0, min(asking, room // unit, budget // unit))
        self._won[index] = won
        taken = won * unit
        if won == asking or budget - taken < unit:
            return taken, False
        self._asking[index] = won
        self._asking[index + 1] += asking - won
        return taken, True

    def accepted(self) -> list[list[int]]:
        if not any(self._won):
            return []
        places, start = [], 0
        for won in self._won:
            places.append(self.group.pending[start : start + won])
            start += won
        return places


class SizedAsking:
    """A dynamic queue of many sizes, or of few tasks: they are answered one by one."""

    __slots__ = ("_asking", "_bounds", "_places", "_won", "group")

    def __init__(self, group: Group, places: list[int]) -> None:
        self.group = group
        sizes = [group.units[place] for place in places]
        self._bounds = min(sizes), max(sizes)
        self._places = places
        self.restart(())

    def restart(self, barred: Sequence[int]) -> None:
        if barred:
            self._places = without(self._places, barred)
        # Lists are replaced, never changed, so they can be shared.
        self._asking: list[list[int]] = [self._places, *[[]] * len(self.group.pools)]
        self._won: list[list[int]] = [[]] * len(self.group.pools)

    def asks(self, index: int) -> bool:
        return bool(self._asking[index])

    def visit(self, index: int, room: Units, budget: Units) -> tuple[Units, bool]:
        units, asking, full_budget = self.group.units, self._asking[index], budget
        smallest, largest = self._bounds
        won: list[int] = []
        stayed: list[int] = []
        moved: list[int] = []
        start = 0
        for place in asking if smallest <= room and smallest <= budget else ():
            start += 1
            size = units[place]
            if size > budget:
                stayed.append(place)
            elif size > room:
                moved.append(place)
            else:
                won.append(place)
                stayed.append(place)
                room -= size
                budget -= size
                if room < smallest or budget < smallest:
                    break
        # From here on nobody can be accepted: a task is passed over or moves on.
        self._won[index] = won
        rest = asking[start:] if start else asking
        if smallest > budget:
            stayed = stayed + rest
        elif largest <= budget:
            moved = moved + rest if moved else rest
        else:
            stayed += [place for place in rest if units[place] > budget]
            moved += [place for place in rest if units[place] <= budget]
        if moved:
            following = self._asking[index + 1]
            self._asking[index] = stayed
            self._asking[index + 1] = sorted(following + moved) if following else moved
        return full_budget - budget, bool(moved)

    def accepted(self) -> list[list[int]]:
        return self._won


class LotAsking:
    """A dynamic queue of few sizes: the tasks of one size move in slices.

    While a pool goes through the queue, what it has left only shrinks; so of each size the first
    are accepted, those after them move on, and from where the budget is too small the last stay.
    """

    __slots__ = ("_asking", "_bounds", "_lots", "_won", "group")

    def __init__(self, group: Group, lots: dict[Units, list[int]]) -> None:
        self.group = group
        self._bounds = min(lots), max(lots)
        self._lots = lots
        self.restart(())

    def restart(self, barred: Sequence[int]) -> None:
        units = self.group.units
        for size, places in groupby(sorted(barred, key=units.__getitem__), units.__getitem__):
            left = without(self._lots[size], places)
            if left:
                self._lots[size] = left
            else:
                del self._lots[size]
        # Lists are replaced, never changed, so they can be shared.
        self._asking: list[dict[Units, list[int]]] = [
            dict(self._lots),
            *({} for _ in self.group.pools),
        ]
        self._won: list[list[int]] = [[]] * len(self.group.pools)

    def asks(self, index: int) -> bool:
        return bool(self._asking[index])

    def accepted(self) -> list[list[int]]:
        return self._won

    def visit(self, index: int, room: Units, budget: Units) -> tuple[Units, bool]:
        asking = self._asking[index]
        smallest, largest = self._bounds
        self._won[index] = []
        if budget < smallest:
            return 0, False
        if room < smallest and budget >= largest:
            self._asking[index] = {}
            self._move(index + 1, asking)
            return 0, True
        scan = _Scan(asking, room, budget)
        moved = scan.run()
        self._won[index] = scan.won
        self._move(index + 1, moved)
        return budget - scan.budget, bool(moved)

    def _move(self, index: int, moved: dict[Units, list[int]]) -> None:
        following = self._asking[index]
        if not following:
            self._asking[index] = moved
            return
        for size, places in moved.items():
            before = following.get(size)
            following[size] = sorted(before + places) if before else places


class _Scan:
    """One pool's way through one queue, in queue order across its sizes."""

    def __init__(self, asking: dict[Units, list[int]], room: Units, budget: Units) -> None:
        self.asking = asking
        self.room = room
        self.budget = budget
        self.won: list[int] = []
        self._leaving: dict[Units, int] = {}  # size → where in its list they begin to move on
        self._moved: dict[Units, list[int]] = {}

    def run(self) -> dict[Units, list[int]]:
        """Accepts what fits; gives back, by size, who moves on, and takes them from `asking`."""
        asking = self.asking
        turns: list[tuple[int, Units]] = []
        starts = dict.fromkeys(asking, 0)
        for size, places in asking.items():
            if size <= self.budget:
                if size <= self.room:
                    turns.append((places[0], size))
                else:
                    self._leaving[size] = 0
        heapify(turns)
        while turns:
            place, size = turns[0]
            if size > self.budget or size > self.room:
                heappop(turns)
                if size <= self.budget:
                    self._leaving[size] = starts[size]
                continue
            self._accept(place, size)
            following = starts[size] = starts[size] + 1
            if following < len(asking[size]):
                heapreplace(turns, (asking[size][following], size))
            else:
                heappop(turns)
        for size, start in self._leaving.items():
            self._leave(size, start, len(asking[size]))
        return self._moved

    def _accept(self, place: int, size: Units) -> None:
        self.won.append(place)
        self.room -= size
        self.budget -= size
        for leaving in [other for other in self._leaving if other > self.budget]:
            # From this place on they are passed over, and stay.
            start = self._leaving.pop(leaving)
            self._leave(leaving, start, bisect_left(self.asking[leaving], place))

    def _leave(self, size: Units, start: int, end: int) -> None:
        places = self.asking[size]
        if start < end:
            self._moved[size] = places[start:end]
            self.asking[size] = places[:start] + places[end:]
        if not self.asking[size]:
            del self.asking[size]


def without(places: list[int], gone: Iterable[int]) -> list[int]:
    """The ascending `places` without the ascending `gone`, in whole slices between them."""
    left: list[int] = []
    start = 0
    for place in gone:
        end = bisect_left(places, place, start)
        if end > start:
            left += places[start:end]
        start = end + 1
    left += places[start:]
    return left
