"""The page of one pool, profile or policy: its values, its connections and their order. Pure."""

from bot.blocks import (
    Block,
    action,
    buttons,
    divider,
    name,
    page_of,
    prose,
    section,
    sections,
    with_button,
)
from bot.editing_controls import DO, GO, LIST_PAGE, turns
from bot.editing_spots import Deed, Listing, Spot, entries, link_at, queue_at, things_of
from bot.editing_words import thing_lines
from domain.configuration import Configuration, Pool
from domain.edits import names_of
from domain.renames import Kind

_ENTRIES = 12
_FEW = 5


def thing_page(configuration: Configuration, spot: Spot) -> list[Block]:
    """What it is, what can be done with it, and what it is connected with, in order."""
    assert spot.index is not None, "a list has a page of its own"
    thing = things_of(configuration, spot.kind)[spot.index]
    blocks = sections(thing_lines(thing))
    if isinstance(thing, Pool) and thing.description.strip():
        blocks.append(prose(thing.description))
    blocks.append(_thing_buttons(configuration, spot))
    for listing, title in _LISTS[spot.kind]:
        blocks += [divider(), section(f"*{title}*"), *_entries(configuration, spot, listing)]
    return [*blocks, *_connections(spot)]


_LISTS = {
    Kind.POOL: [(Listing.PRIORITY, "Execution priority: which profile's jobs go first")],
    Kind.PROFILE: [
        (Listing.PRECEDENCE, "Pool precedence: which pool is tried first"),
        (Listing.POLICIES, "Policy priority: which team's jobs go first"),
    ],
    Kind.POLICY: [(Listing.QUEUES, "Queues: where the team enqueues")],
}


def _thing_buttons(configuration: Configuration, spot: Spot) -> Block:
    whole = len(names_of(configuration, spot.kind))
    row = [
        action("Back", GO, str(Spot(spot.kind, None, 1 + (spot.index or 0) // LIST_PAGE))),
        action("Edit", DO, str(Deed("edit"))),
        action("Delete", DO, str(Deed("delete")), style="danger"),
    ]
    if whole > 1:
        assert spot.index is not None, "a thing has a place"
        moves = _moves(Listing.THINGS, spot.index, whole)
        row += [action(label, DO, str(deed)) for label, deed in moves]
    return buttons(*row)


def _moves(listing: Listing, index: int, whole: int) -> list[tuple[str, Deed]]:
    """What moves an entry of a list, with its labels; nothing that would not."""
    if whole < 2 or listing is Listing.QUEUES:
        return []
    found = []
    if index > 0:
        found.append(("Move up", Deed("up", listing, index)))
    if index < whole - 1:
        found.append(("Move down", Deed("down", listing, index)))
    return [*found, ("Move to place…", Deed("place", listing, index))]


def _entries(configuration: Configuration, spot: Spot, listing: Listing) -> list[Block]:
    every = entries(spot, listing, configuration)
    shown = page_of(every, spot.page, _ENTRIES)
    rows = []
    for place, entry in enumerate(shown.items):
        index = shown.first - 1 + place
        row = section(
            f"{index + 1}. {_entry(configuration, spot, entry, Deed('', listing, index))}"
        )
        menu = _menu(listing, index, len(every))
        rows.append(with_button(row, menu) if menu else row)
    if not rows:
        return [section(f"None yet. {_NONE[listing]}")]
    whole = f"{shown.first}-{shown.first + len(rows) - 1} of {shown.whole}"
    return [*rows, *turns(spot, (shown.number, shown.pages), whole)]


_NONE = {
    Listing.PRIORITY: "No job can run in this pool until a profile is connected.",
    Listing.PRECEDENCE: "No job of this profile can run until a pool is connected.",
    Listing.POLICIES: "No team uses this profile; connect it on a policy's page.",
    Listing.QUEUES: "The team can enqueue nothing until a profile is connected.",
}


def _entry(configuration: Configuration, spot: Spot, entry: str, deed: Deed) -> str:
    if deed.listing is Listing.QUEUES:
        queue = queue_at(spot, deed, configuration)
        return f"{name(queue)} for profile {name(entry)}"
    if deed.listing is Listing.POLICIES:
        return name(entry)
    return f"{name(entry)} by the link {name(link_at(spot, deed, configuration))}"


def _menu(listing: Listing, index: int, whole: int) -> Block | None:
    options = _moves(listing, index, whole)
    if listing is not Listing.POLICIES:
        what = "queue" if listing is Listing.QUEUES else "link"
        options.append((f"Rename the {what}", Deed("relabel", listing, index)))
        options.append(("Disconnect", Deed("cut", listing, index)))
    if not options:
        return None
    texts = [
        {"text": {"type": "plain_text", "text": label}, "value": str(deed)}
        for label, deed in options[:_FEW]
    ]
    return {"type": "overflow", "action_id": DO, "options": texts}


def _connections(spot: Spot) -> list[Block]:
    other = {Kind.POOL: "profile", Kind.PROFILE: "pool", Kind.POLICY: "profile"}
    return [buttons(action(f"Connect a {other[spot.kind]}", DO, str(Deed("connect"))))]
