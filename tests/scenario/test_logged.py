"""What a real process logs: references that join what belongs together, and no secret, ever."""

import json
import re
import sqlite3
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from domain.configuration import Team
from tests.bot_support import with_teams
from tests.outside_support import outside_of
from tests.poolkeeper_support import Installation, Process, installed, one_profile
from tests.sandbox_support import Sandbox, wait_until
from tests.slack_support import Workspace

SIGNING = "signing-secret-0123456789"
PASSWORD = "database-password-0123456789"


@pytest.fixture
def there(clearml: Sandbox, tmp_path: Path) -> Iterator[Installation]:
    with installed(clearml, tmp_path / "here") as installation:
        yield installation


def everything(slack: Workspace, form: str = "text", **env: str) -> dict[str, str]:
    return {
        "POOLKEEPER_LOG_LEVEL": "DEBUG",
        "POOLKEEPER_LOG_FORMAT": form,
        "POOLKEEPER_METRICS_PORT": "0",
        "SLACK_BOT_TOKEN": slack.bot_token,
        "SLACK_APP_TOKEN": slack.app_token,
        "SLACK_SIGNING_SECRET": SIGNING,
        "POOLKEEPER_SLACK_API": slack.api,
        "POOLKEEPER_ADMINS": "U_ADA",
        "POOLKEEPER_ADMIN_CHANNEL": "C_ADMINS",
        **env,
    }


def secrets(there: Installation, **env: str) -> list[str]:
    """What no line may hold."""
    names = (
        "CLEARML_API_SECRET_KEY",
        "SLACK_BOT_TOKEN",
        "SLACK_APP_TOKEN",
        "SLACK_SIGNING_SECRET",
    )
    given = there.env(**env)
    return [PASSWORD, *(given[name] for name in names if given.get(name))]


def objects(process: Process) -> list[dict[str, Any]]:
    return [json.loads(line) for line in process.log.splitlines()]


def spoil_audit(there: Installation) -> None:
    """Makes whatever reads the audit fail, in a way that nobody foresaw."""
    with sqlite3.connect(there.path, timeout=10) as connection:
        connection.execute("UPDATE audit SET at = 'no time'")
    connection.close()


def told(slack: Workspace, line: str) -> str:
    """The reference under which a failure is told."""
    said = slack.person("U_ADA").command(f"/pool {line}").reply("Reference").plain
    found = re.search(r"Reference (\w+)", said)
    assert found is not None, said
    return found[1]


@pytest.mark.parametrize("form", ["text", "json"])
def test_no_secret_is_logged_whatever_goes_wrong(
    there: Installation, slack: Workspace, form: str
) -> None:
    env = everything(slack, form)
    there.apply(one_profile({"metal": 2}, {"dev": (1, None)}))
    process = there.start("run", **env)
    outside = outside_of(process)
    slack.wait_for_bot(timeout=30)
    there.clearml.fault("error_before", "queues.remove_task", nth=1)
    there.clearml.queued_task(there.intake())
    process.wait_for("a move is left to be settled")
    there.clearml.outage()
    process.wait_for("ClearML does not answer")
    there.clearml.outage("")
    process.wait_for("ClearML answers again")
    slack.fault("refuse", "chat.postMessage", nth=2)
    spoil_audit(there)
    reference = told(slack, "audit")
    slack.door("drop", how="cut")
    slack.wait_for_bot(timeout=40)
    there.clearml.expire_tokens()
    pages = [outside.get(page).text for page in ("/readyz", "/metrics")]
    assert process.end() == 0

    assert reference in process.log
    assert "Traceback" in process.log
    for secret in secrets(there, **env):
        assert secret not in process.log
        assert not [page for page in pages if secret in page]


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"CLEARML_API_SECRET_KEY": "wrong-clearml-secret-0123"}, "did not let Poolkeeper in"),
        ({"CLEARML_API_HOST": "http://127.0.0.1:9/wrong"}, "ClearML is away at the start"),
        ({"SLACK_APP_TOKEN": "xapp-wrong-0123456789"}, "Slack refuses SLACK_APP_TOKEN"),
        ({"SLACK_BOT_TOKEN": "xoxb-wrong\r\nX: 0123456789"}, "SLACK_BOT_TOKEN"),
        ({"POOLKEEPER_DATABASE": f"postgresql://me:{PASSWORD}@127.0.0.1:9/x"}, "127.0.0.1"),
        ({"POOLKEEPER_DATABASE": f"sqlite:///{PASSWORD}/\0/x"[:30] + "/no/such"}, "irectory"),
    ],
    ids=["clearml's key", "clearml's address", "slack's app token",
         "a token of two lines", "a database that is away", "a database's path"],
)  # fmt: skip
def test_what_is_refused_is_said_without_its_secret(
    there: Installation, slack: Workspace, wrong: dict[str, str], words: str
) -> None:
    env = everything(slack, **wrong)

    process = there.start("run", **env)
    process.wait_for(words, timeout=30)

    if process.popen.poll() is None:
        process.end()
    for secret in secrets(there, **env):
        assert secret not in process.log


def test_a_bot_token_that_slack_refuses_is_in_no_traceback(
    there: Installation, slack: Workspace
) -> None:
    env = everything(slack, SLACK_BOT_TOKEN="xoxb-wrong-0123456789")
    process = there.start("run", **env)
    slack.wait_for_bot(timeout=30)

    slack.person("U_ADA").open_home()
    process.wait_for("invalid_auth", timeout=20)

    process.end()
    assert "Traceback" in process.log
    for secret in secrets(there, **env):
        assert secret not in process.log


def test_a_command_that_fails_logs_as_run_does(there: Installation) -> None:
    there.apply(one_profile({"metal": 2}, {"dev": (1, None)}))
    spoil_audit(there)

    code, said = there.command("audit", POOLKEEPER_LOG_FORMAT="json")

    [line] = said.splitlines()
    failed = json.loads(line)
    assert code == 1
    assert (failed["level"], failed["message"]) == ("CRITICAL", "an error ended the program")
    assert "ValueError" in failed["traceback"]


def test_what_is_missing_is_said_once_and_not_every_round(there: Installation) -> None:
    process = there.start("run", POOLKEEPER_METRICS_PORT="0")
    outside = outside_of(process)
    rounds = partial(outside.value, "poolkeeper_rounds_total", ended="unprovisioned")
    wait_until(lambda: (rounds() or 0) > 5, "some rounds have ended")

    assert process.log.count("nothing is provisioned yet") == 1


def test_all_that_one_round_leads_to_has_one_reference(there: Installation) -> None:
    there.apply(one_profile({"metal": 2, "cloud": 2}, {"dev": (1, None)}))
    there.clearml.fault("error_before", "queues.remove_task", nth=1)
    for _ in range(3):
        there.clearml.queued_task(there.intake())
    process = there.start("run", POOLKEEPER_LOG_FORMAT="json")
    process.wait_for("a move is left to be settled")
    wait_until(
        lambda: list(there.stages().values()).count("dispatched") == 3, "all are dispatched", 20
    )
    process.end()

    lines = objects(process)
    [moving] = [line for line in lines if line["message"] == "a move is left to be settled"]
    [its_round] = [
        line
        for line in lines
        if line["message"] == "round" and line["reference"] == moving["reference"]
    ]
    references = [line["reference"] for line in lines if line["message"] == "round"]
    assert its_round["of"] == 3
    assert len(set(references)) == len(references)


def test_what_fails_in_slack_is_told_logged_and_recorded_under_one_reference(
    there: Installation, slack: Workspace
) -> None:
    there.apply(one_profile({"metal": 2}, {"dev": (1, None)}))
    process = there.start("run", **everything(slack, "json"))
    slack.wait_for_bot(timeout=30)
    spoil_audit(there)

    first, second = told(slack, "audit"), told(slack, "audit")

    process.end()
    assert first != second
    logged = [line["reference"] for line in objects(process) if "an answer failed" in str(line)]
    assert logged == [first, second]
    with sqlite3.connect(there.path) as connection:
        recorded = connection.execute(
            "SELECT reference FROM audit WHERE action = 'failed' ORDER BY id"
        ).fetchall()
    connection.close()
    assert recorded == [(first,), (second,)]


def test_what_is_done_in_slack_is_recorded_under_a_reference_of_its_own(
    there: Installation, slack: Workspace
) -> None:
    team = Team(channel="C_VISION")
    there.apply(with_teams(one_profile({"metal": 2}, {"dev": (1, None)}), {"dev": team}))
    there.start("run", **everything(slack))
    slack.wait_for_bot(timeout=30)
    ada = slack.person("U_ADA")

    ada.command("/pool digest on", "C_VISION").reply("gets a digest")
    ada.command("/pool digest off", "C_VISION").reply("no digest any more")

    wait_until(lambda: there.audit("digest off"), "it is recorded")
    records = there.audit("digest o")
    references = {record.reference for record in records}
    assert len(records) == len(references) == 2
    assert all(re.fullmatch("[0-9a-f]{8}", reference) for reference in references)
