"""Whether all reservations can be honoured at once, and whose cannot (DESIGN.md, "Validation").

A maximum flow from policies, each giving its reservation, to the pools that its profiles link to,
each taking its resources. Where it falls short, the minimum cut names the fewest policies that
together were promised more than all the pools they can use.
"""

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise
from math import lcm

from domain.amounts import ZERO, Amount
from domain.configuration import Configuration, Policy


@dataclass(frozen=True, kw_only=True)
class Shortfall:
    """`policies` were promised `promised` together, and all `pools` they can use have `there`."""

    policies: tuple[str, ...]
    pools: tuple[str, ...]
    promised: Amount
    there: Amount


def shortfalls(configuration: Configuration) -> tuple[Shortfall, ...]:
    """The promises that no distribution over the linked pools can keep; empty if all can be.

    Policies and pools that have nothing to do with one another are in shortfalls of their own.
    """
    promises = {policy.name: promised(policy) for policy in configuration.policies}
    resources = {pool.name: pool.resources for pool in configuration.pools}
    reach = {policy.name: pools_of(configuration, policy) for policy in configuration.policies}
    scale = lcm(*(amount.denominator for amount in [*promises.values(), *resources.values()]))
    flow = _Flow(reach, {name: int(amount * scale) for name, amount in resources.items()})
    for name, amount in promises.items():
        flow.place(name, int(amount * scale))
    return tuple(
        Shortfall(
            policies=policies,
            pools=pools,
            promised=sum((promises[name] for name in policies), ZERO),
            there=sum((resources[name] for name in pools), ZERO),
        )
        for policies, pools in _separated(flow.short, reach, resources)
    )


def promised(policy: Policy) -> Amount:
    """What a policy is guaranteed: a reservation above the limit counts as the limit."""
    return policy.reservation if policy.limit is None else min(policy.reservation, policy.limit)


def pools_of(configuration: Configuration, policy: Policy) -> frozenset[str]:
    """The existing pools that the policy's profiles link to."""
    profiles = (configuration.profile_by_name.get(queue.profile) for queue in policy.queues)
    return frozenset(
        link.pool
        for profile in profiles
        if profile is not None
        for link in profile.pools
        if link.pool in configuration.pool_by_name
    )


def policies_by_profile(configuration: Configuration) -> Mapping[str, Sequence[Policy]]:
    """For each profile that a policy has a queue for, all such policies in their order."""
    using: dict[str, dict[str, Policy]] = {}
    for policy in configuration.policies:
        for queue in policy.queues:
            using.setdefault(queue.profile, {})[policy.name] = policy
    return {profile: tuple(policies.values()) for profile, policies in using.items()}


@dataclass
class _Flow:
    """Whole units placed by shortest augmenting paths; all integers, so nothing is rounded."""

    reach: Mapping[str, frozenset[str]]
    free: dict[str, int]
    placed: dict[str, dict[str, int]] = field(default_factory=dict)
    short: set[str] = field(default_factory=set)
    """Policies on the source's side of the minimum cut, once everything is placed."""

    def place(self, policy: str, units: int) -> None:
        """Finds room for `units` of `policy`, moving what others have placed where that helps."""
        while units > 0:
            path = self._path(policy)
            if path is None:
                return
            units -= self._push(path, units)

    def _path(self, start: str) -> list[tuple[str, str]] | None:
        """Pairs (policy, pool): each policy goes to that pool, whose next policy makes room."""
        # Whoever is short reaches no room any more, and never will again.
        if start in self.short:
            return None
        came: dict[str, str] = {}
        giver: dict[str, str] = {}
        seen, queue = {start}, deque([start])
        while queue:
            policy = queue.popleft()
            for pool in sorted(self.reach[policy] - came.keys()):
                came[pool] = policy
                if self.free[pool]:
                    return self._traced(pool, came, giver)
                others = self.placed.get(pool, {}).keys() - seen - self.short
                for other in sorted(others):
                    giver[other] = pool
                seen |= others
                queue.extend(sorted(others))
        self.short |= seen
        return None

    def _traced(
        self, pool: str, came: Mapping[str, str], giver: Mapping[str, str]
    ) -> list[tuple[str, str]]:
        path = [(came[pool], pool)]
        while (policy := path[-1][0]) in giver:
            pool = giver[policy]
            path.append((came[pool], pool))
        return path[::-1]

    def _push(self, path: list[tuple[str, str]], units: int) -> int:
        moved = [self.placed[pool][policy] for (_, pool), (policy, _) in pairwise(path)]
        amount = min([units, self.free[path[-1][1]], *moved])
        for (_, pool), (policy, _) in pairwise(path):
            self._add(pool, policy, -amount)
        for policy, pool in path:
            self._add(pool, policy, amount)
        self.free[path[-1][1]] -= amount
        return amount

    def _add(self, pool: str, policy: str, amount: int) -> None:
        shares = self.placed.setdefault(pool, {})
        shares[policy] = shares.get(policy, 0) + amount
        if not shares[policy]:
            del shares[policy]


def _separated(
    short: Iterable[str], reach: Mapping[str, frozenset[str]], order: Mapping[str, Fraction]
) -> Iterator[tuple[tuple[str, ...], tuple[str, ...]]]:
    """Groups of policies that share pools, directly or through others, in configuration order."""
    left = set(short)
    wanted_by: dict[str, list[str]] = {}
    for policy in left:
        for pool in reach[policy]:
            wanted_by.setdefault(pool, []).append(policy)
    policy_place, pool_place = _places(reach), _places(order)
    for first in sorted(left, key=policy_place.__getitem__):
        policies, pools, found = set[str](), set[str](), [first]
        while found:
            policy = found.pop()
            if policy in left:
                left.remove(policy)
                policies.add(policy)
                for pool in reach[policy] - pools:
                    found += wanted_by[pool]
                pools |= reach[policy]
        if policies:
            yield (
                tuple(sorted(policies, key=policy_place.__getitem__)),
                tuple(sorted(pools, key=pool_place.__getitem__)),
            )


def _places(names: Iterable[str]) -> dict[str, int]:
    return {name: place for place, name in enumerate(names)}
