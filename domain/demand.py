"""What a round decides about: the waiting tasks by intake queue, and amounts in whole units.

All amounts of a round are scaled to integers by their common denominator, once. Tasks can carry
any denominator, though: where the common one gets out of hand, the exact rationals stay.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Final, TypeAlias

from domain.amounts import Amount, parse_amount
from domain.configuration import Profile, Queueing
from domain.snapshot import Reason, Snapshot, WaitingQueue

Units: TypeAlias = int | Fraction
"""An amount as a multiple of the round's unit. Both kinds add, compare and floor-divide alike."""

_LARGEST_FACTOR: Final = 2**256
_FEW: Final = 4
"""A queue has few sizes when this many tasks or more share each of them, on average."""


@dataclass(slots=True, eq=False)
class Size:
    """One amount, shared by all tasks that have it; `units` is known once all amounts are."""

    amount: Amount
    units: Units = 0


@dataclass(slots=True, eq=False)
class Group:
    """The tasks of one intake queue; a place is an index into `queue.tasks`.

    `policy` and `pools` are indexes into the configuration, `pools` in the profile's precedence.
    `sizes` and `units` say what each place's task consumes. `pending` are the places still to be
    decided, in queue order; `never` the places of tasks that can never run, with the reason.
    """

    queue: WaitingQueue
    profile: Profile
    policy: int
    pools: tuple[int, ...]
    sizes: Sequence[Size]
    units: Sequence[Units] = ()
    pending: list[int] = field(default_factory=list)
    never: dict[int, Reason] = field(default_factory=dict)
    has_few_sizes: bool = False
    _lots: dict[Units, list[int]] | None = None

    @property
    def is_fixed(self) -> bool:
        return not self.profile.is_dynamic

    @property
    def is_strict(self) -> bool:
        return self.profile.is_dynamic and self.profile.queueing is Queueing.STRICT

    def lots(self) -> dict[Units, list[int]]:
        """The pending places by size, in queue order."""
        if self._lots is None:
            self._lots = {}
            for place in self.pending:
                self._lots.setdefault(self.units[place], []).append(place)
        return self._lots

    def leave(self, places: Iterable[int]) -> None:
        """Those tasks are decided."""
        gone = set(places)
        self.pending = [place for place in self.pending if place not in gone]
        self._lots = None


@dataclass(slots=True, eq=False)
class Books:
    """Pools and policies in units, by their index in the configuration.

    `used` counts allocations and foreign use, `free` never falls below 0 (a pool can have been
    shrunk under its load). A reservation above the limit counts as the limit; a limit of None is
    no limit.
    """

    resources: Sequence[Units]
    used: list[Units]
    free: list[Units]
    reservations: Sequence[Units]
    limits: Sequence[Units | None]
    usage: list[Units]

    def take(self, pool: int, policy: int, amount: Units) -> None:
        """Counts what was dispatched."""
        self.used[pool] += amount
        self.free[pool] -= amount
        self.usage[policy] += amount


@dataclass(frozen=True, slots=True)
class Demand:
    """A snapshot, weighed: the groups in snapshot order and the books before the round.

    `factor` is how many units make an amount of 1; None: units are the exact amounts themselves.
    """

    groups: Sequence[Group]
    books: Books
    factor: int | None

    def units(self, amount: Amount) -> Units:
        return _units(amount, self.factor)

    def amount(self, units: Units) -> Amount:
        return Fraction(units) / (self.factor or 1)


def weigh(snapshot: Snapshot) -> Demand:
    """Brings everything to units and sets aside what can never run (ALLOCATION.md, step 1)."""
    sizes: dict[str, Size] = {}
    pools = {pool.name: number for number, pool in enumerate(snapshot.configuration.pools)}
    policies = {p.name: number for number, p in enumerate(snapshot.configuration.policies)}
    groups = []
    for queue in snapshot.queues:
        profile = snapshot.configuration.profile_by_name[queue.profile]
        groups.append(
            Group(
                queue=queue,
                profile=profile,
                policy=policies[queue.policy],
                pools=tuple(pools[link.pool] for link in profile.pools),
                sizes=_sizes(profile, queue, sizes),
            )
        )
    factor = _common_denominator(_all_amounts(snapshot, groups))
    books = _open_books(snapshot, factor)
    for group in groups:
        for size in set(group.sizes):
            size.units = _units(size.amount, factor)
        group.units = [size.units for size in group.sizes]
        _set_aside(group, books)
    return Demand(groups, books, factor)


def _sizes(profile: Profile, queue: WaitingQueue, known: dict[str, Size]) -> list[Size]:
    """What each task consumes; equal texts are read once, a round's tasks share a few of them."""
    default = Size(profile.allotment)
    if not profile.is_dynamic:
        return [default] * len(queue.tasks)
    sizes = []
    for task in queue.tasks:
        raw = task.parameter
        if raw is None:
            sizes.append(default)
        elif not isinstance(raw, str):
            amount = parse_amount(raw)
            sizes.append(default if amount is None else Size(amount))
        elif raw in known:
            sizes.append(known[raw])
        elif (amount := parse_amount(raw)) is not None:
            sizes.append(known.setdefault(raw, Size(amount)))
        else:
            sizes.append(default)
    return sizes


def _all_amounts(snapshot: Snapshot, groups: Iterable[Group]) -> Iterable[Amount]:
    configuration = snapshot.configuration
    yield from (pool.resources for pool in configuration.pools)
    yield from (profile.allotment for profile in configuration.profiles)
    yield from (policy.reservation for policy in configuration.policies)
    yield from (policy.limit for policy in configuration.policies if policy.limit is not None)
    yield from (allocation.amount for allocation in snapshot.allocations)
    yield from snapshot.foreign.values()
    for group in groups:
        yield from (size.amount for size in set(group.sizes))


def _common_denominator(amounts: Iterable[Amount]) -> int | None:
    """The least common denominator, or None where counting in it would cost more than it saves."""
    factor = 1
    for denominator in {amount.denominator for amount in amounts}:
        factor = math.lcm(factor, denominator)
        if factor > _LARGEST_FACTOR:
            return None
    return factor


def _units(amount: Amount, factor: int | None) -> Units:
    if factor is None:
        return amount
    return amount.numerator * (factor // amount.denominator)


def _open_books(snapshot: Snapshot, factor: int | None) -> Books:
    pools, policies = snapshot.configuration.pools, snapshot.configuration.policies
    used: dict[str, Units] = {name: _units(u, factor) for name, u in snapshot.foreign.items()}
    usage: dict[str, Units] = {}
    for allocation in snapshot.allocations:
        amount = _units(allocation.amount, factor)
        used[allocation.pool] = used.get(allocation.pool, 0) + amount
        usage[allocation.policy] = usage.get(allocation.policy, 0) + amount
    resources = [_units(pool.resources, factor) for pool in pools]
    in_use = [used.get(pool.name, 0) for pool in pools]
    limits = [None if p.limit is None else _units(p.limit, factor) for p in policies]
    promised = [_units(policy.reservation, factor) for policy in policies]
    return Books(
        resources=resources,
        used=in_use,
        free=[max(0, there - taken) for there, taken in zip(resources, in_use, strict=True)],
        reservations=[
            reservation if limit is None else min(reservation, limit)
            for reservation, limit in zip(promised, limits, strict=True)
        ],
        limits=limits,
        usage=[usage.get(policy.name, 0) for policy in policies],
    )


def _set_aside(group: Group, books: Books) -> None:
    limit = books.limits[group.policy]
    largest = max((books.resources[pool] for pool in group.pools), default=None)
    sizes = set(group.units)
    group.has_few_sizes = len(sizes) * _FEW <= len(group.units)
    reasons = {units: _never(units, largest, limit) for units in sizes}
    for place, units in enumerate(group.units):
        reason = reasons[units]
        if reason is None:
            group.pending.append(place)
        else:
            group.never[place] = reason


def _never(units: Units, largest: Units | None, limit: Units | None) -> Reason | None:
    if largest is None:
        return Reason.UNLINKED
    if units > largest:
        return Reason.TOO_LARGE
    return Reason.OVER_LIMIT_ALONE if limit is not None and units > limit else None
