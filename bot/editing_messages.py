"""What is said of drafts, in messages and in the editor's windows alike. Pure."""

from collections.abc import Sequence

from bot.blocks import (
    Block,
    Reply,
    bullets,
    button,
    buttons,
    confirm,
    context,
    page_of,
    section,
    user,
)
from bot.editing_bench import Bench
from bot.editing_drafts import Meanwhile, Nothing, Rebased, Saved, reset_key
from bot.editing_words import ago, count
from domain.configuration import Configuration
from domain.difference import difference
from domain.findings import Finding, Severity
from domain.rebasing import Conflict

_FEW = 12
_A_PAGE = 25
_FINDINGS = 15
_LINE = 300

EDIT = ("Edit", "edit")
DIFF = ("All changes", "draft diff")
VALIDATE = ("Validate", "draft validate")
PROVISION = ("Provision", "draft provision")
SAVE = ("Save", "draft save")


def row(*named: tuple[str, str]) -> Block:
    """Buttons that say commands."""
    return buttons(*(button(label, says) for label, says in named))


def few(lines: Sequence[str], title: str, rest: str = "") -> Block:
    """The first lines of a list, and how many more there are."""
    shown = list(lines[:_FEW])
    if len(lines) > _FEW:
        shown.append(f"and {len(lines) - _FEW} more{rest}")
    return bullets(shown, title, _LINE)


def draft_changes(bench: Bench) -> list[str]:
    """What the saved draft would change in what is in force."""
    if bench.draft is None:
        return []
    now = bench.version.configuration if bench.version else Configuration()
    found = difference(now, bench.draft.configuration, bench.draft.renames)
    return [change.sentence for change in found]


def my_changes(bench: Bench) -> list[str]:
    return [change.sentence for change in bench.changes()]


def show_reply(bench: Bench) -> Reply:
    """`draft show`: what is saved and what is not, and what can be done with it."""
    saved, mine = draft_changes(bench), my_changes(bench)
    text = _standing(bench, len(saved), len(mine))
    blocks: list[Block] = [section(text)]
    more = "; `/pool draft diff` shows all"
    if saved:
        blocks.append(few(saved, "Saved, not provisioned", more))
    if mine:
        blocks.append(few(mine, "Yours, not saved", more))
    if bench.draft is None:
        return Reply(text=text, blocks=(*blocks, row(EDIT, *([SAVE] if mine else []))))
    can = [EDIT, DIFF, *([SAVE] if mine else []), VALIDATE, PROVISION]
    return Reply(text=text, blocks=(*blocks, row(*can, ("Reset", "draft reset"))))


def _standing(bench: Bench, saved: int, mine: int) -> str:
    if bench.draft is None:
        said = "There is no saved draft."
    else:
        by, when = user(bench.draft.by), ago(bench.draft.at, bench.now)
        said = (
            f"Draft revision {bench.draft.revision}, saved by {by} {when}, would make "
            f"{count(saved, 'change')} to version {bench.in_force}."
        )
        if bench.draft.base != bench.in_force:
            said += f" It was made from version {bench.draft.base}: open the editor and save it."
    return f"{said} You have {count(mine, 'unsaved change') if mine else 'nothing unsaved'}."


def diff_reply(bench: Bench, number: int) -> Reply:
    """`draft diff`: every change, by pages; saved ones first."""
    saved, mine = draft_changes(bench), my_changes(bench)
    every = [(line, "Saved, not provisioned") for line in saved]
    every += [(line, "Yours, not saved") for line in mine]
    text = f"{count(len(saved), 'saved change')} and {count(len(mine), 'unsaved change')} of yours."
    if not every:
        text = f"Nothing differs from {_in_force(bench)}."
        return Reply(text=text, blocks=(section(text),))
    page = page_of(every, number, _A_PAGE)
    blocks: list[Block] = [section(f"*{text}*")]
    for title in dict.fromkeys(title for _, title in page.items):
        lines = [line for line, its in page.items if its == title]
        blocks.append(bullets(lines, title, _LINE))
    return Reply(text=text, blocks=(*blocks, *page.footer("draft diff")))


def saved_text(saved: Saved) -> str:
    return (
        f"Saved as draft revision {saved.draft.revision}, with {count(saved.changes, 'change')} "
        "of yours. Nothing is applied before it is provisioned."
    )


def nothing_text(nothing: Nothing) -> str:
    if nothing.bench.draft is None:
        return "There is nothing to save: your copy is what is in force."
    return f"There is nothing to save: your copy is draft revision {nothing.bench.draft.revision}."


def meanwhile_blocks(refused: Meanwhile) -> list[Block]:
    """Why it was not saved: what others did and what is mine, against what both began with."""
    bench, found = refused.bench, refused.brought
    blocks: list[Block] = [section(f"*Not saved.* {meanwhile_text(bench)}")]
    mine = my_changes(bench)
    blocks.append(few(found.theirs or ["nothing that differs"], "Changed meanwhile by others"))
    blocks.append(few(mine or ["nothing"], "Changed by you"))
    if found.conflicts:
        blocks.append(few(_sentences(found.conflicts), "Changed by both: rebasing keeps theirs"))
    elif mine:
        blocks.append(context("Nothing of it is in conflict."))
    blocks.append(
        context("Rebasing puts your changes on top of theirs; you can look before you save.")
    )
    return blocks


def meanwhile_text(bench: Bench) -> str:
    """What happened since the copy was begun."""
    copy, draft, said = bench.copy, bench.draft, []
    if draft is not None and draft.revision != copy.draft:
        by, when = user(draft.by), ago(draft.at, bench.now)
        began = f"revision {copy.draft}" if copy.draft else f"version {copy.base}"
        said.append(f"{by} saved draft revision {draft.revision} {when}; you began with {began}.")
    elif draft is None and copy.draft is not None and copy.base == bench.in_force:
        said.append(f"The draft that you began with, revision {copy.draft}, was reset.")
    base = draft.base if draft is not None else copy.base
    if base != bench.in_force and bench.version is not None:
        by, when = user(bench.version.by), ago(bench.version.at, bench.now)
        said.append(
            f"Version {bench.in_force}, asked for by {by}, came into force {when}, and this was "
            f"made from version {base}."
        )
    return " ".join(said)


def meanwhile_reply(refused: Meanwhile) -> Reply:
    bench = refused.bench
    can = [button("Rebase my changes", "draft rebase")]
    if bench.copy.revision:
        can.append(_discard(bench))
    text = f"Not saved. {meanwhile_text(bench)}"
    return Reply(text=text, blocks=(*meanwhile_blocks(refused), buttons(*can)))


def _discard(bench: Bench) -> Block:
    sure = discard_dialog(bench)
    return button("Discard mine", f"draft discard {bench.stamp}", style="danger", confirm=sure)


def discard_dialog(bench: Bench) -> Block:
    lost = count(len(bench.changes()), "unsaved change")
    return confirm("Discard your changes?", f"Your {lost} will be lost.", "Discard")


def rebased_blocks(done: Rebased) -> list[Block]:
    left = len(done.bench.changes())
    text = (
        f"*Rebased.* You have {count(left, 'unsaved change')} on top of what is saved and in force."
    )
    blocks: list[Block] = [section(text)]
    if done.conflicts:
        blocks.append(few(_sentences(done.conflicts), "Both changed this; it is as theirs now"))
    return blocks


def rebased_reply(done: Rebased) -> Reply:
    blocks = rebased_blocks(done)
    mine = my_changes(done.bench)
    blocks += [few(mine, "Yours, not saved")] if mine else []
    text = f"Rebased: you have {count(len(mine), 'unsaved change')} on top of what is saved."
    return Reply(text=text, blocks=(*blocks, row(EDIT, *([SAVE] if mine else []))))


def _sentences(conflicts: Sequence[Conflict]) -> list[str]:
    return [conflict.sentence for conflict in conflicts]


def findings_reply(bench: Bench, findings: Sequence[Finding], number: int) -> Reply:
    """`draft validate`: errors first, each with its remedy."""
    assert bench.draft is not None, "only what is saved is validated"
    errors = sum(found.severity is Severity.ERROR for found in findings)
    warnings = len(findings) - errors
    told = f"{count(errors, 'error')} and {count(warnings, 'warning')}"
    verdict = "is not valid and cannot be provisioned" if errors else "is valid"
    text = f"Draft revision {bench.draft.revision} {verdict}: {told}. Nothing was applied."
    page = page_of(findings, number, _FINDINGS)
    blocks: list[Block] = [section(f"*{text}*")]
    for severity in dict.fromkeys(found.severity for found in page.items):
        lines = [str(found) for found in page.items if found.severity is severity]
        blocks.append(bullets(lines, f"{severity.capitalize()}s", 500))
    if bench.is_unsaved:
        mine = count(len(bench.changes()), "unsaved change")
        blocks.append(context(f"This is of what is saved, without your {mine}."))
    blocks += page.footer("draft validate")
    return Reply(text=text, blocks=(*blocks, row(EDIT, *([] if errors else [PROVISION]))))


def not_saved_reply(bench: Bench) -> Reply:
    text = "There is no saved draft to validate."
    if bench.is_unsaved:
        mine = count(len(bench.changes()), "unsaved change")
        text = f"Save first: what is validated is what is saved, and you have {mine}."
        return Reply(text=text, blocks=(section(text), row(SAVE, EDIT)))
    return Reply(text=text, blocks=(section(text), row(EDIT)))


def reset_question(bench: Bench) -> str:
    """What a reset would delete, in one sentence; "" where there is nothing."""
    lost = []
    if bench.draft is not None:
        by, when = user(bench.draft.by), ago(bench.draft.at, bench.now)
        lost.append(f"draft revision {bench.draft.revision} that {by} saved {when}")
    if bench.is_unsaved:
        lost.append(f"your {count(len(bench.changes()), 'unsaved change')}")
    if not lost:
        return ""
    return (
        f"Reset deletes {' and '.join(lost)}. The editor begins with {_in_force(bench)} again then."
    )


def _in_force(bench: Bench) -> str:
    return f"version {bench.in_force}" if bench.version else "an empty configuration"


def reset_reply(bench: Bench) -> Reply:
    question = reset_question(bench)
    if not question:
        return Reply(text=f"There is nothing to reset: {_in_force(bench)} is all there is.")
    lost = [*draft_changes(bench), *my_changes(bench)]
    sure = confirm("Reset the draft?", f"{count(len(lost), 'change')} will be lost.", "Reset")
    says = f"draft reset {reset_key(bench)}"
    go = buttons(button("Reset", says, style="danger", confirm=sure))
    return Reply(text=question, blocks=(section(question), few(lost, "What is lost"), go))


def reset_done_text(bench: Bench) -> str:
    if bench.version is None:
        return "Reset: there is nothing left that was drafted."
    return f"Reset: the editor begins with version {bench.in_force} again."
