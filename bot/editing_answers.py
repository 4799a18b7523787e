"""`draft`: show, diff, save, validate, reset, rebase, discard, import, export. As in the editor."""

from bot.access import Actor
from bot.blocks import Reply, button, buttons, page_in, section
from bot.commands import Command, Role, Verb
from bot.desk import Desk
from bot.editing_bench import Outdated, bench_of
from bot.editing_drafts import (
    Meanwhile,
    Nothing,
    discard_mine,
    rebase_mine,
    reset,
    save,
)
from bot.editing_messages import (
    DIFF,
    EDIT,
    PROVISION,
    VALIDATE,
    diff_reply,
    discard_dialog,
    findings_reply,
    meanwhile_reply,
    not_saved_reply,
    nothing_text,
    rebased_reply,
    reset_done_text,
    reset_reply,
    row,
    saved_text,
    show_reply,
)
from bot.editing_words import count
from bot.importing import export, open_import
from controller.validating import findings


def show(desk: Desk, actor: Actor, asked: Command) -> Reply:
    return show_reply(bench_of(desk, actor.user))


def diff(desk: Desk, actor: Actor, asked: Command) -> Reply:
    _, number = page_in(asked.words)
    return diff_reply(bench_of(desk, actor.user), number)


def save_mine(desk: Desk, actor: Actor, asked: Command) -> Reply:
    """What the person has in the editor becomes the shared draft."""
    done = save(desk, actor)
    if isinstance(done, Meanwhile):
        return meanwhile_reply(done)
    assert not isinstance(done, Outdated), "no window is meant"
    if isinstance(done, Nothing):
        text = nothing_text(done)
        return Reply(text=text, blocks=(section(text), row(EDIT)))
    text = saved_text(done)
    return Reply(text=text, blocks=(section(text), row(DIFF, VALIDATE, PROVISION)))


def check(desk: Desk, actor: Actor, asked: Command) -> Reply:
    """Whether the saved draft may be provisioned; applies nothing."""
    _, number = page_in(asked.words)
    bench = bench_of(desk, actor.user)
    if bench.draft is None:
        return not_saved_reply(bench)
    with desk.database.reading() as session:
        connected = desk.settings.has_kubernetes
        found = findings(session, bench.draft.configuration, connected=connected)
    return findings_reply(bench, found, number)


def reset_draft(desk: Desk, actor: Actor, asked: Command) -> Reply:
    """Asks first; the button says what was seen, and only that is deleted."""
    if not asked.words:
        return reset_reply(bench_of(desk, actor.user))
    done = reset(desk, actor, asked.words[0])
    if isinstance(done, Outdated):
        again = reset_reply(done.bench)
        text = f"Nothing was reset: it is not what you were shown any more. {again.text}"
        return Reply(text=text, blocks=(section(text), *again.blocks[1:]))
    return Reply(text=reset_done_text(done))


def rebase(desk: Desk, actor: Actor, asked: Command) -> Reply:
    """Puts unsaved changes on top of what others saved meanwhile."""
    done = rebase_mine(desk, actor)
    assert not isinstance(done, Outdated), "no window is meant"
    return rebased_reply(done)


def discard(desk: Desk, actor: Actor, asked: Command) -> Reply:
    """Drops unsaved changes, once it is said which."""
    bench = bench_of(desk, actor.user)
    if not bench.copy.revision:
        return Reply(text="You have no unsaved changes.")
    if asked.words:
        done = discard_mine(desk, actor, asked.words[0])
        if not isinstance(done, Outdated):
            return Reply(text="Your unsaved changes are discarded.")
        bench = done.bench
    lost = count(len(bench.changes()), "unsaved change")
    text = f"You have {lost}; nothing was discarded yet."
    says = f"draft discard {bench.stamp}"
    sure = button("Discard mine", says, style="danger", confirm=discard_dialog(bench))
    return Reply(text=text, blocks=(section(text), buttons(sure)))


_PAGED = (0, 2)

VERBS = (
    Verb(
        words=("draft", "show"),
        role=Role.ADMIN,
        help="shows who saved the draft, what it changes, and what you have not saved.",
        example="draft show",
        answer=show,
    ),
    Verb(
        words=("draft", "diff"),
        role=Role.ADMIN,
        help="lists every change against what is in force.",
        takes=_PAGED,
        answer=diff,
    ),
    Verb(
        words=("draft", "save"),
        role=Role.ADMIN,
        help="makes your unsaved changes the shared draft; applies nothing.",
        answer=save_mine,
    ),
    Verb(
        words=("draft", "validate"),
        role=Role.ADMIN,
        help="says whether the saved draft may be provisioned; applies nothing.",
        takes=_PAGED,
        answer=check,
    ),
    Verb(
        words=("draft", "rebase"),
        role=Role.ADMIN,
        help="puts your unsaved changes on top of what others saved meanwhile.",
        answer=rebase,
    ),
    Verb(
        words=("draft", "discard"),
        role=Role.ADMIN,
        help="drops your unsaved changes, after asking.",
        takes=(0, 1),
        answer=discard,
    ),
    Verb(
        words=("draft", "reset"),
        role=Role.ADMIN,
        help="deletes the draft and your unsaved changes, after asking.",
        takes=(0, 1),
        answer=reset_draft,
    ),
    Verb(
        words=("draft", "import"),
        role=Role.ADMIN,
        help="puts a YAML document into the editor, pasted or uploaded.",
        answer=open_import,
    ),
    Verb(
        words=("draft", "export"),
        role=Role.ADMIN,
        help="sends you the configuration as YAML: yours, what is saved, or what is in force.",
        usage="[saved|in-force]",
        takes=(0, 1),
        answer=export,
    ),
)
