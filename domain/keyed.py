"""Sides of one configuration under common keys, so that objects meet through their renames."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from domain.configuration import Configuration
from domain.edits import Thing, kind_of, names_of, with_names
from domain.renames import Kind, Renames

Names = Mapping[Kind, Mapping[str, str]]
"""For each kind, name or key → name or key."""


@dataclass(frozen=True)
class Side:
    """A configuration with its renames against a version that all sides have in common."""

    configuration: Configuration
    renames: Renames = field(default_factory=Renames)


@dataclass(frozen=True, kw_only=True)
class Keyed:
    """A side whose objects are called by keys; `names` are their real names by key."""

    configuration: Configuration
    names: Names

    def things(self, kind: Kind) -> Mapping[str, Thing]:
        """Its pools, profiles or policies by key."""
        its = self.configuration
        every: tuple[Thing, ...] = (*its.pools, *its.profiles, *its.policies)
        return {thing.name: thing for thing in every if kind_of(thing) is kind}

    def joins(self, kind: Kind) -> Mapping[str, tuple[str, str]]:
        """Its links as (profile, pool), or its queues as (policy, profile), by key."""
        if kind is Kind.LINK:
            profiles = self.configuration.profiles
            return {link.name: (one.name, link.pool) for one in profiles for link in one.pools}
        policies = self.configuration.policies
        return {q.queue: (one.name, q.profile) for one in policies for q in one.queues}


def between(origin: Side, other: Side) -> dict[Kind, dict[str, str]]:
    """For each object of the origin that is in the other side, too: its name there."""
    return {kind: _between(kind, origin, other) for kind in Kind}


def _between(kind: Kind, origin: Side, other: Side) -> dict[str, str]:
    there = set(names_of(other.configuration, kind))
    bases = bases_of(origin, kind)
    found = {}
    for name in names_of(origin.configuration, kind):
        base = bases.get(name)
        now = name if base is None else other.renames.current(kind, base)
        if now in there:
            found[name] = now
    return found


def bases_of(side: Side, kind: Kind) -> dict[str, str]:
    """For each object of a side: its name in the common version, if it may have been there."""
    said = side.renames.by_kind.get(kind, {})
    was = {now: base for base, now in said.items()}
    # A name of the version that was given up and taken by a new object leads nowhere.
    return {
        name: was.get(name, name)
        for name in names_of(side.configuration, kind)
        if name in was or name not in said
    }


def keyed(side: Side, mapped: Names) -> Keyed:
    """`=x` is what is called x in the origin, as `mapped` says; `+x` is new, under that name."""
    configuration, names = side.configuration, dict[Kind, dict[str, str]]()
    for kind in Kind:
        keys = {now: f"={was}" for was, now in mapped[kind].items()}
        every = {name: keys.get(name, f"+{name}") for name in names_of(configuration, kind)}
        names[kind] = {key: name for name, key in every.items()}
        configuration = with_names(configuration, kind, every.__getitem__)
    return Keyed(configuration=configuration, names=names)
