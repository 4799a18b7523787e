"""Several replicas seen from outside: who leads, what is shown once, and a database away."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.outside_support import Outside, outside_of
from tests.poolkeeper_support import one_profile
from tests.postgres_support import Postgres
from tests.replicas_support import Replica, Replicas, replicas_on
from tests.sandbox_support import Sandbox, wait_until

LISTEN = {"POOLKEEPER_METRICS_PORT": "0", "POOLKEEPER_LOG_LEVEL": "DEBUG"}
PROBE_S = 10.0


@pytest.fixture
def replicas(clearml: Sandbox, postgres: Postgres, tmp_path: Path) -> Iterator[Replicas]:
    with replicas_on(clearml, postgres, tmp_path / "here") as replicas:
        replicas.there.apply(one_profile({"metal": 3}, {"dev": (2, None)}))
        replicas.env |= LISTEN
        yield replicas


def started(replicas: Replicas) -> tuple[Replica, Outside]:
    replica = replicas.start()
    return replica, outside_of(replica.process)


def is_ready(outside: Outside) -> bool:
    return outside.ready()[0] == 200


def shows_rounds(outside: Outside) -> bool:
    return outside.value("poolkeeper_pool_resources", pool="metal") == 3


def test_all_are_ready_and_only_the_leader_shows_what_they_share(replicas: Replicas) -> None:
    first, leader = started(replicas)
    wait_until(lambda: is_ready(leader), "the first leads")
    _, follower = started(replicas)
    wait_until(lambda: is_ready(follower), "the second follows")

    assert (leader.value("poolkeeper_leader"), follower.value("poolkeeper_leader")) == (1, 0)
    assert shows_rounds(leader)
    assert not shows_rounds(follower)
    assert follower.value("poolkeeper_database_up") == 1
    assert follower.ready()[1]["round"]["reason"] == "Another replica leads, and runs the rounds."
    assert follower.ready()[1]["view"]["ok"]

    first.process.kill()

    wait_until(lambda: follower.value("poolkeeper_leader") == 1, "the second leads", 30)
    wait_until(lambda: shows_rounds(follower) and is_ready(follower), "it is ready")


@pytest.mark.parametrize("how", ["cut", "stall"])
def test_a_database_that_is_away_is_shown_by_a_process_that_lives(
    replicas: Replicas, how: str
) -> None:
    replica, outside = started(replicas)
    wait_until(lambda: is_ready(outside), "it leads")

    getattr(replica.wire, how)()

    wait_until(lambda: not is_ready(outside), "it is seen", 30)
    begun = time.monotonic()
    _, checks = outside.ready()
    assert time.monotonic() - begun < PROBE_S
    assert not checks["database"]["ok"]
    assert outside.value("poolkeeper_database_up") == 0
    assert outside.get("/healthz").status_code == 200

    replica.wire.restore()

    wait_until(lambda: is_ready(outside), "it leads again", 60)
    password = replicas.server.password
    assert password not in replica.process.log
    assert password not in outside.get("/readyz").text
