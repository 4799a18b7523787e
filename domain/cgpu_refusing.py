"""What keeps a configuration with a cGPU policy from being provisioned, or warns of it."""

from collections.abc import Iterator, Mapping

from domain.cgpu_fractions import fraction_findings
from domain.configuration import Configuration
from domain.findings import Finding, error
from domain.renames import Kind


def cgpu_findings(
    configuration: Configuration,
    *,
    connected: bool,
    card_memory: Mapping[str, int] | None = None,
) -> Iterator[Finding]:
    """An error where nothing could carry the policy out, and warnings about fractions.

    `connected` is whether Poolkeeper has been given a Kubernetes cluster. It has no place in
    `domain.validation.validate`, which knows no settings. `card_memory` as in `domain.cgpu_pools`.
    """
    if configuration.cgpu is None:
        return
    if not connected:
        yield error(
            "cgpu_needs_kubernetes",
            (Kind.POLICY, "cgpu"),
            f"is to be {configuration.cgpu.policy} on all nodes, but Poolkeeper is not connected "
            "to Kubernetes",
            "set POOLKEEPER_KUBERNETES, or take `cgpu` out of the configuration",
        )
    yield from fraction_findings(configuration, card_memory)
