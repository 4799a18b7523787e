"""Two Poolkeepers: refused on one database; with two databases, a mistake, nothing is run twice."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from controller.moves import Moved
from controller.provisioning import begin
from domain.ledger import LedgerEntry, Stage, VersionState
from domain.snapshot import Tier
from storage import configurations
from storage.errors import StorageError
from tests.poolkeeper_support import (
    USER,
    Agent,
    Installation,
    installed,
    one_profile,
    ran_after_abort,
    run_counts,
)
from tests.sandbox_support import Sandbox, wait_until

CONFIGURATION = one_profile({"metal": 3, "h100": 3}, {"dev": (2, None), "research": (2, 3)})


@pytest.fixture
def both(clearml: Sandbox, tmp_path: Path) -> Iterator[tuple[Installation, Installation]]:
    """Two installations of one configuration on one ClearML; each believes to be alone."""
    with installed(clearml, tmp_path / "one") as one, installed(clearml, tmp_path / "two") as two:
        one.apply(CONFIGURATION)
        two.apply(CONFIGURATION)
        yield one, two


def completed(clearml: Sandbox, tasks: list[str]) -> bool:
    states = clearml.dump()["tasks"]
    return all(states[task]["status"] == "completed" for task in tasks)


def test_a_second_process_on_the_same_database_refuses(clearml: Sandbox, tmp_path: Path) -> None:
    with installed(clearml, tmp_path / "here") as there:
        first = there.start("run")
        first.wait_for("nothing is provisioned")

        code, said = there.command("run")

        assert code == 1
        where = there.path.resolve()
        assert f"Another poolkeeper (process {first.popen.pid}) runs on {where}; stop it" in said
        first.kill()
        second = there.start("run")
        second.wait_for("nothing is provisioned")
        assert second.end() == 0


def test_the_second_adopts_the_queues_of_the_first(
    both: tuple[Installation, Installation],
) -> None:
    one, two = both

    assert one.owned() == two.owned()
    assert len(one.clearml.dump()["queues"]) == 1 + len(one.owned())


@pytest.mark.parametrize(
    ("call", "when"),
    [("queues.remove_task", "after"), ("tasks.edit", "after"), ("tasks.enqueue", "after")],
    ids=["claimed", "pointed", "admitted"],
)
def test_one_does_whole_rounds_inside_a_move_of_the_other(
    both: tuple[Installation, Installation], call: str, when: str
) -> None:
    """The first is held in a move; the second looks and moves all it can meanwhile."""
    one, two = both
    clearml = one.clearml
    tasks = clearml.bulk_enqueue(one.intake("dev"), 4)
    tasks += clearml.bulk_enqueue(one.intake("research"), 4)
    agents = Agent(clearml, (one.execution("metal"), one.execution("h100")))
    fault = clearml.fault("hold", call, user=USER, when=when)
    second = two.controller()

    first = one.start("run", POOLKEEPER_NOWHERE_SECONDS="60")
    first.wait_until_held(fault)
    for _ in range(3):
        second.round()
        agents.turn()
    fault.release()

    def all_done() -> bool:
        second.round()
        agents.turn()
        return completed(clearml, tasks)

    wait_until(all_done, f"all have run: {first.log}", 60)
    assert run_counts(clearml, tasks) == dict.fromkeys(tasks, 1)
    assert ran_after_abort(clearml) == []


def test_both_at_full_speed(both: tuple[Installation, Installation]) -> None:
    one, _ = both
    clearml = one.clearml
    tasks = clearml.bulk_enqueue(one.intake("dev"), 60)
    tasks += clearml.bulk_enqueue(one.intake("research"), 60)
    queues = (one.execution("metal"), one.execution("h100"))
    clearml.start_agents(*queues, slots=6, run_seconds=0.05, poll_seconds=0.05)

    for there in both:
        there.start("run", POOLKEEPER_ROUND_SECONDS="0.1", POOLKEEPER_NOWHERE_SECONDS="60")

    wait_until(lambda: completed(clearml, tasks), "all have run", 90)
    assert run_counts(clearml, tasks) == dict.fromkeys(tasks, 1)


def test_moves_are_over_when_those_of_another_queue_have_failed(
    both: tuple[Installation, Installation],
) -> None:
    """Else the next round would take their intents for the past, and move their tasks again."""
    there, _ = both
    clearml = there.clearml
    entries = [
        entry(there, clearml.queued_task(there.intake("dev")), pool) for pool in ("metal", "h100")
    ]
    held = clearml.fault("hold", "tasks.enqueue", match={"queue": there.execution("h100")})
    recorded: list[str] = []

    def record(batch: Sequence[Moved]) -> None:
        recorded.extend(moved.entry.pool for moved in batch)
        if "metal" in recorded and "h100" not in recorded:
            held.release()
            raise StorageError("the disk is full")

    controller = there.controller()
    with pytest.raises(StorageError, match="the disk is full"):
        controller.mover.carry_out(entries, record)

    assert recorded == ["metal", "h100"]


def entry(there: Installation, task: str, pool: str) -> LedgerEntry:
    return LedgerEntry(
        task=task,
        policy="dev",
        profile="job",
        pool=pool,
        link=f"job on {pool}",
        intake=there.intake("dev"),
        execution=there.execution(pool),
        amount=Fraction(1),
        tier=Tier.SHARED,
        stage=Stage.INTENDED,
        first_seen=there.clock(),
        intended_at=there.clock(),
    )


def test_renames_are_carried_out_once_by_whoever_comes_first(
    both: tuple[Installation, Installation],
) -> None:
    """A process that read the version before another one had begun with it does not begin again."""
    there, _ = both
    clearml = there.clearml
    task = clearml.queued_task(there.intake("dev"))
    there.controller().round()
    swapped = one_profile({"metal": 3, "h100": 3}, {"research": (2, None), "dev": (2, 3)})
    there.apply(swapped, "policy:dev=research", "policy:research=dev")
    with there.database.reading() as session:
        version = configurations.provisioned(session)
    assert version is not None

    begin(there.database, replace(version, state=VersionState.APPROVED))

    assert there.entries()[task].policy == "research"
