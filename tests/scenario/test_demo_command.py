"""`poolkeeper demo`: what a newcomer starts, and what is left of it afterwards."""

import re
import signal
import socket
import subprocess
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import psutil
import pytest
import yaml

from tests.playground_support import START_S, Doc, Playground, environment, playground
from tests.poolkeeper_support import POOLKEEPER
from tests.sandbox_support import ROOT, wait_until


@pytest.fixture(scope="module")
def played() -> Iterator[Playground]:
    with playground() as one:
        yield one


def test_everybody_reads_real_numbers_at_once(played: Playground) -> None:
    status = played.says("U_DANA", "C_VISION", "/pool status")

    assert re.search(r"2 pools: \d+(\.5)? of 16 in use; [1-9]\d* tasks running", status)


def test_something_waits_and_there_is_a_reason(played: Playground) -> None:
    state = played.wait_for_state(lambda state: bool(_waiting(state)), "something waits")
    policy = _waiting(state)[0]

    queue = played.says("U_ADA", "C_ADMINS", f"/pool queue {policy}")

    assert re.search(r"Needs|limit|reserved|behind", queue), queue


def _waiting(state: Doc) -> list[str]:
    """The policies of which something waits for longer than a round takes."""
    queues = [one for one in state["queues"] if one["policy"]]
    return [one["policy"] for one in queues for task in one["tasks"] if task["waiting_s"] > 2]


def test_pools_fill_and_tasks_run_and_end(played: Playground) -> None:
    played.post("/cluster/speed", speed=20)

    state = played.wait_for_state(lambda state: len(state["done"]) > 2, "tasks have ended")

    assert state["counts"]["completed"] > 2
    assert {pool["name"]: pool["resources"] for pool in state["pools"]} == {
        "h100": "8",
        "shared": "8",
    }


def test_another_admin_approves_a_change_and_the_machines_follow(played: Playground) -> None:
    played.says("U_ADA", "C_ADMINS", "/pool cgpu set 1")
    played.presses("U_ADA", "C_ADMINS", "Ask for policy 1")
    played.presses("U_BEN", "C_ADMINS", "Approve")
    wait_until(
        lambda: "restart required" in played.says("U_ADA", "C_ADMINS", "/pool cgpu restart a10-1"),
        "the node is to be restarted",
        30.0,
    )
    played.presses("U_ADA", "C_ADMINS", "Prepare a10-1")

    played.wait_for_state(
        lambda state: ("a10-1", 1, True) in _nodes(state), "it has the policy and takes jobs again"
    )

    assert ("a10-2", 3, True) in _nodes(played.state())


def test_agents_and_page_follow_a_configuration_that_was_applied(
    played: Playground, tmp_path: Path
) -> None:
    configuration = yaml.safe_load((ROOT / "bot" / "playground.yaml").read_text())
    configuration["cgpu"]["policy"] = 1  # as the change before has left it
    configuration["pools"].append({"name": "spare", "resources": 2, "profiles": ["1xGPU"]})
    profile = next(one for one in configuration["profiles"] if one["name"] == "1xGPU")
    profile["pools"].append({"pool": "spare", "link": "one spare"})
    (tmp_path / "pools.yaml").write_text(yaml.safe_dump(configuration))
    running = next(child for child in played.children() if "run" in child.cmdline())

    subprocess.run(
        [POOLKEEPER, "apply", "pools.yaml", "--yes"], env=running.environ(), cwd=tmp_path,
        check=True, timeout=120,
    )  # fmt: skip
    played.post("/cluster/add", policy="language", profile="1xGPU", user="U_HIRO", count=12)

    played.wait_for_state(
        lambda state: any(one["name"] == "spare" and _runs_all(one) for one in state["pools"]),
        "the new pool is known by its size, and full of tasks that run",
    )


def _runs_all(pool: Doc) -> bool:
    statuses = [one["status"] for one in pool["running"]]
    return pool["resources"] == pool["used"] == "2" and set(statuses) == {"in_progress"}


def _nodes(state: Doc) -> list[tuple[str, int, bool]]:
    return [(one["name"], one["cgpu_policy"], one["schedulable"]) for one in state["nodes"]]


def test_everything_that_the_bot_can_show_is_on_the_page(played: Playground) -> None:
    def shown() -> list[Doc]:
        return list(played.get("/playground/gallery").json()["entries"])

    entries = wait_until(shown, "the gallery is made", 120.0)

    assert {entry["kind"] for entry in entries} == {"message", "modal", "home"}


def test_a_team_reads_a_digest_of_the_day_before(played: Playground) -> None:
    def digest() -> list[Doc]:
        said = played.post("/sandbox/messages", person="U_DANA", channel="C_VISION")["messages"]
        return [one for one in said if "Digest for vision" in one["plain"]]

    [found] = wait_until(digest, "it comes within two minutes", 150.0)

    [hours] = re.findall(r"\*([0-9.]+) GPU-hours\*", found["plain"])
    assert 60 < float(hours) < 200
    assert re.search(r"[0-9]{2,} tasks started, [0-9]{2,} ended", found["plain"])


def test_the_logs_hold_no_warning(played: Playground) -> None:
    assert "Slack is connected" in played.log("poolkeeper")
    assert not re.findall(r".*(?:WARNING|ERROR|Traceback).*", played.log("*"))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_the_end_leaves_nothing_behind(number: signal.Signals) -> None:
    with playground() as one:
        children = one.children()
        making = partial(one.directory.rglob, "poolkeeper-gallery-*")
        wait_until(lambda: any(making()), "the gallery is being made", START_S)

        code = one.end(number)

        assert (code, len(children) >= 2) == (0, True)
        assert not [child for child in children if child.is_running()]
        assert one.is_tidy()
        assert one.said.count("\n") == 1, one.said


def test_children_end_with_a_demo_that_was_killed() -> None:
    with playground() as one:
        children = one.children()

        one.end(signal.SIGKILL)

        wait_until(lambda: not any(map(_runs, children)), "no child is left")


def _runs(process: psutil.Process) -> bool:
    """One whose parent has not asked for its code yet runs no more, either."""
    try:
        return process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


@pytest.mark.parametrize("name", ["sandbox", "poolkeeper"])
def test_a_child_that_dies_is_named_and_ends_the_demo(name: str) -> None:
    word = {"sandbox": "playground", "poolkeeper": "run"}[name]
    with playground() as one:
        children = one.children()
        next(child for child in children if word in child.cmdline()).kill()

        code = one.popen.wait(timeout=30)

        assert code == 1
        assert f"The {name} ended by itself" in one.said
        assert not any(map(_runs, children))


@pytest.mark.parametrize(
    "name", ["SLACK_BOT_TOKEN", "SLACK_APP_TOKEN", "CLEARML_API_SECRET_KEY", "CLEARML_API_HOST"]
)
def test_what_belongs_to_real_systems_is_refused_by_name(name: str) -> None:
    run = subprocess.run(
        [POOLKEEPER, "demo"], env=environment(**{name: "real"}), capture_output=True, text=True,
        timeout=60,
    )  # fmt: skip

    assert run.returncode == 2
    assert f"unset {name}" in run.stderr
    assert "real\n" not in run.stderr


def test_a_port_that_is_taken_is_said() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        run = subprocess.run(
            [POOLKEEPER, "demo", "--port", str(port)], env=environment(), capture_output=True,
            text=True, timeout=60,
        )  # fmt: skip

    assert run.returncode == 1
    assert f"Port {port} cannot be listened on: " in run.stderr
    assert "Traceback" not in run.stderr


def test_the_worked_example_is_played_to_its_end(tmp_path: Path) -> None:
    run = subprocess.run(
        [POOLKEEPER, "demo", "--once"], env=environment(TMPDIR=str(tmp_path)),
        capture_output=True, text=True, timeout=120,
    )  # fmt: skip

    assert run.returncode == 0, run.stderr
    assert run.stdout.splitlines()[-1] == "All 8 tasks have run, each exactly once."
    assert not list(tmp_path.iterdir())


def test_an_example_that_is_ended_early_leaves_nothing_behind_either(tmp_path: Path) -> None:
    with subprocess.Popen(
        [POOLKEEPER, "demo", "--once"], env=environment(TMPDIR=str(tmp_path)),
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True,
    ) as demo:  # fmt: skip
        wait_until(lambda: any(tmp_path.rglob("poolkeeper.sqlite3*")), "it has begun", START_S)
        demo.send_signal(signal.SIGINT)
        said, _ = demo.communicate(timeout=30)

    assert b"Traceback" not in said
    assert not list(tmp_path.iterdir())
