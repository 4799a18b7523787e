"""What may be done next about cGPU: each a value that says what it is in a sentence."""

from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

from domain.cgpu_cluster import Installer, InstallerPod, Node, Pod, Setting
from domain.cgpu_memory import Change, Outcome, Restart
from domain.names import listing


class Pace(StrEnum):
    """What is waited for, when nothing is done now."""

    DONE = "done"
    """Nothing is to be done."""
    CLUSTER = "cluster"
    """The cluster is at it."""
    ADMIN = "admin"
    """An admin has to do or say something."""
    BLOCKED = "blocked"
    """Something is unknown or wrong, and nothing is done until it is put right."""


@dataclass(frozen=True, kw_only=True)
class Rest:
    """Nothing is done now."""

    pace: Pace
    says: str


@dataclass(frozen=True, kw_only=True)
class BeginChange:
    """Another policy is wanted than the last change was for; `replaces` is one that is not done."""

    policy: int
    replaces: Change | None = None

    @property
    def says(self) -> str:
        return f"the change to policy {self.policy} begins"


@dataclass(frozen=True, kw_only=True)
class EndChange:
    """The change is over."""

    change: Change
    outcome: Outcome

    @property
    def says(self) -> str:
        return f"the change to policy {self.change.policy} is over: {self.outcome}"


@dataclass(frozen=True, kw_only=True)
class StopChange:
    """The change stands still until an admin resumes it."""

    change: Change
    says: str


@dataclass(frozen=True, kw_only=True)
class SetPolicy:
    """Write POLICY; `setting` is what stands there now, None where it is to be added."""

    change: Change
    installer: Installer
    setting: Setting | None
    before: int | None

    @property
    def says(self) -> str:
        was = "nothing" if self.before is None else str(self.before)
        return f"POLICY of {self.installer.title} is set from {was} to {self.change.policy}"


@dataclass(frozen=True, kw_only=True)
class ReplacePod:
    """End an installer's pod, so that the DaemonSet makes it anew from its template."""

    pod: InstallerPod

    @property
    def says(self) -> str:
        return f"the installer's pod on {self.pod.node} is made anew"


@dataclass(frozen=True, kw_only=True)
class BeginRestart:
    """Write down what the node is like before it is touched."""

    restart: Restart
    node: Node

    @property
    def says(self) -> str:
        return f"the restart of {self.node.name} is being prepared"


@dataclass(frozen=True, kw_only=True)
class Cordon:
    """Keep new pods away from the node, and mark that it was us."""

    restart: Restart
    node: Node

    @property
    def says(self) -> str:
        return f"{self.node.name} is cordoned"


@dataclass(frozen=True, kw_only=True)
class Evict:
    """Ask each of these pods to leave; a disruption budget may refuse."""

    restart: Restart
    pods: tuple[Pod, ...]

    @property
    def says(self) -> str:
        return f"asked to leave {self.restart.node}: {listing(pod.title for pod in self.pods)}"


@dataclass(frozen=True, kw_only=True)
class NoteDrained:
    """The node is empty and may be restarted by an admin."""

    restart: Restart
    says: str


@dataclass(frozen=True, kw_only=True)
class NoteBack:
    """The node has another boot id: it has restarted."""

    restart: Restart
    node: Node

    @property
    def says(self) -> str:
        return f"{self.node.name} has restarted"


@dataclass(frozen=True, kw_only=True)
class FailRestart:
    """It is over until an admin acts; the node stays as it is, cordoned."""

    restart: Restart
    says: str


@dataclass(frozen=True, kw_only=True)
class EndRestart:
    """The restart is over: done, withdrawn, or its node is gone. `node` is uncordoned if we
    cordoned it; None where nothing is to be uncordoned."""

    restart: Restart
    node: Node | None
    says: str
    done: bool = False


Act: TypeAlias = (
    BeginChange
    | EndChange
    | StopChange
    | SetPolicy
    | ReplacePod
    | BeginRestart
    | Cordon
    | Evict
    | NoteDrained
    | NoteBack
    | FailRestart
    | EndRestart
)
Step: TypeAlias = Rest | Act
