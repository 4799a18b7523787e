"""The editor's pages: the lists of pools, profiles and policies, and one page for each thing. Pure.

There is one window, which shows one page after the other; what is filled in stands on top of it.
"""

from dataclasses import dataclass, field, replace

from bot.blocks import (
    Block,
    action,
    button,
    buttons,
    context,
    divider,
    page_of,
    section,
    user,
    with_button,
)
from bot.editing_bench import Bench
from bot.editing_controls import DO, FIND, GO, LIFE, LIST_PAGE, PAGE, finder, turns
from bot.editing_spots import KINDS, PLURAL, Deed, Spot, things_of
from bot.editing_thing_page import thing_page
from bot.editing_words import ago, count, thing_line
from bot.surfaces import modal
from domain.configuration import Configuration
from domain.edits import names_of
from domain.renames import Kind

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
    blocks += thing_page(configuration, spot) if spot.index is not None else _list_page(shown)
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
    shown = page_of(things, spot.page, LIST_PAGE)
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
        *turns(
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
    if there > LIST_PAGE:
        row["elements"].append(finder(FIND, f"Find a {kind}"))
    return row
