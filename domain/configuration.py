"""What admins decide: pools, profiles, links and policies, as one frozen value.

Objects refer to one another by name, as in the YAML document of ALLOCATION.md. A value of these
types has the right shape and exact amounts; whether it makes sense is `domain.validation`'s to say.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

from domain.amounts import Amount


class Queueing(StrEnum):
    """Whether a smaller task may pass an earlier one of its dynamic profile's intake queue."""

    BACKFILL = "backfill"
    STRICT = "strict"


class Membership(StrEnum):
    """What happens to a task of somebody who is not in the team's `clearml_users`."""

    REPORT = "report"
    RETURN = "return"


@dataclass(frozen=True, kw_only=True)
class Pool:
    """A named amount of resources.

    `resources` may be 0. `profiles` is the execution priority, each linked profile once. `nodes`
    are Kubernetes labels (key, value) that select the pool's nodes.
    """

    name: str
    resources: Amount
    description: str = ""
    profiles: tuple[str, ...] = ()
    nodes: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, kw_only=True)
class Link:
    """A named connection of the profile that lists it to `pool`; it owns one execution queue."""

    pool: str
    name: str


@dataclass(frozen=True, kw_only=True)
class Profile:
    """What one job consumes.

    With a `parameter` the profile is dynamic: a task's own value counts, and `allotment` is the
    default. `pools` is the pool precedence, `policies` the policy priority.
    """

    name: str
    allotment: Amount
    parameter: str | None = None
    queueing: Queueing = Queueing.BACKFILL
    pools: tuple[Link, ...] = ()
    policies: tuple[str, ...] = ()

    @property
    def is_dynamic(self) -> bool:
        return self.parameter is not None


@dataclass(frozen=True, kw_only=True)
class IntakeQueue:
    """The ClearML queue that a policy's users enqueue to for one profile."""

    profile: str
    queue: str


@dataclass(frozen=True, kw_only=True)
class Team:
    """Who a policy's people are.

    `channel` and `usergroup` are Slack ids, `users` Slack user ids; `clearml_users` pairs a Slack
    user id with a ClearML user id, the former empty where only the latter is known.
    """

    channel: str | None = None
    usergroup: str | None = None
    users: tuple[str, ...] = ()
    clearml_users: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, kw_only=True)
class Policy:
    """What a team is guaranteed (`reservation`, may be 0) and may use at most (`limit`).

    Both are one number across all pools; a limit of None is no limit. `lend: false` keeps an
    idle reservation free for its owner.
    """

    name: str
    reservation: Amount
    limit: Amount | None = None
    lend: bool = True
    queues: tuple[IntakeQueue, ...] = ()
    team: Team | None = None
    membership: Membership = Membership.REPORT


@dataclass(frozen=True, kw_only=True)
class CGPU:
    """The cGPU sharing policy, 0 to 5, that all nodes of the cluster are to have."""

    policy: int


@dataclass(frozen=True, kw_only=True)
class Configuration:
    """Everything that is drafted, validated, approved and provisioned, in its order."""

    pools: tuple[Pool, ...] = ()
    profiles: tuple[Profile, ...] = ()
    policies: tuple[Policy, ...] = ()
    cgpu: CGPU | None = None

    @cached_property
    def pool_by_name(self) -> Mapping[str, Pool]:
        return {pool.name: pool for pool in self.pools}

    @cached_property
    def profile_by_name(self) -> Mapping[str, Profile]:
        return {profile.name: profile for profile in self.profiles}

    @cached_property
    def policy_by_name(self) -> Mapping[str, Policy]:
        return {policy.name: policy for policy in self.policies}
