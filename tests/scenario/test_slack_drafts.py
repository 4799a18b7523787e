"""The life of a draft in Slack: saved, validated, overtaken, reset, asked for, exported."""

import re
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest
import yaml

from bot.editing_bench import Bench, bench_of, change
from domain.configuration import Configuration, Pool
from domain.editing import Edit, Edited, create, edit, rename
from domain.ledger import Draft
from domain.renames import Kind
from storage import configurations, working_copies
from storage.configurations import Approval
from storage.documents import read_configuration, write_configuration
from tests.bot_support import Bot, running_bot
from tests.configurations import WORKED
from tests.editor_support import opened, said
from tests.slack_support import Workspace

NEW = Pool(name="a100", resources=Fraction(16))


@pytest.fixture
def bot(slack: Workspace, tmp_path: Path) -> Iterator[Bot]:
    with running_bot(slack, tmp_path) as running:
        running.provision(WORKED)
        yield running


def draft(bot: Bot) -> Draft | None:
    with bot.database.reading() as session:
        return configurations.draft(session)


def bench(bot: Bot, person: str) -> Bench:
    return bench_of(bot.desk, person)


def changes(bot: Bot, person: str, made: Edit | None = None, pool: str = "", to: int = 0) -> None:
    """The person changes something in the editor: a new pool, or another size of one."""

    def do(draft: Edited) -> Edit:
        if not pool:
            return create(draft, NEW)
        its = draft.configuration.pool_by_name[pool]
        return edit(draft, replace(its, resources=Fraction(to)))

    done = change(bot.desk, person, bench(bot, person).stamp, do)
    assert isinstance(done, Bench), done


def saves(bot: Bot, person: str) -> None:
    assert "Saved as draft revision" in said(bot, person, "draft save").plain


def test_the_whole_life_of_a_draft_by_hand(bot: Bot) -> None:
    desk = opened(bot)
    desk.create("pool", name="a100", resources="16")
    assert "1 unsaved change" in desk.plain

    told = said(bot, "U_ADA", "draft validate")
    assert "Save first: what is validated is what is saved, and you have 1 unsaved" in told.plain
    assert draft(bot) is None

    assert "Saved as draft revision 1, with 1 change of yours." in desk.save()
    desk.press("Back")
    desk.window.press("Validate")
    told_here = bot.person("U_ADA").view("Poolkeeper")
    assert "Draft revision 1 is valid: 0 errors and 1 warning." in told_here.plain
    assert "Pool 'a100' " in told_here.plain
    told_here.close()

    desk.window.press("Provision")
    asked = bot.person("U_ADA").view("Poolkeeper")
    assert "r1 is in #gpu-admins and waits for approval." in asked.plain
    card = bot.slack.wait_for_message("C_ADMINS", "r1: provision the draft")
    assert "Pool a100 is new: resources 16." in card.plain
    bot.person("U_BEN").press("Approve", card)
    bot.slack.wait_for_message("C_ADMINS", "it is being applied")
    assert draft(bot) is None


def test_opening_the_editor_of_a_draft_shows_the_draft(bot: Bot) -> None:
    changes(bot, "U_ADA")
    saves(bot, "U_ADA")

    desk = opened(bot, "U_BEN")

    assert "`a100`" in desk.plain
    assert re.search(r"Draft revision 1 was saved by @ada just now\.", desk.plain)
    assert "You have no unsaved changes." in desk.plain


def test_a_later_save_voids_what_was_asked_for(bot: Bot) -> None:
    changes(bot, "U_ADA")
    saves(bot, "U_ADA")
    said(bot, "U_ADA", "draft provision", "r1 is in")
    bot.slack.wait_for_message("C_ADMINS", "r1: provision the draft")

    changes(bot, "U_BEN", pool="h100", to=16)
    saves(bot, "U_BEN")

    card = bot.slack.wait_for_message("C_ADMINS", "Void: the draft was changed after")
    assert "r1" in card.plain


def test_a_reset_voids_what_was_asked_for(bot: Bot) -> None:
    changes(bot, "U_ADA")
    saves(bot, "U_ADA")
    said(bot, "U_ADA", "draft provision", "r1 is in")
    bot.slack.wait_for_message("C_ADMINS", "r1: provision the draft")

    bot.person("U_BEN").press("Reset", said(bot, "U_BEN", "draft reset", "Reset deletes"))

    bot.slack.wait_for_message("C_ADMINS", "Void: the draft was deleted")


def test_a_save_that_was_overtaken_is_refused_with_three_sides(bot: Bot) -> None:
    changes(bot, "U_ADA", pool="h100", to=12)
    changes(bot, "U_BEN")
    changes(bot, "U_BEN", pool="bare-metal", to=16)
    saves(bot, "U_BEN")
    desk = opened(bot, "U_ADA")
    assert "It was saved or provisioned since you began" in desk.plain

    shown = desk.save()

    assert re.search(
        r"Not saved\.\* @ben saved draft revision 1 just now; you began with version 1\.",
        shown,
    )
    assert "Changed meanwhile by others" in shown
    assert "Pool a100 is new: resources 16." in shown
    assert "Pool bare-metal: resources 8 → 16." in shown
    assert "Pool h100: resources 8 → 12." in shown
    assert "Nothing of it is in conflict." in shown
    saved = draft(bot)
    assert saved is not None
    assert saved.configuration.pool_by_name["h100"].resources == 8

    desk.press("Rebase my changes", sees="Rebased.")
    assert "Saved as draft revision 2, with 1 change of yours." in desk.save()
    saved = draft(bot)
    assert saved is not None
    sizes = {pool.name: pool.resources for pool in saved.configuration.pools}
    assert sizes == {"bare-metal": 16, "h100": 12, "a100": 16}


def test_what_both_changed_is_named_and_stays_theirs(bot: Bot) -> None:
    changes(bot, "U_ADA", pool="h100", to=12)
    changes(bot, "U_ADA", pool="bare-metal", to=4)
    changes(bot, "U_BEN", pool="h100", to=16)
    saves(bot, "U_BEN")

    refused = said(bot, "U_ADA", "draft save", "Not saved.")
    conflict = "Pool 'h100': resources is 12 in yours and 16 in theirs; it stays 16."
    assert conflict in refused.plain
    rebased = bot.person("U_ADA").press("Rebase my changes", refused).reply("Rebased")

    assert conflict in rebased.plain
    assert "Pool bare-metal: resources 8 → 4." in rebased.plain
    mine = bench(bot, "U_ADA").configuration
    assert {pool.name: pool.resources for pool in mine.pools} == {"bare-metal": 4, "h100": 16}


def test_mine_can_be_discarded_instead(bot: Bot) -> None:
    changes(bot, "U_ADA", pool="h100", to=12)
    changes(bot, "U_BEN", pool="h100", to=16)
    saves(bot, "U_BEN")
    desk = opened(bot, "U_ADA")
    desk.save()

    desk.press("Discard mine", sees="Your unsaved changes are discarded.")

    assert "`h100`\n16 resources" in desk.plain
    assert not bench(bot, "U_ADA").is_unsaved


def test_their_rename_is_followed_when_mine_is_rebased(bot: Bot) -> None:
    changes(bot, "U_ADA", pool="h100", to=12)
    stamp = bench(bot, "U_BEN").stamp
    change(bot.desk, "U_BEN", stamp, lambda draft: rename(draft, Kind.POOL, "h100", "H100 SXM"))
    saves(bot, "U_BEN")

    said(bot, "U_ADA", "draft rebase", "Rebased")
    saves(bot, "U_ADA")

    saved = draft(bot)
    assert saved is not None
    assert saved.configuration.pool_by_name["H100 SXM"].resources == 12
    assert saved.renames.current(Kind.POOL, "h100") == "H100 SXM"


def test_what_was_provisioned_meanwhile_is_what_mine_is_rebased_on(bot: Bot) -> None:
    changes(bot, "U_ADA", pool="h100", to=12)
    saves(bot, "U_ADA")
    changes(bot, "U_ADA", pool="h100", to=14)
    pools = (replace(WORKED.pools[0], resources=Fraction(32)), WORKED.pools[1])
    bot.provision(replace(WORKED, pools=pools), by="U_BEN")

    refused = said(bot, "U_ADA", "draft save", "Not saved.")
    assert "Version 2, asked for by @ben, came into force" in refused.plain
    assert "Pool bare-metal: resources 8 → 32." in refused.plain
    bot.person("U_ADA").press("Rebase my changes", refused).reply("Rebased")
    saves(bot, "U_ADA")

    saved = draft(bot)
    assert saved is not None
    assert saved.base == 2
    sizes = {pool.name: pool.resources for pool in saved.configuration.pools}
    assert sizes == {"bare-metal": 32, "h100": 14}


def test_mine_outlives_a_reset_of_what_it_began_with(bot: Bot) -> None:
    changes(bot, "U_BEN")
    saves(bot, "U_BEN")
    changes(bot, "U_ADA", pool="h100", to=12)
    bot.person("U_BEN").press("Reset", said(bot, "U_BEN", "draft reset", "Reset deletes"))
    bot.slack.wait_for(lambda: draft(bot) is None, "the reset")

    refused = said(bot, "U_ADA", "draft save", "Not saved.")
    assert "The draft that you began with, revision 1, was reset." in refused.plain
    assert "Pool a100 is deleted." in refused.plain
    bot.person("U_ADA").press("Rebase my changes", refused).reply("Rebased")

    mine = bench(bot, "U_ADA").configuration
    assert {pool.name: pool.resources for pool in mine.pools} == {"bare-metal": 8, "h100": 12}


def test_a_rename_that_was_provisioned_meanwhile_is_followed(bot: Bot) -> None:
    changes(bot, "U_ADA", pool="h100", to=12)
    renamed = rename(Edited(WORKED), Kind.POOL, "h100", "sxm")
    assert isinstance(renamed, Edited)
    with bot.database.transaction() as session:
        approval = Approval(by="U_BEN", at=bot.clock())
        configurations.add_version(session, renamed.configuration, renamed.renames, approval)
        configurations.mark_provisioned(session, 2)

    said(bot, "U_ADA", "draft rebase", "You have 1 unsaved change")

    copy = bench(bot, "U_ADA").copy
    assert copy.configuration.pool_by_name["sxm"].resources == 12
    assert copy.base == 2
    assert "Pool sxm: resources 8 → 12." in said(bot, "U_ADA", "draft diff").plain


def test_a_draft_that_was_overtaken_by_a_version_is_saved_anew(bot: Bot) -> None:
    changes(bot, "U_ADA", pool="h100", to=12)
    saves(bot, "U_ADA")
    pools = (replace(WORKED.pools[0], resources=Fraction(32)), WORKED.pools[1])
    bot.provision(replace(WORKED, pools=pools), by="U_BEN")
    desk = opened(bot, "U_BEN")

    desk.save()
    desk.press("Rebase my changes", sees="Rebased.")
    assert "Saved as draft revision 2" in desk.save()

    saved = draft(bot)
    assert saved is not None
    assert (saved.base, saved.by) == (2, "U_BEN")
    assert "waits for approval" in said(bot, "U_BEN", "draft provision", "r1 is in").plain


def test_a_reset_shows_what_is_lost_and_takes_both(bot: Bot) -> None:
    changes(bot, "U_BEN")
    saves(bot, "U_BEN")
    changes(bot, "U_ADA", pool="h100", to=12)
    desk = opened(bot)

    form = desk.form("Reset")
    asked = r"Reset deletes draft revision 1 that @ben saved just now and your 1 unsaved change\."
    assert re.search(asked, form.plain)
    assert "Pool a100 is new: resources 16." in form.plain
    assert "Pool h100: resources 8 → 12." in form.plain
    assert form.submit() is None

    shown = desk.sees("Reset: the editor begins with version 1 again.")
    assert "`a100`" not in shown
    assert draft(bot) is None
    assert bench(bot, "U_ADA").configuration == WORKED
    assert [one.action for one in bot.audit("draft revision 1")] == ["reset", "save"]


def test_a_reset_of_what_was_not_shown_is_refused(bot: Bot) -> None:
    changes(bot, "U_BEN")
    saves(bot, "U_BEN")
    shown = said(bot, "U_ADA", "draft reset")
    changes(bot, "U_BEN", pool="h100", to=12)
    saves(bot, "U_BEN")

    late = bot.person("U_ADA").press("Reset", shown).reply("Nothing was reset")

    assert "draft revision 2" in late.plain
    assert draft(bot) is not None


def test_nothing_is_saved_twice(bot: Bot) -> None:
    assert (
        "There is nothing to save: your copy is what is in force."
        in said(bot, "U_ADA", "draft save").plain
    )
    changes(bot, "U_ADA")
    saves(bot, "U_ADA")
    assert "your copy is draft revision 1." in said(bot, "U_ADA", "draft save").plain


def test_a_change_that_is_taken_back_is_none(bot: Bot) -> None:
    changes(bot, "U_ADA", pool="h100", to=12)
    changes(bot, "U_ADA", pool="h100", to=8)

    assert not bench(bot, "U_ADA").is_unsaved
    with bot.database.reading() as session:
        assert working_copies.get(session, "U_ADA") is None


def test_errors_are_listed_with_their_remedies(bot: Bot) -> None:
    changes(bot, "U_ADA", pool="h100", to=0)
    changes(bot, "U_ADA", pool="bare-metal", to=4)
    saves(bot, "U_ADA")

    told = said(bot, "U_ADA", "draft validate")

    assert "Draft revision 1 is not valid and cannot be provisioned" in told.plain
    assert "Policy 'dev' is guaranteed together with 'research' 16" in told.plain
    assert "[Provision]" not in told.plain


def test_all_changes_are_paged(bot: Bot) -> None:
    def many(draft: Edited) -> Edit:
        for number in range(60):
            made = create(draft, Pool(name=f"pool {number}", resources=Fraction(1)))
            assert isinstance(made, Edited)
            draft = made
        return draft

    change(bot.desk, "U_ADA", bench(bot, "U_ADA").stamp, many)

    shown = said(bot, "U_ADA", "draft diff")
    assert "0 saved changes and 60 unsaved changes of yours." in shown.plain
    assert "1-25 of 60, page 1 of 3" in shown.plain
    assert "page 3 of 3" in said(bot, "U_ADA", "draft diff page 3").plain
    assert "and 48 more" in said(bot, "U_ADA", "draft show").plain


def test_export_equals_import(bot: Bot) -> None:
    changes(bot, "U_ADA")
    changes(bot, "U_ADA", pool="h100", to=12)
    wanted = bench(bot, "U_ADA").configuration

    told = said(bot, "U_ADA", "draft export", "I sent you")
    assert (
        "I sent you your unsaved working copy as YAML in our direct messages: 3 pools" in told.plain
    )
    sent = bot.slack.wait_for(
        lambda: next((one for one in bot.person("U_ADA").dms() if one.files), None), "the file"
    )
    content = bot.slack.download(sent.files[0]).decode()
    assert read_configuration(yaml.safe_load(content)) == wanted

    said(bot, "U_ADA", "draft discard")
    stamp = bench(bot, "U_ADA").stamp
    said(bot, "U_ADA", f"draft discard {stamp}", "discarded")
    desk = opened(bot)
    form = desk.form("Import")
    form.fill("yaml", content)
    assert form.submit() is None
    desk.sees("Imported: 2 unsaved changes.")
    assert bench(bot, "U_ADA").configuration == wanted


def test_a_long_document_is_uploaded(bot: Bot) -> None:
    pools = tuple(Pool(name=f"pool {n}", resources=Fraction(n)) for n in range(150))
    content = yaml.safe_dump(write_configuration(replace(WORKED, pools=(*WORKED.pools, *pools))))
    assert len(content) > 3_000
    desk = opened(bot)

    form = desk.form("Import")
    form.fill("file", [{"name": "pools.yaml", "content": content}])
    assert form.submit() is None

    desk.sees("Imported: 150 unsaved changes.")
    assert len(bench(bot, "U_ADA").configuration.pools) == 152


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("pools:\n\t- name: x", "line 2, column 1: "),
        ("pools: []\npools: []", "line 2, column 1: the key 'pools' is there already, in line 1"),
        ("pools:\n- name: x\n  resources: many", "pools[0].resources: 'many' "),
        ("pools:\n- nam: x\n  resources: 1", "pools[0].nam: is an unknown key; did you mean name?"),
        ("# nothing", "the document: has nothing but comments; write the document."),
        ("{", "is no YAML that can be read"),
    ],
    ids=["tab", "twice", "amount", "unknown key", "comments", "broken"],
)
def test_a_bad_document_is_refused_by_place_and_remedy(
    bot: Bot, content: str, problem: str
) -> None:
    desk = opened(bot)
    form = desk.form("Import")
    form.fill("yaml", content)

    errors = form.submit()

    assert errors is not None
    assert problem in errors["yaml"]
    assert bench(bot, "U_ADA").configuration == WORKED


def test_a_file_that_is_none_is_refused(bot: Bot) -> None:
    form = opened(bot).form("Import")
    assert form.submit() == {"yaml": "Paste a document, or upload one."}

    form.fill("file", [{"name": "cat.yaml", "content": "\u0000\u0001"}])
    errors = form.submit()

    assert errors is not None
    assert "character that YAML does not allow" in errors["file"]


def test_slack_that_gives_no_file_is_said(bot: Bot) -> None:
    form = opened(bot).form("Import")
    form.fill("file", [{"name": "a.yaml", "content": "pools: []"}])
    bot.slack.fault("error", "files.info", error="file_not_found")

    assert form.submit() == {
        "file": "Slack does not give me the file (file_not_found); paste it instead."
    }


def test_what_a_document_renamed_can_be_said(bot: Bot) -> None:
    content = yaml.safe_dump(write_configuration(WORKED)).replace("h100", "sxm")
    desk = opened(bot)
    form = desk.form("Import")
    form.fill("yaml", content)
    assert form.submit() is None
    shown = desk.sees("these count as deleted and created")
    assert "Pool: h100 deleted, sxm created" in shown

    form = desk.form("Some were renamed")
    assert "pool: h100 = sxm" in form.plain
    form.fill("pairs", "pool: h100 = bare-metal")
    assert form.submit() == {"pairs": "No pool 'bare-metal' was created, or it is there twice."}
    form.fill("pairs", "pool: h100 = sxm")
    assert form.submit() is None
    desk.sees("Kept: 1 rename.")
    desk.save()

    saved = draft(bot)
    assert saved is not None
    assert saved.renames.current(Kind.POOL, "h100") == "sxm"
    assert "Pool h100 is renamed to sxm." in said(bot, "U_ADA", "draft show").plain


def test_import_by_command_opens_the_editor_with_what_was_read(bot: Bot) -> None:
    form = bot.says("U_ADA", "draft import").view("Import")
    form.fill("yaml", "pools:\n- name: only\n  resources: 4\nprofiles: []\npolicies: []\n")
    assert form.submit() is None

    window = bot.person("U_ADA").view("Configuration")

    assert "`only`\n4 resources" in window.plain
    assert bench(bot, "U_ADA").configuration == Configuration(
        pools=(Pool(name="only", resources=Fraction(4)),)
    )


def test_help_lists_what_a_draft_can(bot: Bot) -> None:
    told = said(bot, "U_ADA", "help draft")

    for verb in ("show", "diff", "save", "validate", "provision", "reset", "import", "export"):
        assert f"/pool draft {verb}" in told.plain
