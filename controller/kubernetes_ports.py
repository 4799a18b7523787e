"""What the controller asks of Kubernetes, and what it is told: values, errors and one door.

Codes and side effects are those of facts/kubernetes.md; the door's promises are tested by its
contract suite, on the sandbox always and on a real API server where one is named.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Final, Protocol

from domain.cgpu_cluster import Cluster, Installer, InstallerPod, Node, Pod, Probe, Setting


class KubernetesError(Exception):
    """Something went wrong between Poolkeeper and Kubernetes."""


class KubernetesAway(KubernetesError):
    """The API server did not answer, or answered that it cannot now."""


class WriteUnknown(KubernetesAway):
    """A write got no usable answer: it may or may not have happened. Look before going on."""


class Misconfigured(KubernetesError):
    """This address or these credentials cannot be worked with until somebody changes something."""


@dataclass(frozen=True, kw_only=True)
class Rule:
    """One thing that a role has to allow; `namespace` is "" for the whole cluster."""

    verb: str
    resource: str
    group: str = ""
    namespace: str = ""

    def __str__(self) -> str:
        resource = f"{self.resource}.{self.group}" if self.group else self.resource
        return f"{self.verb} {resource}{f' in {self.namespace}' if self.namespace else ''}"


class Forbidden(KubernetesError):
    """A role does not allow it; `rule` is the one that is missing."""

    def __init__(self, rule: Rule) -> None:
        super().__init__(f"Kubernetes does not allow Poolkeeper to {rule}; add that rule.")
        self.rule = rule


class Declined(KubernetesError):
    """Kubernetes understood the call and said no."""

    def __init__(self, call: str, code: int, message: str) -> None:
        super().__init__(f"Kubernetes refused {call} with {code}: {message}")
        self.call, self.code, self.message = call, code, message


RULES: Final = (
    Rule(verb="list", resource="nodes"),
    Rule(verb="list", resource="pods"),
    Rule(verb="list", resource="daemonsets", group="apps"),
    Rule(verb="list", resource="secrets"),
    Rule(verb="patch", resource="daemonsets", group="apps", namespace="kube-system"),
    Rule(verb="list", resource="controllerrevisions", group="apps", namespace="kube-system"),
    Rule(verb="create", resource="pods/eviction", namespace="kube-system"),
    Rule(verb="create", resource="events", namespace="kube-system"),
    Rule(verb="create", resource="events", namespace="default"),
)
"""What the reconciler does. Events of nodes are in `default`, those of installers beside them."""

RESTART_RULES: Final = (
    Rule(verb="patch", resource="nodes"),
    Rule(verb="create", resource="pods/eviction"),
)
"""What preparing nodes for a restart needs beside."""

PROBE_RULES: Final = (
    Rule(verb="get", resource="pods/exec", namespace="kube-system"),
    Rule(verb="create", resource="pods/exec", namespace="kube-system"),
)
"""What reading /proc/cgpu_km needs beside; API servers differ in which of the two they ask for."""


class Written(StrEnum):
    """How a guarded write went."""

    DONE = "done"
    CHANGED = "changed"
    """What it was guarded by is not so any more: nothing was written. Look again."""
    GONE = "gone"


class Eviction(StrEnum):
    """How a request to evict went."""

    LEAVING = "leaving"
    REFUSED = "refused"
    """A disruption budget does not allow it now."""
    GONE = "gone"


@dataclass(frozen=True, kw_only=True)
class Evicted:
    """The answer for one pod; `why` names the budget that refuses."""

    pod: str
    outcome: Eviction
    why: str = ""


@dataclass(frozen=True, kw_only=True)
class Told:
    """An Event of an object. `kind` is DaemonSet or Node; `cause` makes it the same event when it
    is told again."""

    kind: str
    namespace: str
    name: str
    uid: str
    reason: str
    message: str
    cause: str
    warning: bool = False


class Kubernetes(Protocol):
    """The door to Kubernetes.

    Reads are repeated a few times before they raise `KubernetesAway`. Writes are made once; one
    without a usable answer raises `WriteUnknown`. What a role does not allow raises `Forbidden`.
    One door belongs to one thread.
    """

    def look(self) -> Cluster:
        """The cluster as it is now, without readings. In pages; Helm's releases are Unknown, and
        nothing raised, where only they may not be listed."""

    def read_module(self, pod: InstallerPod, node: Node) -> Probe:
        """What /proc/cgpu_km says on the pod's node, by exec; Unknown where that fails."""

    def set_policy(self, installer: Installer, setting: Setting, policy: int) -> Written:
        """Replace the value of this very POLICY, if it stands there as it was seen."""

    def add_policy(self, installer: Installer, policy: int) -> Written:
        """Add POLICY to the installing container, if its variables are as they were seen."""

    def cordon(self, node: Node, mark: str) -> Written:
        """Make the node unschedulable with our mark, if it is as it was seen."""

    def uncordon(self, node: Node) -> Written:
        """Make it schedulable and take the mark away, if it is as it was seen."""

    def evict(self, pod: Pod | InstallerPod) -> Evicted: ...

    def missing(self, rules: Iterable[Rule]) -> tuple[Rule, ...]:
        """Those of the rules that our role does not allow."""

    def server_time(self) -> datetime | None:
        """The API server's clock, as its last answer said; None before the first."""

    def tell(self, told: Told) -> None:
        """Make the event, or nothing where it exists; may raise as any write."""
