"""Commands in a terminal reach whoever leads; a clock that is wrong decides nothing."""

import time
from collections.abc import Iterator
from datetime import timedelta
from functools import partial
from pathlib import Path

import pytest

from domain.schedules import Schedule
from storage import requests, schedules
from tests.bot_support import over_http
from tests.poolkeeper_support import completed, one_profile, run_counts
from tests.postgres_support import Postgres
from tests.replicas_support import Replicas, reach, replicas_on, slack_variables
from tests.sandbox_support import Sandbox, wait_until
from tests.slack_support import Workspace


@pytest.fixture
def replicas(clearml: Sandbox, postgres: Postgres, tmp_path: Path) -> Iterator[Replicas]:
    with replicas_on(clearml, postgres, tmp_path / "here") as replicas:
        yield replicas


def test_commands_of_a_terminal_work_with_whoever_leads(replicas: Replicas) -> None:
    there, clearml = replicas.there, replicas.clearml
    path = there.written(one_profile({"metal": 4}, {"dev": (4, None)}))
    leader, _ = replicas.start_all(2)

    code, said = there.command("apply", path, "--yes")

    assert (code, "Version 1 is in force." in said) == (0, True), said
    assert there.command("disable", "--yes") == (0, "Management is disabled.\n")
    task = clearml.queued_task(there.intake())
    claims = clearml.calls("queues.remove_task")
    leader.process.kill()
    replicas.takeover(leader)
    code, said = there.command("status")
    assert (code, "metal" in said) == (0, True), said
    assert clearml.calls("queues.remove_task") == claims
    begun = time.monotonic()
    assert there.command("enable") == (0, "Management is enabled.\n")
    wait_until(lambda: there.stages().get(task) == "dispatched", "the task is dispatched")
    replicas.measured("from `poolkeeper enable` to the dispatch", begun)


def test_a_clock_that_is_ten_minutes_wrong_decides_nothing(
    replicas: Replicas, slack: Workspace
) -> None:
    there, clearml = replicas.there, replicas.clearml
    there.apply(one_profile({"metal": 1}, {"dev": (1, None)}))
    now = there.clock()
    soon = Schedule(
        at=(now + timedelta(minutes=5)).time(), days=frozenset(range(7)), zone="UTC",
        channel="C_VISION", policies=("dev",), by="U_ADA", changed_at=now,
    )  # fmt: skip
    with there.database.transaction() as session:
        schedules.put(session, soon)
    replicas.env |= {
        **slack_variables(slack),
        **over_http(slack),
        "POOLKEEPER_REQUEST_HOURS": "0.1",
        "POOLKEEPER_NOWHERE_SECONDS": "5",
    }
    ahead = replicas.start(ahead_s=600)
    replicas.wait_until_leads(ahead)
    behind = replicas.start(ahead_s=-600)
    behind.process.wait_for("role=follower")
    clearml.start_agents(there.execution(), slots=1, run_seconds=0.1, poll_seconds=0.05)
    tasks = clearml.bulk_enqueue(there.intake(), 5)

    reach(slack, behind)
    asked = slack.person("U_ADA").command("/pool disable now for a test")
    assert not asked.error
    asked.reply("waits for approval", timeout=15)
    wait_until(partial(completed, clearml, tasks), "all have run", 30)
    ahead.process.kill()
    replicas.takeover(ahead)
    more = clearml.bulk_enqueue(there.intake(), 5)
    wait_until(partial(completed, clearml, more), "these as well", 30)

    with there.database.reading() as session:
        (request,) = requests.open_requests(session)
        assert schedules.last_dates(session) == {}
    assert abs(request.at - there.clock()) < timedelta(minutes=2)
    assert run_counts(clearml, tasks + more) == dict.fromkeys(tasks + more, 1)
    assert "ahead_seconds=600" in ahead.process.log
    assert "ahead_seconds=-600" in behind.process.log
    assert slack.messages("C_VISION") == []
