"""Bringing two people's changes together: what one did to a configuration, done to another's.

Three sides: the origin that both began with, mine and theirs. What only one of them changed is
taken from that one, object by object and value by value; what both changed otherwise stays as in
theirs and is named as a conflict. Objects are followed through their renames: during the merge
each is called by a key, which is the same on all sides, and its name is a value like others.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from domain.configuration import Configuration, IntakeQueue, Link, Policy, Pool, Profile
from domain.edits import Thing, with_names
from domain.keyed import Names, Side, bases_of, between, keyed
from domain.merging import Conflict, clash, merged_order, pick
from domain.merging_objects import OBJECTS, Merge, merged_joins, merged_names, merged_things
from domain.renames import Kind, Renames, original

__all__ = ["Conflict", "Rebased", "Side", "after", "between", "rebase", "then"]

_Things = Mapping[Kind, Mapping[str, Thing]]
_Joins = Mapping[Kind, Mapping[str, tuple[str, str]]]


@dataclass(frozen=True)
class Rebased:
    """Mine on top of theirs, and what of mine could not be brought there."""

    side: Side
    conflicts: tuple[Conflict, ...] = ()


def rebase(origin: Side, mine: Side, theirs: Side) -> Rebased:
    """Mine on top of theirs. With one side unchanged the result is the other.

    References and priority lists of the result fit, and no name is there twice.
    """
    merge = Merge(
        origin=keyed(origin, between(origin, origin)),
        mine=keyed(mine, between(origin, mine)),
        theirs=keyed(theirs, between(origin, theirs)),
    )
    things = {kind: merged_things(merge, kind) for kind in OBJECTS}
    joins = {kind: merged_joins(merge, kind, things) for kind in (Kind.LINK, Kind.QUEUE)}
    parts: Mapping[Kind, Mapping[str, object]] = {**things, **joins}
    names = {kind: merged_names(merge, kind, parts[kind]) for kind in Kind}
    merged = _assembled(merge, things, joins)
    for kind in Kind:
        merged = with_names(merged, kind, names[kind].__getitem__)
    renames = _renames(theirs, merge.theirs.names, names)
    return Rebased(Side(merged, renames), tuple(merge.notes.conflicts))


def after(first: Renames, second: Renames) -> Renames:
    """The renames that lead where the second do, for one who has the first behind him.

    Both begin at one version; the result begins where the first end.
    """
    said: dict[Kind, dict[str, str]] = {}
    for kind in Kind:
        bases = {*first.by_kind.get(kind, {}), *second.by_kind.get(kind, {})}
        said[kind] = {first.current(kind, one): second.current(kind, one) for one in bases}
    return _changing(said)


def then(first: Renames, second: Renames) -> Renames:
    """The renames of both, one after the other."""
    said: dict[Kind, dict[str, str]] = {}
    for kind in Kind:
        bases = {*first.by_kind.get(kind, {}), *second.by_kind.get(kind, {})}
        said[kind] = {one: second.current(kind, first.current(kind, one)) for one in bases}
    return _changing(said)


def _changing(said: Names) -> Renames:
    """Those that change a name which something can have."""
    kept = {
        kind: {was: now for was, now in names.items() if was != now and original(was) == was}
        for kind, names in said.items()
    }
    return Renames({kind: names for kind, names in kept.items() if names})


def _renames(theirs: Side, keys: Names, names: Names) -> Renames:
    """From the common version to the result, for what theirs has of it."""
    said: dict[Kind, dict[str, str]] = {}
    for kind in Kind:
        called = {name: key for key, name in keys[kind].items()}
        bases = bases_of(theirs, kind)
        said[kind] = {
            base: names[kind][called[name]]
            for name, base in bases.items()
            if called[name] in names[kind]
        }
    return Renames.of(said)


def _assembled(merge: Merge, things: _Things, joins: _Joins) -> Configuration:
    """The result under keys."""
    pools = [one for one in _ordered(merge, things, Kind.POOL) if isinstance(one, Pool)]
    profiles = [one for one in _ordered(merge, things, Kind.PROFILE) if isinstance(one, Profile)]
    policies = [one for one in _ordered(merge, things, Kind.POLICY) if isinstance(one, Policy)]
    cgpu = [side.configuration.cgpu for side in merge.sides]
    if clash(*cgpu):
        merge.notes.add(None, "", "Both changed the cGPU policy; theirs stays.")
    return Configuration(
        pools=tuple(_pool(merge, one, joins) for one in pools),
        profiles=tuple(_profile(merge, one, joins) for one in profiles),
        policies=tuple(_policy(merge, one, joins) for one in policies),
        cgpu=pick(*cgpu),
    )


def _ordered(merge: Merge, things: _Things, kind: Kind) -> list[Thing]:
    origin, mine, theirs = (list(side.things(kind)) for side in merge.sides)
    keys, both = merged_order(origin, mine, theirs, things[kind])
    if both:
        merge.notes.add(None, "", f"Both changed the order of the {_PLURAL[kind]}; theirs stays.")
    return [things[kind][key] for key in keys]


_PLURAL = {Kind.POOL: "pools", Kind.PROFILE: "profiles", Kind.POLICY: "policies"}


def _list(
    merge: Merge, thing: Thing, what: str, lists: Sequence[Sequence[str]], wanted: Sequence[str]
) -> tuple[str, ...]:
    origin, mine, theirs = lists
    keys, both = merged_order(origin, mine, theirs, wanted)
    if both:
        kind = {Pool: Kind.POOL, Profile: Kind.PROFILE, Policy: Kind.POLICY}[type(thing)]
        merge.note(kind, thing.name, f"both changed its {what}; theirs stays")
    return tuple(keys)


def _pool(merge: Merge, pool: Pool, joins: _Joins) -> Pool:
    lists = [
        side.configuration.pool_by_name[pool.name].profiles
        if pool.name in side.configuration.pool_by_name
        else ()
        for side in merge.sides
    ]
    wanted = [profile for profile, its in joins[Kind.LINK].values() if its == pool.name]
    unique = list(dict.fromkeys(wanted))
    return replace(pool, profiles=_list(merge, pool, "execution priority", lists, unique))


def _profile(merge: Merge, profile: Profile, joins: _Joins) -> Profile:
    known = [side.configuration.profile_by_name.get(profile.name) for side in merge.sides]
    links = [[link.name for link in one.pools] if one else [] for one in known]
    policies = [one.policies if one else () for one in known]
    mine = {key: pool for key, (its, pool) in joins[Kind.LINK].items() if its == profile.name}
    users = [policy for policy, its in joins[Kind.QUEUE].values() if its == profile.name]
    order = _list(merge, profile, "pool precedence", links, list(mine))
    unique = list(dict.fromkeys(users))
    return replace(
        profile,
        pools=tuple(Link(pool=mine[key], name=key) for key in order),
        policies=_list(merge, profile, "policy priority", policies, unique),
    )


def _policy(merge: Merge, policy: Policy, joins: _Joins) -> Policy:
    known = [side.configuration.policy_by_name.get(policy.name) for side in merge.sides]
    queues = [[queue.queue for queue in one.queues] if one else [] for one in known]
    mine = {key: its for key, (user, its) in joins[Kind.QUEUE].items() if user == policy.name}
    order = _list(merge, policy, "order of queues", queues, list(mine))
    return replace(policy, queues=tuple(IntakeQueue(profile=mine[key], queue=key) for key in order))
