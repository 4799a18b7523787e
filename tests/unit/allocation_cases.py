"""Random snapshots, small and contended, so that every reason and protection really occurs."""

import random
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from fractions import Fraction

from domain.amounts import Amount
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

_WHOLE = [Fraction(n) for n in (1, 1, 2, 2, 3, 4, 6)]
_BROKEN = [Fraction(1, 7), Fraction(1, 2), Fraction(1), Fraction(3, 2), Fraction(2, 7), Fraction(2)]
_RAW: Sequence[object] = (
    "1",
    "2",
    "3",
    "4",
    "5",
    "7",
    "0.5",
    "1/7",
    2,
    1.5,
    "x",
    None,
    "0",
    True,
    [],
)


def random_snapshot(rng: random.Random) -> Snapshot:
    """One case: up to four pools, four profiles, four policies, and a dozen or two tasks."""
    return _Case(rng).snapshot()


class _Case:
    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.amounts = rng.choice([_WHOLE, _WHOLE, _BROKEN])
        self.pools = [f"p{n}" for n in range(rng.randint(1, 4))]
        self.profiles = [f"f{n}" for n in range(rng.randint(1, 4))]
        self.policies = [f"q{n}" for n in range(rng.randint(1, 4))]
        self.strictness = rng.choice([0.0, 0.3, 0.9])
        self.dynamics = rng.choice([0.2, 0.5, 1.0])
        self.keeping = rng.choice([0.0, 0.0, 0.5, 0.9])
        # Long queues of few sizes are settled differently from short ones of many.
        self.raw = rng.sample(_RAW, rng.choice([1, 2, 3, len(_RAW)]))
        self.next_task = 0

    def snapshot(self) -> Snapshot:
        rng = self.rng
        configuration = self._configuration()
        return Snapshot(
            taken_at=NOW,
            configuration=configuration,
            enabled=rng.random() > 0.01,
            hold_after=rng.choice([None, timedelta(minutes=30), timedelta(minutes=5)]),
            queues=self._queues(configuration),
            allocations=self._allocations(),
            foreign={
                pool: rng.choice(self.amounts)
                for pool in [*self.pools, "gone"]
                if rng.random() < 0.15
            },
        )

    def _some(self, names: Sequence[str], chance: float) -> list[str]:
        chosen = [name for name in names if self.rng.random() < chance]
        self.rng.shuffle(chosen)
        return chosen

    def _configuration(self) -> Configuration:
        rng = self.rng
        links = {f: self._some(self.pools, rng.choice([0.5, 0.8, 1.0])) for f in self.profiles}
        users = {f: self._some(self.policies, 0.8) for f in self.profiles}
        return Configuration(
            pools=tuple(
                Pool(
                    name=pool,
                    resources=self._capacity(),
                    profiles=tuple(self._shuffled(f for f in self.profiles if pool in links[f])),
                )
                for pool in self.pools
            ),
            profiles=tuple(
                Profile(
                    name=f,
                    allotment=rng.choice(self.amounts),
                    parameter="runtime.gpus" if rng.random() < self.dynamics else None,
                    queueing=(
                        Queueing.STRICT if rng.random() < self.strictness else Queueing.BACKFILL
                    ),
                    pools=tuple(Link(pool=pool, name=f"{f} on {pool}") for pool in links[f]),
                    policies=tuple(users[f]),
                )
                for f in self.profiles
            ),
            policies=tuple(self._policy(policy, users) for policy in self.policies),
        )

    def _shuffled(self, names: Iterable[str]) -> list[str]:
        chosen = list(names)
        self.rng.shuffle(chosen)
        return chosen

    def _capacity(self) -> Amount:
        rng = self.rng
        if self.amounts is _BROKEN:
            return Fraction(rng.choice([0, 1, 1, 2, 3, 4]))
        return Fraction(rng.choice([0, 2, 4, 4, 6, 8, 8, 11]))

    def _policy(self, name: str, users: dict[str, list[str]]) -> Policy:
        rng = self.rng
        top = 4 if self.amounts is _BROKEN else 12
        return Policy(
            name=name,
            reservation=Fraction(rng.choice([0, 0, *range(1, top)])),
            limit=rng.choice([None, None, Fraction(rng.randint(1, 2 * top))]),
            lend=rng.random() >= self.keeping,
            queues=tuple(
                IntakeQueue(profile=f, queue=f"{name}-{f}")
                for f in self.profiles
                if name in users[f]
            ),
        )

    def _queues(self, configuration: Configuration) -> tuple[WaitingQueue, ...]:
        rng = self.rng
        pairs = [(q.name, i.profile) for q in configuration.policies for i in q.queues]
        rng.shuffle(pairs)
        longest = rng.choice([2, 4, 6, 14])
        return tuple(
            WaitingQueue(
                policy=policy,
                profile=profile,
                tasks=tuple(self._task() for _ in range(rng.randint(0, longest))),
            )
            for policy, profile in pairs
        )

    def _task(self) -> Task:
        rng = self.rng
        self.next_task += 1
        return Task(
            # Ids whose order is not the order of arrival.
            id=f"t{(self.next_task * 37) % 1009:04}",
            first_seen=NOW - timedelta(minutes=rng.choice([0, 1, 5, 5, 29, 30, 31, 60, 60])),
            parameter=rng.choice(self.raw),
        )

    def _allocations(self) -> tuple[Allocation, ...]:
        rng = self.rng
        return tuple(
            Allocation(
                task=f"r{n}",
                policy=rng.choice([*self.policies, "gone"]),
                profile=rng.choice(self.profiles),
                pool=rng.choice([*self.pools, "gone"] if rng.random() < 0.3 else self.pools),
                amount=rng.choice(self.amounts),
            )
            for n in range(rng.choice([0, 0, 1, 2, 4, 6]))
        )
