"""The whole draft from within the editor: Save, Rebase, Discard, Reset, Import, Exit."""

from bot.access import Actor
from bot.blocks import Block, Reply, action, buttons, section
from bot.desk import Desk
from bot.editing_bench import Outdated, bench_of
from bot.editing_controls import LIFE, PAGE
from bot.editing_drafts import (
    Meanwhile,
    Saved,
    discard_mine,
    rebase_mine,
    reset,
    reset_key,
    save,
)
from bot.editing_forms import sure_form
from bot.editing_guard import outdated, window_of
from bot.editing_messages import (
    EDIT,
    SAVE,
    discard_dialog,
    draft_changes,
    meanwhile_blocks,
    my_changes,
    nothing_text,
    rebased_blocks,
    reset_done_text,
    reset_question,
    row,
    saved_text,
)
from bot.editing_pages import Window, page
from bot.editing_spots import Deed, Spot
from bot.editing_words import count
from bot.importing import import_form
from bot.surfaces import Done, Press, Show, Submission, modal


def save_here(desk: Desk, actor: Actor, said: Submission) -> Show:
    """The window's Save: it stays open, and says what became of it."""
    private = said.private
    done = save(desk, actor, private.get("s"))
    if isinstance(done, Outdated):
        return Show(view=page(outdated(done.bench, private)))
    if isinstance(done, Meanwhile):
        return Show(view=_meanwhile_view(done, private))
    text = saved_text(done) if isinstance(done, Saved) else nothing_text(done)
    return Show(view=_noticed(desk, actor, private, [section(f"*{text}*")]))


def _noticed(desk: Desk, actor: Actor, private: dict[str, str], notice: list[Block]) -> Block:
    window = window_of(desk, actor, private)
    return page(
        Window(
            bench=window.bench,
            spot=window.spot,
            channel=window.channel,
            notice=tuple(notice),
        )
    )


def _meanwhile_view(refused: Meanwhile, private: dict[str, str]) -> Block:
    bench = refused.bench
    can = [action("Rebase my changes", LIFE, "rebase", style="primary")]
    if bench.copy.revision:
        sure = discard_dialog(bench)
        can.append(action("Discard mine", LIFE, "discard", style="danger", confirm=sure))
    can.append(action("Back", LIFE, "back"))
    blocks = [*meanwhile_blocks(refused), buttons(*can)]
    again = {**private, "s": bench.stamp}
    return modal("Not saved", blocks, PAGE, close="Exit", private=again, notify_on_close=True)


def live(desk: Desk, actor: Actor, press: Press) -> Show:
    """A button that is about the whole."""
    private = press.private
    match press.value:
        case "rebase":
            done = rebase_mine(desk, actor, private.get("s"))
            if isinstance(done, Outdated):
                return Show(view=page(outdated(done.bench, private)))
            return Show(view=_noticed(desk, actor, _list(private), rebased_blocks(done)))
        case "discard":
            left_ = discard_mine(desk, actor, private.get("s", ""))
            if isinstance(left_, Outdated):
                return Show(view=page(outdated(left_.bench, private)))
            gone = [section("*Your unsaved changes are discarded.*")]
            return Show(view=_noticed(desk, actor, _list(private), gone))
        case "reset":
            return _ask_to_reset(desk, actor, press)
        case "import":
            return Show(view=import_form(window_of(desk, actor, private).private), push=True)
    return Show(view=page(window_of(desk, actor, private)))


def _list(private: dict[str, str]) -> dict[str, str]:
    """The list of what was shown: after a rebase the thing may be elsewhere."""
    return {**private, "at": str(Spot(Spot.read(private.get("at", "")).kind))}


def _ask_to_reset(desk: Desk, actor: Actor, press: Press) -> Show:
    bench = bench_of(desk, actor.user)
    question = reset_question(bench)
    if not question:
        notice = [section("There is nothing to reset.")]
        return Show(view=_noticed(desk, actor, press.private, notice))
    deed = Deed("reset")
    private = {**press.private, "do": str(deed), "r": reset_key(bench)}
    lost = [*draft_changes(bench), *my_changes(bench)]
    return Show(view=sure_form(deed, question, lost, private), push=True)


def reset_here(desk: Desk, actor: Actor, said: Submission) -> Done:
    """The reset was confirmed in the window."""
    done = reset(desk, actor, said.private.get("r", ""))
    if isinstance(done, Outdated):
        return Done(below=page(outdated(done.bench, said.private)))
    notice = (section(f"*{reset_done_text(done)}*"),)
    channel = said.private.get("channel", "")
    return Done(below=page(Window(bench=done, channel=channel, notice=notice)))


def left(desk: Desk, actor: Actor, said: Submission) -> Reply | None:
    """The window was closed: unsaved changes are kept, and that is said."""
    bench = bench_of(desk, actor.user)
    if not bench.is_unsaved:
        return None
    changes = count(len(bench.changes()), "unsaved change")
    text = f"You left the editor with {changes}. I keep it for you; nobody else sees it."
    if len(bench.changes()) != 1:
        text = f"You left the editor with {changes}. I keep them for you; nobody else sees them."
    return Reply(text=text, blocks=(section(text), row(("Go on editing", EDIT[1]), SAVE)))
