"""The editor's pages: the lists of pools, profiles and policies, and one page for each thing. Pure.

There is one window, which shows one page after the other; what is filled in stands on top of it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from bot.blocks import (
    Block,
    action,
    button,
    buttons,
    context,
    divider,
    name,
    page_of,
    prose,
    section,
    sections,
    user,
    with_button,
)
from bot.editing_bench import Bench
from bot.editing_spots import KINDS, PLURAL, Deed, Listing, Spot, entries, link_at, queue_at
from bot.editing_words import ago, count, thing_line, thing_lines
from bot.surfaces import modal
from domain.configuration import Configuration, Pool
from domain.edits import Thing, names_of
from domain.renames import Kind

GO, DO, LIFE, FIND = "ed-go", "ed-do", "ed-life", "ed-find"
PAGE = "ed-page"
_A_PAGE = 10
_ENTRIES = 12
_FEW = 5
_NAMED = 3


@dataclass(frozen=True, kw_only=True)
class Window:
    """What a page is made from; `notice` is what was just done or refused, above all else."""

    bench: Bench
    spot: Spot = field(default_factory=Spot)
    channel: str = ""
    notice: tuple[Block, ...] = ()

    @property
    def private(self) -> dict[str, str]:
        return {"s": self.bench.stamp, "at": str(self.spot), "channel": self.channel}


def page(window: Window) -> Block:
    """The window as it is to be seen now."""
    configuration = window.bench.configuration
    spot = window.spot.within(configuration)
    shown = replace(window, spot=spot)
    blocks = [*window.notice, context(state_line(window.bench))]
    blocks += _thing_page(shown) if spot.index is not None else _list_page(shown)
    return modal(
        "Configuration" if spot.index is None else f"{spot.kind.capitalize()}",
        blocks,
        PAGE,
        submit="Save",
        close="Exit",
        private=shown.private,
        notify_on_close=window.bench.is_unsaved,
    )


def state_line(bench: Bench) -> str:
    """What is in force, what is saved, what is not, and who else is at it."""
    said = [f"Version {bench.in_force} is in force." if bench.version else "Nothing is in force."]
    if bench.draft is None:
        said.append("There is no draft.")
    else:
        by, when = user(bench.draft.by), ago(bench.draft.at, bench.now)
        said.append(f"Draft revision {bench.draft.revision} was saved by {by} {when}.")
    changes = len(bench.changes())
    said.append(
        f"You have {count(changes, 'unsaved change') if changes else 'no unsaved changes'}."
    )
    if bench.copy.revision and bench.is_behind:
        said.append("It was saved or provisioned since you began; Save shows what differs.")
    return " ".join([*said, *_others(bench)])


def _others(bench: Bench) -> list[str]:
    said = [
        f"{user(one.user)} is editing, too (last change {ago(one.changed_at, bench.now)})."
        for one in bench.others[:_NAMED]
    ]
    more = len(bench.others) - _NAMED
    return [*said, f"So are {more} more."] if more > 0 else said


def _list_page(window: Window) -> list[Block]:
    configuration, spot = window.bench.configuration, window.spot
    things = things_of(configuration, spot.kind)
    shown = page_of(things, spot.page, _A_PAGE)
    rows = [
        with_button(
            section(f"{shown.first + place}. {thing_line(thing)}"),
            action("Open", GO, str(Spot(spot.kind, shown.first + place - 1))),
        )
        for place, thing in enumerate(shown.items)
    ]
    return [
        _lifecycle(window.bench),
        divider(),
        _tabs(configuration, spot.kind),
        *(rows or [section(f"There are no {PLURAL[spot.kind]} yet.")]),
        *_turns(
            spot,
            (shown.number, shown.pages),
            f"{shown.first}-{shown.first + len(rows) - 1} of {shown.whole}",
        ),
        _additions(spot.kind, len(things)),
    ]


def _lifecycle(bench: Bench) -> Block:
    """What is done with the whole; Save and Exit are the window's own buttons."""
    row = [
        button("Changes", "draft diff"),
        button("Validate", "draft validate"),
        button("Provision", "draft provision"),
        action("Import", LIFE, "import"),
        button("Export", "draft export"),
    ]
    if bench.draft is not None or bench.copy.revision:
        row.append(action("Reset", LIFE, "reset", style="danger"))
    return buttons(*row)


def _tabs(configuration: Configuration, chosen: Kind) -> Block:
    """The three lists; the one that is shown is marked."""
    tabs = []
    for kind in KINDS:
        label = f"{PLURAL[kind].capitalize()} ({len(names_of(configuration, kind))})"
        tabs.append(action(f"▸ {label}" if kind is chosen else label, GO, str(Spot(kind))))
    return buttons(*tabs)


def _additions(kind: Kind, there: int) -> Block:
    add = action(f"Add a {kind}", DO, str(Deed("new")))
    row = buttons(add)
    if there > _A_PAGE:
        row["elements"].append(finder(FIND, f"Find a {kind}"))
    return row


def finder(action_id: str, prompt: str) -> Block:
    """A select that searches while one types."""
    return {
        "type": "external_select",
        "action_id": action_id,
        "placeholder": {"type": "plain_text", "text": prompt},
        "min_query_length": 0,
    }


def _turns(spot: Spot, at: tuple[int, int], whole: str) -> list[Block]:
    """Where one is in a list, and how to go on; nothing where there is one page."""
    number, pages = at
    if pages == 1:
        return []
    row = []
    if number > 1:
        row.append(action("Previous", GO, str(Spot(spot.kind, spot.index, number - 1))))
    if number < pages:
        row.append(action("Next", GO, str(Spot(spot.kind, spot.index, number + 1))))
    return [context(f"{whole}, page {number} of {pages}"), buttons(*row)]


def things_of(configuration: Configuration, kind: Kind) -> Sequence[Thing]:
    match kind:
        case Kind.POOL:
            return configuration.pools
        case Kind.PROFILE:
            return configuration.profiles
    return configuration.policies


def _thing_page(window: Window) -> list[Block]:
    configuration, spot = window.bench.configuration, window.spot
    assert spot.index is not None, "a list has a page of its own"
    thing = things_of(configuration, spot.kind)[spot.index]
    blocks = sections(thing_lines(thing))
    if isinstance(thing, Pool) and thing.description.strip():
        blocks.append(prose(thing.description))
    blocks.append(_thing_buttons(window))
    for listing, title in _LISTS[spot.kind]:
        blocks += [divider(), section(f"*{title}*"), *_entries(window, listing)]
    return [*blocks, *_connections(window)]


_LISTS = {
    Kind.POOL: [(Listing.PRIORITY, "Execution priority: which profile's jobs go first")],
    Kind.PROFILE: [
        (Listing.PRECEDENCE, "Pool precedence: which pool is tried first"),
        (Listing.POLICIES, "Policy priority: which team's jobs go first"),
    ],
    Kind.POLICY: [(Listing.QUEUES, "Queues: where the team enqueues")],
}


def _thing_buttons(window: Window) -> Block:
    spot, whole = window.spot, len(names_of(window.bench.configuration, window.spot.kind))
    row = [
        action("Back", GO, str(Spot(spot.kind, None, 1 + (spot.index or 0) // _A_PAGE))),
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


def _entries(window: Window, listing: Listing) -> list[Block]:
    configuration, spot = window.bench.configuration, window.spot
    every = entries(spot, listing, configuration)
    shown = page_of(every, spot.page, _ENTRIES)
    rows = []
    for place, entry in enumerate(shown.items):
        index = shown.first - 1 + place
        row = section(f"{index + 1}. {_entry(window, entry, Deed('', listing, index))}")
        menu = _menu(listing, index, len(every))
        rows.append(with_button(row, menu) if menu else row)
    if not rows:
        return [section(f"None yet. {_NONE[listing]}")]
    whole = f"{shown.first}-{shown.first + len(rows) - 1} of {shown.whole}"
    return [*rows, *_turns(spot, (shown.number, shown.pages), whole)]


_NONE = {
    Listing.PRIORITY: "No job can run in this pool until a profile is connected.",
    Listing.PRECEDENCE: "No job of this profile can run until a pool is connected.",
    Listing.POLICIES: "No team uses this profile; connect it on a policy's page.",
    Listing.QUEUES: "The team can enqueue nothing until a profile is connected.",
}


def _entry(window: Window, entry: str, deed: Deed) -> str:
    configuration, spot = window.bench.configuration, window.spot
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


def _connections(window: Window) -> list[Block]:
    other = {Kind.POOL: "profile", Kind.PROFILE: "pool", Kind.POLICY: "profile"}
    return [buttons(action(f"Connect a {other[window.spot.kind]}", DO, str(Deed("connect"))))]
