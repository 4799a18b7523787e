"""A day that the playground's company has behind it: what its first digests tell about.

Made up, from a seed: jobs come mostly by day, wait for their turn, and start where they fit.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from random import Random

from domain.amounts import ZERO, Amount
from domain.configuration import Configuration, Policy, Profile
from domain.ledger import Ended, Sample
from domain.snapshot import Tier

_SEED = 24
_DAY = timedelta(hours=24)
_STEP = timedelta(minutes=10)
_BUSY_HOURS = range(8, 19)
_CHANCE_BUSY, _CHANCE_QUIET = 0.72, 0.27
_SHORTEST_M, _LONGEST_M = 15, 110
_OUTCOMES = ("completed", "failed", "stopped")
_HOW_OFTEN = (92, 5, 3)


@dataclass(frozen=True)
class _Waiting:
    policy: Policy
    profile: Profile
    since: datetime


@dataclass
class Past:
    """What ended in the day before `end`, and what was sampled."""

    configuration: Configuration
    end: datetime
    ended: list[Ended] = field(default_factory=list)
    samples: list[Sample] = field(default_factory=list)
    _random: Random = field(default_factory=lambda: Random(_SEED))  # noqa: S311  example data
    _waiting: list[_Waiting] = field(default_factory=list)

    def __post_init__(self) -> None:
        steps = int(_DAY / _STEP)
        for number in range(steps):
            self._step(self.end - _DAY + number * _STEP)

    def _step(self, now: datetime) -> None:
        self._waiting += self._arrivals(now)
        self._waiting = [one for one in self._waiting if not self._starts(one, now)]
        for policy in self.configuration.policies:
            waiting = sum(one.policy is policy for one in self._waiting)
            self.samples.append(
                Sample(
                    at=now,
                    policy=policy.name,
                    pool="",
                    used=ZERO,
                    running=0,
                    waiting=waiting,
                    seconds=int(_STEP.total_seconds()),
                )
            )

    def _arrivals(self, now: datetime) -> Iterator[_Waiting]:
        chance = _CHANCE_BUSY if now.hour in _BUSY_HOURS else _CHANCE_QUIET
        for policy in self.configuration.policies:
            if self._random.random() < chance:
                chosen = self._random.choice(policy.queues).profile
                profile = self.configuration.profile_by_name[chosen]
                yield _Waiting(policy, profile, now - _STEP * self._random.random())

    def _starts(self, one: _Waiting, now: datetime) -> bool:
        used = self._used(now, policy=one.policy.name)
        after = used + one.profile.allotment
        if one.policy.limit is not None and after > one.policy.limit:
            return False
        for link in one.profile.pools:
            size = self.configuration.pool_by_name[link.pool].resources
            if self._used(now, pool=link.pool) + one.profile.allotment <= size:
                tier = Tier.RESERVED if after <= one.policy.reservation else Tier.SHARED
                self.ended.append(self._run(one, link.pool, tier, now))
                return True
        return False

    def _run(self, one: _Waiting, pool: str, tier: Tier, now: datetime) -> Ended:
        lasts = timedelta(minutes=self._random.randint(_SHORTEST_M, _LONGEST_M))
        return Ended(
            task=f"{self._random.getrandbits(128):032x}",
            policy=one.policy.name,
            profile=one.profile.name,
            pool=pool,
            amount=one.profile.allotment,
            tier=tier,
            first_seen=one.since,
            dispatched_at=now,
            ended_at=min(now + lasts, self.end),
            outcome=self._random.choices(_OUTCOMES, _HOW_OFTEN)[0],
        )

    def _used(self, now: datetime, *, policy: str = "", pool: str = "") -> Amount:
        return sum(
            (
                one.amount
                for one in self.ended
                if one.ended_at > now and (policy in ("", one.policy)) and (pool in ("", one.pool))
            ),
            ZERO,
        )
