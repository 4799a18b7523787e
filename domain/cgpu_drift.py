"""What differs from the provisioned policy, and why: the matrix of facts/cgpu.md, 6.

Each drift has a cause that stays the same as long as it is the same drift. While a change is under
way, what it has not reached yet is no drift.
"""

from collections.abc import Iterator, Sequence

from domain.cgpu import described, read_policy
from domain.cgpu_cluster import Cluster, Installer, Release
from domain.cgpu_drift_kinds import Drift, DriftKind
from domain.cgpu_drift_nodes import (
    label_drifts,
    module_drifts,
    node_drifts,
    overdue_drifts,
)
from domain.cgpu_learning import images_text, selector_text, setting_of
from domain.cgpu_memory import Change, Memory
from domain.cgpu_nodes import NodeStatus
from domain.cgpu_preflight import preflight
from domain.cgpu_versions import Unknown


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
        *node_drifts(own, desired),
        *overdue_drifts(cluster, memory),
        *module_drifts(cluster),
        *label_drifts(cluster, memory),
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
