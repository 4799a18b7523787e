"""What must be known before POLICY is written or a node is prepared (facts/cgpu.md, 4.2).

Every blocker is a sentence with its remedy. What cannot be read blocks as what is wrong does.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from domain.cgpu import read_policy
from domain.cgpu_cluster import Cluster, Installer
from domain.cgpu_versions import (
    OLDEST_CGPU,
    OLDEST_KUBERNETES,
    SAFE_CGPU,
    Unknown,
    image_version,
    kubernetes_version,
)
from domain.names import listing


@dataclass(frozen=True, kw_only=True)
class Preflight:
    """Sentences. Nothing is done while there are `blockers`, nothing written while there are
    `starting` ones; `warnings` are for whoever approves."""

    blockers: tuple[str, ...] = ()
    starting: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


def preflight(cluster: Cluster) -> Preflight:
    """All that stands in the way of a change of the policy, and all that should be known of it."""
    return Preflight(
        blockers=(
            *_kubernetes(cluster),
            *(line for installer in cluster.installers for line in _images(installer)),
            *(line for installer in cluster.installers for line in _settings(installer)),
            *_missing_settings(cluster),
            *_releases(cluster),
        ),
        starting=tuple(_nodes(cluster)),
        warnings=tuple(_warnings(cluster)),
    )


def _kubernetes(cluster: Cluster) -> Iterator[str]:
    version = kubernetes_version(cluster.version)
    if isinstance(version, Unknown):
        yield f"The version of Kubernetes is not known: {version.why}."
    elif version < OLDEST_KUBERNETES:
        yield f"Kubernetes {version} is too old: cGPU policies need {OLDEST_KUBERNETES}."


def _images(installer: Installer) -> Iterator[str]:
    for image in installer.images:
        version = image_version(image)
        if isinstance(version, Unknown):
            yield (
                f"Which cGPU version {installer.title} installs is not known: {version.why}; "
                "give its image a tag such as v1.5.10."
            )
        elif version < OLDEST_CGPU:
            yield (
                f"{installer.title} installs cGPU {version}, and policies need {OLDEST_CGPU}; "
                "upgrade cGPU first."
            )


def _settings(installer: Installer) -> Iterator[str]:
    settings = installer.settings
    if len(settings) > 1:
        where = listing(f"{one.container} (env {one.index})" for one in settings)
        yield (
            f"{installer.title} sets POLICY {len(settings)} times, in {where}: which one counts "
            "is not certain; leave one."
        )
    elif settings and settings[0].value is None:
        yield (
            f"{installer.title} takes POLICY from elsewhere (valueFrom in "
            f"{settings[0].container}); give it a plain value."
        )
    elif settings and read_policy(settings[0].value) is None:
        yield f"{installer.title} has POLICY {settings[0].value!r}, which is no policy; set 0 to 5."


def _missing_settings(cluster: Cluster) -> Iterator[str]:
    """Where POLICY is to be added, and cannot be; beside an installer that has it, none is."""
    if any(installer.settings for installer in cluster.installers):
        return
    for installer in cluster.installers:
        if installer.imports_environment:
            yield (
                f"{installer.title} has no POLICY of its own, but takes variables from elsewhere "
                "(envFrom); give it a plain POLICY."
            )
        elif installer.bare is None:
            yield (
                f"{installer.title} has no POLICY, and which of its containers should have it is "
                "not certain; add it by hand."
            )


def _releases(cluster: Cluster) -> Iterator[str]:
    if isinstance(cluster.releases, Unknown):
        yield f"The Helm release of cGPU is not known: {cluster.releases.why}."
        return
    for release in cluster.releases:
        if release.pending:
            yield (
                f"Helm release {release.title} is {release.pending}; cGPU is left alone until "
                "that is over."
            )


def _nodes(cluster: Cluster) -> Iterator[str]:
    away = [node.name for node in cluster.nodes if node.isolates and not node.ready]
    if away:
        yield (
            f"Not ready: {listing(away)}. A rolling update would stop there; repair or remove "
            "them first."
        )


def _warnings(cluster: Cluster) -> Iterator[str]:
    for installer in cluster.installers:
        for image in installer.images:
            version = image_version(image)
            if not isinstance(version, Unknown) and OLDEST_CGPU <= version < SAFE_CGPU:
                yield (
                    f"{installer.title} installs cGPU {version}: versions before {SAFE_CGPU} can "
                    "bring a node down with a kernel panic; upgrade soon."
                )
        if installer.desired == 0:
            yield f"{installer.title} runs on no node: no node has its labels."
    if len(cluster.installers) > 1:
        names = listing(installer.title for installer in cluster.installers)
        yield f"cGPU is installed by {names}; all of them are set to the same policy."
