"""Everything that can be said of a configuration here and now: by itself, and against the world.

The world is what was looked at last and published: agents and queues by the survey, nodes by the
cGPU reconciler. What is not known is left out.
"""

from controller.cgpu_view import last_cluster
from controller.survey import last_survey
from domain.cgpu_pools import allocatable, card_memories, pool_nodes
from domain.cgpu_refusing import cgpu_findings
from domain.configuration import Configuration
from domain.findings import Finding, Severity
from domain.ledger import Role
from domain.validation import Observed, validate
from storage import queues
from storage.database import Session


def findings(
    session: Session, configuration: Configuration, *, connected: bool
) -> tuple[Finding, ...]:
    """All findings, those about agents, nodes and cGPU too, errors before warnings.

    `connected` is whether a Kubernetes cluster is set; `domain.validation` knows no settings.
    """
    cluster = last_cluster(session) if connected else None
    nodes = pool_nodes(configuration, cluster.nodes) if cluster else ()
    observed = Observed(unserved=unserved_links(session), allocatable=allocatable(nodes))
    found = (
        *validate(configuration, observed),
        *cgpu_findings(configuration, card_memories(nodes), connected=connected),
    )
    return tuple(sorted(found, key=lambda finding: finding.severity is Severity.WARNING))


def unserved_links(session: Session) -> frozenset[str]:
    """The links in force whose execution queue no agent served when that was looked at last."""
    survey = last_survey(session)
    unserved = survey.unserved if survey else frozenset()
    return frozenset(
        queue.owner
        for queue in queues.owned_queues(session)
        if queue.role is Role.EXECUTION and queue.id in unserved
    )
