"""What Poolkeeper remembers of tasks and queues between rounds, as values.

The ledger is keyed by task id and is the only account of what pools and policies use
(facts/clearml.md, decision 3): behind the k8s glue a task's own `execution.queue` tells nothing.
"""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from domain.amounts import Amount
from domain.configuration import Configuration
from domain.renames import Renames
from domain.snapshot import Tier


class Stage(StrEnum):
    """How far a task's move has come. In every stage its amount counts."""

    INTENDED = "intended"
    """Written before the claim; what has happened since is found out by looking."""
    DISPATCHED = "dispatched"
    """It is in its execution queue, or was taken from there by an agent."""
    RETURNING = "returning"
    """On its way back to the front of its intake queue."""
    DRAFTING = "drafting"
    """Its intake queue is being removed: on its way to a draft, in no pool."""


@dataclass(frozen=True, kw_only=True, slots=True)
class LedgerEntry:
    """One task that Poolkeeper is moving or has dispatched, with its amount at dispatch.

    `intake` and `execution` are ClearML queue ids. `doubtful_since` is when the task was first
    found queued in no queue while its move was open; `stopped_since` when it was first seen
    stopped. Both None otherwise.
    """

    task: str
    policy: str
    profile: str
    pool: str
    link: str
    intake: str
    execution: str
    amount: Amount
    tier: Tier
    stage: Stage
    first_seen: datetime
    intended_at: datetime
    dispatched_at: datetime | None = None
    doubtful_since: datetime | None = None
    stopped_since: datetime | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Sighting:
    """The first sight of a task waiting in an intake queue; forgotten when it leaves it.

    `parameter` is the raw JSON value at the profile's parameter path, None where there is none
    or the profile is fixed. `queue` is empty for a task that was put back and has not been looked
    at since. `stray_since` is when it was first found queued in no queue.
    """

    task: str
    policy: str
    profile: str
    queue: str
    first_seen: datetime
    parameter: object = None
    stray_since: datetime | None = None


class Role(StrEnum):
    """What a ClearML queue of ours is for."""

    INTAKE = "intake"
    EXECUTION = "execution"


@dataclass(frozen=True, kw_only=True, slots=True)
class OwnedQueue:
    """A ClearML queue that Poolkeeper made or adopted, known by its id.

    `owner` is the policy of an intake queue or the link of an execution queue; `pool` is empty
    for an intake queue. A `retired` queue is no longer configured and goes when it is empty.
    """

    id: str
    role: Role
    profile: str
    owner: str
    name: str
    pool: str = ""
    retired: bool = False


@dataclass(frozen=True, kw_only=True)
class Ended:
    """A task's allocation that is over, as digests and history need it."""

    task: str
    policy: str
    profile: str
    pool: str
    amount: Amount
    tier: Tier
    first_seen: datetime
    dispatched_at: datetime
    ended_at: datetime
    outcome: str


class VersionState(StrEnum):
    """Where a configuration version stands between its approval and its replacement."""

    APPROVED = "approved"
    """To be applied by the leader."""
    APPLYING = "applying"
    """Its renames are carried out in what is remembered; its queues are on their way."""
    PROVISIONED = "provisioned"


@dataclass(frozen=True, kw_only=True)
class Version:
    """A configuration that was approved, numbered from 1; the last provisioned one is in force.

    `renames` are against the version before. `hash` is the configuration's own.
    """

    number: int
    configuration: Configuration
    renames: Renames
    hash: str
    state: VersionState
    by: str
    at: datetime
    note: str = ""


@dataclass(frozen=True, kw_only=True)
class Draft:
    """The shared draft: `revision` grows with every save; `renames` are against `base`.

    `base` is the provisioned version's number that it was made from, 0 before the first.
    """

    configuration: Configuration
    renames: Renames
    hash: str
    base: int
    revision: int
    by: str
    at: datetime


@dataclass(frozen=True, kw_only=True)
class AuditRecord:
    """Who did what to which object, and the reference under which it can be found."""

    at: datetime
    actor: str
    action: str
    subject: str
    detail: str = ""
    reference: str = ""


@dataclass(frozen=True, kw_only=True)
class Sample:
    """What one policy used of one pool at one time, and how many tasks ran there.

    How many of its tasks waited stands in a sample of its own, whose pool is empty. It stands for
    the `seconds` since the one before it.
    """

    at: datetime
    policy: str
    pool: str
    used: Amount
    running: int
    waiting: int
    seconds: int = 60
