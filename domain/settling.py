"""Settle: everybody asks, pool after pool, until nobody moves on (ALLOCATION.md, "Settle").

The page speaks of tasks; here whole groups ask. A fixed queue's tasks are alike, so a pass moves
their count. Of a dynamic queue it moves lists of places, and what can no longer fit is moved in
one piece. A pass starts at the first pool whose askers changed and leaves out every pool that
would find everything as before; what is left out would have repeated its answer.
"""

from bisect import bisect_left
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from domain.demand import Group, Units
from domain.keeping import Keeping

Order: TypeAlias = Sequence[Sequence[tuple[int, int]]]
"""By pool, who asks it: (group, place of the pool in the group's precedence), by execution
priority, then policy priority."""


@dataclass(frozen=True, slots=True)
class Terms:
    """What a settle may give out: free amounts by pool, budgets by policy, and the protections."""

    free: Sequence[Units]
    budgets: Sequence[Units]
    held: Container[int] = ()
    keeping: Keeping | None = None

    def room(self, pool: int) -> Units:
        """What the pool could give at most, as long as nobody has taken anything."""
        return 0 if pool in self.held else self.free[pool]


class Asking(Protocol):
    """A group while it settles; `index` is a place in its precedence of pools."""

    group: Group

    def asks(self, index: int) -> bool:
        """Whether any task asks that pool."""

    def visit(self, index: int, room: Units, budget: Units) -> tuple[Units, bool]:
        """The pool answers all that ask it: what they took, and whether any moved on."""

    def accepted(self) -> Sequence[Sequence[int]]:
        """By index in the precedence, the places of the tasks that the pool accepted."""


class FixedAsking:
    """A fixed queue: all alike, so counts suffice, and the first in the queue get the places."""

    __slots__ = ("_asking", "_unit", "_won", "group")

    def __init__(self, group: Group) -> None:
        self.group = group
        self._unit = group.units[group.pending[0]]
        # One more than there are pools: who has asked the last asks none.
        self._asking = [len(group.pending), *[0] * len(group.pools)]
        self._won = [0] * len(group.pools)

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
        places, start = [], 0
        for won in self._won:
            places.append(self.group.pending[start : start + won])
            start += won
        return places


class SizedAsking:
    """A dynamic queue: each task has its own size, and they are asked in queue order.

    No size of `places` lies outside `bounds`, the smallest and the largest.
    """

    __slots__ = ("_asking", "_bounds", "_won", "group")

    def __init__(self, group: Group, places: list[int], bounds: tuple[Units, Units]) -> None:
        self.group = group
        self._bounds = bounds
        # Lists are replaced, never changed: `places` may be the group's own.
        self._asking: list[list[int]] = [places, *[[]] * len(group.pools)]
        self._won: list[list[int]] = [[]] * len(group.pools)

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


def settle(groups: Sequence[Group], order: Order, terms: Terms) -> list[Asking]:
    """Who is accepted. Strict queues whose later tasks got past an earlier one settle again."""
    places = {
        number: eligible
        for number, group in enumerate(groups)
        if (eligible := _eligible(group, terms))
    }
    # In a strict queue whose first task cannot be accepted nobody can, whoever is barred.
    if all(_is_blocked(groups[number], eligible) for number, eligible in places.items()):
        return []
    bounds = {number: _bounds(groups[number], eligible) for number, eligible in places.items()}
    while True:
        askings: list[Asking | None] = [None] * len(groups)
        for number, eligible in places.items():
            group = groups[number]
            askings[number] = (
                FixedAsking(group)
                if group.is_fixed
                else SizedAsking(group, eligible, bounds[number])
            )
        _Passes(askings, order, terms).run()
        barred = False
        for number, asking in enumerate(askings):
            if asking is not None and (past := _past(asking)):
                barred = True
                places[number] = without(places[number], past)
                if not places[number]:
                    del places[number]
        if not barred:
            return [asking for asking in askings if asking is not None]


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


def _eligible(group: Group, terms: Terms) -> list[int]:
    """The pending places that this settle could accept; the others would take nothing from anybody.

    A task over its whole budget is passed over wherever it asks; one that no pool of its has room
    for moves on to the end.
    """
    if not group.pending:
        return []
    most = min(terms.budgets[group.policy], max(terms.room(pool) for pool in group.pools))
    if group.is_fixed:
        return group.pending if group.units[group.pending[0]] <= most else []
    units = group.units
    return [place for place in group.pending if units[place] <= most]


def _bounds(group: Group, places: Sequence[int]) -> tuple[Units, Units]:
    units = group.units
    sizes = {units[place] for place in places[: 1 if group.is_fixed else None]}
    return min(sizes), max(sizes)


def _is_blocked(group: Group, eligible: Sequence[int]) -> bool:
    return group.is_strict and eligible[0] != group.pending[0]


def _past(asking: Asking) -> list[int]:
    """The places of a strict queue that were accepted past an earlier task that was not."""
    if not asking.group.is_strict:
        return []
    accepted = sorted(place for places in asking.accepted() for place in places)
    pending = asking.group.pending
    in_turn = 0
    while in_turn < len(accepted) and accepted[in_turn] == pending[in_turn]:
        in_turn += 1
    return accepted[in_turn:]


class _Passes:
    """The passes of one settle, from full amounts until none moves a task to a next pool."""

    def __init__(self, askings: Sequence[Asking | None], order: Order, terms: Terms) -> None:
        self.terms = terms
        self.asked: list[list[tuple[Asking, int]]] = [
            [(asking, index) for number, index in there if (asking := askings[number]) is not None]
            for there in order
        ]
        self.changed = [bool(there) for there in self.asked]
        pools = range(len(order))
        # What each pool found and left when it last answered: budgets, and the free amounts.
        self.found: list[list[Units] | None] = [None for _ in pools]
        self.left: list[list[Units]] = [[] for _ in pools]
        self.saw: list[list[Units]] = [[] for _ in pools]
        self.free = list(terms.free)

    def run(self) -> None:
        start = 0
        while any(self.changed):
            start = self.changed.index(True)
            self._from(start)

    def _from(self, start: int) -> None:
        found = self.found[start]
        budgets = list(self.terms.budgets) if found is None else list(found)
        # Free amounts before `start` stay as this pass would leave them again.
        free = self.free[:start] + list(self.terms.free[start:])
        remembered = self.free
        self.free = free
        for pool in range(start, len(self.asked)):
            if self._would_repeat(pool, budgets):
                budgets = list(self.left[pool])
                free[pool] = remembered[pool]
                continue
            self.changed[pool] = False
            self.found[pool] = list(budgets)
            self.saw[pool] = free[:pool] if self.terms.keeping else []
            self._answer(pool, budgets)
            self.left[pool] = list(budgets)

    def _would_repeat(self, pool: int, budgets: list[Units]) -> bool:
        if self.changed[pool] or self.found[pool] != budgets:
            return False
        # What is kept in a pool depends on what earlier pools have left.
        return self.terms.keeping is None or self.saw[pool] == self.free[:pool]

    def _answer(self, pool: int, budgets: list[Units]) -> None:
        """The pool goes through all that ask it."""
        free, keeping = self.free, self.terms.keeping
        is_held = pool in self.terms.held
        for asking, index in self.asked[pool]:
            if not asking.asks(index):
                continue
            group = asking.group
            room = 0 if is_held else free[pool]
            if keeping is not None and room:
                room -= keeping.kept(group.policy, pool, free)
            taken, moved = asking.visit(index, room, budgets[group.policy])
            if taken:
                free[pool] -= taken
                budgets[group.policy] -= taken
            if moved and index + 1 < len(group.pools):
                self.changed[group.pools[index + 1]] = True
