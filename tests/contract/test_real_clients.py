"""The stock SDK and the stock agent cannot tell the sandbox from a server."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.sandbox_support import Sandbox, script_task, stock_agent, wait_until

AS_A_USER = """
from clearml import Task
from clearml.backend_api.session.client import APIClient

queue = "team intake"
kept = Task.create(project_name="vision", task_name="kept", script="train.py", packages=False)
kept.set_parameters({"Args/gpus": 2, "Args/seconds": 5})
Task.enqueue(kept, queue_name=queue)

dequeued = Task.clone(kept, name="dequeued")
Task.enqueue(dequeued, queue_name=queue)
Task.dequeue(dequeued)

aborted = Task.clone(kept, name="aborted")
Task.enqueue(aborted, queue_name=queue)
aborted.mark_stopped(force=True, status_message="no longer needed")

client = APIClient()
again = Task.get_task(task_id=kept.id)
print("status", again.get_status())
print("gpus", again.get_parameter("Args/gpus"))
print("found", sorted(task.name for task in Task.get_tasks(project_name="vision")))
print("queues", [found.name for found in client.queues.get_all(name="^team")])
"""


def run_python(sandbox: Sandbox, home: Path, source: str) -> str:
    """The output of a script that uses the stock SDK; a process of its own, for its globals."""
    env = {"PATH": os.environ["PATH"], "HOME": str(home), **sandbox.env()}
    done = subprocess.run(
        [sys.executable, "-c", source], env=env, cwd=home, capture_output=True, text=True,
        timeout=90,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture
def train_script(tmp_path: Path) -> Path:
    script = tmp_path / "train.py"
    script.write_text("print('training')\n")
    return script


def test_the_stock_sdk_creates_enqueues_dequeues_and_aborts(
    clearml: Sandbox, tmp_path: Path, train_script: Path
) -> None:
    queue = clearml.create_queue("team intake")

    said = run_python(clearml, tmp_path, AS_A_USER)

    tasks = {task["name"]: task for task in clearml.dump()["tasks"].values()}
    assert {name: task["status"] for name, task in tasks.items()} == {
        "kept": "queued",
        "dequeued": "created",
        "aborted": "stopped",
    }
    assert clearml.entries(queue)[0] == tasks["kept"]["id"]
    assert tasks["kept"]["hyperparams"]["Args"]["gpus"]["value"] == "2"
    assert "status queued" in said
    assert "gpus 2" in said
    assert "found ['aborted', 'dequeued', 'kept']" in said
    assert "queues ['team intake']" in said


def test_the_stock_agent_runs_a_task_to_its_end(clearml: Sandbox, tmp_path: Path) -> None:
    queue = clearml.create_queue("served by the stock agent")
    task = script_task(clearml, "print('the task ran')\n")
    clearml.enqueue(task, queue)

    with stock_agent(clearml, queue, tmp_path):
        wait_until(lambda: clearml.status(task) == "completed", "the task is completed", 90)
        workers = clearml.ok("queues.get_all_ex", id=[queue])["queues"][0]["workers"]

    assert [run["after_abort"] for run in clearml.runs(task)] == [False]
    assert clearml.execution_queue(task) == queue
    assert clearml.entries(queue) == []
    assert len(workers) == 1
