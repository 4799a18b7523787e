"""Running `poolkeeper` as its users do: a process, its output and its exit code."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
EXAMPLES = ROOT / "tests" / "examples"
CONFIGURATION = EXAMPLES / "worked_example.yaml"
SNAPSHOT = EXAMPLES / "worked_example_snapshot.json"


def poolkeeper(*arguments: str | Path, stdin: bytes = b"") -> "subprocess.CompletedProcess[str]":
    """The finished process of one command; output in UTF-8."""
    done = subprocess.run(
        [sys.executable, "-m", "bot", *map(str, arguments)],
        cwd=ROOT,
        input=stdin,
        capture_output=True,
        timeout=120,
    )
    out, err = done.stdout.decode(), done.stderr.decode()
    return subprocess.CompletedProcess(done.args, done.returncode, out, err)
