"""The configuration in force, as the demo tells it: a document of the form that is exported.

The page needs of it what ClearML does not know: how large pools are, and what profiles consume.
"""

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from sandbox.playground.marks import amount
from sandbox.playground.wishes import Refused

Doc = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Configured:
    """Pools by name with their size, profiles with their allotment, both in order.

    `parameters` are of profiles that read a task's own number; `intakes` the profiles of which a
    policy has, or is about to have, a queue.
    """

    pools: dict[str, Fraction] = field(default_factory=dict)
    profiles: dict[str, Fraction] = field(default_factory=dict)
    parameters: dict[str, str] = field(default_factory=dict)
    intakes: dict[str, set[str]] = field(default_factory=dict)

    def slots(self, pool: str, profile: str) -> int:
        """How many of a profile's jobs a pool holds; 0 where that is not known."""
        size, each = self.pools.get(pool), self.profiles.get(profile)
        return int(size // each) if size and each else 0


def configured(body: Doc) -> Configured:
    try:
        return Configured(
            pools={one["name"]: amount(one["resources"]) for one in body["pools"]},
            profiles={one["name"]: amount(one["allotment"]) for one in body["profiles"]},
            parameters={
                one["name"]: one["parameter"] for one in body["profiles"] if one.get("parameter")
            },
            intakes={
                one["name"]: {queue["profile"] for queue in one["queues"]}
                for one in body["policies"]
            },
        )
    except (KeyError, TypeError, ValueError) as error:
        raise Refused(f"That is no configuration: {error!r}.") from error
