"""What people read in Slack: the real bot answers real people in the loopback workspace."""

import re
from collections.abc import Iterator
from datetime import timedelta
from functools import partial
from pathlib import Path

import pytest

from bot import announcements
from bot.compose import doors
from bot.home import refresh_homes
from bot.manifest import BOT_SCOPES
from bot.registry import table_for
from bot.slack_door import Slack
from controller.loop import Outage
from controller.survey import Surveyor
from domain.configuration import Team
from domain.ledger import OwnedQueue, Role
from domain.snapshot import Task, WaitingQueue
from storage import cards, queues
from storage.cards import Card
from tests.bot_support import (
    DEV,
    TASKS,
    Bot,
    allocation,
    bot_with_rounds,
    busy,
    example,
    running_bot,
    task_id,
    waiting_queue,
    with_teams,
)
from tests.poolkeeper_support import installed, one_profile
from tests.sandbox_support import Sandbox, wait_until
from tests.slack_support import Message, Workspace

READING = [
    "help", "help queue", "status", "status h100", "profiles", "profiles job", "policies",
    "policies dev", "queue", "queue dev", f"why {DEV[0]}", "agents", "agents h100", "audit",
    "doctor", "status nowhere", "nonsense", "",
]  # fmt: skip


@pytest.fixture
def bot(slack: Workspace, tmp_path: Path) -> Iterator[Bot]:
    with running_bot(slack, tmp_path) as bot:
        yield bot


def buttons_of(message: Message) -> list[str]:
    return re.findall(r"\[([^\]]+)\]", message.plain)


def test_status_says_each_pool_in_words_numbers_and_a_bar(bot: Bot) -> None:
    busy(bot)

    said = bot.asks("U_EVE", "status")

    assert said.only_for == "U_EVE"
    assert said.text == "2 pools: 16 of 16 in use; 7 tasks running, 15 waiting. Seen 0 s ago."
    assert "`bare-metal`  *8 of 8* in use, 0 free" in said.plain
    assert "`███████████████▓▓▓▓▓`  6 reserved, 2 borrowed" in said.plain
    assert "`███████████████▒▒▒▒▒`  6 reserved, 2 foreign" in said.plain
    assert "Execution priority: `job`" in said.plain


def test_a_pool_says_who_uses_it_and_by_which_links(bot: Bot) -> None:
    busy(bot)

    said = bot.asks("U_EVE", "status h100").plain

    assert "*In use by* `research` 6 and tasks from no intake queue 2" in said
    assert "`job` by link `job on h100`: 3 running with 6" in said


def test_before_the_first_round_the_answer_says_so(bot: Bot) -> None:
    for line in ("status", "profiles"):
        assert "No round has ended yet" in bot.asks("U_ADA", line).text


def test_an_old_view_is_said_to_be_old_before_all_else(bot: Bot) -> None:
    busy(bot)

    bot.clock.advance(timedelta(minutes=12))

    said = bot.asks("U_EVE", "status")
    assert said.plain.startswith("*This is old, seen 12 min ago.* No round has ended since")
    assert "This is old" in said.text


def test_that_clearml_is_away_is_said_where_it_is_known(bot: Bot) -> None:
    busy(bot)
    down = Outage(since=bot.clock(), rounds=3, error="It is away.")
    announcements.outage(bot.desk, down)
    bot.clock.advance(timedelta(minutes=12))

    said = bot.asks("U_CLEO", "why llama 12")

    assert f"ClearML does not answer since {down.since:%H:%M} UTC" in said.plain.split("\n")[0]
    assert "ClearML does not answer" in said.text


def test_that_management_is_off_is_said_before_all_else(bot: Bot) -> None:
    bot.turn(enabled=False)
    busy(bot)

    said = bot.asks("U_CLEO", "queue")

    assert said.plain.startswith("*Management is off*: nothing is dispatched")
    assert "Management is off" in said.text


def test_members_see_their_own_policy_and_admins_all(bot: Bot) -> None:
    busy(bot)

    mine, all_ = bot.asks("U_CLEO", "policies"), bot.asks("U_ADA", "policies")
    others, nobodys = bot.asks("U_CLEO", "policies research"), bot.asks("U_EVE", "policies")

    assert "`dev`  *6* in use · reserved 4 · limit 12" in mine.plain
    assert "research" not in mine.plain
    assert "llama 1`" in mine.plain
    assert "`dev`" in all_.plain
    assert "`research`" in all_.plain
    assert others.text == "I know no policy of yours “research”."
    assert "for members of a team" in nobodys.text


def test_a_queue_is_told_in_order_each_task_with_its_reason(bot: Bot) -> None:
    busy(bot)

    said = bot.asks("U_CLEO", "queue").plain

    places = [said.index(f"*{place}.* `llama {place + 10}`") for place in (1, 2, 3, 4)]
    assert places == sorted(places)
    assert said.count("Needs 2, but bare-metal has 0 of 8 free and h100 0 of 8.") == 4
    assert "waits 50 min" in said


@pytest.mark.parametrize("said", [DEV[1], DEV[1][:8], DEV[1].upper()[:9], "llama 12", "LLAMA  12"])
def test_why_understands_ids_their_beginnings_and_names(bot: Bot, said: str) -> None:
    busy(bot)

    answer = bot.asks("U_CLEO", f"why {said}").plain

    assert "`llama 12`" in answer
    assert "2 of 4 in the queue of `dev` for `job`, needs *2*, waits 50 min" in answer
    assert "`bare-metal`: 0 of 8 free; in use by `dev` 6 and `research` 2" in answer
    assert "2 more in bare-metal becomes free; it is used by dev (6) and research (2)." in answer


def test_a_name_that_fits_several_tasks_lists_them_as_buttons(bot: Bot) -> None:
    busy(bot)
    asked = bot.asks("U_CLEO", "why llama")

    pressed = bot.person("U_CLEO").press(f"llama 13 {DEV[2][:8]}", in_=asked).reply()

    assert asked.text == "That fits 7 tasks. Which one do you mean?"
    assert "3 of 4 in the queue of `dev`" in pressed.plain


def test_a_task_that_runs_does_not_wait(bot: Bot) -> None:
    busy(bot)

    said = bot.asks("U_CLEO", "why llama 1 ").text

    assert said.startswith(f"`llama 1` {TASKS[0][:8]} does not wait: it has 2 of `bare-metal`")


def test_members_are_told_nothing_of_other_teams_tasks(bot: Bot) -> None:
    configuration = with_teams(
        one_profile(
            {"metal": 4}, {"dev": (0, None), "research": (0, None)}, 4, parameter="runtime.gpus"
        ),
        {"dev": Team(users=("U_CLEO",))},
    )
    first = bot.clock() - timedelta(hours=2)
    # What research waits for holds the pool, so that the sentence of dev's task speaks of it.
    secret, mine = task_id(900), task_id(901)
    small = WaitingQueue(
        policy="dev", profile="job", tasks=(Task(id=mine, first_seen=bot.clock(), parameter=1),)
    )
    bot.publish(
        configuration,
        [waiting_queue("research", [secret], first), small],
        [allocation(task_id(902), "research", "metal", 2)],
    )
    bot.name_tasks({secret: "merger with acme", mine: "small one"})

    by_member, by_admin = bot.asks("U_CLEO", "why small"), bot.asks("U_ADA", "why small")
    guessed = bot.asks("U_CLEO", f"why {secret}")

    assert "it is held for a task of research" in by_member.plain
    assert "merger" not in by_member.plain
    assert secret not in str(by_member.blocks)
    assert "merger with acme" in by_admin.plain
    assert "I know no waiting or running task of yours" in guessed.text


def test_a_typo_offers_the_nearest_verb_and_its_button_says_it(bot: Bot) -> None:
    busy(bot)
    typo = bot.asks("U_EVE", "statsu h100")

    answer = bot.person("U_EVE").press("Run: status h100", in_=typo).reply()

    assert "Did you mean `status h100`?" in typo.plain
    assert "*In use by* `research` 6" in answer.plain


def test_a_name_that_is_unclear_lists_candidates(bot: Bot) -> None:
    bot.publish(one_profile({"h100-a": 8, "h100-b": 8, "metal": 8}, {"dev": (0, None)}))

    unclear = bot.asks("U_EVE", "status H100")
    near = bot.asks("U_EVE", "status matel")
    answer = bot.person("U_EVE").press("h100-b", in_=unclear).reply()

    assert unclear.text == "“H100” fits 2: `h100-a`, `h100-b`. Which one do you mean?"
    assert near.text == "I know no pool “matel”: `metal`. Did you mean this one?"
    assert answer.text.startswith("`h100-b`: 0 of 8 in use")


def test_a_long_list_is_paged_in_place_and_nothing_is_left_out(bot: Bot) -> None:
    tasks = [task_id(number) for number in range(1000, 1020)]
    bot.publish(
        with_teams(one_profile({"metal": 0}, {"dev": (0, None)}), {"dev": Team(users=("U_CLEO",))}),
        [waiting_queue("dev", tasks, bot.clock())],
    )
    page, seen = bot.asks("U_CLEO", "queue"), list[str]()

    while True:
        seen += re.findall(r"\*\d+\.\* `([0-9a-f]{32})`", page.plain)
        if "Next" not in buttons_of(page):
            break
        turned = bot.person("U_CLEO").press("Next", in_=page).reply()
        assert turned.ts == page.ts
        page = turned

    assert seen == tasks
    assert "17-20 of 20, page 3 of 3" in page.plain
    assert buttons_of(page).count("Previous") == 1


def test_an_answer_is_shared_where_the_bot_is_no_member(bot: Bot) -> None:
    busy(bot)
    said = bot.asks("U_DAN", "status", channel="C_SPEECH")

    bot.person("U_DAN").press("Share in this channel", in_=said)

    shared = bot.slack.wait_for_message("C_SPEECH", "2 pools")
    assert shared.only_for == ""
    assert "shared what `/pool status` says" in shared.plain
    assert "Share in this channel" not in shared.plain
    assert {ping["person"] for ping in bot.slack.pings()} <= {"U_DAN"}


def test_slash_mention_and_direct_message_are_one_language(bot: Bot) -> None:
    busy(bot)
    dan = bot.person("U_DAN")

    slash = bot.asks("U_DAN", "status h100")
    mention = dan.mention("status h100", "C_GENERAL").reply()
    direct = dan.dm("status h100").reply()

    assert mention.text == slash.text
    assert direct.text == slash.text
    assert mention.only_for == "U_DAN"
    assert direct.channel == dan.dm_channel


def test_a_mention_in_a_thread_is_answered_there(bot: Bot) -> None:
    busy(bot)
    dan = bot.person("U_DAN")
    thread = dan.say("what is going on?", "C_GENERAL").ts

    said = dan.mention("status", "C_GENERAL", thread=thread).reply()

    assert said.thread_ts == thread


def test_help_shows_what_one_may_say(bot: Bot) -> None:
    everybodys, admins = bot.asks("U_EVE", "help").plain, bot.asks("U_ADA", "help").plain

    for verb in table_for(bot.settings):
        if verb.words != ("help",):
            assert f"`/pool {verb.words[0]}" in admins
            assert " ".join(verb.words[1:]) in admins
    assert "/pool status" in everybodys
    assert "/pool audit" not in everybodys
    assert "shows waiting tasks in order" in bot.asks("U_ADA", "help queue").plain


def test_agents_shows_the_queue_and_configurations_that_fit(bot: Bot) -> None:
    busy(bot)
    queue = OwnedQueue(
        id="5f" * 16, role=Role.EXECUTION, profile="job", owner="job on h100",
        name="pool h100 · job on h100", pool="h100",
    )  # fmt: skip
    with bot.database.transaction() as session:
        queues.put_queue(session, queue)

    said = bot.asks("U_ADA", "agents h100").plain

    assert f"Queue id: `{queue.id}`" in said
    assert f"    {queue.id}:\n      templateOverrides:" in said
    assert said.count("nvidia.com/gpu: 2") == 2
    assert f"clearml-agent daemon --queue {queue.id} --gpus 0,1 --detached" in said
    assert "is for admins" in bot.asks("U_CLEO", "agents h100").text


def test_the_doctor_finds_nothing_where_nothing_is_wrong(
    bot: Bot, clearml: Sandbox, tmp_path: Path
) -> None:
    with installed(clearml, tmp_path / "clearml") as installation:
        busy(bot)
        Surveyor(doors(installation.settings()), bot.database, bot.clock).run()

        said = bot.asks("U_ADA", "doctor")

    assert said.text == "I found nothing wrong."
    assert "Slack (17 scopes" in said.plain


def test_real_rounds_are_read_by_the_names_that_people_gave(
    slack: Workspace, clearml: Sandbox, tmp_path: Path
) -> None:
    with installed(clearml, tmp_path / "here") as there:
        configuration = one_profile({"metal": 1}, {"dev": (0, None)})
        there.apply(with_teams(configuration, {"dev": Team(users=("U_CLEO",))}))
        first = clearml.queued_task(there.intake(), "train *resnet* <!here>")
        clearml.queued_task(there.intake(), "train vit")
        with bot_with_rounds(slack, there) as (bot, controller):
            controller.rounds.run()

            waiting = bot.asks("U_CLEO", "why vit")
            starting = bot.asks("U_CLEO", "why resnet")
            controller.rounds.run()
            running = bot.asks("U_CLEO", "why resnet")
            clearml.as_worker("w").started(str(clearml.pop(there.execution())))
            clearml.completed(first)
            controller.rounds.run()
            freed = bot.asks("U_CLEO", "why vit")

    assert "2 of 2 in the queue of `dev`" in waiting.plain
    assert "Needs 1, but metal has 0 of 1 free." in waiting.plain
    assert "Starts now with 1 of metal" in starting.plain
    assert "it has 1 of `metal` as `job` of `dev`" in running.text
    assert "`train *resnet* &lt;!here&gt;`" in running.text
    assert "Starts now with 1 of metal" in freed.plain


def test_the_doctor_sees_that_no_agent_serves_a_link(
    slack: Workspace, clearml: Sandbox, tmp_path: Path
) -> None:
    with installed(clearml, tmp_path / "here") as there:
        there.apply(one_profile({"metal": 1, "h100": 1}, {"dev": (0, None)}))
        clearml.start_agents(there.execution("h100"))
        with bot_with_rounds(slack, there) as (bot, controller):
            controller.rounds.run()
            surveyor = Surveyor(doors(there.settings()), there.database, there.clock)
            served = lambda: len(clearml.ok("workers.get_all")["workers"]) > 0  # noqa: E731
            wait_until(served, "the agent is registered")

            surveyor.run()
            found = bot.asks("U_ADA", "doctor").plain
            clearml.ok("queues.delete", queue=there.execution("metal"), force=True)
            surveyor.run()
            missing = bot.asks("U_ADA", "doctor").plain
            clearml.outage("503")
            surveyor.run()
            away = bot.asks("U_ADA", "doctor").plain
            clearml.outage("")

    assert "No agent serves the queue of link `job on metal`" in found
    assert "`/pool agents job on metal` says how" in found
    assert "job on h100" not in found
    assert "Missing in ClearML: `pool metal · job on metal`." in missing
    assert "ClearML does not answer as it should" in away


def test_the_doctor_names_what_is_wrong_each_with_a_remedy(bot: Bot, slack: Workspace) -> None:
    teams = {
        "dev": Team(channel="C_SPEECH", usergroup="S_GONE"),
        "research": Team(channel="C_NOWHERE", usergroup="S_VISION"),
    }
    bot.publish(with_teams(example(), teams))
    slack.configure(scopes=[one.name for one in BOT_SCOPES if one.name != "files:write"])
    bot.clock.advance(timedelta(minutes=7))

    said = bot.asks("U_ADA", "doctor").plain

    assert "lacks the scope `files:write`, which uploads the digests' pictures." in said
    assert "The user group `S_GONE` of policy `dev` does not exist." in said
    assert "The channel `C_NOWHERE` of policy `research` does not exist, or is private" in said
    assert "The channel `C_SPEECH` of policy `dev` does not have me as a member." in said
    assert "Say `/invite @poolkeeper` there." in said
    assert "The last round ended 7 min ago; one is to end every 5 s." in said
    assert "S_VISION" not in said


def test_home_shows_pools_to_all_and_teams_their_tasks(bot: Bot) -> None:
    busy(bot)

    eve = bot.person("U_EVE").open_home().home().plain
    cleo = bot.person("U_CLEO").open_home().home().plain

    assert "`bare-metal`  *8 of 8* in use" in eve
    assert "llama" not in eve
    assert "`dev`  *6* in use" in cleo
    assert cleo.count("[Why?]") == 4
    assert "Needs 2, but bare-metal has 0 of 8 free" in cleo
    assert "research" not in cleo


def test_a_button_in_home_opens_its_answer_and_the_next_takes_its_place(bot: Bot) -> None:
    busy(bot)
    cleo = bot.person("U_CLEO")
    home = cleo.open_home().home()

    answer = home.press("Why?", near="llama 12").view()
    answer.press("Its queue")
    cleo.slack.wait_for(lambda: "*4 tasks wait" in cleo.view().plain, "the queue in the window")

    assert "2 of 4 in the queue of `dev`" in answer.plain
    assert len(cleo.views()) == 1


def test_an_admin_opens_the_editor_from_home_and_a_member_does_not(bot: Bot) -> None:
    busy(bot)

    editor = bot.person("U_ADA").open_home().home().press("Edit").view("Configuration")
    cleo = bot.person("U_CLEO").open_home().home().plain

    assert "Version 1 is in force." in editor.plain
    assert "[Edit]" not in cleo


def test_home_is_published_anew_for_those_who_look_when_something_changed(bot: Bot) -> None:
    busy(bot)
    slack = bot.slack
    for person in ("U_EVE", "U_CLEO"):
        bot.person(person).open_home().home("GPU pools")
        wait_until(partial(_card, bot, person), "what it shows is remembered")
    bot.clock.advance(timedelta(seconds=10))

    unchanged = refresh_homes(bot.desk, _door(bot))
    bot.publish(example())
    changed = refresh_homes(bot.desk, _door(bot))
    bot.clock.advance(timedelta(minutes=16))
    bot.publish(one_profile({"new": 4}, {"dev": (0, None)}))
    late = refresh_homes(bot.desk, _door(bot))

    assert (unchanged, changed, late) == (0, 2, 0)
    assert len(slack.calls("views.publish")) == 4
    assert "`bare-metal`  *0 of 8* in use" in bot.person("U_EVE").home().plain


def _card(bot: Bot, person: str) -> Card | None:
    with bot.database.reading() as session:
        return cards.card(session, f"home:{person}")


def _door(bot: Bot) -> Slack:
    assert bot.desk.slack is not None
    return bot.desk.slack


def test_every_answer_has_a_sentence_that_stands_alone(bot: Bot) -> None:
    busy(bot)

    for line in READING:
        said = bot.asks("U_ADA", line)
        assert re.search(r"\w.*[.?:`]$", said.text, re.S), (line, said.text)
        assert not re.search(r":[a-z_]*(circle|square|red|green)[a-z_]*:", str(said.blocks)), line
        assert said.mentions == [], line


def test_everything_is_read_with_the_manifests_scopes(bot: Bot, slack: Workspace) -> None:
    busy(bot)
    slack.configure(scopes=[one.name for one in BOT_SCOPES])

    for line in READING:
        assert "Something went wrong" not in bot.asks("U_ADA", line).text
    home = bot.person("U_ADA").open_home().home("GPU pools")
    direct = bot.person("U_ADA").dm("status").reply("2 pools")

    assert home.plain
    assert direct.plain
    assert [call for call in slack.calls() if call.get("error") == "missing_scope"] == []
