"""Findings about what things are called: bad names, and names that two things share."""

from collections.abc import Iterable, Iterator

from domain.configuration import Configuration
from domain.findings import Finding, error
from domain.names import execution_queue_name, name_fault, quoted
from domain.renames import Kind

SHORTEST_QUEUE_NAME = 3
"""In characters; ClearML refuses shorter ones."""


def name_findings(configuration: Configuration) -> Iterator[Finding]:
    """Names that are none, that are too short for a queue, or that are there twice."""
    for kind, names in _names(configuration).items():
        for name in names:
            yield from _bad_name(kind, name)
        yield from _shared(kind, names)
    yield from _taken_queues(configuration)


def _names(configuration: Configuration) -> dict[Kind, list[str]]:
    return {
        Kind.POOL: [pool.name for pool in configuration.pools],
        Kind.PROFILE: [profile.name for profile in configuration.profiles],
        Kind.POLICY: [policy.name for policy in configuration.policies],
        Kind.LINK: [link.name for profile in configuration.profiles for link in profile.pools],
        Kind.QUEUE: [queue.queue for policy in configuration.policies for queue in policy.queues],
    }


def _bad_name(kind: Kind, name: str) -> Iterator[Finding]:
    if (fault := name_fault(name)) is not None:
        yield error("name_invalid", (kind, name), fault, "write one line of 1 to 200 characters")
    elif name != name.strip():
        message = "begins or ends with a space, which nobody sees"
        yield error("name_invalid", (kind, name), message, "take the space away")
    if kind is Kind.QUEUE and len(name.strip()) < SHORTEST_QUEUE_NAME:
        message = f"has a name of fewer than {SHORTEST_QUEUE_NAME} characters"
        yield error("queue_name_short", (kind, name), message, "give it a longer name")


def _shared(kind: Kind, names: Iterable[str]) -> Iterator[Finding]:
    seen: dict[str, str] = {}
    for name in names:
        first = seen.get(name.casefold())
        if first is None:
            seen[name.casefold()] = name
            continue
        like = "there already" if first == name else f"told from {quoted(first)} by case only"
        message = f"has a name that is {like}"
        yield error("name_duplicate", (kind, name), message, "give one of them another name")


def _taken_queues(configuration: Configuration) -> Iterator[Finding]:
    """Intake queues that would be a link's execution queue at the same time."""
    execution = {
        execution_queue_name(link.pool, link.name).casefold(): link.name
        for profile in configuration.profiles
        for link in profile.pools
    }
    for policy in configuration.policies:
        for queue in policy.queues:
            if (link_name := execution.get(queue.queue.casefold())) is not None:
                message = f"has the name of the execution queue of link {quoted(link_name)}"
                subject = (Kind.QUEUE, queue.queue)
                yield error("name_duplicate", subject, message, "give it another name")
