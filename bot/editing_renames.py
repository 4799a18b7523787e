"""Saying what was renamed, after a document was imported that cannot tell.

What the version has and the copy has not may have become what the copy has and the version has not.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Final

from bot.access import Actor
from bot.blocks import Block, action, bullets, buttons, section
from bot.desk import Desk
from bot.editing_bench import Bench, Outdated, bench_of, change
from bot.editing_forms import text_input
from bot.editing_guard import outdated
from bot.editing_pages import Window, page
from bot.editing_words import count
from bot.surfaces import Done, Errors, Press, Show, Submission, modal
from domain.configuration import Configuration
from domain.edits import Edited, Refused, names_of
from domain.names import quoted
from domain.renames import Kind, Renames
from storage import configurations

RENAMED: Final = "ed-renamed"
_MOST_TYPED = 3_000
_LINE = re.compile(r"\s*(\w+)\s*:\s*(.+?)\s*=\s*(.+?)\s*")
_Names = Mapping[Kind, Sequence[str]]


def gone_and_new(desk: Desk, bench: Bench) -> tuple[_Names, _Names]:
    """What the version has and the copy has not, and the other way round, by their names."""
    with desk.database.reading() as session:
        base = configurations.version(session, bench.copy.base)
    before, now = base.configuration if base else Configuration(), bench.configuration
    gone, new = {}, {}
    for kind in Kind:
        follow = {name: bench.copy.renames.current(kind, name) for name in names_of(before, kind)}
        there, kept = names_of(now, kind), set(follow.values())
        gone[kind] = [name for name, at in follow.items() if at not in there]
        new[kind] = [name for name in there if name not in kept]
    return gone, new


def unclear(found: tuple[_Names, _Names]) -> list[Block]:
    """What may have been renamed, and a button to say so; nothing where nothing may."""
    gone, new = found
    lines = [
        f"{kind.capitalize()}: {', '.join(gone[kind])} deleted, {', '.join(new[kind])} created"
        for kind in Kind
        if gone[kind] and new[kind]
    ]
    if not lines:
        return []
    title = "A document does not tell what was renamed, so these count as deleted and created"
    ask = action("Some were renamed", RENAMED, "ask")
    return [bullets(lines, title, 500), buttons(ask)]


def ask_renames(desk: Desk, actor: Actor, press: Press) -> Show:
    """The form for saying what was renamed, filled with what is likely."""
    bench = bench_of(desk, actor.user)
    if bench.stamp != press.private.get("s"):
        return Show(view=page(outdated(bench, press.private)))
    gone, new = gone_and_new(desk, bench)
    pairs = [
        f"{kind}: {was} = {now}"
        for kind in Kind
        for was, now in zip(gone[kind], new[kind], strict=False)
    ]
    guess = "\n".join(pairs)
    blocks = [
        section("Write one line for each: the kind, the old name, `=`, the new one."),
        text_input(
            "pairs", "Renamed", guess if len(guess) <= _MOST_TYPED else "", lines=True,
            hint="Take away the lines that are none: those stay deleted and created.",
        ),
    ]  # fmt: skip
    view = modal("Renamed", blocks, RENAMED, submit="Keep", close="Cancel", private=press.private)
    return Show(view=view, push=True)


def keep_renames(desk: Desk, actor: Actor, said: Submission) -> Errors | Done:
    """What was renamed was said."""
    bench = bench_of(desk, actor.user)
    if bench.stamp != said.private.get("s"):
        return Done(below=page(outdated(bench, said.private)))
    gone, new = gone_and_new(desk, bench)
    pairs = _pairs(str(said.fields.get("pairs") or ""), gone, new)
    if isinstance(pairs, str):
        return Errors(by_block={"pairs": pairs})
    renames = _with(bench.copy.renames, pairs)
    done = change(desk, actor.user, bench.stamp, lambda draft: Edited(draft.configuration, renames))
    if isinstance(done, Outdated):
        return Done(below=page(outdated(done.bench, said.private)))
    assert not isinstance(done, Refused), "the configuration stays as it was"
    told = count(sum(map(len, pairs.values())), "rename")
    notice = (section(f"*Kept: {told}.* {count(len(done.changes()), 'unsaved change')} now."),)
    channel = said.private.get("channel", "")
    return Done(below=page(Window(bench=done, channel=channel, notice=notice)))


def _pairs(text: str, gone: _Names, new: _Names) -> dict[Kind, dict[str, str]] | str:
    """Old name → new name by kind, or what is wrong with a line."""
    found: dict[Kind, dict[str, str]] = {kind: {} for kind in Kind}
    for line in filter(str.strip, text.splitlines()):
        match = _LINE.fullmatch(line)
        if match is None or match[1].lower() not in set(Kind):
            return f"{quoted(line[:80])} is no such line: write `pool: old name = new name`."
        kind, was, now = Kind(match[1].lower()), match[2], match[3]
        if was not in gone[kind] or was in found[kind]:
            return f"No {kind} {quoted(was[:80])} was deleted, or it is there twice."
        if now not in new[kind] or now in found[kind].values():
            return f"No {kind} {quoted(now[:80])} was created, or it is there twice."
        found[kind][was] = now
    return found


def _with(renames: Renames, pairs: Mapping[Kind, Mapping[str, str]]) -> Renames:
    """The renames so far, with further ones of objects that they do not speak of."""
    said = {kind: {**renames.by_kind.get(kind, {}), **pairs[kind]} for kind in Kind}
    return Renames.of(said)
