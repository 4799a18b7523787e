"""Changing orders: of what is listed, and the three priorities that decide who goes first."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Protocol, TypeVar

from domain.configuration import Configuration, Link
from domain.edits import Edit, Edited, Refused, unknown, with_pool, with_profile
from domain.names import listing, quoted
from domain.renames import Kind


class Order(StrEnum):
    """What can be put in order; ALLOCATION.md, "Words", says what each decides."""

    POOLS = "order of pools"
    PROFILES = "order of profiles"
    POLICIES = "order of policies"
    EXECUTION_PRIORITY = "execution priority"
    """Of the profiles in a pool."""
    POOL_PRECEDENCE = "pool precedence"
    """Of the pools in a profile."""
    POLICY_PRIORITY = "policy priority"
    """Of the policies in a profile."""


_OWNERS = {
    Order.EXECUTION_PRIORITY: Kind.POOL,
    Order.POOL_PRECEDENCE: Kind.PROFILE,
    Order.POLICY_PRIORITY: Kind.PROFILE,
}


@dataclass(frozen=True)
class Place:
    """One order of a configuration; `owner` is the pool or profile that has it, else empty."""

    order: Order
    owner: str = ""


class _Named(Protocol):
    @property
    def name(self) -> str: ...


T = TypeVar("T", bound=_Named)


def reorder(draft: Edited, place: Place, names: Sequence[str]) -> Edit:
    """What stands at `place` comes in the order of `names`, which has each exactly once."""
    now = _names_at(draft.configuration, place)
    if isinstance(now, Refused):
        return now
    if Counter(now) != Counter(names):
        message = f"the {_called(place)} has {listing(map(quoted, now)) or 'nothing'}"
        return Refused(message, "name each of them exactly once")
    return Edited(_ordered(draft.configuration, place, names), draft.renames)


def move(draft: Edited, place: Place, name: str, to: int) -> Edit:
    """`name` comes to the position `to` of its order, 1 being the first."""
    now = _names_at(draft.configuration, place)
    if isinstance(now, Refused):
        return now
    if name not in now:
        message = f"the {_called(place)} has no {quoted(name)}"
        return Refused(message, f"name one of {listing(map(quoted, now)) or 'those it has: none'}")
    if not 1 <= to <= len(now):
        return Refused(f"there is no position {to} among {len(now)}", f"say 1 to {len(now)}")
    names = list(now)
    names.insert(to - 1, names.pop(now.index(name)))
    return reorder(draft, place, names)


def _called(place: Place) -> str:
    return f"{place.order} of {quoted(place.owner)}" if place.owner else str(place.order)


def _names_at(configuration: Configuration, place: Place) -> list[str] | Refused:
    owner = _OWNERS.get(place.order)
    if owner is not None and (refused := unknown(configuration, owner, place.owner)):
        return refused
    match place.order:
        case Order.POOLS:
            return [pool.name for pool in configuration.pools]
        case Order.PROFILES:
            return [profile.name for profile in configuration.profiles]
        case Order.POLICIES:
            return [policy.name for policy in configuration.policies]
        case Order.EXECUTION_PRIORITY:
            return list(configuration.pool_by_name[place.owner].profiles)
        case Order.POOL_PRECEDENCE:
            return [link.pool for link in configuration.profile_by_name[place.owner].pools]
        case Order.POLICY_PRIORITY:
            return list(configuration.profile_by_name[place.owner].policies)


def _ordered(configuration: Configuration, place: Place, names: Sequence[str]) -> Configuration:
    match place.order:
        case Order.POOLS:
            return replace(configuration, pools=_sorted(configuration.pools, names))
        case Order.PROFILES:
            return replace(configuration, profiles=_sorted(configuration.profiles, names))
        case Order.POLICIES:
            return replace(configuration, policies=_sorted(configuration.policies, names))
        case Order.EXECUTION_PRIORITY:
            pool = configuration.pool_by_name[place.owner]
            return with_pool(configuration, replace(pool, profiles=tuple(names)))
    profile = configuration.profile_by_name[place.owner]
    if place.order is Order.POLICY_PRIORITY:
        return with_profile(configuration, replace(profile, policies=tuple(names)))
    return with_profile(configuration, replace(profile, pools=_sorted_links(profile.pools, names)))


def _sorted(things: Iterable[T], names: Sequence[str]) -> tuple[T, ...]:
    return tuple(sorted(things, key=lambda thing: names.index(thing.name)))


def _sorted_links(links: Iterable[Link], names: Sequence[str]) -> tuple[Link, ...]:
    return tuple(sorted(links, key=lambda link: names.index(link.pool)))
