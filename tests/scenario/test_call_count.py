"""A round that has nothing to do asks ClearML little, however many tasks wait and queues there are.

At most four calls, and one more for every 500 tasks of the ledger: the queues with their entries,
the ledger's tasks, and a page of the sweep for tasks that were lost.
"""

from pathlib import Path

import pytest

from tests.crowds import dispatched, wait_in_line
from tests.poolkeeper_support import Controller, Installation, installed, one_profile
from tests.sandbox_support import Sandbox

PAGE = 500


def idle_round(there: Installation, controller: Controller) -> dict[str, int]:
    """The calls of a round that dispatches nothing, by name."""
    there.clearml.reset_calls()
    report = controller.round()
    assert report.moved == ()
    return there.clearml.call_counts()


def crowded(
    there: Installation, *, ledger: int, waiting: int, teams: int, pools: int = 3
) -> Controller:
    """Pools that are full of the ledger's tasks, and of foreign ones; so many more wait."""
    sizes = {f"pool {n}": max(1, -(-ledger // pools)) for n in range(pools)}
    there.apply(one_profile(sizes, {f"team {n}": (0, None) for n in range(teams)}))
    dispatched(there, ledger)
    for number, (pool, size) in enumerate(sizes.items()):
        full = ledger // pools + (number < ledger % pools)
        there.clearml.bulk_enqueue(there.execution(pool), size - full)
    wait_in_line(there, waiting)
    return there.controller()


@pytest.mark.parametrize("ledger", [0, 10, 499, 500, 1_200])
def test_an_idle_round_takes_four_calls_and_one_for_every_500_tasks_of_the_ledger(
    clearml: Sandbox, tmp_path: Path, ledger: int
) -> None:
    with installed(clearml, tmp_path / "here") as there:
        controller = crowded(there, ledger=ledger, waiting=1_600, teams=4)
        controller.round()  # writes down who waits

        # The sweep goes through 1,600 tasks in the meantime, a page a round.
        rounds = [idle_round(there, controller) for _ in range(6)]

    assert max(sum(calls.values()) for calls in rounds) <= 4 + ledger / PAGE
    assert {call for calls in rounds for call in calls} == {"queues.get_all", "tasks.get_all"}


def test_the_calls_of_an_idle_round_do_not_grow_with_the_queues(
    clearml: Sandbox, tmp_path: Path
) -> None:
    counts = []
    for number, (teams, pools) in enumerate([(2, 1), (150, 40)]):
        clearml.reset()
        with installed(clearml, tmp_path / str(number)) as there:
            controller = crowded(there, ledger=80, waiting=300, teams=teams, pools=pools)
            controller.round()
            counts.append([idle_round(there, controller) for _ in range(3)])

    few, many = counts
    assert few == many


def test_the_first_round_after_a_start_reads_no_more_than_the_copies_besides(
    clearml: Sandbox, tmp_path: Path
) -> None:
    with installed(clearml, tmp_path / "here") as there:
        crowded(there, ledger=10, waiting=1_600, teams=4).round()

        calls = idle_round(there, there.controller())

    assert calls["auth.login"] == 1
    assert calls["queues.get_all"] == 2
    assert calls["tasks.get_all"] == 2
