"""What Poolkeeper remembers of cGPU between looks: only what a look cannot show again.

The rest is derived: whether a node needs a restart, how far a rollout is, what to do next.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum


class Outcome(StrEnum):
    """How a change ended."""

    CONVERGED = "converged"
    """Every node has the policy, and that is proven."""
    UNPROVEN = "set, not proven"
    """Every installer has it, and no node is known to have another; some have not restarted since
    Poolkeeper first looked. So it is after a rollback before any restart."""
    REPLACED = "replaced"
    """Another policy was provisioned before it was done."""
    UNMANAGED = "unmanaged"
    """cGPU was taken out of the configuration before it was done."""


@dataclass(frozen=True, kw_only=True)
class Change:
    """The way to one policy, from its provisioning until all nodes have it.

    `version` is the configuration's number and `by` who approved it. `stopped` is why it stands
    still until an admin says resume, "" while it goes on.
    """

    id: int
    policy: int
    version: int
    by: str
    started_at: datetime
    stopped: str = ""
    ended_at: datetime | None = None
    outcome: Outcome | None = None

    @property
    def is_open(self) -> bool:
        return self.ended_at is None


@dataclass(frozen=True, kw_only=True)
class Patch:
    """A write of POLICY that a change makes to one installer, written down before it is sent.

    `before` is the policy that stood there, None where there was none. `seen` is when the new one
    was first seen in place: a different value after that was put there by somebody else.
    """

    change: int
    installer: str
    before: int | None
    at: datetime
    seen: datetime | None = None


@dataclass(frozen=True, kw_only=True)
class InstallerMemory:
    """An installer as of the last look, by its uid; `since` is when it was first seen like this.

    `images` and `selector` are texts of what it had when the last change was done, "" before the
    first: a difference is a drift.
    """

    uid: str
    generation: int
    policy: int | None
    since: datetime
    images: str = ""
    selector: str = ""


class Proof(StrEnum):
    """How it is known which policy a node's module has loaded."""

    READ = "read"
    """It was read from /proc/cgpu_km on the node."""
    BOOTED = "booted"
    """The node started anew with its installer set to it all the while."""
    JOINED = "joined"
    """The node was made while the installer was set to it."""
    PRESUMED = "presumed"
    """Its installer was set to it when Poolkeeper first looked; that proves nothing."""


@dataclass(frozen=True, kw_only=True)
class NodeMemory:
    """A node as of the last look at which its installer's pod was ready.

    `boot`, `setting` (the pod's own POLICY) and `generation` (its installer's) are of that look;
    `loaded` is the policy in its module since that boot, with its proof; None where unknown.
    """

    node: str
    uid: str
    boot: str
    setting: int | None
    generation: int
    loaded: int | None = None
    proof: Proof | None = None


@dataclass(frozen=True, kw_only=True)
class Restart:
    """An admin's wish that a node be restarted, and how far it is.

    `boot` is the node's boot when its preparation began, "" before; `memory` and `cards` what was
    allocatable then. `back_at` is when it was first seen with another boot. `failed` is why it is
    over until an admin wishes it anew; `withdrawn` that nobody wants it any more.
    """

    node: str
    by: str
    at: datetime
    uid: str = ""
    boot: str = ""
    began_at: datetime | None = None
    memory: int | None = None
    cards: int | None = None
    drained_at: datetime | None = None
    back_at: datetime | None = None
    failed: str = ""
    withdrawn: bool = False

    @property
    def begun(self) -> bool:
        return bool(self.boot)

    @property
    def mark(self) -> str:
        """What our annotation says on a node that was cordoned for it."""
        return self.at.isoformat()


@dataclass(frozen=True, kw_only=True)
class Control:
    """What admins said last: `revision` grows with every word of theirs."""

    paused: bool = False
    by: str = ""
    at: datetime | None = None
    revision: int = 0


@dataclass(frozen=True, kw_only=True)
class Memory:
    """All of it. `change` is the last one, open or over; `patches` are that change's."""

    change: Change | None = None
    patches: Mapping[str, Patch] = field(default_factory=dict)
    installers: Mapping[str, InstallerMemory] = field(default_factory=dict)
    nodes: Mapping[str, NodeMemory] = field(default_factory=dict)
    restarts: tuple[Restart, ...] = ()
    control: Control = field(default_factory=Control)

    @property
    def in_hand(self) -> Restart | None:
        """The one restart whose preparation has begun and that is neither over nor failed."""
        return next((one for one in self.restarts if one.begun and not one.failed), None)
