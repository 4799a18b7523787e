"""What differs from the provisioned policy, and why: the matrix of facts/cgpu.md, 6.

Each drift has a cause that stays the same as long as it is the same drift. While a change is under
way, what it has not reached yet is no drift.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from typing import Final

from domain.cgpu import described, read_policy
from domain.cgpu_cluster import Cluster, Installer, Reading, Release
from domain.cgpu_learning import images_text, selector_text, setting_of
from domain.cgpu_memory import Change, Memory, Proof
from domain.cgpu_nodes import NodeState, NodeStatus, module_differs
from domain.cgpu_preflight import preflight
from domain.cgpu_versions import Unknown
from domain.names import listing


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


MIXED_AT_MOST: Final = timedelta(hours=24)
"""How long the nodes of a cluster may have different policies before it is an alarm.

The documentation wants one policy for all of them; during a change that cannot be so
(facts/cgpu.md, 4.1).
"""

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


def drifts(
    cluster: Cluster, memory: Memory, desired: int, own: Sequence[NodeStatus]
) -> tuple[Drift, ...]:
    """All differences, the installation first; `own` as of `domain.cgpu_nodes`."""
    if not cluster.installers:
        return tuple(_not_installed(cluster, desired))
    return (
        *_unreadable(cluster),
        *_settings(cluster, memory, desired),
        *_values(cluster, desired),
        *_installers(cluster, memory),
        *_nodes(own, desired),
        *_overdue(cluster, memory),
        *_modules(cluster),
        *_labels(cluster, memory),
    )


def installers_off(cluster: Cluster, policy: int) -> Iterator[Installer]:
    """The installers that take a policy and are set to another, or to none.

    One without POLICY beside one that has it may not know the variable at all: it is reported and
    left alone (facts/cgpu.md, finding 1).
    """
    some_have = any(installer.settings for installer in cluster.installers)
    for installer in cluster.installers:
        if (installer.settings or not some_have) and setting_of(installer) != policy:
            yield installer


def helm_values(policy: int) -> str:
    """The values with which an installation or an upgrade takes the policy (seed 004)."""
    return f"cgpu:\n  enabled: true\n  policy: {policy}"


def who_wrote(cluster: Cluster, installer: Installer, change: Change) -> str:
    """Why an installer that was set is not any more: who wrote it, and what to do about it."""
    setting = installer.settings[0].value if installer.settings else None
    now = "has no POLICY" if setting is None else f"was set to POLICY {setting}"
    said = f"{installer.title} {now}{_by(installer)} after {change.policy} was written"
    releases = cluster.releases if not isinstance(cluster.releases, Unknown) else ()
    for release in releases:
        if read_policy(release.policy) != change.policy and _by_helm(installer, release, setting):
            return (
                f"{said}: Helm release {release.title}, revision {release.revision}, has "
                f"cgpu.policy {release.policy!r}; set cgpu.policy to {change.policy} in its "
                "values, then say resume"
            )
    return f"{said}; say resume to write it again"


def _by(installer: Installer) -> str:
    writer = installer.writer
    if writer is None:
        return ""
    when = f" at {writer.at:%Y-%m-%d %H:%M} UTC" if writer.at else ""
    return f" by {writer.manager}{when}"


def _by_helm(installer: Installer, release: Release, setting: str | None) -> bool:
    if installer.writer is not None and "helm" in installer.writer.manager.lower():
        return True
    return setting is not None and read_policy(release.policy) == read_policy(setting)


def _not_installed(cluster: Cluster, desired: int) -> Iterator[Drift]:
    releases = () if isinstance(cluster.releases, Unknown) else cluster.releases
    text = "cGPU is not installed: no DaemonSet installs it."
    for release in releases:
        if release.enabled:
            text = (
                f"Helm release {release.title} has cGPU enabled, but no DaemonSet installs it: "
                "its installation is incomplete."
            )
        else:
            text = f"cGPU is not installed: Helm release {release.title} has cgpu.enabled false."
    yield Drift(
        kind=DriftKind.NOT_INSTALLED,
        about="cgpu",
        text=text,
        remedy=f"install it with the values that take {described(desired)}:\n"
        f"{helm_values(desired)}",
    )


def _unreadable(cluster: Cluster) -> Iterator[Drift]:
    for number, blocker in enumerate(preflight(cluster).blockers):
        yield Drift(
            kind=DriftKind.UNREADABLE,
            about=blocker.split(":")[0] or str(number),
            text=blocker,
            remedy="nothing is done about cGPU until that is put right",
        )


def _settings(cluster: Cluster, memory: Memory, desired: int) -> Iterator[Drift]:
    change = memory.change
    if change is None or change.policy != desired:
        return  # the change to this policy has not begun
    for installer in installers_off(cluster, desired):
        patch = memory.patches.get(installer.uid)
        if change.is_open and (patch is None or patch.seen is None):
            continue
        yield Drift(
            kind=DriftKind.SETTING,
            about=installer.title,
            text=f"{who_wrote(cluster, installer, change)}.",
            remedy="`resume` writes the provisioned policy again",
        )
    for installer in cluster.installers:
        if not installer.settings and len(cluster.installers) > 1:
            yield Drift(
                kind=DriftKind.NO_SETTING,
                about=installer.title,
                text=f"{installer.title} installs cGPU too, and has no POLICY: which policy its "
                "nodes get is not known.",
                remedy="add POLICY to it if its version knows the variable",
            )


def _values(cluster: Cluster, desired: int) -> Iterator[Drift]:
    releases = () if isinstance(cluster.releases, Unknown) else cluster.releases
    for release in releases:
        if release.enabled and read_policy(release.policy) != desired:
            says = "no cgpu.policy" if release.policy is None else f"policy {release.policy!r}"
            yield Drift(
                kind=DriftKind.VALUES,
                about=release.title,
                text=f"Helm release {release.title} has {says}: its next upgrade will set that.",
                remedy=f"set in its values:\n{helm_values(desired)}",
            )


def _installers(cluster: Cluster, memory: Memory) -> Iterator[Drift]:
    """What changed of an installer since the last change was done."""
    for installer in cluster.installers:
        known = memory.installers.get(installer.uid)
        if known is None:
            continue
        if known.images and images_text(installer) != known.images:
            yield Drift(
                kind=DriftKind.IMAGE,
                about=installer.title,
                text=f"{installer.title} had {known.images} and now has {images_text(installer)}.",
                remedy="nodes load another version at their next restart; resume accepts it",
            )
        if known.images and selector_text(installer) != known.selector:
            selects = selector_text(installer) or "all nodes"
            yield Drift(
                kind=DriftKind.SELECTOR,
                about=installer.title,
                text=f"{installer.title} was for {known.selector or 'all nodes'} and is now for "
                f"{selects}.",
                remedy="put its node selector back, or say resume to accept it",
            )


def _nodes(own: Sequence[NodeStatus], desired: int) -> Iterator[Drift]:
    by_state: dict[NodeState, list[NodeStatus]] = {}
    for status in own:
        by_state.setdefault(status.state, []).append(status)
    for status in by_state.get(NodeState.DRIFTED, ()):
        yield Drift(
            kind=DriftKind.RUNTIME,
            about=status.node,
            text=f"On {status.node} the policy was changed without Kubernetes: {status.reason}.",
            remedy=f"restart the node to load policy {desired} again",
        )
    told = (
        (NodeState.MIXED, DriftKind.MIXED, "have GPUs of different policies", "restart them"),
        (
            NodeState.RESTART_REQUIRED,
            DriftKind.PENDING,
            "still have another policy loaded",
            "restart them, one by one",
        ),
        (
            NodeState.OVERRIDDEN,
            DriftKind.WEIGHT,
            "have policy 2 because a container there has a weight above 1",
            "that is as cGPU works under policy 1",
        ),
        (
            NodeState.UNKNOWN,
            DriftKind.UNKNOWN,
            "cannot be said to have the policy",
            "restart them, or let Poolkeeper read them (POOLKEEPER_CGPU_PROBE=exec)",
        ),
        (
            NodeState.NOT_LOADED,
            DriftKind.NOT_LOADED,
            "have no cGPU module loaded, though their label asks for it",
            "look at the log of the installer's pods there",
        ),
    )
    for state, kind, says, remedy in told:
        if found := by_state.get(state):
            names = listing(status.node for status in found)
            text = f"{len(found)} of {len(own)} nodes {says}: {names}. {found[0].node}: "
            text += f"{found[0].reason}."
            yield Drift(kind=kind, about="nodes", text=text, remedy=remedy)


def _overdue(cluster: Cluster, memory: Memory) -> Iterator[Drift]:
    change = memory.change
    if change is None or not change.is_open or cluster.at - change.started_at < MIXED_AT_MOST:
        return
    yield Drift(
        kind=DriftKind.OVERDUE,
        about=f"change {change.id}",
        text=f"The change to policy {change.policy} has been under way since "
        f"{change.started_at:%Y-%m-%d %H:%M} UTC, and the nodes have different policies meanwhile.",
        remedy="restart the nodes that are left, or roll back",
    )


def _modules(cluster: Cluster) -> Iterator[Drift]:
    installers = {installer.uid: installer for installer in cluster.installers}
    for pod in cluster.installer_pods:
        reading = cluster.readings.get(pod.node)
        installer = installers.get(pod.installer)
        if installer and isinstance(reading, Reading) and reading.loaded:
            if not module_differs(installer, reading):
                continue
            yield Drift(
                kind=DriftKind.MODULE,
                about=pod.node,
                text=f"{pod.node} has cGPU {reading.version} loaded, and "
                f"{installer.title} installs {images_text(installer)}.",
                remedy="the new one is loaded when the node is restarted",
            )


def _labels(cluster: Cluster, memory: Memory) -> Iterator[Drift]:
    """Nodes that load no module any more by their label, but have one (facts/cgpu.md, 1.2)."""
    for node in cluster.nodes:
        known = memory.nodes.get(node.name)
        if node.isolates or known is None or known.boot != node.boot:
            continue
        if known.loaded is not None and known.proof is not Proof.PRESUMED:
            yield Drift(
                kind=DriftKind.LABEL,
                about=node.name,
                text=f"{node.name} was labelled {node.label or 'for no sharing'} while its cGPU "
                "module is still loaded.",
                remedy="uninstall cGPU there and restart it, or put the label back",
            )
