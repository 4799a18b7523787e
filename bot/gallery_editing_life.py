"""The gallery's editor over time: saves that are overtaken, windows that are outdated, imports."""

from dataclasses import replace
from fractions import Fraction
from typing import Any, Final

from bot.access import Actor
from bot.gallery_book import Book
from bot.gallery_changes import keep, larger, noted, save
from bot.gallery_editing import opens
from bot.gallery_examples import with_afternoon, worked
from bot.gallery_stage import ADA, DANA, NOW, Stage, staged
from bot.importing import yaml_of
from storage import configurations, working_copies
from storage.working_copies import WorkingCopy

_GROUP: Final = "The editor"


def scenes(book: Book) -> None:
    for scene in (_moving_on, _life, _importing, _refused):
        scene(book)


def _moving_on(book: Book) -> None:
    """What a window showed is not what is now: each way to press it is refused."""
    with staged(book, _GROUP) as stage:
        with_afternoon(stage)
        ways: dict[str, tuple[tuple[str, str, str], ...]] = {
            "another page": (("edit", "Policies (2)", ""),),
            "a form": (("edit h100", "Edit", ""),),
            "a move": (("edit h100", "Move up", ""),),
        }
        for title, presses in ways.items():
            for line, label, near in presses:
                stage.opens(ADA, line)
                _moves_on(stage)
                stage.presses(ADA, label, f"Moved on: {title}", near)
        forms: dict[str, tuple[str, str, str, dict[str, Any]]] = {
            "an edit": ("edit h100", "Edit", "", {}),
            "a connection": ("edit h100", "Connect a profile", "", {"other": "0", "label": "x"}),
            "a name": ("edit h100", "Rename the link", "4xGPU", {}),
            "a place": ("edit h100", "Move to place…", "", {}),
            "a deletion": ("edit h100", "Delete", "", {}),
            "an import": ("edit", "Import", "", {"yaml": yaml_of(worked()).decode()}),
        }
        for title, (line, label, near, fields) in forms.items():
            stage.opens(ADA, line)
            stage.presses(ADA, label, "", near)
            _moves_on(stage)
            stage.submits(ADA, f"Moved on: {title}", **fields)
        stage.opens(ADA, "edit")
        _moves_on(stage)
        stage.submits(ADA, "Moved on: a save")


def _moves_on(stage: Stage) -> None:
    """Another window of the same person changes the copy."""
    desk = stage.desk
    with desk.database.reading() as session:
        there = working_copies.get(session, ADA)
    now = there.configuration if there else worked()
    pool = replace(now.pools[0], resources=now.pools[0].resources + 1)
    copy = there or WorkingCopy(
        user=ADA, configuration=now, base=1, changed_at=NOW, origin=worked()
    )
    changed = replace(copy, configuration=replace(now, pools=(pool, *now.pools[1:])))
    stage.change(lambda session: working_copies.put(session, changed))


def _life(book: Book) -> None:
    with staged(book, _GROUP) as stage:
        configuration = with_afternoon(stage)
        keep(stage, ADA, larger(configuration))
        opens(stage, title="With unsaved changes")
        stage.presses(ADA, "Reset", "Reset? Of unsaved changes")
        stage.submits(ADA, "Unsaved changes are reset")
        keep(stage, ADA, larger(configuration))
        stage.opens(ADA, "edit")
        dev = replace(configuration.policies[0], limit=Fraction(12))
        research = replace(configuration.policies[1], reservation=Fraction(6))
        save(stage, replace(configuration, policies=(dev, research)), 1)
        opens(stage, title="Others saved since it was begun")
        stage.submits(ADA, "Not saved: others saved meanwhile")
        stage.presses(ADA, "Back", "Back from what was not saved")
        stage.submits(ADA)
        stage.presses(ADA, "Rebase my changes", "Rebased in the editor")
        stage.submits(ADA, "Saved after a rebase")
        keep(stage, ADA, noted(configuration), draft=1, origin=configuration)
        stage.opens(ADA, "edit")
        stage.submits(ADA)
        stage.presses(ADA, "Discard mine", "Discarded in the editor")
        stage.presses(ADA, "Reset", "Reset? Of the draft")
        keep(stage, ADA, noted(configuration), draft=2, origin=configuration)
        stage.submits(ADA, "Moved on: a reset")
        stage.presses(ADA, "Reset", "Reset? Of both")
        stage.submits(ADA, "Both are reset")
        save(stage, noted(configuration), 1)
        stage.opens(ADA, "edit")
        stage.change(configurations.delete_draft)
        stage.presses(ADA, "Reset", "Nothing is there to be reset")
        keep(stage, ADA, noted(configuration), draft=7)
        for label in ("Rebase my changes", "Discard mine"):
            stage.opens(ADA, "edit")
            stage.submits(ADA)
            _moves_on(stage)
            stage.presses(ADA, label, f"Moved on: {label}")


def _importing(book: Book) -> None:
    with staged(book, _GROUP) as stage:
        configuration = with_afternoon(stage)
        text = yaml_of(larger(configuration)).decode()
        refused: dict[str, dict[str, Any]] = {
            "Neither pasted nor uploaded": {},
            "Both pasted and uploaded": {"yaml": text, "file": [{"id": "F1", "name": "x.yaml"}]},
            "A file that Slack does not give": {"file": [{"id": "F1", "name": "x.yaml"}]},
            "No YAML": {"yaml": "pools: [\n  - {"},
            "Another document": {"yaml": "pools: 3\nmodels: []\nprofiles: [{}, {}, {}, {}, {}]"},
            "A character that is none": {"yaml": "pools: \ud800"},
        }
        for title, fields in refused.items():
            stage.opens(ADA, "draft import")
            stage.submits(ADA, title, **fields)
        stage.opens(ADA, "draft import")
        stage.submits(ADA, "Imported: what was there", yaml=yaml_of(configuration).decode())
        stage.says(ADA, "draft import")
        stage.submits(ADA, "Imported", yaml=text)
        stage.presses(ADA, "Import", "Import, in the editor")
        stage.submits(ADA, "Imported: the same again", yaml=text)
        renamed = text.replace("h100", "hopper").replace("research", "science")
        stage.presses(ADA, "Import")
        stage.submits(ADA, "Imported, with what may be renamed", yaml=renamed)
        stage.presses(ADA, "Some were renamed", "What was renamed?")
        for title, pairs in {
            "No line of a rename": "h100 became hopper",
            "Renamed from what is there": "pool: bare-metal = hopper",
            "Renamed to what is not new": "pool: h100 = bare-metal",
        }.items():
            stage.submits(ADA, title, pairs=pairs)
        stage.submits(ADA, "The renames are kept")
        stage.presses(ADA, "Import")
        stage.submits(ADA, yaml=text.replace("h100", "ampere"))
        stage.presses(ADA, "Some were renamed")
        _moves_on(stage)
        stage.submits(ADA, "Moved on: renames")
        stage.opens(ADA, "edit")
        stage.presses(ADA, "Import")
        stage.submits(ADA, yaml=text.replace("h100", "volta"))
        _moves_on(stage)
        stage.presses(ADA, "Some were renamed", "Moved on: what was renamed")


def _refused(book: Book) -> None:
    """Somebody is no admin any more while the window is open."""
    with staged(book, _GROUP) as stage:
        with_afternoon(stage)
        unread = Actor(user=ADA, unread=True)
        who: dict[str, str | Actor] = {"No admin any more": DANA, "Admins cannot be read": unread}
        for title, person in who.items():
            stage.opens(ADA, "edit")
            stage.presses(person, "Profiles (1)", f"{title}: a press")
            stage.opens(ADA, "edit")
            stage.submits(person, f"{title}: a save")
