"""`poolkeeper doctor` against servers that are well, ail, hang or are away: real processes."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.poolkeeper_support import Installation, installed, one_profile
from tests.postgres_support import Postgres
from tests.sandbox_support import Sandbox, wait_until
from tests.slack_support import Workspace

QUIET = ("kubernetes", "pools")


@dataclass
class Ward:
    """An installation with Slack, and what its doctor says."""

    there: Installation
    slack: Workspace

    @property
    def clearml(self) -> Sandbox:
        return self.there.clearml

    def env(self) -> dict[str, str]:
        return {
            "SLACK_BOT_TOKEN": self.slack.bot_token,
            "SLACK_APP_TOKEN": self.slack.app_token,
            "POOLKEEPER_SLACK_API": self.slack.api,
            "POOLKEEPER_ADMINS": "U_ADA,U_BEN",
            "POOLKEEPER_ADMIN_CHANNEL": "C_ADMINS",
        }

    def doctor(self, *words: str, **env: str) -> tuple[int, str]:
        process = self.there.start("doctor", *words, **{**self.env(), **env})
        return process.wait(timeout=90), process.log

    def verdicts(self, **env: str) -> tuple[int, dict[str, list[dict[str, str]]]]:
        """The exit code, and the verdicts by their check; everything is told apart and at once."""
        code, said = self.doctor("--json", **env)
        found: dict[str, list[dict[str, str]]] = {}
        document: list[Any] = json.loads(said[said.index("[\n") :])
        for one in document:
            found.setdefault(one["check"], []).append(one)
        return code, found


@pytest.fixture
def ward(clearml: Sandbox, slack: Workspace, tmp_path: Path) -> Iterator[Ward]:
    with installed(clearml, tmp_path / "here") as there:
        there.apply(one_profile({"metal": 2}, {"dev": (0, None)}))
        yield Ward(there, slack)


def running(ward: Ward) -> None:
    """With an agent, and a process that leads and whose bot is connected."""
    ward.clearml.start_agents(ward.there.execution(), slots=2, poll_seconds=0.2)
    ward.there.start("run", **ward.env())
    ward.slack.wait_for_bot(timeout=60)
    wait_until(lambda: ward.clearml.ok("workers.get_all")["workers"], "the agent is there")


def unwell(found: dict[str, list[dict[str, str]]]) -> dict[str, set[str]]:
    return {
        check: {one["standing"] for one in verdicts}
        for check, verdicts in found.items()
        if any(one["standing"] != "ok" for one in verdicts)
    }


def test_where_all_is_well_every_line_says_so(ward: Ward) -> None:
    running(ward)
    wait_until(lambda: "ok   rounds" in ward.doctor()[1], "a round has ended", 60)

    code, said = ward.doctor("--strict")

    assert code == 0, said
    assert "12 ok, 0 warn, 0 fail." in said
    assert "led by process" in said
    assert "ClearML's server" in said


def test_before_anything_runs_it_warns_of_what_is_to_be_done(ward: Ward) -> None:
    code, found = ward.verdicts()
    strict, _ = ward.doctor("--strict")

    assert (code, strict) == (0, 1)
    assert unwell(found) == {"database": {"warn"}, "agents": {"warn"}, "rounds": {"warn"}}
    assert found["agents"][0]["says"].startswith("No agent serves the queue of link `job on metal`")
    assert "/pool agents job on metal" in found["agents"][0]["remedy"]


def test_without_a_database_what_needs_one_is_unknown_and_nothing_is_made(
    clearml: Sandbox, slack: Workspace, tmp_path: Path
) -> None:
    with installed(clearml, tmp_path / "here") as there:
        code, found = Ward(there, slack).verdicts()
        made = [path.name for path in there.directory.iterdir() if path.suffix != ".log"]

    assert code == 0
    assert made == []
    assert "There is no database" in found["database"][0]["says"]
    for check in ("queues", "agents", "rounds", "alerts", "people"):
        (verdict,) = found[check]
        assert (verdict["standing"], verdict["says"][:9]) == ("warn", "unknown: ")
    assert found["clearml"][0]["standing"] == "ok"


def test_an_agent_on_an_intake_queue_fails(ward: Ward) -> None:
    ward.clearml.start_agents(ward.there.intake(), poll_seconds=0.2)
    wait_until(lambda: ward.clearml.ok("workers.get_all")["workers"], "the agent is there")

    code, found = ward.verdicts()

    assert code == 1
    (verdict,) = found["queues"]
    assert verdict["standing"] == "fail"
    assert verdict["says"].startswith("Agents serve the intake queue `dev-jobs`: ")


def test_queues_that_are_gone_or_not_known_as_ours_are_named(ward: Ward) -> None:
    ward.clearml.ok("queues.delete", queue=ward.there.execution(), force=True)
    key = ["poolkeeper_role"]
    ward.clearml.ok("queues.delete_metadata", queue=ward.there.intake(), keys=key)

    code, found = ward.verdicts()

    assert code == 1
    assert [(one["standing"], one["says"]) for one in found["queues"]] == [
        ("fail", "Missing in ClearML: `pool metal · job on metal`."),
        ("warn", "Without our metadata, which says what they are for: `dev-jobs`."),
    ]


@pytest.mark.parametrize(
    ("trouble", "sentence"),
    [
        ("key", "did not let Poolkeeper in"),
        ("away", "ClearML did not answer auth.login"),
        ("hangs", "unknown: There was no answer within 10 s."),
    ],
)
def test_a_clearml_that_cannot_be_asked_leaves_the_others_alone(
    ward: Ward, trouble: str, sentence: str
) -> None:
    secret = "a-secret-nobody-may-read"
    env = {"CLEARML_API_SECRET_KEY": secret} if trouble == "key" else {}
    if trouble == "away":
        ward.clearml.outage("refuse")
    elif trouble == "hangs":
        ward.clearml.fault("hold", "auth.login", nth=0)

    code, found = ward.verdicts(**env)

    (verdict,) = found["clearml"]
    assert sentence in verdict["says"]
    assert verdict["remedy"]
    assert code == (0 if trouble == "hangs" else 1)
    assert {found[check][0]["says"][:9] for check in ("queues", "agents")} == {"unknown: "}
    assert {found[check][0]["standing"] for check in ("slack", "people")} == {"ok"}
    assert secret not in json.dumps(found)


def test_what_slack_does_not_grant_is_named(ward: Ward) -> None:
    ward.slack.configure(scopes=["chat:write", "commands", "channels:read", "groups:read"])
    env = {"POOLKEEPER_ADMIN_CHANNEL": "C_NOWHERE", "POOLKEEPER_ADMIN_GROUP": "S_ADMINS"}

    code, found = ward.verdicts(**env, SLACK_APP_TOKEN="xapp-wrong")

    said = {check: " ".join(one["says"] for one in found[check]) for check in ("slack", "people")}
    assert code == 1
    assert "The app lacks the scope `files:write`, which uploads" in said["slack"]
    assert "The app lacks the scope `chat:write`" not in said["slack"]
    assert "Slack refuses SLACK_APP_TOKEN: invalid_auth." in said["slack"]
    assert "The channel `C_NOWHERE` of the admins does not exist" in said["people"]
    assert "User groups cannot be read (missing_scope)" in said["people"]
    assert "xapp-wrong" not in json.dumps(found)


def test_clocks_that_are_off_are_told_by_how_much(ward: Ward) -> None:
    ward.clearml.door("set_clock", ahead=75)
    ward.slack.advance(-8)

    code, found = ward.verdicts()

    assert code == 1
    said = "; ".join(f"{one['standing']}: {one['says']}" for one in found["clocks"])
    # Answers say whole seconds, and what their way took is not counted as the clocks'.
    assert re.fullmatch(
        r"fail: The clock of ClearML's server is 7[45] s ahead of this machine's\.; "
        r"warn: The clock of Slack is [78] s behind this machine's\.",
        said,
    ), said


def test_a_database_server_is_looked_at_without_its_password(
    ward: Ward, postgres: Postgres
) -> None:
    url = postgres.database()
    empty = postgres.database(empty=True)

    code, found = ward.verdicts(POOLKEEPER_DATABASE=url)
    _, none = ward.verdicts(POOLKEEPER_DATABASE=empty)
    wrong, refused = ward.verdicts(POOLKEEPER_DATABASE=url.replace(postgres.password, "other"))

    assert code == 0
    assert found["database"][0]["says"] == "No process leads: nothing is dispatched."
    assert "the database server +0 s" in found["clocks"][0]["says"]
    assert none["database"][0]["says"].startswith("There is no database at `postgresql://")
    assert not postgres.execute("SELECT FROM pg_tables WHERE tablename = 'ledger'", name_of(empty))
    assert wrong == 1
    assert "does not take this user and password" in refused["database"][0]["says"]
    assert postgres.password not in json.dumps([found, none, refused])


def name_of(url: str) -> str:
    return url.rpartition("/")[2]


def test_settings_that_cannot_be_read_are_no_report(ward: Ward) -> None:
    code, said = ward.doctor(POOLKEEPER_ROUND_SECONDS="often")
    contradictory, found = ward.verdicts(SLACK_APP_TOKEN="xoxb-1")

    assert code == 2
    assert said.startswith("POOLKEEPER_ROUND_SECONDS cannot be used")
    assert contradictory == 1
    assert "SLACK_APP_TOKEN holds a bot token" in found["settings"][0]["says"]
