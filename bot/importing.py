"""Import and export: the whole configuration as YAML, into the editor and out of it.

A document knows names only, so what has another name counts as deleted and created, until its
sender says that it was renamed.
"""

from collections.abc import Mapping, Sequence

from bot.access import Actor
from bot.blocks import Block, Post, Reply, context, section
from bot.commands import Command
from bot.desk import Desk
from bot.editing_bench import Bench, Outdated, bench_of, change
from bot.editing_forms import input_block, text_input
from bot.editing_guard import outdated
from bot.editing_pages import Window, page
from bot.editing_renames import gone_and_new, unclear
from bot.editing_words import count
from bot.files import CONFIGURATION, read_upload
from bot.slack_door import File, Later, SlackError
from bot.surfaces import Done, Errors, Show, Submission, modal
from domain.configuration import Configuration
from domain.edits import Edit, Edited, Refused, names_of
from domain.renames import Kind
from storage.documents import DocumentError, Problem, read_configuration, write_configuration

IMPORT = "ed-import"
_MOST_PASTED = 3_000
_PROBLEMS = 6


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
    notice = [section(told), *unclear(gone_and_new(desk, done))]
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
