"""One round's decision: which waiting tasks may start where, and why the others wait.

ALLOCATION.md is the definition. `allocate` gives its answer without walking through every task in
every pass: `domain.demand` weighs the snapshot, `domain.settling` settles whole groups, and
`domain.holding` and `domain.keeping` are the two protections of the shared tier.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from domain.amounts import Amount
from domain.configuration import Configuration
from domain.demand import Demand, Group, Units, weigh
from domain.holding import Holds, find_holds
from domain.keeping import Allotments, Keeping, keepers_now, smallest_allotments
from domain.settling import Order, Terms, settle
from domain.snapshot import (
    Dispatch,
    Plan,
    PolicyState,
    PoolState,
    Reason,
    Snapshot,
    Task,
    Tier,
    Waiting,
)


@dataclass(slots=True, eq=False)
class _Round:
    """What one round works on, and what it has decided so far."""

    snapshot: Snapshot
    demand: Demand
    order: Order
    holds: Holds
    allotments: Allotments
    dispatched: list[Dispatch] = field(default_factory=list)


def allocate(snapshot: Snapshot) -> Plan:
    """The plan of one round (ALLOCATION.md, "The procedure"). Pure; the same snapshot, same plan.

    Relies on what the doors have checked: references exist, names and tasks are unique, and
    priority lists name each linked profile and policy. Allocations and foreign use may name what
    is gone.
    """
    demand = weigh(snapshot)
    if not snapshot.enabled:
        waiting = [_waiting(group, _disabled(group)) for group in demand.groups]
        return _plan(snapshot, demand, [], waiting)
    round_ = _Round(
        snapshot,
        demand,
        _settle_order(snapshot.configuration, demand.groups),
        find_holds(snapshot, demand.groups, demand.books),
        _allotments(snapshot.configuration, demand),
    )
    for tier in Tier:
        _serve(round_, tier)
    return _plan(snapshot, demand, round_.dispatched, _all_waiting(round_))


def _serve(round_: _Round, tier: Tier) -> None:
    while askings := _accepted(round_, tier):
        _commit(round_, tier, askings)


def _accepted(round_: _Round, tier: Tier) -> dict[int, Sequence[Sequence[int]]]:
    """What one settle accepts: by group, the places by pool in the group's precedence."""
    terms = _terms(round_, tier)
    numbers = {id(group): number for number, group in enumerate(round_.demand.groups)}
    accepted = {
        numbers[id(asking.group)]: asking.accepted()
        for asking in settle(round_.demand.groups, round_.order, terms)
    }
    return {number: places for number, places in accepted.items() if any(places)}


def _terms(round_: _Round, tier: Tier) -> Terms:
    """Budgets (steps 2 and 3) and, in the shared tier, the protections as the books stand."""
    books = round_.demand.books
    if tier is Tier.RESERVED:
        budgets = [r - u for r, u in zip(books.reservations, books.usage, strict=True)]
        return Terms(books.free, budgets)
    # Without a limit the budget is more than everything that could be taken from it.
    unbounded = sum(books.free) + sum(books.resources)
    budgets = [
        unbounded if limit is None else limit - usage
        for limit, usage in zip(books.limits, books.usage, strict=True)
    ]
    keepers = keepers_now(round_.snapshot.configuration, round_.allotments, books)
    return Terms(
        books.free, budgets, round_.holds.holders(books), Keeping(keepers) if keepers else None
    )


def _commit(round_: _Round, tier: Tier, accepted: Mapping[int, Sequence[Sequence[int]]]) -> None:
    """Books what a settle accepted, pools in configuration order, and in the settle order."""
    groups, books = round_.demand.groups, round_.demand.books
    for pool, order in enumerate(round_.order):
        for number, index in order:
            if number not in accepted:
                continue
            group, places = groups[number], accepted[number][index]
            taken = sum(group.units[place] for place in places)
            books.take(pool, group.policy, taken)
            round_.dispatched += _dispatches(group, index, tier, places)
    for number, by_pool in accepted.items():
        gone = [place for places in by_pool for place in places]
        groups[number].leave(gone)
        round_.holds.leave(groups[number], gone)


def _dispatches(group: Group, index: int, tier: Tier, places: Sequence[int]) -> list[Dispatch]:
    link, queue = group.profile.pools[index], group.queue
    return [
        Dispatch(
            task=queue.tasks[place].id,
            policy=queue.policy,
            profile=queue.profile,
            pool=link.pool,
            link=link.name,
            tier=tier,
            amount=group.sizes[place].amount,
        )
        for place in places
    ]


def _settle_order(configuration: Configuration, groups: Sequence[Group]) -> Order:
    """By pool: its groups by execution priority, then policy priority."""
    ranks = {
        profile.name: {policy: rank for rank, policy in enumerate(profile.policies)}
        for profile in configuration.profiles
    }
    order = []
    for number, pool in enumerate(configuration.pools):
        execution = {profile: rank for rank, profile in enumerate(pool.profiles)}
        asking = [
            (
                execution[group.queue.profile],
                ranks[group.queue.profile][group.queue.policy],
                place,
                group.pools.index(number),
            )
            for place, group in enumerate(groups)
            if number in group.pools
        ]
        order.append([(place, index) for _, _, place, index in sorted(asking)])
    return order


def _allotments(configuration: Configuration, demand: Demand) -> Allotments:
    if all(policy.lend for policy in configuration.policies):
        return []
    units = {profile.name: demand.units(profile.allotment) for profile in configuration.profiles}
    return smallest_allotments(configuration, units)


def _all_waiting(round_: _Round) -> list[list[Waiting]]:
    holders = round_.holds.holders(round_.demand.books)
    reasons = _Reasons(round_.demand, round_.snapshot.configuration, holders)
    return [_waiting(group, reasons.of(group)) for group in round_.demand.groups]


_Answer = tuple[Reason, str | None, str | None]
"""The reason, with the `pool` and the `holder` of Waiting."""


@dataclass(frozen=True, slots=True)
class _Reasons:
    """Step 4, on the books after the round: tasks of one queue and size share their answer."""

    demand: Demand
    configuration: Configuration
    holders: Mapping[int, Task]

    def of(self, group: Group) -> dict[int, _Answer]:
        """By place, the answers of all tasks of the queue that wait."""
        answers: dict[int, _Answer] = {
            place: (reason, None, None) for place, reason in group.never.items()
        }
        if not group.pending:
            return answers
        first = group.pending[0]
        if group.is_strict:
            behind = (Reason.BEHIND, None, group.queue.tasks[first].id)
            answers.update(dict.fromkeys(group.pending[1:], behind))
            answers[first] = self._alone(group, group.units[first])
            return answers
        by_units: dict[Units, _Answer] = {}
        for place in group.pending:
            units = group.units[place]
            if units not in by_units:
                by_units[units] = self._alone(group, units)
            answers[place] = by_units[units]
        return answers

    def _alone(self, group: Group, units: Units) -> _Answer:
        books = self.demand.books
        limit = books.limits[group.policy]
        if limit is not None and books.usage[group.policy] + units > limit:
            return Reason.LIMIT_REACHED, None, None
        room = [pool for pool in group.pools if books.free[pool] >= units]
        if not room:
            return Reason.NO_CAPACITY, None, None
        for pool in room:
            if pool in self.holders:
                return Reason.HELD, self.configuration.pools[pool].name, self.holders[pool].id
        return Reason.KEPT, self.configuration.pools[room[0]].name, None


def _disabled(group: Group) -> dict[int, _Answer]:
    return dict.fromkeys(range(len(group.queue.tasks)), (Reason.DISABLED, None, None))


def _waiting(group: Group, answers: Mapping[int, _Answer]) -> list[Waiting]:
    queue = group.queue
    waiting = []
    for place in sorted(answers):
        reason, pool, holder = answers[place]
        waiting.append(
            Waiting(
                task=queue.tasks[place].id,
                policy=queue.policy,
                profile=queue.profile,
                amount=group.sizes[place].amount,
                reason=reason,
                pool=pool,
                holder=holder,
            )
        )
    return waiting


def _plan(
    snapshot: Snapshot,
    demand: Demand,
    dispatched: Sequence[Dispatch],
    waiting: Sequence[Sequence[Waiting]],
) -> Plan:
    configuration, books = snapshot.configuration, demand.books
    used: list[Amount] = [demand.amount(units) for units in books.used]
    free = [demand.amount(units) for units in books.free]
    usage = [demand.amount(units) for units in books.usage]
    return Plan(
        dispatch=tuple(dispatched),
        waiting=tuple(answer for of_queue in waiting for answer in of_queue),
        pools=tuple(
            PoolState(name=pool.name, resources=pool.resources, used=used[n], free=free[n])
            for n, pool in enumerate(configuration.pools)
        ),
        policies=tuple(
            PolicyState(
                name=policy.name,
                reservation=policy.reservation,
                limit=policy.limit,
                usage=usage[n],
            )
            for n, policy in enumerate(configuration.policies)
        ),
    )
