"""What goes wrong at the edge: a locked or broken database, failures, repetitions, old buttons."""

import re
import sqlite3
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest

from bot.registry import SURFACES
from storage import deliveries
from tests.bot_support import DEV, Bot, busy, over_http, running_bot
from tests.sandbox_support import Doc, wait_until
from tests.slack_support import Message, View, Workspace

PATIENCE = 12.0
"""The database is waited for up to five seconds before it is said to be away."""


@pytest.fixture
def bot(slack: Workspace, tmp_path: Path) -> Iterator[Bot]:
    with running_bot(slack, tmp_path) as bot:
        busy(bot)
        yield bot


@contextmanager
def locked(bot: Bot) -> Iterator[None]:
    """Another process writes, and does not come to an end."""
    connection = sqlite3.connect(bot.database.name, isolation_level=None)
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
    finally:
        connection.rollback()
        connection.close()


@contextmanager
def without_table(bot: Bot, table: str) -> Iterator[None]:
    """Somebody broke the database."""
    connection = sqlite3.connect(bot.database.name, isolation_level=None, timeout=10)
    connection.execute(f"ALTER TABLE {table} RENAME TO {table}_away")
    try:
        yield
    finally:
        connection.execute(f"ALTER TABLE {table}_away RENAME TO {table}")
        connection.close()


@contextmanager
def with_nonsense(bot: Bot) -> Iterator[None]:
    """A row that nobody can read: whoever looks at the queues fails."""
    connection = sqlite3.connect(bot.database.name, isolation_level=None, timeout=10)
    row = "('q', 'no role', 'job', 'job on h100', 'n', '', 0)"
    columns = "(id, role, profile, owner, name, pool, retired)"
    connection.execute(f"INSERT INTO queues {columns} VALUES {row}")
    try:
        yield
    finally:
        connection.execute("DELETE FROM queues WHERE id = 'q'")
        connection.close()


def reference_in(text: str) -> str:
    found = re.search(r"Reference ([0-9a-f]{8})", text)
    assert found, text
    return found[1]


def is_found(bot: Bot, reference: str, what: str) -> None:
    """An admin finds the failure under its reference, and what it was."""
    said = bot.asks("U_ADA", f"audit {reference}").plain
    assert f"reference `{reference}`" in said
    assert what in said


def slowest(slack: Workspace, kind: str) -> float:
    return max(float(one["seconds"]) for one in slack.deliveries(kind))


def test_commands_are_acknowledged_though_the_database_is_locked(bot: Bot) -> None:
    with locked(bot), ThreadPoolExecutor(20) as people:
        said = list(people.map(lambda _: bot.says("U_CLEO", "queue"), range(40)))
        told = said[0].reply("My database is away", timeout=PATIENCE)

    assert slowest(bot.slack, "slash_commands") < 1.0
    assert "what is running is not touched" in told.text
    assert bot.person("U_CLEO").notices() == []
    for one in said:
        one.reply("database is away", timeout=60.0)
    is_found(bot, reference_in(told.text), "DatabaseUnavailable")


def test_a_window_that_is_submitted_meanwhile_shows_what_became_of_it(bot: Bot) -> None:
    window = old_window(bot)

    with locked(bot):
        said = window.try_submit()
        working = bot.person("U_CLEO").view().plain
        bot.slack.wait_for(
            lambda: "My database is away" in bot.person("U_CLEO").view().plain,
            "the window says what became of it",
            timeout=PATIENCE,
        )

    assert not said["error"]
    assert "This takes longer than usual" in working
    is_found(bot, reference_in(bot.person("U_CLEO").view().plain), "view_submission")


def test_a_failure_is_told_under_a_reference_that_the_audit_knows(bot: Bot) -> None:
    listed = bot.asks("U_ADA", "agents")

    with without_table(bot, "requests"):
        home = bot.person("U_CLEO").open_home().home("My database is away")
    with with_nonsense(bot):
        command = bot.says("U_ADA", "agents h100").reply("Something went wrong")
        mention = bot.person("U_ADA").mention("agents h100", "C_GENERAL").reply("Something went")
        direct = bot.person("U_ADA").dm("agents h100").reply("Something went wrong")
        button = bot.person("U_ADA").press("job on h100", in_=listed).reply("Something went wrong")

    is_found(bot, reference_in(home.plain), "app_home_opened")
    is_found(bot, reference_in(command.text), "/pool agents h100")
    is_found(bot, reference_in(mention.text), "app_mention")
    is_found(bot, reference_in(direct.text), "message")
    is_found(bot, reference_in(button.text), "button say")
    assert {command.only_for, mention.only_for} == {"U_ADA"}


def test_a_failure_in_a_window_is_told_in_it(bot: Bot) -> None:
    ada = bot.person("U_ADA")
    window = ada.open_home().home("Doctor").press("Doctor").view()

    with with_nonsense(bot):
        window.press("Again")
        shown = lambda: "Something went wrong" in ada.view().plain  # noqa: E731
        bot.slack.wait_for(shown, "the failure in the window")

    is_found(bot, reference_in(ada.view().plain), "button turn")


def test_a_failure_before_the_acknowledgement_is_told_by_it(bot: Bot) -> None:
    window = old_window(bot, next(iter(SURFACES.submits)), next(iter(SURFACES.suggests)))

    with without_table(bot, "versions"):
        offered = window.options("Choose")
        window.submit()

    told = bot.person("U_CLEO").view().plain
    assert re.fullmatch(r"I failed\. Reference [0-9a-f]{8}: say it to an admin\.", offered[0])
    assert "My database is away" in told
    is_found(bot, reference_in(offered[0]), "block_suggestion")
    is_found(bot, reference_in(told), "view_submission")


def test_a_failure_that_could_not_be_recorded_is_recorded_later(bot: Bot) -> None:
    with without_table(bot, "audit"):
        told = bot.asks("U_ADA", "audit")

    assert "My database is away" in told.text
    bot.asks("U_ADA", "status")
    is_found(bot, reference_in(told.text), "/pool audit")


def test_slack_that_refuses_a_home_is_told_to_its_owner(bot: Bot) -> None:
    bot.slack.fault("error", "views.publish", error="internal_error", nth=0)

    bot.person("U_CLEO").open_home()

    told = bot.slack.wait_for_message(bot.person("U_CLEO").dm_channel, "Something went wrong")
    is_found(bot, reference_in(told.text), "internal_error")


@pytest.mark.parametrize("kind", ["slash_commands", "interactive", "events_api"])
def test_what_is_delivered_twice_is_answered_once(bot: Bot, kind: str) -> None:
    listed = bot.asks("U_DAN", "statsu")
    dan = bot.person("U_DAN")
    before = len(dan.messages("C_GENERAL"))
    seen = len(bot.slack.deliveries(kind))
    bot.slack.delivery_fault("twice", kind)

    if kind == "slash_commands":
        dan.command("/pool status", "C_GENERAL").reply("2 pools")
    elif kind == "interactive":
        dan.press("Run: status", in_=listed).reply("2 pools")
    else:
        dan.mention("status", "C_GENERAL").reply("2 pools")
        before += 1  # the mention itself

    wait_until(lambda: len(bot.slack.deliveries(kind)) == seen + 2, "both were delivered")
    bot.slack.clear_faults()
    bot.asks("U_DAN", "profiles")
    assert all(one["acked"] for one in bot.slack.deliveries(kind))
    assert len(dan.messages("C_GENERAL")) == before + 2


def test_what_was_delivered_is_remembered_beyond_a_restart(bot: Bot) -> None:
    dan = bot.person("U_DAN")
    dan.mention("status", "C_GENERAL").reply("2 pools")
    event = bot.slack.deliveries("events_api")[-1]["body"]
    bot.stop()
    bot.start()

    with bot.database.transaction() as session:
        is_new = deliveries.first_time(session, f"event:{event['event_id']}", bot.clock())

    assert not is_new


def old_window(bot: Bot, callback: str = "of-long-ago", select: str = "long-gone-select") -> View:
    """A window of an older version, as somebody may still have it open."""
    bot.asks("U_CLEO", "help")
    trigger = bot.slack.deliveries("slash_commands")[-1]["body"]["trigger_id"]
    view: Doc = {
        "type": "modal",
        "callback_id": callback,
        "title": {"type": "plain_text", "text": "Old"},
        "submit": {"type": "plain_text", "text": "Save"},
        "blocks": [
            {
                "type": "input",
                "block_id": "name",
                "optional": True,
                "label": {"type": "plain_text", "text": "Name"},
                "element": {"type": "plain_text_input", "action_id": "typed"},
            },
            {
                "type": "actions",
                "elements": [
                    {
                        "type": "button",
                        "action_id": "long-gone:1",
                        "text": {"type": "plain_text", "text": "Do it"},
                        "value": "x",
                    },
                    {
                        "type": "external_select",
                        "action_id": select,
                        "min_query_length": 0,
                        "placeholder": {"type": "plain_text", "text": "Choose"},
                    },
                ],
            },
        ],
    }
    bot.slack.ok("views.open", trigger_id=trigger, view=view)
    return bot.person("U_CLEO").view("Old")


def test_a_window_of_an_older_version_is_answered_politely(bot: Bot) -> None:
    window = old_window(bot)

    offered = window.options("Choose")
    window.press("Do it")
    pressed = bot.person("U_CLEO").view("Poolkeeper").plain
    bot.person("U_CLEO").view("Poolkeeper").close()
    window.submit()

    assert offered == []
    assert "This is from an older version of me. Nothing was changed" in pressed
    assert "This is from an older version of me" in bot.person("U_CLEO").view().plain


def test_a_button_of_an_older_version_is_answered_politely(bot: Bot) -> None:
    blocks = [{"type": "actions", "elements": [
        {"type": "button", "action_id": "approve-v0", "value": "{}",
         "text": {"type": "plain_text", "text": "Approve"}}]}]  # fmt: skip
    ts = bot.slack.ok("chat.postMessage", channel="C_GENERAL", text="Old.", blocks=blocks)["ts"]
    old = next(one for one in bot.slack.messages("C_GENERAL") if one.ts == ts)

    said = bot.person("U_EVE").press("Approve", in_=old).reply()

    assert "This is from an older version of me. Nothing was changed" in said.text


def test_a_button_of_an_answer_says_its_command_to_whoever_presses_it(bot: Bot) -> None:
    mine = bot.asks("U_CLEO", "queue")
    bot.person("U_CLEO").press("Share in this channel", in_=mine)
    shared = bot.slack.wait_for_message("C_GENERAL", "4 tasks wait")

    others = bot.person("U_EVE").press("Why?", in_=shared, near=DEV[0][:8]).reply()

    assert "for members of a team" in others.text


@pytest.mark.parametrize(
    "line",
    ["why " + "x" * 3000, "status <!channel>", "help `*_~`", '"', "\u202e\u0000", "audit %_'\"",
     "policies <@U_BEN>", "statsu <!here>", "queue page 99999999999999999999"],
    ids=str.split,
)  # fmt: skip
def test_whatever_is_typed_gets_an_answer_and_pings_nobody(bot: Bot, line: str) -> None:
    said = bot.asks("U_ADA", line)

    assert "Something went wrong" not in said.text
    assert said.mentions == []
    assert len(said.text) < 3000


# HTTP -----------------------------------------------------------------------------------------


@pytest.fixture
def http_bot(slack: Workspace, tmp_path: Path) -> Iterator[Bot]:
    with running_bot(slack, tmp_path, **over_http(slack)) as bot:
        busy(bot)
        yield bot


def test_over_http_requests_are_verified_and_answered(http_bot: Bot) -> None:
    assert http_bot.slack.verify_url()

    said = http_bot.asks("U_EVE", "status")

    assert said.text.startswith("2 pools")


@pytest.mark.parametrize("flaw", ["wrong_signature", "old_timestamp"])
def test_over_http_what_slack_did_not_sign_just_now_is_refused(http_bot: Bot, flaw: str) -> None:
    http_bot.slack.delivery_fault(flaw, nth=0)

    refused = http_bot.person("U_EVE").command("/pool status", "C_GENERAL")
    http_bot.person("U_EVE").mention("status", "C_GENERAL")

    http_bot.slack.clear_faults()
    http_bot.asks("U_EVE", "profiles")
    answers = [one for one in messages(http_bot) if "2 pools" in one.plain]
    assert refused.error
    assert {one["status"] for one in http_bot.slack.deliveries()[:2]} == {401}
    assert answers == []


def messages(bot: Bot) -> list[Message]:
    return bot.person("U_EVE").messages("C_GENERAL")
