"""Where one is in the editor and what one presses there, as the short texts that Slack carries.

An option's value has 75 characters and a name may have 200, so things go by their place in the
list; the window's stamp says of which list.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from domain.configuration import Configuration
from domain.editing import Order, Place
from domain.edits import Thing, names_of
from domain.renames import Kind

KINDS = (Kind.POOL, Kind.PROFILE, Kind.POLICY)
PLURAL = {Kind.POOL: "pools", Kind.PROFILE: "profiles", Kind.POLICY: "policies"}


class Listing(StrEnum):
    """A list in which entries are moved: of all things of a kind, or inside one of them."""

    THINGS = "all"
    PRIORITY = "prio"
    """The profiles of a pool."""
    PRECEDENCE = "prec"
    """The pools of a profile."""
    POLICIES = "pol"
    """The policies of a profile."""
    QUEUES = "queue"
    """The queues of a policy, which have no order."""


_ALL = {Kind.POOL: Order.POOLS, Kind.PROFILE: Order.PROFILES, Kind.POLICY: Order.POLICIES}
_INSIDE = {
    Listing.PRIORITY: Order.EXECUTION_PRIORITY,
    Listing.PRECEDENCE: Order.POOL_PRECEDENCE,
    Listing.POLICIES: Order.POLICY_PRIORITY,
}


@dataclass(frozen=True)
class Spot:
    """A page of the editor: the list of a kind, or with an `index` one thing of it."""

    kind: Kind = Kind.POOL
    index: int | None = None
    page: int = 1

    def __str__(self) -> str:
        return f"{self.kind}.{'' if self.index is None else self.index}.{self.page}"

    @classmethod
    def read(cls, text: str) -> "Spot":
        """What `str()` gave; the list of pools for any other text."""
        kind, _, rest = text.partition(".")
        index, _, page = rest.partition(".")
        if kind not in KINDS or not page.isdecimal() or not (index.isdecimal() or not index):
            return cls()
        return cls(Kind(kind), int(index) if index else None, int(page))

    def within(self, configuration: Configuration) -> "Spot":
        """This page, or the list if there is no such thing any more."""
        if self.index is not None and self.index >= len(names_of(configuration, self.kind)):
            return Spot(self.kind)
        return self

    def name(self, configuration: Configuration) -> str:
        """What is shown there, "" on a list."""
        return "" if self.index is None else names_of(configuration, self.kind)[self.index]

    def of(self, name: str, configuration: Configuration) -> "Spot":
        """The page of what has this name."""
        return Spot(self.kind, names_of(configuration, self.kind).index(name))


@dataclass(frozen=True)
class Deed:
    """What a button or a menu's entry does: a verb, and the entry of a list that it is about."""

    verb: str
    listing: Listing = Listing.THINGS
    index: int = 0

    def __str__(self) -> str:
        return f"{self.verb}.{self.listing}.{self.index}"

    @classmethod
    def read(cls, text: str) -> "Deed":
        """What `str()` gave."""
        verb, listing, index = text.split(".")
        return cls(verb, Listing(listing), int(index))


def place_of(spot: Spot, listing: Listing, configuration: Configuration) -> Place:
    """The order that a list of this page has."""
    if listing is Listing.THINGS:
        return Place(_ALL[spot.kind])
    return Place(_INSIDE[listing], spot.name(configuration))


def entries(spot: Spot, listing: Listing, configuration: Configuration) -> list[str]:
    """The names in a list of this page: things, profiles, pools, policies, or queues' profiles."""
    if listing is Listing.THINGS:
        return names_of(configuration, spot.kind)
    owner = spot.name(configuration)
    match listing:
        case Listing.PRIORITY:
            return list(configuration.pool_by_name[owner].profiles)
        case Listing.PRECEDENCE:
            return [link.pool for link in configuration.profile_by_name[owner].pools]
        case Listing.POLICIES:
            return list(configuration.profile_by_name[owner].policies)
        case Listing.QUEUES:
            return [queue.profile for queue in configuration.policy_by_name[owner].queues]


def link_at(spot: Spot, deed: Deed, configuration: Configuration) -> str:
    """The name of the link that an entry stands for, on a pool's or a profile's page."""
    owner, other = spot.name(configuration), entries(spot, deed.listing, configuration)[deed.index]
    pool, profile = (owner, other) if spot.kind is Kind.POOL else (other, owner)
    links = configuration.profile_by_name[profile].pools
    return next(link.name for link in links if link.pool == pool)


def queue_at(spot: Spot, deed: Deed, configuration: Configuration) -> str:
    """The name of the intake queue that an entry stands for, on a policy's page."""
    return configuration.policy_by_name[spot.name(configuration)].queues[deed.index].queue


def things_of(configuration: Configuration, kind: Kind) -> Sequence[Thing]:
    """All pools, profiles or policies."""
    match kind:
        case Kind.POOL:
            return configuration.pools
        case Kind.PROFILE:
            return configuration.profiles
    return configuration.policies
