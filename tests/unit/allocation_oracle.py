"""ALLOCATION.md's procedure word for word, as slow as it likes: the oracle of `allocate`.

Every step names the sentence that it transcribes. Only for small cases.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from itertools import chain, combinations

from domain.amounts import ZERO, Amount, parse_amount
from domain.configuration import Policy, Pool, Profile, Queueing
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

Queue = tuple[str, str]
"""Policy and profile."""


@dataclass(frozen=True, eq=False)
class Candidate:
    """A task with everything the procedure asks about it."""

    task: Task
    place: int
    policy: Policy
    profile: Profile
    amount: Amount

    @property
    def queue(self) -> Queue:
        return self.policy.name, self.profile.name

    @property
    def pools(self) -> list[str]:
        return [link.pool for link in self.profile.pools]

    @property
    def is_strict(self) -> bool:
        return self.profile.is_dynamic and self.profile.queueing is Queueing.STRICT


Accepted = dict[Candidate, str]
"""Which pool each accepted task takes its amount from."""


@dataclass
class Events:
    """How often the rarer turns of the procedure were taken; tests of the tests read it."""

    seen: dict[str, int] = field(default_factory=dict)

    def count(self, name: str) -> None:
        self.seen[name] = self.seen.get(name, 0) + 1


class Oracle:
    """One round. The order of the methods is the order of the page."""

    def __init__(self, snapshot: Snapshot, events: Events | None = None) -> None:
        self.snapshot = snapshot
        self.events = events or Events()
        self.pools: Mapping[str, Pool] = snapshot.configuration.pool_by_name
        self.policies: Mapping[str, Policy] = snapshot.configuration.policy_by_name
        self.used = {name: snapshot.foreign.get(name, ZERO) for name in self.pools}
        self.usage = dict.fromkeys(self.policies, ZERO)
        for allocation in snapshot.allocations:
            if allocation.pool in self.used:
                self.used[allocation.pool] += allocation.amount
            if allocation.policy in self.usage:
                self.usage[allocation.policy] += allocation.amount
        # "Free amount of a pool = resources - allocations - foreign use, never below 0"
        self.free = {n: max(ZERO, p.resources - self.used[n]) for n, p in self.pools.items()}
        self.candidates = list(self._candidates())
        self.reasons: dict[Candidate, tuple[Reason, str | None, str | None]] = {}
        self.dispatched: list[tuple[Candidate, str, Tier]] = []
        self.pending: list[Candidate] = []

    def _candidates(self) -> Iterable[Candidate]:
        for queue in self.snapshot.queues:
            profile = self.snapshot.configuration.profile_by_name[queue.profile]
            for place, task in enumerate(queue.tasks):
                amount = profile.allotment
                if profile.is_dynamic:
                    # "A dynamic profile's task whose parameter holds no valid value takes the
                    # profile's allotment."
                    amount = parse_amount(task.parameter) or profile.allotment
                yield Candidate(task, place, self.policies[queue.policy], profile, amount)

    def plan(self) -> Plan:
        if not self.snapshot.enabled:
            # 0. "every task waits with `disabled`"
            self.reasons = dict.fromkeys(self.candidates, (Reason.DISABLED, None, None))
            return self._document()
        self._set_aside()
        self._serve(Tier.RESERVED)
        self._serve(Tier.SHARED)
        self._give_reasons()
        return self._document()

    def _set_aside(self) -> None:
        """1. Tasks that can never run."""
        for c in self.candidates:
            limit = c.policy.limit
            if not c.pools:
                reason = Reason.UNLINKED
            elif all(c.amount > self.pools[pool].resources for pool in c.pools):
                reason = Reason.TOO_LARGE
            elif limit is not None and c.amount > limit:
                reason = Reason.OVER_LIMIT_ALONE
            else:
                self.pending.append(c)
                continue
            self.reasons[c] = (reason, None, None)

    def _reservation(self, policy: Policy) -> Amount:
        # "a reservation above the limit counts as the limit"
        if policy.limit is None:
            return policy.reservation
        return min(policy.reservation, policy.limit)

    def _budget(self, policy: Policy, tier: Tier) -> Amount | None:
        """2. "reservation - usage"; 3. "limit - usage (no limit: unbounded)", None."""
        if tier is Tier.RESERVED:
            return self._reservation(policy) - self.usage[policy.name]
        return None if policy.limit is None else policy.limit - self.usage[policy.name]

    def _starved(self) -> tuple[list[Candidate], list[Candidate]]:
        """The starved tasks: inside their reservation, and the others."""
        after = self.snapshot.hold_after
        inside, others = [], []
        for c in self.pending:
            if after is None or self.snapshot.taken_at - c.task.first_seen < after:
                continue
            if any(self.free[pool] >= c.amount for pool in c.pools):
                continue
            left = self._budget(c.policy, Tier.SHARED)
            if c.amount <= self._reservation(c.policy) - self.usage[c.policy.name]:
                inside.append(c)
            elif left is None or c.amount <= left:
                others.append(c)
        return inside, others

    def _holders(self) -> dict[str, Candidate]:
        """Pool → the task that holds it. Nobody in the reserved tier."""
        inside, others = self._starved()
        order = list(self.policies)
        # "those inside their reservation first, in configuration order of their policies, then by
        # first sight, place in the queue and id; the others by first sight, then id"
        inside.sort(
            key=lambda c: (order.index(c.policy.name), c.task.first_seen, c.place, c.task.id)
        )
        others.sort(key=lambda c: (c.task.first_seen, c.task.id))
        holders: dict[str, Candidate] = {}
        for c in inside + others:
            # "It holds the first pool of its precedence whose whole capacity is large enough"
            pool = next(p for p in c.pools if self.pools[p].resources >= c.amount)
            # "At most one holder a pool"
            holders.setdefault(pool, c)
        return holders

    def _keepers(self) -> dict[str, Amount]:
        """Policy → what it is owed, as it stands before this settle."""
        owed = {}
        for policy in self.policies.values():
            difference = self._reservation(policy) - self.usage[policy.name]
            if not policy.lend and difference > 0:
                owed[policy.name] = difference
        return owed

    def _unit(self, keeper: str, pool: str) -> Amount | None:
        """The smallest allotment with which that keeper is linked to the pool; None: not linked."""
        profiles = self.snapshot.configuration.profile_by_name
        allotments = [
            profiles[queue.profile].allotment
            for queue in self.policies[keeper].queues
            if any(link.pool == pool for link in profiles[queue.profile].pools)
        ]
        return min(allotments, default=None)

    def _placeable(self, owed: Mapping[str, Amount], free: Mapping[str, Amount]) -> Amount:
        """The maximum flow, found as the minimum cut: the cheapest over all sets of keepers.

        The keepers outside the set are cut from what they give; for those inside, each pool is
        cut either from what it takes or from what it takes of each of them.
        """
        cuts = []
        sets = chain.from_iterable(combinations(owed, n) for n in range(len(owed) + 1))
        for inside in sets:
            cut = sum((amount for name, amount in owed.items() if name not in inside), ZERO)
            for pool, there in free.items():
                edges = ZERO
                for name in inside:
                    unit = self._unit(name, pool)
                    if unit is not None:
                        edges += unit * (min(there, owed[name]) // unit)
                cut += min(there, edges)
            cuts.append(cut)
        return min(cuts)

    def _serve(self, tier: Tier) -> None:
        # "Serve repeats settle on the pending tasks and commits what it accepted, until it accepts
        # nothing."
        settles = 0
        while accepted := self._settle(tier):
            settles += 1
            self._commit(accepted, tier)
        if settles > 1:
            self.events.count(f"several settles, {tier}")

    def _settle(self, tier: Tier) -> Accepted:
        shared = tier is Tier.SHARED
        held = set(self._holders()) if shared else set()
        owed = self._keepers() if shared else {}
        barred: set[Candidate] = set()
        while True:
            accepted = self._settle_once(tier, barred, (held, owed))
            past = self._past(accepted)
            if not past:
                return self._in_queue_order(accepted)
            self.events.count("bars")
            barred |= past

    def _past(self, accepted: Accepted) -> set[Candidate]:
        """Who was accepted past an earlier candidate of the same strict queue that was not."""
        past = set()
        for c in accepted:
            earlier = [o for o in self.pending if o.queue == c.queue and o.place < c.place]
            if c.is_strict and any(other not in accepted for other in earlier):
                past.add(c)
        return past

    def _settle_once(
        self, tier: Tier, barred: set[Candidate], protections: tuple[set[str], dict[str, Amount]]
    ) -> Accepted:
        held, owed = protections
        # "Every task asks the first pool of its precedence."
        asks = {c: 0 for c in self.pending if c not in barred}
        while True:
            # "again and again from the full free amounts and budgets"
            free = dict(self.free)
            budgets = {p.name: self._budget(p, tier) for p in self.policies.values()}
            accepted: Accepted = {}
            moved = False
            # "go through the pools in configuration order"
            for pool in self.pools:
                for c in self._asking(asks, pool):
                    budget = budgets[c.policy.name]
                    if budget is not None and c.amount > budget:
                        continue  # "passed over"
                    # "nobody takes from a held pool"; "as if there were no room"
                    full = free[pool] < c.amount or pool in held
                    if full or self._is_kept(c, pool, owed, free):
                        # "asks its next pool from now on"
                        asks[c] += 1
                        moved = True
                        continue
                    accepted[c] = pool
                    free[pool] -= c.amount
                    if budget is not None:
                        budgets[c.policy.name] = budget - c.amount
            # "When a whole pass moved no task to a next pool, the accepted ones of that pass are
            # the result."
            if not moved:
                return accepted

    def _asking(self, asks: Mapping[Candidate, int], pool: str) -> list[Candidate]:
        asking = [c for c, i in asks.items() if i < len(c.pools) and c.pools[i] == pool]
        return sorted(asking, key=self._settle_order(pool))

    def _settle_order(self, pool: str) -> Callable[[Candidate], tuple[int, int, int, str]]:
        # "execution priority, then policy priority, then place in the queue, then task id"
        def key(c: Candidate) -> tuple[int, int, int, str]:
            execution = self.pools[pool].profiles.index(c.profile.name)
            return execution, c.profile.policies.index(c.policy.name), c.place, c.task.id

        return key

    def _is_kept(
        self, c: Candidate, pool: str, owed: Mapping[str, Amount], free: Mapping[str, Amount]
    ) -> bool:
        # "refused room in a pool when taking it would lower the amount that the *other* keepers
        # could still place together"
        others = {name: amount for name, amount in owed.items() if name != c.policy.name}
        after = {**free, pool: free[pool] - c.amount}
        return self._placeable(others, after) < self._placeable(others, free)

    def _in_queue_order(self, accepted: Accepted) -> Accepted:
        # "the places that a settle won for a queue go to its tasks in queue order, the pool of best
        # precedence first"
        result = {c: pool for c, pool in accepted.items() if c.profile.is_dynamic}
        queues = {c.queue for c in accepted if not c.profile.is_dynamic}
        for queue in queues:
            waiting = [c for c in self.pending if c.queue == queue]
            places = [pool for c, pool in accepted.items() if c.queue == queue]
            places.sort(key=waiting[0].pools.index)
            result.update(zip(waiting, places, strict=False))
        return result

    def _commit(self, accepted: Accepted, tier: Tier) -> None:
        for pool in self.pools:
            winners = [c for c, where in accepted.items() if where == pool]
            for c in sorted(winners, key=self._settle_order(pool)):
                self.free[pool] -= c.amount
                self.used[pool] += c.amount
                self.usage[c.policy.name] += c.amount
                self.pending.remove(c)
                self.dispatched.append((c, pool, tier))

    def _give_reasons(self) -> None:
        """4. Every task still pending, with the first reason that applies."""
        holders = self._holders()
        for c in self.pending:
            limit = c.policy.limit
            earlier = [o for o in self.pending if o.queue == c.queue and o.place < c.place]
            room = [pool for pool in c.pools if self.free[pool] >= c.amount]
            held = [pool for pool in room if pool in holders]
            if c.is_strict and earlier:
                self.reasons[c] = (Reason.BEHIND, None, earlier[0].task.id)
            elif limit is not None and self.usage[c.policy.name] + c.amount > limit:
                self.reasons[c] = (Reason.LIMIT_REACHED, None, None)
            elif not room:
                self.reasons[c] = (Reason.NO_CAPACITY, None, None)
            elif held:
                self.reasons[c] = (Reason.HELD, held[0], holders[held[0]].task.id)
            else:
                self.reasons[c] = (Reason.KEPT, room[0], None)

    def _document(self) -> Plan:
        configuration = self.snapshot.configuration
        for reason, _, _ in self.reasons.values():
            self.events.count(reason)
        return Plan(
            dispatch=tuple(
                Dispatch(
                    task=c.task.id,
                    policy=c.policy.name,
                    profile=c.profile.name,
                    pool=pool,
                    link=next(link.name for link in c.profile.pools if link.pool == pool),
                    tier=tier,
                    amount=c.amount,
                )
                for c, pool, tier in self.dispatched
            ),
            waiting=tuple(
                Waiting(
                    task=c.task.id,
                    policy=c.policy.name,
                    profile=c.profile.name,
                    amount=c.amount,
                    reason=self.reasons[c][0],
                    pool=self.reasons[c][1],
                    holder=self.reasons[c][2],
                )
                for c in self.candidates
                if c in self.reasons
            ),
            pools=tuple(
                PoolState(
                    name=pool.name,
                    resources=pool.resources,
                    used=self.used[pool.name],
                    free=self.free[pool.name],
                )
                for pool in configuration.pools
            ),
            policies=tuple(
                PolicyState(
                    name=policy.name,
                    reservation=policy.reservation,
                    limit=policy.limit,
                    usage=self.usage[policy.name],
                )
                for policy in configuration.policies
            ),
        )


def allocate_slowly(snapshot: Snapshot, events: Events | None = None) -> Plan:
    """The plan by the letter of ALLOCATION.md."""
    return Oracle(snapshot, events).plan()
