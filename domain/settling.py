"""Settle: everybody asks, pool after pool, until nobody moves on (ALLOCATION.md, "Settle").

The page speaks of tasks; here whole groups ask (`domain.asking`). A pass starts at the first pool
whose askers changed and leaves out every pool that would find everything as before; what is left
out would have repeated its answer.
"""

from collections.abc import Container, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from domain.asking import Asking, asking
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


def settle(groups: Sequence[Group], order: Order, terms: Terms) -> list[Asking]:
    """Who is accepted. Strict queues whose later tasks got past an earlier one settle again.

    Only tasks that fit their policy's budget and the room of some pool take part: one over its
    whole budget is passed over wherever it asks, one without room anywhere moves on to the end, and
    neither takes anything from anybody.
    """
    rooms = [terms.room(pool) for pool in range(len(terms.free))]
    most = [
        min(terms.budgets[group.policy], max(map(rooms.__getitem__, group.pools), default=0))
        for group in groups
    ]
    askings = [asking(group, units) for group, units in zip(groups, most, strict=True)]
    taking_part = [one for one in askings if one is not None]
    # In a strict queue whose first task cannot be accepted nobody can, whoever is barred.
    if all(
        group.is_strict and group.units[group.pending[0]] > units
        for group, one, units in zip(groups, askings, most, strict=True)
        if one is not None
    ):
        return []
    while True:
        _Passes(askings, order, terms).run()
        past = [_past(one) for one in taking_part]
        if not any(past):
            return taking_part
        for one, barred in zip(taking_part, past, strict=True):
            one.restart(barred)


def _past(one: Asking) -> list[int]:
    """The places of a strict queue that were accepted past an earlier task that was not."""
    if not one.group.is_strict:
        return []
    accepted = sorted(place for places in one.accepted() for place in places)
    pending = one.group.pending
    in_turn = 0
    while in_turn < len(accepted) and accepted[in_turn] == pending[in_turn]:
        in_turn += 1
    return accepted[in_turn:]


class _Passes:
    """The passes of one settle, from full amounts until none moves a task to a next pool."""

    def __init__(self, askings: Sequence[Asking | None], order: Order, terms: Terms) -> None:
        self.terms = terms
        self.asked: list[list[tuple[Asking, int]]] = [
            [(one, index) for number, index in there if (one := askings[number]) is not None]
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
        for one, index in self.asked[pool]:
            if not one.asks(index):
                continue
            group = one.group
            room = 0 if is_held else free[pool]
            if keeping is not None and room:
                room -= keeping.kept(group.policy, pool, free)
            taken, moved = one.visit(index, room, budgets[group.policy])
            if taken:
                free[pool] -= taken
                budgets[group.policy] -= taken
            if moved and index + 1 < len(group.pools):
                self.changed[group.pools[index + 1]] = True
