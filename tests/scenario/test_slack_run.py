"""`poolkeeper run` with Slack: it connects, answers, comes back and ends; rounds run regardless."""

import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlencode

import pytest
import requests

from tests.poolkeeper_support import Installation, Process, installed, one_profile
from tests.sandbox_support import Sandbox, wait_until
from tests.slack_support import Workspace

PATH = "/slack/events"


@pytest.fixture
def there(clearml: Sandbox, tmp_path: Path) -> Iterator[Installation]:
    with installed(clearml, tmp_path / "here") as installation:
        yield installation


def start(there: Installation, slack: Workspace, **env: str) -> Process:
    variables = {
        "SLACK_BOT_TOKEN": slack.bot_token,
        "SLACK_APP_TOKEN": slack.app_token,
        "POOLKEEPER_SLACK_API": slack.api,
        "POOLKEEPER_ADMINS": "U_ADA",
        "POOLKEEPER_ADMIN_CHANNEL": "C_ADMINS",
    }
    return there.start("run", **{**variables, **env})


def answers(slack: Workspace) -> bool:
    said = slack.person("U_ADA").command("/pool help")
    return not said.error and "What you can say to me" in said.reply().plain


def test_it_connects_answers_comes_back_and_ends(there: Installation, slack: Workspace) -> None:
    process = start(there, slack)
    slack.wait_for_bot(timeout=30)
    assert answers(slack)

    made = slack.connections()["made"]
    slack.disconnect("refresh_requested")
    wait_until(lambda: slack.connections()["made"] > made, "a new connection")
    slack.wait_for_bot()
    assert answers(slack)

    for how in ("cut", "silent"):
        slack.door("drop", how=how)
        slack.wait_for_bot(timeout=40)
        assert answers(slack), how

    assert process.end() == 0
    assert slack.connections()["open"] == 0
    assert "Traceback" not in process.log


def test_slack_may_be_away_at_the_start_and_rounds_run_all_the_same(
    there: Installation, slack: Workspace
) -> None:
    there.apply(one_profile({"metal": 4}, {"dev": (0, None)}))
    slack.fault("refuse", "*", nth=0)
    slack.door("refuse_connections", refuse=True)
    process = start(there, slack)
    process.wait_for("Slack is away, connecting is tried again", timeout=30)

    task = there.clearml.queued_task(there.intake())
    wait_until(lambda: there.stages().get(task) == "dispatched", "a task is dispatched")

    slack.clear_faults()
    slack.door("refuse_connections", refuse=False)
    slack.wait_for_bot(timeout=60)
    assert answers(slack)


def test_a_wrong_token_is_said_with_its_setting_and_stops_no_round(
    there: Installation, slack: Workspace
) -> None:
    process = start(there, slack, SLACK_APP_TOKEN="xapp-wrong")

    process.wait_for("Slack refuses SLACK_APP_TOKEN", timeout=30)

    process.wait_for("nothing is provisioned yet")
    assert "xapp-wrong" not in process.log
    assert process.end() == 0


@pytest.mark.parametrize(
    ("env", "sentence"),
    [
        ({"SLACK_APP_TOKEN": ""}, "set SLACK_APP_TOKEN for Socket Mode, or SLACK_SIGNING_SECRET"),
        ({"SLACK_APP_TOKEN": "", "SLACK_SIGNING_SECRET": "s", "POOLKEEPER_SLACK_HOST": "192.0.2.1"},
         "192.0.2.1:3000 cannot listen for Slack"),
    ],
    ids=["no way for slack to reach it", "an address that is not this machine's"],
)  # fmt: skip
def test_what_cannot_work_is_refused_at_the_start(
    there: Installation, slack: Workspace, env: dict[str, str], sentence: str
) -> None:
    process = start(there, slack, **env)

    assert process.wait() == 1
    assert sentence in process.log
    assert "Traceback" not in process.log


def test_a_second_process_is_refused_and_the_first_goes_on(
    there: Installation, slack: Workspace
) -> None:
    start(there, slack)
    slack.wait_for_bot(timeout=30)

    second = start(there, slack)

    assert second.wait() == 1
    assert "Another poolkeeper" in second.log
    assert slack.connections()["open"] == 1
    assert answers(slack)


def test_http_takes_what_slack_signed_lately_and_nothing_else(
    there: Installation, slack: Workspace
) -> None:
    more = {"SLACK_APP_TOKEN": "", "SLACK_SIGNING_SECRET": slack.signing_secret}
    process = start(there, slack, **more, POOLKEEPER_SLACK_PORT="0")
    process.wait_for("listening for Slack", timeout=30)
    found = re.search(r"port=(\d+)", process.log)
    assert found is not None
    url = f"http://127.0.0.1:{found[1]}"

    slack.deliver_to(f"{url}{PATH}")
    assert slack.verify_url()
    assert answers(slack)
    for flaw in ("wrong_signature", "old_timestamp"):
        slack.delivery_fault(flaw, "slash_commands")
        assert slack.person("U_ADA").command("/pool help").error == "dispatch_failed"
        assert slack.deliveries("slash_commands")[-1]["status"] == 401
    assert answers(slack)

    unsigned = requests.post(f"{url}{PATH}", data=_command(), timeout=10)
    assert unsigned.status_code == 401
    assert requests.post(f"{url}/", data=_command(), timeout=10).status_code == 404
    huge = requests.post(f"{url}{PATH}", data=b"x" * 5_000_000, timeout=10)
    assert huge.status_code == 413
    assert process.end() == 0


def _command() -> str:
    return urlencode({"command": "/pool", "text": "help", "user_id": "U_ADA", "channel_id": "C"})


def test_an_outage_of_clearml_and_its_end_reach_the_admins(
    there: Installation, slack: Workspace
) -> None:
    there.apply(one_profile({"metal": 4}, {"dev": (0, None)}))
    start(there, slack)
    slack.wait_for_bot(timeout=30)

    there.clearml.outage("503")
    card = slack.wait_for_message("C_ADMINS", "ClearML is away", timeout=60)
    there.clearml.outage("")
    slack.wait_for_message("C_ADMINS", "over since", timeout=60)

    said = "Over: ClearML answers again, and rounds run."
    slack.wait_for_message("C_ADMINS", said, thread=card.ts)
    assert len(slack.messages("C_ADMINS")) == 1
