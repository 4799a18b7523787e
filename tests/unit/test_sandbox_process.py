"""`python -m sandbox`: starts with one JSON line, and ends with a signal or with its parent."""

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from tests.sandbox_support import ROOT, Sandbox, seconds, wait_until


@contextmanager
def started(*arguments: str) -> Iterator[tuple[subprocess.Popen[bytes], dict[str, Any]]]:
    """The process with what it said when it was ready; killed at the end if it still runs."""
    command = [sys.executable, "-m", "sandbox", *arguments]
    with subprocess.Popen(
        command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        try:
            assert process.stdout is not None
            yield process, json.loads(process.stdout.readline())
        finally:
            process.kill()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_server_says_where_it_is_and_ends_on_a_signal(number: signal.Signals) -> None:
    with started("clearml") as (process, ready):
        process.send_signal(number)
        code = process.wait(timeout=10)
        rest = process.stdout.read() if process.stdout else None

    assert ready["clearml"].startswith("http://127.0.0.1:")
    assert {"access_key", "secret_key"} < ready.keys()
    assert (code, rest) == (0, b"")


def test_a_server_with_a_parent_ends_with_its_standard_input() -> None:
    with started("clearml", "--with-parent") as (process, _):
        assert process.stdin is not None
        process.stdin.close()

        assert process.wait(timeout=10) == 0


def test_agents_in_a_process_of_their_own_serve_a_queue(clearml: Sandbox) -> None:
    queue = clearml.create_queue("served")
    task = clearml.queued_task(queue, hyperparams=seconds(0.05))
    options = ["--host", clearml.url, "--queue", queue, "--slots", "2", "--name", "rack"]

    with started("agents", *options, "--with-parent") as (process, ready):
        wait_until(lambda: clearml.status(task) == "completed", "it has run")
        assert process.stdin is not None
        process.stdin.close()
        code = process.wait(timeout=10)

    assert ready == {"agents": clearml.url, "queues": [queue]}
    assert clearml.runs(task)[0]["worker"] in ("rack:gpu0", "rack:gpu1")
    assert code == 0
