"""What the editor's buttons and forms do to a configuration, as edits of the domain. Pure."""

from collections.abc import Callable

from bot.editing_spots import Deed, Listing, Spot, entries, link_at, place_of, queue_at
from domain.configuration import Configuration, IntakeQueue, Link
from domain.editing import (
    Edit,
    Edited,
    connect,
    create,
    delete,
    disconnect,
    edit,
    link,
    move,
    rename,
    unlink,
)
from domain.edits import Refused, Thing, kind_of
from domain.renames import Kind

Change = Callable[[Edited], Edit]


def stored(before: Thing | None, thing: Thing) -> Change:
    """Creates it, or gives what was there its name and its values."""

    def make(draft: Edited) -> Edit:
        if before is None:
            return create(draft, thing)
        if before.name != thing.name:
            renamed = rename(draft, kind_of(thing), before.name, thing.name)
            if isinstance(renamed, Refused):
                return renamed
            draft = renamed
        return edit(draft, thing)

    return make


def moved(spot: Spot, deed: Deed, configuration: Configuration, to: int | None = None) -> Change:
    """Moves an entry of a list one up, one down, or to a place, 1 being the first."""
    every = entries(spot, deed.listing, configuration)
    name = every[deed.index]
    where = to if to is not None else deed.index + {"up": 0, "down": 2}[deed.verb]
    return lambda draft: move(draft, place_of(spot, deed.listing, configuration), name, where)


def removed(spot: Spot, deed: Deed, configuration: Configuration) -> Change:
    """Deletes what a page shows, or cuts one of its connections."""
    owner = spot.name(configuration)
    if deed.verb == "delete":
        return lambda draft: delete(draft, spot.kind, owner)
    if deed.listing is Listing.QUEUES:
        profile = entries(spot, deed.listing, configuration)[deed.index]
        return lambda draft: disconnect(draft, owner, profile)
    name = link_at(spot, deed, configuration)
    return lambda draft: unlink(draft, name)


def label_of(spot: Spot, deed: Deed, configuration: Configuration) -> tuple[Kind, str]:
    """The link or queue that an entry stands for."""
    if deed.listing is Listing.QUEUES:
        return Kind.QUEUE, queue_at(spot, deed, configuration)
    return Kind.LINK, link_at(spot, deed, configuration)


def relabelled(spot: Spot, deed: Deed, configuration: Configuration, new: str) -> Change:
    """Renames the link or queue that an entry stands for."""
    kind, old = label_of(spot, deed, configuration)
    return lambda draft: rename(draft, kind, old, new)


def connected(spot: Spot, other: str, label: str, configuration: Configuration) -> Change:
    """Connects what a page shows with something else, by a link or a queue of this name."""
    owner = spot.name(configuration)
    match spot.kind:
        case Kind.POOL:
            return lambda draft: link(draft, other, Link(pool=owner, name=label))
        case Kind.PROFILE:
            return lambda draft: link(draft, owner, Link(pool=other, name=label))
    return lambda draft: connect(draft, owner, IntakeQueue(profile=other, queue=label))


def connectable(spot: Spot, configuration: Configuration) -> tuple[Kind, list[str]]:
    """What a page's object may still be connected with."""
    owner = spot.name(configuration)
    match spot.kind:
        case Kind.POOL:
            there = set(configuration.pool_by_name[owner].profiles)
            return Kind.PROFILE, [p.name for p in configuration.profiles if p.name not in there]
        case Kind.PROFILE:
            there = {link.pool for link in configuration.profile_by_name[owner].pools}
            return Kind.POOL, [p.name for p in configuration.pools if p.name not in there]
    there = {queue.profile for queue in configuration.policy_by_name[owner].queues}
    return Kind.PROFILE, [p.name for p in configuration.profiles if p.name not in there]
