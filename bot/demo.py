"""`poolkeeper demo`: the documentation's worked example, on a sandbox ClearML, in a terminal.

The sandbox is a process of its own and is met over HTTP only; everything else is the product.
"""

import json
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import Any

import requests

from bot.applying import carry_out, compare, shown
from bot.compose import controller, doors
from bot.demo_folder import demo_folder
from bot.files import CONFIGURATION, read_document
from bot.inspecting import bar
from bot.refusing import Refusal
from bot.settings import Settings, load_settings
from controller.moves import Outcome
from controller.round import Report, Rounds
from domain.amounts import format_amount
from domain.explain import Explainer
from domain.ledger import Role
from domain.renames import Renames
from storage import queues
from storage.database import Database, open_database
from storage.documents import read_configuration

_TASKS = 4
_RUN_S = 3.0
_ROUND_S = 0.5
_PATIENCE_S = 60.0


@dataclass
class _World:
    """The sandbox: its address, its admin's keys, and the tasks that were made in it by id."""

    host: str
    keys: tuple[str, str]
    names: dict[str, str] = field(default_factory=dict)

    def call(self, action: str, **body: Any) -> dict[str, Any]:
        answer = requests.post(f"{self.host}/{action}", json=body, auth=self.keys, timeout=10)
        answer.raise_for_status()
        data: dict[str, Any] = answer.json()["data"]
        return data

    def ask(self, action: str, **body: Any) -> dict[str, Any]:
        """The sandbox's scripting door, which no real server has."""
        answer = requests.post(f"{self.host}/sandbox/{action}", json=body, timeout=10)
        answer.raise_for_status()
        found: dict[str, Any] = answer.json()
        return found


def run(*, keep: bool) -> None:
    """Until all tasks have run; raises `Refusal` where they do not within a minute."""
    with (
        demo_folder(keep=keep, what="The database stays") as directory,
        _sandbox() as world,
    ):
        settings = load_settings(_environment(world, directory))
        database = open_database(settings.database.get_secret_value())
        try:
            _play(world, settings, database)
        finally:
            database.close()


def _play(world: _World, settings: Settings, database: Database) -> None:
    print(f"A sandbox ClearML listens on {world.host}; it ends with this command.\n")
    _provision(settings, database)
    _enqueue(world, database)
    _start_agents(world, database)
    running = controller(settings, database)
    try:
        _until_done(world, running.rounds)
    finally:
        running.mover.close()
    _check(world)


def _provision(settings: Settings, database: Database) -> None:
    example = resources.files("bot").joinpath("worked_example.yaml")
    with resources.as_file(example) as path:
        configuration = read_document(str(path), CONFIGURATION, read_configuration)
    change = compare(database, configuration, Renames())
    assert change is not None, "a new database has nothing in force"
    print(shown(change, {queue.id: queue for queue in doors(settings)().queues(marks=True)}))
    version = carry_out(settings, database, change, "demo", print)
    print(f"Version {version.number} is in force.\n")


def _enqueue(world: _World, database: Database) -> None:
    with database.reading() as session:
        intakes = [queue for queue in queues.owned_queues(session) if queue.role is Role.INTAKE]
    for intake in sorted(intakes, key=lambda queue: queue.owner):
        for number in range(1, _TASKS + 1):
            name = f"{intake.owner}-{number}"
            task = world.call("tasks.create", name=name, type="training")["id"]
            world.call("tasks.enqueue", task=task, queue=intake.id)
            world.names[task] = name
        print(f"{intake.owner} enqueues {_TASKS} tasks to {intake.name}.")


def _start_agents(world: _World, database: Database) -> None:
    with database.reading() as session:
        serving = [queue for queue in queues.owned_queues(session) if queue.role is Role.EXECUTION]
    for queue in serving:
        world.ask(
            "start_agents",
            queues=[queue.id],
            style="daemon",
            slots=2,
            run_seconds=_RUN_S,
            poll_seconds=0.1,
            name=queue.pool,
        )
        print(f"Two agents serve '{queue.name}'; a task takes them {_RUN_S:g} s.")


def _until_done(world: _World, rounds_: Rounds) -> None:
    deadline = time.monotonic() + _PATIENCE_S
    before = ""
    number = 0
    while time.monotonic() < deadline:
        report = rounds_.run()
        number += 1
        text = _told(report, world.names)
        if text != before:
            print(f"\nRound {number}\n{text}")
        before = text
        if (
            not report.plan.waiting
            and not report.plan.dispatch
            and _statuses(world) == {"completed"}
        ):
            return
        time.sleep(_ROUND_S)
    raise Refusal([f"Not every task has run within {_PATIENCE_S:g} s: {_statuses(world)}."], code=1)


def _told(report: Report, names: Mapping[str, str]) -> str:
    assert report.snapshot is not None, "the example is provisioned"
    explainer = Explainer(report.snapshot, report.plan)
    ended = {moved.entry.task: moved.outcome for moved in report.moved}
    lines = [
        f"  ▶ {names[done.task]} starts in {done.pool} (link {done.link}, {done.tier})"
        + ("" if ended[done.task] is Outcome.DISPATCHED else f": {ended[done.task]}")
        for done in report.plan.dispatch
    ]
    lines += [
        f"  … {names[task.task]} waits ({task.reason}): {explainer.detail(task)}"
        for task in report.plan.waiting
    ]
    lines += [
        f"  {pool.name:<12}{bar(pool.used, pool.resources)} "
        f"{format_amount(pool.used)}/{format_amount(pool.resources)}"
        for pool in report.plan.pools
    ]
    return "\n".join(lines)


def _statuses(world: _World) -> set[str]:
    found = world.call("tasks.get_all", id=list(world.names), only_fields=["status"])["tasks"]
    return {task["status"] for task in found}


def _check(world: _World) -> None:
    """The promise that matters, counted by the sandbox itself."""
    lives = world.ask("lives")
    runs = {name: len(lives[task]["runs"]) for task, name in world.names.items()}
    wrong = {name: count for name, count in runs.items() if count != 1}
    if wrong:
        raise Refusal([f"These tasks did not run exactly once: {wrong}."], code=1)
    print(f"\nAll {len(runs)} tasks have run, each exactly once.")


def _environment(world: _World, directory: Path) -> dict[str, str]:
    return {
        "POOLKEEPER_DATABASE": f"sqlite:///{directory / 'poolkeeper.sqlite3'}",
        "CLEARML_API_HOST": world.host,
        "CLEARML_API_ACCESS_KEY": world.keys[0],
        "CLEARML_API_SECRET_KEY": world.keys[1],
    }


@contextmanager
def _sandbox() -> Iterator[_World]:
    command = [sys.executable, "-m", "sandbox", "clearml", "--with-parent"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:  # noqa: S603
        try:
            assert process.stdout is not None
            ready = json.loads(process.stdout.readline() or b"{}")
            if "clearml" not in ready:
                raise Refusal(["The sandbox did not start; its complaint is above."], code=1)
            yield _World(ready["clearml"], (ready["access_key"], ready["secret_key"]))
        finally:
            process.terminate()
