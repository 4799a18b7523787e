"""Import and export: the whole configuration as YAML, into the editor and out of it.

A document knows names only, so what has another name counts as deleted and created, until its
sender says that it was renamed.
"""

import re
from collections.abc import Mapping, Sequence

from bot.access import Actor
from bot.blocks import Block, Post, Reply, action, bullets, buttons, context, section
from bot.commands import Command
from bot.desk import Desk
from bot.editing_bench import Bench, Outdated, bench_of, change
from bot.editing_forms import input_block, text_input
from bot.editing_guard import outdated
from bot.editing_pages import Window, page
from bot.editing_words import count
from bot.files import CONFIGURATION, read_upload
from bot.slack_door import File, Later, SlackError
from bot.surfaces import Done, Errors, Press, Show, Submission, modal
from domain.configuration import Configuration
from domain.edits import Edit, Edited, Refused, names_of
from domain.names import quoted
from domain.renames import Kind, Renames
from storage import configurations
from storage.documents import DocumentError, Problem, read_configuration, write_configuration

IMPORT, RENAMED = "ed-import", "ed-renamed"
_MOST_PASTED = 3_000
_PROBLEMS = 6
_LINE = re.compile(r"\s*(\w+)\s*:\s*(.+?)\s*=\s*(.+?)\s*")


def import_form(private: Mapping[str, str]) -> Block:
    """To paste a document, or to upload one."""
    element = {"type": "file_input", "filetypes": ["yaml", "yml", "json", "txt"], "max_files": 1}
    blocks = [
        section(
            "The document takes the place of all that is in your working copy; nothing is saved "
            "or applied by that."
        ),
        text_input(
            "yaml", "Paste the YAML", "", most=_MOST_PASTED, optional=True, lines=True,
            hint=f"Up to {_MOST_PASTED:,} characters; upload a longer one below.",
        ),
        input_block("file", "Or upload it", element, optional=True),
    ]  # fmt: skip
    title = "Import"
    return modal(title, blocks, IMPORT, submit="Import", close="Cancel", private=private)


def open_import(desk: Desk, actor: Actor, asked: Command) -> Reply:
    """`draft import`."""
    bench = bench_of(desk, actor.user)
    window = Window(bench=bench, channel=asked.origin.channel)
    return Reply(text="Paste or upload the document.", view=import_form(window.private))


def take(desk: Desk, actor: Actor, said: Submission) -> Errors | Done | Show:
    """A document was pasted or uploaded: it becomes the working copy, or is refused by lines."""
    read = _document(desk, said)
    if isinstance(read, Errors):
        return read
    done = change(desk, actor.user, said.private.get("s", ""), lambda draft: _replaced(draft, read))
    if isinstance(done, Outdated):
        return _shown(outdated(done.bench, said.private), said)
    assert not isinstance(done, Refused), "what can be read can be kept"
    changes = len(done.changes())
    told = (
        f"*Imported: {count(changes, 'unsaved change')}.*"
        if changes
        else ("*Imported: it is what you had already.*")
    )
    notice = [section(told), *_unclear(_gone_and_new(desk, done))]
    channel = said.private.get("channel", "")
    return _shown(Window(bench=done, channel=channel, notice=tuple(notice)), said)


def _shown(window: Window, said: Submission) -> Done | Show:
    """In the editor below, or where there is none in place of the form."""
    below = said.view.get("previous_view_id")
    return Done(below=page(window)) if below else Show(view=page(window))


def _document(desk: Desk, said: Submission) -> Configuration | Errors:
    pasted, files = str(said.fields.get("yaml") or ""), said.fields.get("file") or []
    if bool(pasted.strip()) == bool(files):
        told = "Paste it or upload it, not both." if files else "Paste a document, or upload one."
        return Errors(by_block={"yaml": told})
    block = "file" if files else "yaml"
    try:
        raw = _uploaded(desk, files[0]["id"]) if files else pasted.encode()
        name = str(files[0].get("name") or "") if files else ""
        return read_upload(raw, name, CONFIGURATION, read_configuration)
    except DocumentError as error:
        return Errors(by_block={block: problems_text(error.problems, more=error.are_more)})
    except SlackError as error:
        again = "try again in a minute" if isinstance(error, Later) else "paste it instead"
        return Errors(by_block={block: f"Slack does not give me the file ({error.code}); {again}."})
    except UnicodeEncodeError:
        return Errors(by_block={block: "It has a character that is none; upload it as UTF-8."})


def _uploaded(desk: Desk, file: str) -> bytes:
    assert desk.slack is not None, "what Slack brings, Slack can be asked about"
    return desk.slack.download(file, CONFIGURATION.largest)


def problems_text(problems: Sequence[Problem], *, more: bool) -> str:
    """One sentence for each problem, each on a line of its own; further ones are counted."""
    lines = [str(problem) for problem in problems[:_PROBLEMS]]
    rest = len(problems) - _PROBLEMS
    if rest > 0:
        lines.append(f"And {rest}{' or more' if more else ''} further problems.")
    return "\n".join(lines)


def _replaced(draft: Edited, configuration: Configuration) -> Edit:
    """What still has the name it had in the copy is the same object."""
    renames = draft.renames
    for kind in Kind:
        there = set(names_of(configuration, kind))
        for name in names_of(draft.configuration, kind):
            if name not in there:
                renames = renames.without(kind, name)
    return Edited(configuration, renames)


_Names = Mapping[Kind, Sequence[str]]


def _gone_and_new(desk: Desk, bench: Bench) -> tuple[_Names, _Names]:
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


def _unclear(found: tuple[_Names, _Names]) -> list[Block]:
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
    gone, new = _gone_and_new(desk, bench)
    pairs = [
        f"{kind}: {was} = {now}"
        for kind in Kind
        for was, now in zip(gone[kind], new[kind], strict=False)
    ]
    guess = "\n".join(pairs)
    blocks = [
        section("Write one line for each: the kind, the old name, `=`, the new one."),
        text_input(
            "pairs", "Renamed", guess if len(guess) <= _MOST_PASTED else "", lines=True,
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
    gone, new = _gone_and_new(desk, bench)
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


def export(desk: Desk, actor: Actor, asked: Command) -> Reply:
    """`draft export`: what the editor shows, or what is `saved` or in `force`, as a file."""
    what = asked.words[0].lower() if asked.words else "mine"
    bench = bench_of(desk, actor.user)
    chosen = _chosen(bench, what)
    if chosen is None:
        text = "There is no such thing to export: say `draft export`, `… saved` or `… in-force`."
        return Reply(text=text)
    configuration, title = chosen
    name = f"{title.replace(' ', '-')}.yaml"
    file = File(name=name, title=title, alt="", content=yaml_of(configuration))
    assert desk.slack is not None, "this was asked for in Slack"
    place = Post(channel=desk.slack.direct(actor.user), text=f"Here is {title}, as you asked.")
    desk.slack.upload(place, file)
    counts = ", ".join(
        count(len(names_of(configuration, kind)), str(kind))
        for kind in (Kind.POOL, Kind.PROFILE, Kind.POLICY)
    )
    text = f"I sent you {title} as YAML in our direct messages: {counts}."
    return Reply(text=text, blocks=(section(text), context("`/pool draft import` reads it again.")))


def _chosen(bench: Bench, what: str) -> tuple[Configuration, str] | None:
    if what == "mine":
        if bench.is_unsaved:
            return bench.configuration, "your unsaved working copy"
        what = "saved" if bench.draft is not None else "in-force"
    if what == "saved" and bench.draft is not None:
        return bench.draft.configuration, f"draft revision {bench.draft.revision}"
    if what in ("in-force", "provisioned") and bench.version is not None:
        return bench.version.configuration, f"version {bench.in_force}"
    return None


def yaml_of(configuration: Configuration) -> bytes:
    """The document that import reads back to an equal configuration."""
    import yaml

    document = write_configuration(configuration)
    return str(yaml.safe_dump(document, sort_keys=False, allow_unicode=True)).encode()
