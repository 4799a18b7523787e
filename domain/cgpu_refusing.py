"""What of a cGPU policy only the surroundings tell: whether it can be carried out, what fits."""

from collections.abc import Iterator, Mapping

from domain.cgpu_fractions import fit_findings
from domain.configuration import Configuration
from domain.findings import Finding, error
from domain.renames import Kind


def cgpu_findings(
    configuration: Configuration, card_memory: Mapping[str, int], *, connected: bool
) -> Iterator[Finding]:
    """An error where nothing could carry the policy out, and warnings about what does not fit.

    `connected` is whether Poolkeeper has been given a Kubernetes cluster, `card_memory` as in
    `domain.cgpu_pools`; `domain.validation` knows neither.
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
    yield from fit_findings(configuration, card_memory)
