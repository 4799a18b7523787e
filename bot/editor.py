"""`edit`: the editor's window, what is pressed in it, and what its forms lead to.

Everything happens in the person's own working copy (bot.editing_bench); what makes it the shared
draft is in bot.editing_life. Each handler checks, changes, commits, answers.
"""

from collections.abc import Callable, Mapping

from bot.access import Actor
from bot.blocks import Block, Reply, name, plain
from bot.commands import Command, Role, Verb
from bot.desk import Desk
from bot.editing_bench import bench_of
from bot.editing_controls import DO, FIND, GO, LIFE, PAGE
from bot.editing_deeds import (
    connectable,
    label_of,
    moved,
    removed,
)
from bot.editing_fields import sentence
from bot.editing_forms import (
    JOIN,
    LABEL,
    PICK,
    PLACE,
    SURE,
    THING,
    join_form,
    label_form,
    place_form,
    sure_form,
    thing_form,
)
from bot.editing_guard import act, outdated, submit, window_of
from bot.editing_life import left, live, save_here
from bot.editing_pages import Window, page
from bot.editing_renames import RENAMED, ask_renames, keep_renames
from bot.editing_spots import KINDS, Deed, Listing, Spot, entries
from bot.editing_submits import (
    changed,
    confirmed,
    join,
    keep_thing,
    put_in_place,
    relabel,
    thing_at,
)
from bot.importing import IMPORT, take
from bot.naming import Unclear, ask_which, command, resolve
from bot.surfaces import Choice, Done, Errors, Press, Show, Submission, Surfaces, Typed
from domain.editing import Edited
from domain.edits import names_of

_OFFERED, _SHOWN = 100, 75


def open_editor(desk: Desk, actor: Actor, asked: Command) -> Reply:
    """The window on the list of pools, or on what was named."""
    bench = bench_of(desk, actor.user)
    spot = Spot()
    if asked.words:
        said = " ".join(asked.words)
        found = resolve(said, (n for kind in KINDS for n in names_of(bench.configuration, kind)))
        if isinstance(found, Unclear):
            return ask_which("pool, profile or policy", found, lambda one: command("edit", one))
        kind = next(kind for kind in KINDS if found in names_of(bench.configuration, kind))
        spot = Spot(kind).of(found, bench.configuration)
    window = Window(bench=bench, spot=spot, channel=asked.origin.channel)
    return Reply(text="The editor is open.", view=page(window))


def go(desk: Desk, actor: Actor, press: Press) -> Show:
    """Another page of the window."""
    window = window_of(desk, actor, press.private)
    spot = Spot.read(press.value)
    if window.bench.stamp != press.private.get("s"):
        return Show(view=page(outdated(window.bench, press.private)))
    return Show(view=page(Window(bench=window.bench, spot=spot, channel=window.channel)))


def do(desk: Desk, actor: Actor, press: Press) -> Show:
    """A move at once, or a form for what takes more to be said."""
    window, deed = window_of(desk, actor, press.private), Deed.read(press.value)
    if window.bench.stamp != press.private.get("s"):
        return Show(view=page(outdated(window.bench, press.private)))
    if deed.verb not in ("up", "down"):
        return Show(view=_form(window, deed), push=True)
    spot = window.spot
    edit = moved(spot, deed, window.bench.configuration)
    if deed.listing is Listing.THINGS:  # its page is where it goes
        spot = Spot(spot.kind, deed.index + (1 if deed.verb == "down" else -1))
    return Show(view=changed(desk, actor, press.private, edit, spot))


def _form(window: Window, deed: Deed) -> Block:
    configuration, spot = window.bench.configuration, window.spot
    private = {**window.private, "do": str(deed)}
    match deed.verb:
        case "new":
            return thing_form(spot.kind, None, private)
        case "edit":
            return thing_form(spot.kind, thing_at(window.bench, spot), private)
        case "connect":
            return join_form(spot.kind, spot.name(configuration), private)
        case "relabel":
            kind, now = label_of(spot, deed, configuration)
            return label_form(str(kind), now, private)
        case "place":
            whole = len(entries(spot, deed.listing, configuration))
            return place_form(deed.index + 1, whole, private)
    edited = removed(spot, deed, configuration)(Edited(configuration, window.bench.copy.renames))
    falls = edited.consequences if isinstance(edited, Edited) else (sentence(edited),)
    return sure_form(deed, _question(window, deed), falls, private)


def _question(window: Window, deed: Deed) -> str:
    configuration, spot = window.bench.configuration, window.spot
    owner = f"{spot.kind} {name(spot.name(configuration))}"
    if deed.verb == "delete":
        return f"Delete the {owner}? It goes from your copy, and for all once that is provisioned."
    kind, label = label_of(spot, deed, configuration)
    return f"Take the {kind} {name(label)} away from the {owner}?"


def find(desk: Desk, actor: Actor, typed: Typed) -> list[Choice]:
    """Things of the kind that is shown whose name has what was typed in it."""
    bench, spot = bench_of(desk, actor.user), Spot.read(typed.private.get("at", ""))
    if not actor.is_admin or bench.stamp != typed.private.get("s"):
        return []
    every = enumerate(names_of(bench.configuration, spot.kind))
    return _choices(typed.text, [(n, str(Spot(spot.kind, index))) for index, n in every])


def suggest(desk: Desk, actor: Actor, typed: Typed) -> list[Choice]:
    """What may still be connected, by name."""
    bench, spot = bench_of(desk, actor.user), Spot.read(typed.private.get("at", ""))
    if not actor.is_admin or bench.stamp != typed.private.get("s"):
        return []
    kind, fitting = connectable(spot, bench.configuration)
    every = names_of(bench.configuration, kind)
    return _choices(typed.text, [(n, str(every.index(n))) for n in fitting])


def _choices(typed: str, named: list[tuple[str, str]]) -> list[Choice]:
    wanted = typed.casefold().strip()
    found = [
        Choice(text=plain(n, _SHOWN), value=value) for n, value in named if wanted in n.casefold()
    ]
    return found[:_OFFERED]


VERBS = (
    Verb(
        words=("edit",),
        role=Role.ADMIN,
        help="opens the editor: pools, profiles, policies and what connects them.",
        usage="[name]",
        takes=(0, None),
        example="edit",
        answer=open_editor,
    ),
)

_ACTS: Mapping[str, Callable[[Desk, Actor, Press], Reply | Show]] = {
    GO: go,
    FIND: go,
    DO: do,
    LIFE: live,
    RENAMED: ask_renames,
}
_SUBMITS: Mapping[str, Callable[[Desk, Actor, Submission], Errors | Show | Done]] = {
    PAGE: save_here,
    THING: keep_thing,
    JOIN: join,
    LABEL: relabel,
    PLACE: put_in_place,
    SURE: confirmed,
    IMPORT: take,
    RENAMED: keep_renames,
}

SURFACES = Surfaces(
    acts={key: act(one) for key, one in _ACTS.items()},
    submits={key: submit(one) for key, one in _SUBMITS.items()},
    suggests={FIND: find, PICK: suggest},
    closes={PAGE: left},
)
