"""Kept reservations: how low others may draw a pool before an unlent reservation loses by it.

ALLOCATION.md, shared tier. A *keeper* is a policy with `lend: false` below its reservation; what
the keepers could still place together is a maximum flow from them to their pools.

The page lets a pool take from one keeper only whole multiples of that keeper's smallest allotment
there. That is read as the capacity of the edge: the largest whole multiple that both what the
keeper is owed and what the pool has free allow. Demanding whole multiples of every flow instead
would be an integer program, for which no near-linear answer exists; rounding only what is free
would let a keeper that is owed 6 keep 6 for its 4-GPU jobs.
"""

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from domain.configuration import Configuration
from domain.demand import Books, Units

Allotments: TypeAlias = Sequence[Mapping[int, Units]]
"""By policy: the smallest allotment with which it is linked to each of its pools."""


@dataclass(frozen=True, slots=True)
class Keeper:
    """A policy that is owed `owed`; `allotments` gives its smallest one by linked pool."""

    policy: int
    owed: Units
    allotments: Mapping[int, Units]


@dataclass(slots=True, eq=False)
class Keeping:
    """The keepers of one settle. Answers are remembered: passes ask the same again and again."""

    keepers: Sequence[Keeper]
    _flows: dict[tuple[int | None, tuple[Units, ...]], Units] = field(default_factory=dict)
    _least: dict[tuple[int | None, int, tuple[Units, ...]], Units] = field(default_factory=dict)

    def kept(self, policy: int, pool: int, free: Sequence[Units]) -> Units:
        """The least that must stay free in `pool` so that the *other* keepers lose nothing.

        `free` is by pool, as a pass has left it. The answer stays right while `policy` takes from
        the pool no more than it allows.
        """
        if not free[pool]:
            return 0
        left_out = policy if any(keeper.policy == policy for keeper in self.keepers) else None
        key = (left_out, pool, tuple(free))
        if key not in self._least:
            self._least[key] = self._search(left_out, pool, list(free))
        return self._least[key]

    def _search(self, left_out: int | None, pool: int, free: list[Units]) -> Units:
        """The smallest amount in the pool that leaves the flow as it is.

        Two cuts bound the flow: the pool must take what the others cannot (`needed`), and its
        edges must be wide enough; they widen at multiples of an allotment only.
        """
        allotments = {
            keeper.allotments[pool]
            for keeper in self.keepers
            if keeper.policy != left_out and pool in keeper.allotments
        }
        if not allotments:
            return 0
        there, flow = free[pool], self._flow(left_out, free)

        def suffices(amount: Units) -> bool:
            free[pool] = amount
            return self._flow(left_out, free) == flow

        free[pool] = 0
        needed = flow - self._flow(left_out, free)
        if not needed or suffices(needed):
            return needed
        wide = []
        for allotment in allotments:
            low, high = needed // allotment, there // allotment
            if not suffices(high * allotment):
                continue
            while low < high:
                middle = (low + high) // 2
                low, high = (low, middle) if suffices(middle * allotment) else (middle + 1, high)
            wide.append(low * allotment)
        return min(wide)

    def _flow(self, left_out: int | None, free: Sequence[Units]) -> Units:
        key = (left_out, tuple(free))
        if key not in self._flows:
            keepers = [keeper for keeper in self.keepers if keeper.policy != left_out]
            self._flows[key] = placeable(keepers, free)
        return self._flows[key]


def smallest_allotments(
    configuration: Configuration, allotment: Mapping[str, Units]
) -> list[dict[int, Units]]:
    """For each policy, the smallest allotment of its profiles in each pool that they link to.

    `allotment` is by profile name; a dynamic profile counts with its default.
    """
    numbers = {pool.name: number for number, pool in enumerate(configuration.pools)}
    by_policy = []
    for policy in configuration.policies:
        smallest: dict[int, Units] = {}
        for queue in policy.queues:
            units = allotment[queue.profile]
            for link in configuration.profile_by_name[queue.profile].pools:
                pool = numbers[link.pool]
                smallest[pool] = min(units, smallest.get(pool, units))
        by_policy.append(smallest)
    return by_policy


def keepers_now(configuration: Configuration, allotments: Allotments, books: Books) -> list[Keeper]:
    """Who keeps, and how much each is owed, as the books stand."""
    keepers = []
    for number, policy in enumerate(configuration.policies):
        owed = books.reservations[number] - books.usage[number]
        if not policy.lend and owed > 0:
            keepers.append(Keeper(number, owed, allotments[number]))
    return keepers


def placeable(keepers: Sequence[Keeper], free: Sequence[Units]) -> Units:
    """The maximum flow from the keepers to the pools: what they could still place together."""
    return _Flow(keepers, free).maximum()


class _Flow:
    """A maximum flow by shortest augmenting paths; what is left of each capacity."""

    def __init__(self, keepers: Sequence[Keeper], free: Sequence[Units]) -> None:
        self.given: list[Units] = [0 for _ in keepers]
        self.owed: list[Units] = [keeper.owed for keeper in keepers]
        self.free: list[Units] = list(free)
        self.flow: list[dict[int, Units]] = [{} for _ in keepers]
        self.open: list[dict[int, Units]] = [
            {
                pool: min(keeper.owed, free[pool]) // allotment * allotment
                for pool, allotment in keeper.allotments.items()
            }
            for keeper in keepers
        ]

    def maximum(self) -> Units:
        for keeper, edges in enumerate(self.open):
            for pool in edges:
                amount = min(self.owed[keeper], self.free[pool], edges[pool])
                if amount > 0:
                    self._push([(keeper, pool)], amount)
        for keeper in range(len(self.open)):
            while self.owed[keeper] > 0 and (path := self._path(keeper)):
                self._push(path, self._narrowest(path))
        return sum(self.given)

    def _path(self, start: int) -> list[tuple[int, int]] | None:
        """The edges from `start` to a pool with room: forward at even places, backward at odd."""
        came_from: dict[int, int] = {}  # pool → the keeper that reached it
        undone: dict[int, int] = {}  # keeper → the pool that gives back to it
        queue = deque([start])
        while queue:
            keeper = queue.popleft()
            for pool, left in self.open[keeper].items():
                if left <= 0 or pool in came_from:
                    continue
                came_from[pool] = keeper
                if self.free[pool] > 0:
                    return _trace(start, pool, (came_from, undone))
                for other, flow in enumerate(self.flow):
                    if other != start and other not in undone and flow.get(pool, 0) > 0:
                        undone[other] = pool
                        queue.append(other)
        return None

    def _narrowest(self, path: list[tuple[int, int]]) -> Units:
        widths = [
            self.flow[keeper][pool] if place % 2 else self.open[keeper][pool]
            for place, (keeper, pool) in enumerate(path)
        ]
        return min(self.owed[path[0][0]], self.free[path[-1][1]], *widths)

    def _push(self, path: list[tuple[int, int]], amount: Units) -> None:
        for place, (keeper, pool) in enumerate(path):
            change = -amount if place % 2 else amount
            self.flow[keeper][pool] = self.flow[keeper].get(pool, 0) + change
            self.open[keeper][pool] -= change
        self.owed[path[0][0]] -= amount
        self.given[path[0][0]] += amount
        self.free[path[-1][1]] -= amount


def _trace(
    start: int, pool: int, steps: tuple[dict[int, int], dict[int, int]]
) -> list[tuple[int, int]]:
    came_from, undone = steps
    keeper = came_from[pool]
    path = [(keeper, pool)]
    while keeper != start:
        back = undone[keeper]
        path += [(keeper, back), (came_from[back], back)]
        keeper = came_from[back]
    path.reverse()
    return path
