"""The bot ends in time and leaves no connection behind, whatever it was about to do."""

import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Thread

from bot.compose import new_reference
from bot.connecting import Surroundings, build_bot
from controller.publishing import Viewer
from storage.database import open_database
from tests.bot_support import bot_settings, busy, running_bot
from tests.poolkeeper_support import Clock
from tests.sandbox_support import wait_until
from tests.slack_support import Workspace


def test_a_stop_while_it_connects_ends_it_and_leaves_no_connection(
    slack: Workspace, tmp_path: Path
) -> None:
    path = tmp_path / "bot.sqlite3"
    database = open_database(f"sqlite:///{path}")
    around = Surroundings(
        database=database,
        viewer=Viewer(database),
        nudge=lambda: None,
        deliver=lambda: None,
        clock=Clock(),
        reference=new_reference,
    )
    bot = build_bot(bot_settings(slack, path), around)
    opening = slack.fault("hold", "apps.connections.open")
    bot.start()
    opening.wait_until_holding()

    opening.release()
    began = time.monotonic()
    bot.stop()
    took = time.monotonic() - began

    wait_until(lambda: slack.connections()["open"] == 0, "no connection is left")
    assert took < 20
    database.close()


VIEW = {
    "type": "modal",
    "callback_id": "of-long-ago",
    "title": {"type": "plain_text", "text": "A window"},
    "submit": {"type": "plain_text", "text": "Save"},
    "blocks": [{"type": "section", "text": {"type": "mrkdwn", "text": "Something."}}],
}


def test_what_came_in_before_the_end_is_acknowledged_before_the_connection_ends(
    slack: Workspace, tmp_path: Path
) -> None:
    with running_bot(slack, tmp_path) as bot, ThreadPoolExecutor(1) as ada:
        busy(bot)
        bot.asks("U_ADA", "help")
        trigger = slack.deliveries("slash_commands")[-1]["body"]["trigger_id"]
        slack.ok("views.open", trigger_id=trigger, view=VIEW)
        window = slack.person("U_ADA").view("A window")

        # The database is busy, so the window is acknowledged only when its patience is over.
        with bot.database.transaction():
            submitted = ada.submit(window.try_submit)
            link = bot.socket
            wait_until(lambda: not link.has_acknowledged_all(), "the submission has come in")
            stopping = Thread(target=bot.stop)
            stopping.start()
            said = submitted.result(timeout=20)
        stopping.join(timeout=20)

    assert not said["error"]
    wait_until(lambda: slack.connections()["open"] == 0, "no connection is left")
