"""`poolkeeper run` seen from outside: its probes and what Prometheus reads, of a real process."""

import re
import socket
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from tests.outside_support import Outside, outside_of
from tests.poolkeeper_support import Installation, Process, installed, one_profile
from tests.sandbox_support import Sandbox, wait_until
from tests.slack_support import Workspace

LISTEN = {"POOLKEEPER_METRICS_PORT": "0"}


@pytest.fixture
def there(clearml: Sandbox, tmp_path: Path) -> Iterator[Installation]:
    with installed(clearml, tmp_path / "here") as installation:
        yield installation


def with_slack(slack: Workspace, **env: str) -> dict[str, str]:
    return {
        **LISTEN,
        "SLACK_BOT_TOKEN": slack.bot_token,
        "SLACK_APP_TOKEN": slack.app_token,
        "POOLKEEPER_SLACK_API": slack.api,
        "POOLKEEPER_ADMINS": "U_ADA",
        "POOLKEEPER_ADMIN_CHANNEL": "C_ADMINS",
        **env,
    }


def is_ready(outside: Outside) -> bool:
    return outside.ready()[0] == 200


def test_it_is_alive_and_ready_and_counts_what_waits_and_runs(there: Installation) -> None:
    there.apply(one_profile({"metal": 2}, {"dev": (1, None), "research": (1, 1)}))
    tasks = [there.clearml.queued_task(there.intake()) for _ in range(3)]
    outside = outside_of(there.start("run", **LISTEN))

    dispatches = partial(outside.value, "poolkeeper_dispatches_total", pool="metal", policy="dev")
    wait_until(lambda: dispatches() == 2, "two run")

    assert outside.get("/healthz").text == "Alive.\n"
    assert outside.ready()[0] == 200
    assert outside.value("poolkeeper_pool_resources", pool="metal") == 2
    assert outside.value("poolkeeper_policy_used_resources", policy="dev") == 2
    assert outside.value("poolkeeper_policy_borrowed_resources", policy="dev") == 1
    assert outside.value("poolkeeper_policy_limit_resources", policy="dev") is None
    assert outside.value("poolkeeper_policy_limit_resources", policy="research") == 1
    assert outside.value("poolkeeper_waiting_tasks", reason="no_capacity") == 1
    assert outside.value("poolkeeper_waiting_tasks", reason="held") == 0
    assert outside.value("poolkeeper_pool_used_resources", pool="metal") == 2
    assert outside.value("poolkeeper_task_wait_seconds_count", tier="reserved") == 1
    assert outside.value("poolkeeper_task_wait_seconds_count", tier="shared") == 1
    logins = outside.value("poolkeeper_clearml_calls_total", call="auth.login", result="ok")
    assert logins is not None
    assert logins >= 1
    assert not [task for task in tasks if task in outside.get("/metrics").text]


def test_what_is_gone_from_the_configuration_is_gone_from_the_labels(there: Installation) -> None:
    there.apply(one_profile({"metal": 1, "cloud": 1}, {"dev": (1, None), "research": (1, None)}))
    there.clearml.queued_task(there.intake("research"))
    process = there.start("run", **LISTEN)
    outside = outside_of(process)
    wait_until(lambda: "dispatched" in there.stages().values(), "it runs")
    wait_until(lambda: 'policy="research"' in outside.get("/metrics").text, "it is counted")

    code, said = there.command(
        "apply", there.written(one_profile({"cloud": 1}, {"dev": (1, None)})), "--yes"
    )

    assert code == 0, said
    wait_until(lambda: "research" not in outside.get("/metrics").text, "the policy is gone")
    assert "metal" not in outside.get("/metrics").text


def test_a_clearml_that_is_away_is_shown_and_takes_nothing_out_of_service(
    there: Installation,
) -> None:
    there.apply(one_profile({"metal": 1}, {"dev": (1, None)}))
    outside = outside_of(there.start("run", **LISTEN))
    wait_until(lambda: is_ready(outside), "it is ready")

    there.clearml.outage()

    wait_until(lambda: not outside.ready()[1]["clearml"]["ok"], "it is seen")
    assert outside.ready()[0] == 200
    assert outside.get("/healthz").status_code == 200
    away = outside.value("poolkeeper_rounds_total", ended="away")
    assert away is not None
    assert away >= 1


def test_it_is_not_ready_while_slack_does_not_reach_it(
    there: Installation, slack: Workspace
) -> None:
    slack.fault("refuse", "*", nth=0)
    slack.door("refuse_connections", refuse=True)
    outside = outside_of(there.start("run", **with_slack(slack)))
    wait_until(lambda: outside.ready()[1]["round"]["ok"], "rounds run")

    status, checks = outside.ready()
    assert (status, checks["slack"]["ok"]) == (503, False)
    assert outside.get("/healthz").status_code == 200

    slack.clear_faults()
    slack.door("refuse_connections", refuse=False)
    wait_until(lambda: is_ready(outside), "Slack is connected", 60)


def test_the_pages_are_only_read_and_there_are_no_others(there: Installation) -> None:
    outside = outside_of(there.start("run", **LISTEN))

    assert outside.get("/metrics", "POST").status_code == 405
    assert outside.get("/healthz", "DELETE").headers["Allow"] == "GET, HEAD"
    assert outside.get("/healthz", "HEAD").status_code == 200
    assert outside.get("/").status_code == 404
    assert outside.get("/metrics/../../etc/passwd").status_code == 404


def test_a_port_that_is_taken_ends_the_start_with_a_sentence(there: Installation) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])

        code, said = there.command("run", POOLKEEPER_METRICS_PORT=port)

    assert code == 1
    assert f"127.0.0.1:{port} cannot listen for probes and Prometheus" in said
    assert "POOLKEEPER_METRICS_PORT" in said
    assert "Traceback" not in said


def test_without_a_port_nothing_listens(there: Installation) -> None:
    process: Process = there.start("run", POOLKEEPER_METRICS_PORT="off")

    process.wait_for("nothing is provisioned yet")
    assert not re.search("listening", process.log)
