"""The editor in Slack: what admins create, change, move and take away there, page by page."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from fractions import Fraction
from pathlib import Path

import pytest

from bot.editing_bench import Bench, bench_of, change
from domain.configuration import (
    Configuration,
    IntakeQueue,
    Link,
    Membership,
    Policy,
    Pool,
    Profile,
    Queueing,
    Team,
)
from domain.editing import edit
from tests.bot_support import Bot, running_bot
from tests.configurations import WORKED
from tests.editor_support import fill, opened, said
from tests.slack_support import Workspace

ODD = "<!channel> *bold* `x` " + "long " * 33
CROWD = Configuration(
    pools=tuple(Pool(name=f"pool {n:03}", resources=Fraction(n)) for n in range(150))
)


@pytest.fixture
def bot(slack: Workspace, tmp_path: Path) -> Iterator[Bot]:
    with running_bot(slack, tmp_path) as running:
        yield running


def now(bot: Bot, person: str = "U_ADA") -> Configuration:
    """What the person has in the editor."""
    return bench_of(bot.desk, person).configuration


def test_everything_is_made_in_an_empty_editor(bot: Bot) -> None:
    desk = opened(bot)
    assert "Nothing is in force. There is no draft. You have no unsaved changes." in desk.plain
    assert "There are no pools yet." in desk.plain

    desk.create("pool", name="h100", resources="8", description="new racks", nodes="gpu=h100")
    desk.press("Back").press("Profiles (0)", sees="▸ Profiles")
    desk.create("profile", name="4xGPU", allotment="4")
    desk.connect("h100", "4 GPUs on H100")
    desk.press("Back").press("Policies (0)", sees="▸ Policies")
    desk.create("policy", name="dev", reservation="4", limit="8", clearml_users="U_CLEO=cleo\nbob")
    desk.connect("4xGPU", "dev-4gpu")

    assert now(bot) == Configuration(
        pools=(
            Pool(
                name="h100",
                resources=Fraction(8),
                description="new racks",
                profiles=("4xGPU",),
                nodes=(("gpu", "h100"),),
            ),
        ),
        profiles=(
            Profile(
                name="4xGPU",
                allotment=Fraction(4),
                pools=(Link(pool="h100", name="4 GPUs on H100"),),
                policies=("dev",),
            ),
        ),
        policies=(
            Policy(
                name="dev",
                reservation=Fraction(4),
                limit=Fraction(8),
                queues=(IntakeQueue(profile="4xGPU", queue="dev-4gpu"),),
                team=Team(clearml_users=(("U_CLEO", "cleo"), ("", "bob"))),
            ),
        ),
    )


def test_a_form_shows_what_is_and_keeps_what_is_not_touched(bot: Bot) -> None:
    team = Team(channel="C_VISION", usergroup="S_VISION", users=("U_DAN",))
    dev, research = WORKED.policies
    dev = replace(dev, team=team, lend=False, membership=Membership.RETURN)
    bot.provision(replace(WORKED, policies=(dev, research)))
    desk = opened(bot, what="edit dev")

    form = desk.form("Edit")
    assert "Reserved resources: [8 ___]" in form.plain
    assert "The team's channel (optional): [#vision v]" in form.plain
    assert "besides (optional): [@dan v]" in form.plain
    assert "While the reservation is idle: [Keep it free for this team v]" in form.plain
    assert form.submit() is None
    desk.sees("You have no unsaved changes")

    assert now(bot).policies == (dev, research)


def test_a_policy_gets_its_people_and_terms(bot: Bot) -> None:
    bot.provision(WORKED)
    desk = opened(bot, what="edit dev")

    form = desk.form("Edit")
    fill(form, {"limit": "", "usergroup": "S0123ABCD"})
    form.choose("channel", "C_VISION")
    form.choose("users", ["U_CLEO", "U_DAN"])
    form.choose("lend", "Keep it free for this team")
    form.choose("membership", "Send it back to draft")
    assert form.submit() is None
    desk.sees("8 reserved, no limit")

    policy = now(bot).policy_by_name["dev"]
    assert policy.limit is None
    assert policy.lend is False
    assert policy.membership is Membership.RETURN
    assert policy.team == Team(channel="C_VISION", usergroup="S0123ABCD", users=("U_CLEO", "U_DAN"))
    assert policy.queues == WORKED.policy_by_name["dev"].queues


def test_a_profile_becomes_dynamic_and_strict(bot: Bot) -> None:
    bot.provision(WORKED)
    desk = opened(bot, what="edit 4xGPU")

    form = desk.form("Edit")
    fill(form, {"allotment": "1/7", "parameter": "runtime.gpus"})
    form.choose("queueing", "No (strict)")
    assert form.submit() is None
    shown = desk.sees("`runtime.gpus` of the task per job, else 1/7")

    assert "Smaller jobs never pass larger ones that wait before them (strict)" in shown
    profile = now(bot).profile_by_name["4xGPU"]
    assert (profile.parameter, profile.queueing) == ("runtime.gpus", Queueing.STRICT)


def test_renaming_keeps_all_connections_and_is_remembered(bot: Bot) -> None:
    bot.provision(WORKED)
    desk = opened(bot, what="edit h100")

    form = desk.form("Edit")
    form.fill("name", "H100 SXM")
    assert form.submit() is None
    desk.sees("*`H100 SXM`*")
    desk.save()

    assert "Pool h100 is renamed to H100 SXM." in said(bot, "U_ADA", "draft show").plain
    assert "H100 SXM" in [link.pool for link in now(bot).profiles[0].pools]


@pytest.mark.parametrize(
    ("kind", "tab", "fields", "errors"),
    [
        (
            "pool",
            "Pools (2)",
            {"name": "H100", "resources": "many", "nodes": "gpu"},
            {
                "name": "There is a pool 'h100' already; take another name.",
                "resources": "'many' is no amount. Write a number such as 4, 0.5 or 1/7: 0 or "
                "more, at most 1,000,000.",
                "nodes": "'gpu' is no label: write label=value.",
            },
        ),
        (
            "profile",
            "Profiles (1)",
            {"name": "x", "allotment": "0", "parameter": "gpus"},
            {
                "allotment": "'0' is no amount. Write a number such as 4, 0.5 or 1/7: more than "
                "0, at most 1,000,000.",
                "parameter": "Write runtime.NAME, hyperparams.SECTION.NAME or configuration.NAME, "
                "or leave it empty.",
            },
        ),
        (
            "policy",
            "Policies (2)",
            {"name": "x", "reservation": "8", "limit": "4", "usergroup": "vision"},
            {
                "limit": "The limit of 4 is less than the 8 that are reserved: raise it or "
                "reserve less.",
                "usergroup": "This is no id of a user group; one looks like S0123ABCD.",
            },
        ),
    ],
    ids=["pool", "profile", "policy"],
)
def test_what_is_wrong_is_said_below_its_field(
    bot: Bot, kind: str, tab: str, fields: dict[str, str], errors: dict[str, str]
) -> None:
    bot.provision(WORKED)
    desk = opened(bot)
    if kind != "pool":
        desk.press(tab, sees=f"▸ {tab}")

    form = desk.form(f"Add a {kind}")
    fill(form, fields)

    assert form.submit() == errors
    assert now(bot) == WORKED


def test_deleting_says_first_what_falls_with_it(bot: Bot) -> None:
    bot.provision(WORKED)
    desk = opened(bot, what="edit 4xGPU")

    form = desk.form("Delete")

    assert form.title == "Delete?"
    assert "Delete the profile `4xGPU`?" in form.plain
    assert "The link '4 GPU Low End' from profile '4xGPU' to pool 'bare-metal'" in form.plain
    assert "The queue 'dev-4gpu' of policy 'dev' for profile '4xGPU' goes" in form.plain
    assert "Policy 'dev' uses no profile then" in form.plain
    assert now(bot) == WORKED

    assert form.submit() is None
    desk.sees("There are no profiles yet.")
    assert now(bot).profiles == ()
    assert all(not policy.queues for policy in now(bot).policies)


@pytest.mark.parametrize(
    ("page", "entry", "left"),
    [
        ("h100", "4 GPU H100 link", "Profile"),
        ("4xGPU", "4 GPU H100 link", "Profile"),
        ("dev", "dev-4gpu", "Policy"),
    ],
    ids=["on the pool", "on the profile", "on the policy"],
)
def test_disconnecting_asks_first(bot: Bot, page: str, entry: str, left: str) -> None:
    bot.provision(WORKED)
    desk = opened(bot, what=f"edit {page}")

    form = desk.form("Disconnect", near=f"`{entry}`")
    assert f"'{entry}'" in form.plain
    assert form.submit() is None
    bot.slack.wait_for(
        lambda: f"`{entry}`" not in desk.plain, "the page", instead=lambda: desk.plain
    )

    links = [link.name for profile in now(bot).profiles for link in profile.pools]
    queues = [queue.queue for policy in now(bot).policies for queue in policy.queues]
    assert entry not in (*links, *queues)
    assert len(links) + len(queues) == 3


def test_links_and_queues_are_renamed(bot: Bot) -> None:
    bot.provision(WORKED)
    desk = opened(bot, what="edit h100")

    form = desk.form("Rename the link", near="4 GPU H100 link")
    form.fill("label", "4 GPU Low End")
    assert form.submit() == {"label": "There is a link '4 GPU Low End' already; take another name."}
    form.fill("label", "fast")
    assert form.submit() is None
    desk.sees("by the link `fast`")

    desk = opened(bot, what="edit dev")
    form = desk.form("Rename the queue", near="dev-4gpu")
    form.fill("label", "dq")
    wrong = "ClearML wants 3 characters or more for the name of a queue."
    assert form.submit() == {"label": wrong}
    form.fill("label", "dev queue")
    assert form.submit() is None
    desk.sees("`dev queue` for profile `4xGPU`")
    assert now(bot).profiles[0].pools[1].name == "fast"
    assert now(bot).policies[0].queues[0].queue == "dev queue"


def test_orders_are_changed_by_steps_and_to_a_place(bot: Bot) -> None:
    bot.provision(WORKED)
    desk = opened(bot, what="edit 4xGPU")

    desk.press("Move up", near="`h100`", sees="1. `h100`")
    assert [link.pool for link in now(bot).profiles[0].pools] == ["h100", "bare-metal"]

    desk.press("Move down", near="`dev`", sees="1. `research`")
    assert now(bot).profiles[0].policies == ("research", "dev")

    form = desk.form("Move to place…", near="`dev`")
    form.fill("Place, 1 to 2", "1")
    assert form.submit() is None
    desk.sees("1. `dev`")
    assert now(bot).profiles[0].policies == ("dev", "research")


def test_the_order_of_the_objects_themselves_is_changed_on_their_page(bot: Bot) -> None:
    bot.provision(CROWD)
    desk = opened(bot, what="edit pool 149")

    form = desk.form("Move to place…")
    form.fill("place", "3")
    assert form.submit() is None
    desk.sees("You have 1 unsaved change")
    desk.press("Move up", sees="*`pool 149`*")

    names = [pool.name for pool in now(bot).pools[:4]]
    assert names == ["pool 000", "pool 149", "pool 001", "pool 002"]
    assert "Order of pools" in said(bot, "U_ADA", "draft diff").plain


def test_the_execution_priority_of_a_pool_is_changed(bot: Bot) -> None:
    small = Profile(name="small", allotment=Fraction(1), pools=(Link(pool="h100", name="s"),))
    pools = (WORKED.pools[0], replace(WORKED.pools[1], profiles=("4xGPU", "small")))
    bot.provision(replace(WORKED, pools=pools, profiles=(*WORKED.profiles, small)))
    desk = opened(bot, what="edit h100")

    desk.press("Move up", near="`small`", sees="1. `small`")

    assert now(bot).pool_by_name["h100"].profiles == ("small", "4xGPU")


def test_a_hundred_and_fifty_pools_are_paged_and_searched(bot: Bot) -> None:
    bot.provision(CROWD)
    desk = opened(bot)
    assert "1-10 of 150, page 1 of 15" in desk.plain

    desk.press("Next", sees="11-20 of 150, page 2 of 15")
    assert "`pool 010`" in desk.plain
    assert len(desk.window.options("Find a pool")) == 100
    assert desk.window.options("Find a pool", "14") == [
        "pool 014", "pool 114", *(f"pool {n}" for n in range(140, 150)),
    ]  # fmt: skip
    desk.window.choose("Find a pool", "pool 147", typed="147")
    desk.sees("*`pool 147`*")
    desk.press("Back", sees="141-150 of 150, page 15 of 15")


def test_a_profile_with_a_hundred_and_fifty_pools_is_paged_too(bot: Bot) -> None:
    pools = tuple(replace(pool, profiles=("p",)) for pool in CROWD.pools)
    links = tuple(Link(pool=pool.name, name=f"link {pool.name}") for pool in pools)
    profile = Profile(name="p", allotment=Fraction(1), pools=links)
    bot.provision(Configuration(pools=pools, profiles=(profile,)))
    desk = opened(bot, what="edit p")

    desk.press("Next", sees="13-24 of 150, page 2 of 13")
    form = desk.form("Move to place…", near="`pool 020`")
    form.fill("place", "1")
    assert form.submit() is None

    desk.sees("1 unsaved change")
    assert now(bot).profiles[0].pools[0].pool == "pool 020"
    assert len(desk.form("Delete").plain) > 3_000


def test_names_can_ping_nobody_and_break_nothing(bot: Bot) -> None:
    name = ODD.strip()
    odd = Configuration(
        pools=(Pool(name=name, resources=Fraction(1), description="<!here> *x*"),),
        profiles=(Profile(name=name, allotment=Fraction(1)),),
        policies=(Policy(name=name, reservation=Fraction(0)),),
    )
    bot.provision(odd)
    desk = opened(bot)
    desk.press("Open", sees="1 resource")
    desk.connect(f"{name[:74]}…", "<!everyone>")
    desk.save()

    for line in ("draft show", "draft diff", "draft validate", "draft reset"):
        reply = said(bot, "U_ADA", line)
        assert reply.mentions in ([], ["@U_ADA"]), reply
    assert bot.slack.pings() == []
    assert desk.form("Disconnect", near="everyone").submit() is None
    desk.sees("None yet.")


def test_another_window_of_mine_is_told_and_shows_what_is(bot: Bot) -> None:
    bot.provision(WORKED)
    first = opened(bot, what="edit h100")
    form = first.form("Edit")
    form.fill("resources", "12")
    desk = bot.desk
    second = opened(bot, what="edit bare-metal")  # Slack keeps one stack: the first one is gone
    stale = second.form("Edit")
    _elsewhere(bot, "h100", 16)
    stale.fill("resources", "10")
    assert stale.submit() is None

    shown = second.sees("Nothing was done.")
    assert "in another window of yours" in shown
    assert "`h100`\n16 resources" in shown
    assert bench_of(desk, "U_ADA").configuration.pool_by_name["bare-metal"].resources == 8


def test_a_press_on_an_old_page_does_nothing_and_shows_what_is(bot: Bot) -> None:
    bot.provision(WORKED)
    desk = opened(bot, what="edit 4xGPU")
    _elsewhere(bot, "h100", 16)

    desk.press("Move up", near="`h100`", sees="Nothing was done.")

    assert [link.pool for link in now(bot).profiles[0].pools] == ["bare-metal", "h100"]


def _elsewhere(bot: Bot, pool: str, resources: int) -> None:
    """The same person edits on another device."""
    stamp = bench_of(bot.desk, "U_ADA").stamp
    its = replace(now(bot).pool_by_name[pool], resources=Fraction(resources))
    assert isinstance(change(bot.desk, "U_ADA", stamp, lambda draft: edit(draft, its)), Bench)


def test_members_are_refused(bot: Bot) -> None:
    bot.provision(WORKED)
    assert "is for admins" in said(bot, "U_CLEO", "edit").plain
    assert "is for admins" in said(bot, "U_CLEO", "draft reset").plain
    assert bot.person("U_CLEO").views() == []


def test_who_is_no_admin_any_more_changes_nothing_in_an_open_window(
    slack: Workspace, tmp_path: Path
) -> None:
    with running_bot(
        slack, tmp_path, POOLKEEPER_ADMINS="", POOLKEEPER_ADMIN_GROUP="S_ADMINS"
    ) as bot:
        bot.provision(WORKED)
        desk = opened(bot, what="edit 4xGPU")
        form = desk.form("Edit")
        slack.set_group("S_ADMINS", "U_BEN")
        slack.wait_for(lambda: not bot.desk.membership.actor("U_ADA", None).is_admin, "the news")

        assert form.submit() is None
        told = bot.slack.wait_for_message("C_GENERAL", "you are none any more", person="U_ADA")

        assert told.only_for == "U_ADA"
        assert bot.person("U_ADA").views() == []
        assert now(bot) == WORKED


def test_who_else_is_editing_is_said(bot: Bot) -> None:
    bot.provision(WORKED)
    _elsewhere(bot, "h100", 16)
    bot.clock.advance(timedelta(minutes=3))

    desk = opened(bot, "U_BEN")

    assert "@ada is editing, too (last change 3 min ago)." in desk.plain


def test_leaving_with_unsaved_changes_says_that_they_are_kept(bot: Bot) -> None:
    bot.provision(WORKED)
    desk = opened(bot)
    desk.create("pool", name="a100", resources="16")

    window = desk.window
    window.close()

    left = bot.slack.wait_for_message("C_GENERAL", "You left the editor", person="U_ADA")
    assert "with 1 unsaved change. I keep it for you; nobody else sees it." in left.plain
    assert left.only_for == "U_ADA"
    assert "`a100`" in opened(bot).plain
