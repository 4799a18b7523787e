"""What a round costs: calls, time beside ClearML's own, memory, and the time until the first one.

Run by hand: `make bench`, on a calm machine. The gates are targets for two cores; the figures
behind them are printed.
"""

import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import psutil
import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from bot.compose import doors
from controller.moves import Outcome
from controller.ports import Admission, Queues
from controller.publishing import last_view
from domain.configuration import Configuration
from domain.ledger import Role
from tests.crowds import dispatched, of_role, wait_in_line
from tests.poolkeeper_support import Controller, Installation, Process, installed, one_profile
from tests.sandbox_support import Sandbox, wait_until

CONNECTIONS = 4
TASKS = 1_000
WAITING = 10_000


@pytest.fixture
def there(clearml: Sandbox, tmp_path: Path) -> Iterator[Installation]:
    with installed(clearml, tmp_path / "here") as there:
        yield there


def pools_of(size: int, teams: int = 10) -> Configuration:
    return one_profile(
        {f"pool {n}": size for n in range(4)}, {f"team {n}": (0, None) for n in range(teams)}
    )


def report(capsys: pytest.CaptureFixture[str], *lines: str) -> None:
    with capsys.disabled():
        sys.stdout.write("\n  ".join(["", *lines, ""]))


def full(there: Installation, ledger: int, waiting: int = WAITING) -> Controller:
    """Pools full of the ledger's tasks, and foreign ones where it has none."""
    there.apply(pools_of(max(1, ledger // 4)))
    dispatched(there, ledger)
    if not ledger:
        for queue in of_role(there, Role.EXECUTION):
            there.clearml.bulk_enqueue(queue.id, 1)
    wait_in_line(there, waiting)
    controller = there.controller()
    controller.round()
    return controller


@pytest.mark.parametrize("ledger", [0, 10, 1_200])
def test_an_idle_round_with_10_000_waiting(
    benchmark: BenchmarkFixture,
    there: Installation,
    capsys: pytest.CaptureFixture[str],
    ledger: int,
) -> None:
    controller = full(there, ledger)
    counts: list[int] = []

    def idle() -> None:
        there.clearml.reset_calls()
        moved = controller.round().moved
        counts.append(sum(there.clearml.call_counts().values()))
        assert moved == ()

    benchmark.pedantic(idle, rounds=24)  # type: ignore[no-untyped-call]

    most = 4 + ledger / 500
    report(capsys, f"{ledger} in the ledger: at most {max(counts)} calls; allowed {most:g}")
    assert max(counts) <= most


@dataclass
class Bare:
    """The three calls of every move and nothing else, by as many connections."""

    clearml: Sandbox
    door: Callable[[], Queues]

    def prepare(self) -> None:
        self.lanes = []
        for _ in range(CONNECTIONS):
            intake, target = (
                self.clearml.create_queue(f"bare {time.monotonic_ns()}") for _ in range(2)
            )
            tasks = self.clearml.bulk_enqueue(intake, TASKS // CONNECTIONS)
            self.lanes.append((intake, target, tasks))

    def run(self, threads: ThreadPoolExecutor) -> float:
        start = time.perf_counter()
        list(threads.map(self._lane, self.lanes))
        return time.perf_counter() - start

    def _lane(self, lane: tuple[str, str, list[str]]) -> None:
        intake, target, tasks = lane
        door = self.door()
        for task in tasks:
            assert door.claim(intake, task)
            door.point(task, target)
            assert (
                door.admit(task, target, "allocated by policy manager: bare") is Admission.ADMITTED
            )


def test_moving_1_000_tasks_costs_little_beside_the_calls(
    there: Installation, capsys: pytest.CaptureFixture[str]
) -> None:
    there.apply(pools_of(TASKS // 4, teams=1))
    controller = there.controller(POOLKEEPER_CONNECTIONS=str(CONNECTIONS))
    bare = Bare(there.clearml, doors(there.settings()))
    alone: list[float] = []
    whole: list[float] = []
    with ThreadPoolExecutor(CONNECTIONS) as threads:
        for turn in range(7):
            bare.prepare()
            alone.append(bare.run(threads))
            there.clearml.bulk_enqueue(there.intake("team 0"), TASKS)
            start = time.perf_counter()
            moved = controller.round().moved
            whole.append(time.perf_counter() - start)
            assert [move.outcome for move in moved] == [Outcome.DISPATCHED] * TASKS
            finish(there, controller)
            if turn == 0:  # the first of each logs in
                alone.clear()
                whole.clear()

    ratio = median(whole) / median(alone)
    report(
        capsys,
        f"the three calls of {TASKS} moves: median {median(alone):.3f} s of {sorted(alone)}",
        f"a whole round that moves them: median {median(whole):.3f} s of {sorted(whole)}",
        f"ratio {ratio:.3f}; allowed 1.15",
    )
    assert ratio <= 1.15


def finish(there: Installation, controller: Controller) -> None:
    """Takes all that was dispatched out of its queue and ends it."""
    for queue in of_role(there, Role.EXECUTION):
        there.clearml.ok("queues.clear_queue", queue=queue.id)
    controller.round()
    assert there.entries() == {}


def resident_mb(process: Process) -> float:
    return float(psutil.Process(process.popen.pid).memory_info().rss) / 2**20


def published(there: Installation, waiting: int) -> bool:
    with there.database.reading() as session:
        view = last_view(session)
    return view is not None and len(view.plan.waiting) == waiting


def test_a_process_with_10_000_waiting_tasks_stays_small(
    there: Installation, capsys: pytest.CaptureFixture[str]
) -> None:
    there.apply(pools_of(1))
    for queue in of_role(there, Role.EXECUTION):
        there.clearml.bulk_enqueue(queue.id, 1)
    process = there.start("run", POOLKEEPER_ROUND_SECONDS="0.5")
    wait_until(lambda: published(there, 0), "the first view is published", 30)
    idle = resident_mb(process)
    wait_in_line(there, WAITING)
    wait_until(lambda: published(there, WAITING), "all wait in the view", 60)
    rounds = there.clearml.call_counts()["queues.get_all"]

    wait_until(
        lambda: there.clearml.call_counts()["queues.get_all"] >= rounds + 25, "25 rounds more", 120
    )

    crowded = resident_mb(process)
    report(capsys, f"idle {idle:.0f} MB; with {WAITING} waiting {crowded:.0f} MB; allowed 250 MB")
    assert crowded < 250


def test_the_first_task_is_dispatched_soon_after_the_start(
    there: Installation, capsys: pytest.CaptureFixture[str]
) -> None:
    there.apply(pools_of(1))
    task = there.clearml.queued_task(there.intake("team 0"))
    times = []
    for _ in range(3):
        start = time.perf_counter()
        process = there.start("run", POOLKEEPER_ROUND_SECONDS="5")
        wait_until(lambda: "dispatched" in there.stages().values(), "a task is dispatched", 60)
        times.append(time.perf_counter() - start)
        assert there.clearml.queues_holding(task) != [there.intake("team 0")]
        assert process.end() == 0
        for queue in of_role(there, Role.EXECUTION):
            there.clearml.ok("queues.clear_queue", queue=queue.id)
        there.controller().round()
        task = there.clearml.queued_task(there.intake("team 0"))

    report(capsys, f"from start to the first dispatched task: {sorted(times)} s; allowed 5 s")
    assert median(times) <= 5
