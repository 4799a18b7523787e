"""The kinds of drift, and what one is: its cause, its words, and whether it alarms anybody."""

from dataclasses import dataclass
from enum import StrEnum


class DriftKind(StrEnum):
    """What sort of difference; the first word of its cause."""

    NOT_INSTALLED = "not-installed"
    VALUES = "values"
    """Helm's values differ: its next upgrade will set what they say."""
    SETTING = "setting"
    """An installer's POLICY is not what was provisioned."""
    UNREADABLE = "unreadable"
    """Something in an installer or around it that cannot be worked with."""
    NO_SETTING = "no-setting"
    """A second installer has no POLICY at all."""
    IMAGE = "image"
    SELECTOR = "selector"
    PENDING = "pending"
    """Nodes still have to be restarted."""
    MIXED = "mixed"
    WEIGHT = "weight"
    RUNTIME = "runtime"
    """The policy of a module was changed on its node, without Kubernetes."""
    UNKNOWN = "unknown"
    MODULE = "module"
    """The loaded module is another version than the installer's."""
    NOT_LOADED = "not-loaded"
    OVERDUE = "overdue"
    """Nodes have had different policies for longer than a change should take."""
    LABEL = "label"
    """A node's label was switched while its module is still loaded."""


INFORMATION = frozenset({DriftKind.PENDING, DriftKind.WEIGHT, DriftKind.MODULE})
"""The kinds that are to be known, and no reason to alarm anybody."""


@dataclass(frozen=True, kw_only=True)
class Drift:
    """One difference; `about` is an installer, a release, a node, or "nodes" for several."""

    kind: DriftKind
    about: str
    text: str
    remedy: str

    @property
    def cause(self) -> str:
        return f"cgpu-{self.kind}:{self.about}"

    @property
    def alarms(self) -> bool:
        return self.kind not in INFORMATION
