"""What a round sees and what it decides: one immutable Snapshot in, one immutable Plan out."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum

from domain.amounts import Amount
from domain.configuration import Configuration

HOLD_AFTER = timedelta(seconds=1800)
"""How long a task waits before it may hold a pool, unless the snapshot says otherwise."""


class Tier(StrEnum):
    """Whether a task was dispatched inside its policy's reservation or from what is shared."""

    RESERVED = "reserved"
    SHARED = "shared"


class Reason(StrEnum):
    """Why a task waits: ALLOCATION.md's reasons, in its order of precedence."""

    DISABLED = "disabled"
    UNLINKED = "unlinked"
    TOO_LARGE = "too_large"
    OVER_LIMIT_ALONE = "over_limit_alone"
    BEHIND = "behind"
    LIMIT_REACHED = "limit_reached"
    NO_CAPACITY = "no_capacity"
    HELD = "held"
    KEPT = "kept"


NEVER = frozenset({Reason.UNLINKED, Reason.TOO_LARGE, Reason.OVER_LIMIT_ALONE})
"""The reasons under which a task can never run unless the configuration changes."""


@dataclass(frozen=True, slots=True)
class Task:
    """A task that waits in an intake queue.

    `first_seen` is when Poolkeeper saw it first, `parameter` the raw value at the profile's
    parameter path (any JSON value), None where there is none.
    """

    id: str
    first_seen: datetime
    parameter: object = None


@dataclass(frozen=True, kw_only=True, slots=True)
class WaitingQueue:
    """The tasks of one intake queue, in queue order."""

    policy: str
    profile: str
    tasks: tuple[Task, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Allocation:
    """A task that was dispatched and has not ended, with the amount it had when dispatched.

    Its policy, profile or pool may be gone from the configuration; it then still counts against
    those that are left.
    """

    task: str
    policy: str
    profile: str
    pool: str
    amount: Amount


@dataclass(frozen=True, kw_only=True)
class Snapshot:
    """Everything a round decides from. `hold_after` None switches holds off."""

    taken_at: datetime
    configuration: Configuration
    enabled: bool = True
    hold_after: timedelta | None = HOLD_AFTER
    queues: tuple[WaitingQueue, ...] = ()
    allocations: tuple[Allocation, ...] = ()
    foreign: Mapping[str, Amount] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True, slots=True)
class Dispatch:
    """A task may start: it moves to the execution queue of `link`."""

    task: str
    policy: str
    profile: str
    pool: str
    link: str
    tier: Tier
    amount: Amount


@dataclass(frozen=True, kw_only=True, slots=True)
class Waiting:
    """A task waits, for exactly one reason.

    `holder` is set for `behind` (the id of the earlier task of its queue that waits) and `held`
    (the id of the task that holds the first pool with room); `pool` for `held` and `kept` (the
    first linked pool that has room).
    """

    task: str
    policy: str
    profile: str
    amount: Amount
    reason: Reason
    pool: str | None = None
    holder: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class PoolState:
    """A pool after the plan: `used` counts allocations, dispatches and foreign use."""

    name: str
    resources: Amount
    used: Amount
    free: Amount


@dataclass(frozen=True, kw_only=True, slots=True)
class PolicyState:
    """A policy after the plan."""

    name: str
    reservation: Amount
    limit: Amount | None
    usage: Amount


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What a round decided: `dispatch` in the order of dispatching, `waiting` in snapshot order."""

    dispatch: tuple[Dispatch, ...] = ()
    waiting: tuple[Waiting, ...] = ()
    pools: tuple[PoolState, ...] = ()
    policies: tuple[PolicyState, ...] = ()
