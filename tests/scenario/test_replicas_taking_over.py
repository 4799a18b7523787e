"""Of several replicas one leads; when it dies or loses the database, another one goes on.

The leader is stopped in the middle of a move, by a call that the sandbox's ClearML holds.
"""

import signal
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from tests.poolkeeper_support import completed, most_at_once, one_profile, run_counts
from tests.postgres_support import Postgres
from tests.replicas_support import Replicas, replicas_on
from tests.sandbox_support import Sandbox, wait_until


@pytest.fixture
def replicas(clearml: Sandbox, postgres: Postgres, tmp_path: Path) -> Iterator[Replicas]:
    with replicas_on(clearml, postgres, tmp_path / "here") as replicas:
        replicas.there.apply(
            one_profile({"metal": 3, "h100": 3}, {"dev": (2, None), "research": (2, 4)})
        )
        yield replicas


def waiting_tasks(replicas: Replicas) -> list[str]:
    """Thirty, and agents that would run them at once."""
    there, clearml = replicas.there, replicas.clearml
    tasks = [
        *clearml.bulk_enqueue(there.intake("dev"), 15),
        *clearml.bulk_enqueue(there.intake("research"), 15),
    ]
    queues = (there.execution("metal"), there.execution("h100"))
    clearml.start_agents(*queues, slots=6, run_seconds=0.1, poll_seconds=0.05)
    return tasks


def all_ran_once(replicas: Replicas, tasks: list[str]) -> None:
    clearml = replicas.clearml
    logs = "\n\n".join(one.process.log for one in replicas.started)
    wait_until(partial(completed, clearml, tasks), f"all have run: {logs}", 60)
    assert run_counts(clearml, tasks) == dict.fromkeys(tasks, 1)
    assert all(most <= 3 for most in most_at_once(clearml).values())
    there = replicas.there
    wait_until(lambda: not there.entries() and not there.sightings(), "the books are closed", 30)


CLAIM, ADMIT = "queues.remove_task", "tasks.enqueue"


def test_a_leader_that_is_killed_in_the_middle_of_a_round_is_followed_by_another(
    replicas: Replicas,
) -> None:
    """One dies when a task is in no queue, and the next one when it does not know of another."""
    first, _ = replicas.start_all()
    claimed = replicas.clearml.fault("hold", CLAIM, user=first.name, when="after", nth=2)
    tasks = waiting_tasks(replicas)
    first.process.wait_until_held(claimed)

    first.process.kill()
    claimed.release("drop")
    second = replicas.takeover(first)
    admitting = replicas.clearml.fault("hold", ADMIT, user=second.name, when="before", nth=2)
    second.process.wait_until_held(admitting)
    second.process.kill()
    admitting.release("drop")
    third = replicas.takeover(second)

    assert third.is_alive
    all_ran_once(replicas, tasks)


def test_all_go_on_when_the_database_was_away_for_all(replicas: Replicas) -> None:
    leader, (other,) = replicas.start_all(2)
    tasks = waiting_tasks(replicas)
    wait_until(replicas.there.entries, "some are on their way")

    replicas.server.stop()
    replicas.server.start()

    all_ran_once(replicas, tasks)
    assert leader.is_alive
    assert other.is_alive


@pytest.mark.parametrize("how", ["cut", "stalled", "frozen"])
def test_a_leader_without_its_database_stops_before_its_next_claim_and_follows(
    replicas: Replicas, how: str
) -> None:
    """One that was frozen has its database again when it wakes up, and believes that it leads."""
    first, _ = replicas.start_all(2)
    claiming = replicas.clearml.fault("hold", CLAIM, user=first.name, when="before", nth=2)
    tasks = waiting_tasks(replicas)
    first.process.wait_until_held(claiming)

    if how == "frozen":
        first.process.popen.send_signal(signal.SIGSTOP)
    else:
        first.wire.cut() if how == "cut" else first.wire.stall()
    second = replicas.takeover(first)
    before = replicas.clearml.last_call()
    claiming.release()  # it was sent when the leader still led, and arrives only now
    first.process.popen.send_signal(signal.SIGCONT)

    all_ran_once(replicas, tasks)
    assert replicas.clearml.calls(CLAIM, user=first.name, since=before) == []
    first.wire.restore()
    second.process.kill()
    replicas.wait_until_leads(first, times=2)
    assert "role=follower" in first.process.log
    assert "a round failed" not in first.process.log


def test_a_leader_that_is_cut_off_while_it_writes_what_it_moved_is_followed_all_the_same(
    replicas: Replicas,
) -> None:
    """It has the writer's lock, and says nothing any more."""
    first, _ = replicas.start_all(2)
    begun = [
        replicas.clearml.fault("hold", CLAIM, user=first.name, when="before", nth=nth)
        for nth in (1, 2)
    ]
    tasks = waiting_tasks(replicas)
    for one in begun:
        first.process.wait_until_held(one)

    first.wire.stall_after(*tasks)  # the first to be said: one pool's, while the other's is held
    begun[0].release()
    wait_until(lambda: first.wire.is_stalled, "it has begun to write")
    replicas.takeover(first)
    begun[1].release()

    all_ran_once(replicas, tasks)
    first.wire.restore()
    first.process.wait_for("role=follower")
    assert "a round failed" not in first.process.log
