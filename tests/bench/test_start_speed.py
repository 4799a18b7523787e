"""How long the commands that need only files take, beside importing what they are built with.

Run by hand: `pytest tests/bench/test_start_speed.py`. The measure is a ratio within one run, as
processes start at very different speeds on different machines.
"""

import statistics
import subprocess
import sys
import time

import pytest

from tests.commands import CONFIGURATION, ROOT, SNAPSHOT

ROUNDS = 15
MOST = 1.5
"""Times the baseline."""

PYTHON = [sys.executable]
BASELINE = [*PYTHON, "-c", "import typer, yaml, pydantic"]
COMMANDS = {
    "--help": [*PYTHON, "-m", "bot", "--help"],
    "validate": [*PYTHON, "-m", "bot", "validate", str(CONFIGURATION)],
    "plan": [
        *PYTHON,
        *["-m", "bot", "plan", "--config", str(CONFIGURATION), "--snapshot", str(SNAPSHOT)],
    ],
}
HEAVY = ("clearml", "kubernetes", "sqlmodel", "sqlalchemy", "slack_sdk", "slack_bolt", "rich")


def _seconds(command: list[str]) -> float:
    start = time.perf_counter()
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    return time.perf_counter() - start


def test_help_plan_and_validate_start_at_once(capsys: pytest.CaptureFixture[str]) -> None:
    commands = {"baseline": BASELINE, **COMMANDS}
    taken: dict[str, list[float]] = {name: [] for name in commands}
    # In turn, so that whatever else the machine does falls upon all of them.
    for _ in range(ROUNDS):
        for name, command in commands.items():
            taken[name].append(_seconds(command))

    medians = {name: statistics.median(seconds) for name, seconds in taken.items()}
    ratios = {name: median / medians["baseline"] for name, median in medians.items()}
    with capsys.disabled():
        for name, ratio in ratios.items():
            sys.stdout.write(f"\n{name:>10}  {1000 * medians[name]:6.0f} ms  {ratio:5.2f} ×")
        sys.stdout.write("\n")
    assert {name: ratio for name, ratio in ratios.items() if ratio > MOST} == {}


@pytest.mark.parametrize("name", COMMANDS)
def test_nothing_heavy_is_imported(name: str) -> None:
    verbose = [sys.executable, "-X", "importtime", *COMMANDS[name][1:]]

    done = subprocess.run(verbose, cwd=ROOT, check=True, capture_output=True, text=True)

    imported = {
        line.rpartition("|")[2].strip().partition(".")[0] for line in done.stderr.split("\n")
    }
    assert "bot" in imported
    assert imported.isdisjoint(HEAVY)
