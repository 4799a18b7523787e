"""The bot ends in time and leaves no connection behind, whatever it was about to do."""

import time
from pathlib import Path

from bot.compose import new_reference
from bot.connecting import Surroundings, build_bot
from controller.publishing import Viewer
from storage.database import open_database
from tests.bot_support import bot_settings
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

    wait_until(lambda: slack.connections()["open"] == 0, "no connection is left", 5)
    assert took < 20
    database.close()
