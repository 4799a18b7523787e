"""How long a round's decision takes: ALLOCATION.md, "Speed and scale".

Run by hand: `pytest tests/bench`. The table is pytest-benchmark's; the gates are the targets for a
2-core machine.
"""

import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from fractions import Fraction

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from domain.allocation import allocate
from domain.configuration import (
    Configuration,
    IntakeQueue,
    Link,
    Policy,
    Pool,
    Profile,
    Queueing,
)
from domain.snapshot import Allocation, Snapshot, Task, WaitingQueue

NOW = datetime(2026, 12, 1, 10, tzinfo=UTC)


@dataclass(frozen=True)
class Shape:
    """A made-up cluster: every policy uses every profile."""

    tasks: int = 10_000
    policies: int = 100
    profiles: int = 10
    pools: int = 20
    links: int = 4
    resources: Fraction = Fraction(100)
    dynamic: float = 0.5
    strict: float = 0.0
    keepers: int = 0
    waited: timedelta = timedelta(minutes=1)
    parameters: Callable[[random.Random], object] = lambda rng: rng.choice(["1", "2", "4", "8"])
    allotments: Sequence[Fraction] = tuple(Fraction(n) for n in (1, 2, 4, 8))
    full: float = 0.0


def cluster(shape: Shape) -> Snapshot:
    """A snapshot of that shape; the same one every time."""
    rng = random.Random(7)
    pools = [f"pool-{n}" for n in range(shape.pools)]
    linked = {f"profile-{n}": rng.sample(pools, shape.links) for n in range(shape.profiles)}
    policies = [f"policy-{n}" for n in range(shape.policies)]
    whole = shape.resources * shape.pools
    profiles = [
        Profile(
            name=name,
            allotment=rng.choice(shape.allotments),
            parameter="runtime.gpus" if n < shape.dynamic * shape.profiles else None,
            queueing=Queueing.STRICT if rng.random() < shape.strict else Queueing.BACKFILL,
            pools=tuple(Link(pool=pool, name=f"{name} {pool}") for pool in linked[name]),
            policies=tuple(rng.sample(policies, len(policies))),
        )
        for n, name in enumerate(linked)
    ]
    configuration = Configuration(
        pools=tuple(
            Pool(
                name=pool,
                resources=shape.resources,
                profiles=tuple(name for name, there in linked.items() if pool in there),
            )
            for pool in pools
        ),
        profiles=tuple(profiles),
        policies=tuple(
            Policy(
                name=policy,
                reservation=Fraction(int(whole / shape.policies / 2)),
                limit=None if rng.random() < 0.2 else Fraction(int(whole / shape.policies * 3)),
                lend=n >= shape.keepers,
                queues=tuple(IntakeQueue(profile=f, queue=f"{policy} {f}") for f in linked),
            )
            for n, policy in enumerate(policies)
        ),
    )
    each = shape.tasks // (max(1, shape.policies - shape.keepers) * shape.profiles)
    queues = [
        WaitingQueue(
            policy=policy,
            profile=profile,
            tasks=tuple(
                Task(
                    id=f"{policy}.{profile}.{n}",
                    first_seen=NOW - shape.waited - timedelta(seconds=rng.randrange(60)),
                    parameter=shape.parameters(rng),
                )
                # A keeper that waits is served first; one with nothing to do makes others wait.
                for n in range(0 if policy in policies[: shape.keepers] else each)
            ),
        )
        for policy in policies
        for profile in linked
    ]
    allocations = [
        Allocation(
            task=f"running-{n}",
            policy=rng.choice(policies),
            profile=rng.choice(profiles).name,
            pool=pool,
            amount=Fraction(1),
        )
        for pool in pools
        for n in range(int(shape.full * shape.resources))
    ]
    return Snapshot(
        taken_at=NOW,
        configuration=configuration,
        queues=tuple(queues),
        allocations=tuple(allocations),
    )


def simple(tasks: int) -> Snapshot:
    """The yardsticks' case: one-GPU jobs of 10 teams over 4 pools; all fit."""
    shape = Shape(
        tasks=tasks,
        policies=10,
        profiles=1,
        pools=4,
        dynamic=0,
        allotments=[Fraction(1)],
        resources=Fraction(tasks // 4),
    )
    return cluster(shape)


def seconds(snapshot: Snapshot) -> float:
    """The best of five, in processor time: it says the same when others use the machine too."""

    def once() -> float:
        start = time.process_time()
        allocate(snapshot)
        return time.process_time() - start

    return min(once() for _ in range(5))


def distinct(rng: random.Random) -> object:
    return str(rng.randrange(1, 80_000) / 10_000)


NASTY = {
    "everything strict": Shape(dynamic=1, strict=1),
    "everything strict, few long queues": Shape(dynamic=1, strict=1, policies=5, profiles=4),
    "all dynamic, distinct sizes": Shape(dynamic=1, parameters=distinct),
    "distinct sizes, few long queues": Shape(
        dynamic=1, parameters=distinct, policies=5, profiles=4
    ),
    "holds, every task old": Shape(waited=timedelta(hours=5), full=0.9),
    "holds, old and distinct sizes": Shape(
        waited=timedelta(hours=5), full=0.95, dynamic=1, parameters=distinct
    ),
    "every profile on every pool": Shape(links=20),
    "fractions, 1/7 and 0.5": Shape(
        allotments=[Fraction(1, 7), Fraction(1, 2)],
        parameters=lambda rng: rng.choice(["1/7", "0.5", "3/7"]),
    ),
    "denominators without end": Shape(
        dynamic=1, parameters=lambda rng: f"{rng.randrange(1, 999_983)}/{rng.randrange(2, 999_983)}"
    ),
    "ten keepers": Shape(keepers=10),
    "fifty keepers": Shape(keepers=50),
    "nearly full": Shape(full=0.98),
    "room for all": Shape(resources=Fraction(5_000)),
}


@pytest.mark.parametrize("tasks", [10_000, 100_000])
def test_a_mixed_cluster_is_decided(benchmark: BenchmarkFixture, tasks: int) -> None:
    benchmark(allocate, cluster(Shape(tasks=tasks)))


@pytest.mark.parametrize("tasks", [1_000, 5_000, 20_000])
def test_one_gpu_jobs_that_all_fit_are_decided(benchmark: BenchmarkFixture, tasks: int) -> None:
    plan = benchmark(allocate, simple(tasks))

    assert len(plan.dispatch) == tasks


@pytest.mark.parametrize("name", NASTY)
def test_a_nasty_cluster_is_decided(benchmark: BenchmarkFixture, name: str) -> None:
    benchmark(allocate, cluster(NASTY[name]))


@pytest.mark.parametrize("name", NASTY)
def test_a_nasty_cluster_of_100_000_is_decided(benchmark: BenchmarkFixture, name: str) -> None:
    benchmark(allocate, cluster(replace(NASTY[name], tasks=100_000)))


@pytest.mark.parametrize(("tasks", "most"), [(1_000, 0.02), (5_000, 0.1), (20_000, 0.4)])
def test_one_gpu_jobs_are_decided_in_time(tasks: int, most: float) -> None:
    assert seconds(simple(tasks)) <= most


def test_ten_thousand_tasks_are_decided_in_a_tenth_of_a_second() -> None:
    assert seconds(cluster(Shape())) <= 0.1


def test_ten_times_the_tasks_take_at_most_twelve_times_as_long() -> None:
    few, many = seconds(cluster(Shape())), seconds(cluster(Shape(tasks=100_000)))

    assert many <= 12 * few


def test_ten_keepers_take_at_most_five_times_as_long() -> None:
    without, with_keepers = seconds(cluster(Shape())), seconds(cluster(Shape(keepers=10)))

    assert with_keepers <= 5 * without
