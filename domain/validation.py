"""Whether a configuration makes sense: every error and warning of DESIGN.md's "Validation".

Nothing is applied that has errors; warnings are shown to whoever requests and approves it.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from domain.amounts import Amount, format_amount
from domain.cgpu_fractions import fraction_findings
from domain.configuration import Configuration
from domain.findings import Finding, Severity, error, warning
from domain.names import listing, quoted
from domain.promises import Shortfall, shortfalls
from domain.renames import Kind
from domain.validation_amounts import amount_findings
from domain.validation_connections import connection_findings
from domain.validation_names import name_findings

__all__ = ["Finding", "Observed", "Severity", "is_valid", "validate"]


@dataclass(frozen=True, kw_only=True)
class Observed:
    """What is known of the world around a configuration; what is not known is left out.

    `unserved` are the names of links whose execution queue no agent serves, `allocatable` the
    GPUs of the nodes that a pool's `nodes` select, by pool.
    """

    unserved: frozenset[str] = frozenset()
    allocatable: Mapping[str, Amount] = field(default_factory=dict)


def validate(configuration: Configuration, observed: Observed | None = None) -> tuple[Finding, ...]:
    """All findings, errors before warnings, each of them in the configuration's order."""
    findings = [
        *name_findings(configuration),
        *connection_findings(configuration),
        *amount_findings(configuration),
        *_promise_findings(configuration),
        *_world_findings(configuration, observed or Observed()),
        *fraction_findings(configuration),
    ]
    return tuple(sorted(findings, key=lambda finding: finding.severity is Severity.WARNING))


def is_valid(findings: Iterable[Finding]) -> bool:
    """Whether a configuration with these findings may be provisioned."""
    return all(finding.severity is not Severity.ERROR for finding in findings)


def _promise_findings(configuration: Configuration) -> Iterator[Finding]:
    for short in shortfalls(configuration):
        yield _broken_promise(short)


def _broken_promise(short: Shortfall) -> Finding:
    subject = (Kind.POLICY, short.policies[0])
    promised, there = format_amount(short.promised), format_amount(short.there)
    others = listing(map(quoted, short.policies[1:]))
    together = f" together with {others}" if others else ""
    if not short.pools:
        message = f"is guaranteed {promised}, but its profiles lead to no pool"
        remedy = "connect it to a linked profile or reserve 0"
    else:
        pools = listing(map(quoted, short.pools))
        missing = format_amount(short.promised - short.there)
        message = (
            f"is guaranteed{together} {promised}, but all that can be used for it are {there} of "
            f"{pools}: {missing} too few"
        )
        remedy = f"reserve {missing} less or link a profile to another pool"
    return error("promises_cannot_be_kept", subject, message, remedy)


def _world_findings(configuration: Configuration, observed: Observed) -> Iterator[Finding]:
    for profile in configuration.profiles:
        for link in profile.pools:
            if link.name in observed.unserved:
                message = f"to pool {quoted(link.pool)} has an execution queue no agent serves"
                remedy = "start an agent for it, as `/pool agents` shows"
                yield warning("link_unserved", (Kind.LINK, link.name), message, remedy)
    for pool in configuration.pools:
        there = observed.allocatable.get(pool.name)
        if there is not None and there != pool.resources:
            has, nodes = format_amount(pool.resources), format_amount(there)
            message = f"has {has} resources, but its nodes have {nodes} allocatable GPUs"
            remedy = f"set its resources to {nodes} or correct its node labels"
            yield warning("pool_size_differs", (Kind.POOL, pool.name), message, remedy)
