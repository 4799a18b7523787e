"""The database is lost while tasks run: the copies in the queues' metadata say whose they are."""

import json
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from controller.queue_plan import BACKUP
from domain.configuration import IntakeQueue
from domain.ledger import LedgerEntry
from tests.poolkeeper_support import (
    NOWHERE,
    Agent,
    Installation,
    drive,
    installed,
    most_at_once,
    one_profile,
    run_counts,
)
from tests.sandbox_support import Sandbox, wait_until

TWO_TEAMS = one_profile({"metal": 3, "h100": 2}, {"dev": (2, 3), "research": (2, 2)})


@pytest.fixture
def there(clearml: Sandbox, tmp_path: Path) -> Iterator[Installation]:
    with installed(clearml, tmp_path / "here") as installation:
        yield installation


def known(there: Installation) -> dict[str, tuple[str, str, str, Fraction]]:
    """What of an entry decides who may start: its policy, profile, pool and amount."""
    return {task: _essence(entry) for task, entry in there.entries().items()}


def _essence(entry: LedgerEntry) -> tuple[str, str, str, Fraction]:
    return entry.policy, entry.profile, entry.pool, entry.amount


def completed(clearml: Sandbox, tasks: list[str]) -> bool:
    states = clearml.dump()["tasks"]
    return all(states[task]["status"] == "completed" for task in tasks)


def test_everybody_keeps_what_he_had(there: Installation) -> None:
    clearml = there.clearml
    there.apply(TWO_TEAMS)
    dev = clearml.bulk_enqueue(there.intake("dev"), 5)
    research = clearml.bulk_enqueue(there.intake("research"), 5)
    there.controller().round()
    agents = Agent(clearml, (there.execution("metal"),))
    agents.start()  # metal's tasks run, those of h100 still wait in its queue
    before = known(there)
    assert len(before) == 5

    there.lose_database()
    there.apply(TWO_TEAMS)
    controller = there.controller()
    report = controller.round()

    assert known(there) == before
    assert report.moved == ()
    agents = Agent(clearml, (there.execution("metal"), there.execution("h100")), agents.running)
    drive(controller, agents, lambda: completed(clearml, dev + research))
    assert run_counts(clearml, dev + research) == dict.fromkeys(dev + research, 1)
    assert most_at_once(clearml) == {"job on metal": 3, "job on h100": 2}


def test_names_that_changed_since_the_copies_were_written(there: Installation) -> None:
    """The limit of a team that was renamed binds what ran under its old name."""
    clearml = there.clearml
    there.apply(one_profile({"metal": 4}, {"dev": (0, 2)}))
    tasks = clearml.bulk_enqueue(there.intake("dev"), 4)
    there.controller().round()
    renamed = one_profile({"iron": 4}, {"ml": (0, 2)})
    there.apply(renamed, "policy:dev=ml", "pool:metal=iron", "link:job on metal=job on iron")
    there.lose_database()

    there.apply(renamed)
    report = there.controller().round()

    assert {entry[0] for entry in known(there).values()} == {"ml"}
    assert sorted(known(there)) == sorted(tasks[:2])
    assert report.moved == ()


@pytest.mark.parametrize("moment", ["pending", "stopped", "running"])
def test_tasks_that_the_glue_has_taken(there: Installation, moment: str) -> None:
    """Their execution.queue is the glue's own, and on the way they are `stopped`."""
    clearml = there.clearml
    configuration = one_profile({"metal": 1}, {"dev": (0, 1)})
    there.apply(configuration)
    task, second = clearml.bulk_enqueue(there.intake(), 2)
    there.controller().round()
    pending = clearml.create_queue("k8s_scheduler", system_tags=["k8s-glue"])
    glue = clearml.as_worker("glue")
    assert glue.pop(there.execution()) == task
    glue.stop(task, force=True, status_reason="moving to k8s pending queue")
    if moment != "stopped":
        glue.enqueue(task, pending, status_reason="k8s pending scheduler")
    if moment == "running":
        clearml.as_worker(f"glue:{task}").dequeue(task, new_status="in_progress")

    there.lose_database()
    there.apply(configuration)
    controller = there.controller()
    controller.round()

    assert known(there) == {task: ("dev", "job", "metal", Fraction(1))}
    assert clearml.entries(there.intake()) == [second]


def test_a_copy_does_not_outlive_its_allocation(there: Installation) -> None:
    """What ended and runs again elsewhere by its user's hand is no allocation of ours."""
    clearml = there.clearml
    there.apply(one_profile({"metal": 1}, {"dev": (0, None)}))
    task = clearml.queued_task(there.intake())
    controller = there.controller()
    controller.round()
    Agent(clearml, (there.execution(),)).start()
    clearml.completed(task)
    controller.rounds(2)

    metadata = clearml.ok("queues.get_by_id", queue=there.execution())["queue"]["metadata"]
    assert json.loads(metadata[BACKUP]["value"]) == {}
    foreign = clearml.queued_task(there.execution())
    clearml.create_queue("k8s_scheduler", system_tags=["k8s-glue"])
    controller.round()
    assert there.entries() == {}
    assert clearml.status(foreign) == "queued"


def test_a_move_that_was_open_is_put_back_after_a_while(there: Installation) -> None:
    """It was claimed when the process and the database went: nobody's, but counted until known."""
    clearml = there.clearml
    configuration = one_profile({"metal": 1}, {"dev": (0, None)})
    there.apply(configuration)
    first, second = clearml.bulk_enqueue(there.intake(), 2)
    clearml.fault("drop_response", "tasks.edit", nth=0)
    clearml.fault("refuse", "tasks.enqueue", nth=0)
    there.controller().round()
    clearml.clear_faults()
    assert clearml.queues_holding(first) == []

    there.lose_database()
    there.apply(configuration)
    controller = there.controller()
    controller.round()
    assert sorted(known(there)) == [first]
    assert clearml.entries(there.intake()) == [second]

    controller.clock.advance(NOWHERE)
    controller.round()
    agents = Agent(clearml, (there.execution(),))
    drive(controller, agents, lambda: completed(clearml, [first, second]))
    assert run_counts(clearml, [first, second]) == {first: 1, second: 1}
    assert most_at_once(clearml) == {"job on metal": 1}


@pytest.mark.parametrize(
    "copy",
    ["", "{", "[]", '{"t": 1}', '{"t": ["dev"]}', '{"t": ["dev", "q", "NaN", "shared", "now"]}'],
)
def test_a_copy_that_cannot_be_read_stops_nothing(there: Installation, copy: str) -> None:
    clearml = there.clearml
    configuration = one_profile({"metal": 2}, {"dev": (0, None)})
    there.apply(configuration)
    task = clearml.queued_task(there.execution())
    item = {"key": BACKUP, "type": "str", "value": copy.replace('"t"', f'"{task}"')}
    clearml.ok("queues.add_or_update_metadata", queue=there.execution(), metadata=[item])
    there.lose_database()
    there.apply(configuration)

    report = there.controller().round()

    assert there.entries() == {}
    assert report.snapshot is not None
    assert report.snapshot.foreign == {"metal": 1}


def test_by_the_commands_an_operator_has(there: Installation) -> None:
    """The process ends, the file is removed, and `apply` and `run` are said again."""
    clearml = there.clearml
    path = there.written(one_profile({"metal": 2}, {"dev": (0, None)}))
    assert there.command("apply", path, "--yes")[0] == 0
    tasks = clearml.bulk_enqueue(there.intake(), 4)
    clearml.start_agents(there.execution(), slots=2, run_seconds=0.5, poll_seconds=0.05)
    process = there.start("run")
    wait_until(lambda: any(run_counts(clearml, tasks).values()), "one runs", 60)
    assert process.end() == 0

    there.lose_database()
    assert there.command("apply", path, "--yes")[0] == 0
    there.start("run")

    wait_until(lambda: completed(clearml, tasks), "all are done", 60)
    assert run_counts(clearml, tasks) == dict.fromkeys(tasks, 1)
    assert most_at_once(clearml) == {"job on metal": 2}


def test_a_queue_that_knows_whose_it_was_is_given_to_nobody_else_by_its_name(
    there: Installation,
) -> None:
    """The new configuration gives its name to another team."""
    clearml = there.clearml
    there.apply(one_profile({"metal": 1}, {"dev": (0, None)}))
    old = there.intake("dev")
    task = clearml.queued_task(old)
    there.lose_database()
    both = one_profile({"metal": 1}, {"new": (0, None), "dev": (0, None)})
    names = {"new": "dev-jobs", "dev": "dev-other"}

    there.apply(
        replace(
            both,
            policies=tuple(
                replace(team, queues=(IntakeQueue(profile="job", queue=names[team.name]),))
                for team in both.policies
            ),
        )
    )

    assert there.intake("dev") == old
    assert there.intake("new") != old
    assert clearml.entries(old) == [task]
    queues = clearml.dump()["queues"]
    assert {name: queues[there.intake(name)]["name"] for name in names} == names
