"""Findings about what is connected to what: references, links, queues and priority lists."""

import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from typing import Final

from domain.configuration import Configuration, Policy, Pool, Profile
from domain.findings import Finding, error, warning
from domain.names import listing, quoted
from domain.promises import policies_by_profile
from domain.renames import Kind

_PARAMETER: Final = re.compile(r"(runtime|configuration)\.[^.].*|hyperparams\.[^.]+\.[^.].*")


def connection_findings(configuration: Configuration) -> Iterator[Finding]:
    """What refers to nothing, is connected to nothing or twice, or is not in its list once."""
    linked: dict[str, dict[str, None]] = {}
    for profile in configuration.profiles:
        for link in profile.pools:
            linked.setdefault(link.pool, {})[profile.name] = None
    using = policies_by_profile(configuration)
    for pool in configuration.pools:
        yield from _pool_findings(pool, list(linked.get(pool.name, ())))
    for profile in configuration.profiles:
        users = [policy.name for policy in using.get(profile.name, ())]
        yield from _order_findings(
            (Kind.PROFILE, profile.name), "policy priority", profile.policies, users
        )
        yield from _profile_findings(profile, configuration)
    for policy in configuration.policies:
        yield from _policy_findings(policy, configuration)


def _pool_findings(pool: Pool, linked: Sequence[str]) -> Iterator[Finding]:
    subject = (Kind.POOL, pool.name)
    yield from _order_findings(subject, "execution priority", pool.profiles, linked)
    if not linked:
        message = "is linked to no profile, so nothing can run in it"
        yield warning("pool_without_link", subject, message, "link a profile to it or delete it")


def _profile_findings(profile: Profile, configuration: Configuration) -> Iterator[Finding]:
    subject = (Kind.PROFILE, profile.name)
    pools = [link.pool for link in profile.pools]
    for pool in _first_of_each(pools):
        if pool not in configuration.pool_by_name:
            message = f"is linked to {quoted(pool)}, which is no pool"
            yield error("reference_unknown", subject, message, "create the pool or unlink it")
        if pools.count(pool) > 1:
            message = f"is linked to pool {quoted(pool)} {pools.count(pool)} times"
            yield error("link_duplicate", subject, message, "leave one link between the two")
    if not pools:
        message = "is linked to no pool, so its jobs can never run"
        yield error("profile_unlinked", subject, message, "link it to a pool or delete it")
    if profile.parameter is not None and _PARAMETER.fullmatch(profile.parameter) is None:
        message = f"has the parameter {quoted(profile.parameter)}, which no task can have"
        remedy = (
            "write runtime.<key>, hyperparams.<section>.<name> or configuration.<name>, "
            "such as runtime.gpus_request"
        )
        yield error("parameter_invalid", subject, message, remedy)


def _policy_findings(policy: Policy, configuration: Configuration) -> Iterator[Finding]:
    subject = (Kind.POLICY, policy.name)
    profiles = [queue.profile for queue in policy.queues]
    for profile in _first_of_each(profiles):
        if profile not in configuration.profile_by_name:
            message = f"has a queue for {quoted(profile)}, which is no profile"
            yield error("reference_unknown", subject, message, "create it or remove the queue")
        if profiles.count(profile) > 1:
            message = f"has {profiles.count(profile)} queues for profile {quoted(profile)}"
            yield error("queue_duplicate", subject, message, "leave one queue for the profile")
    if not profiles:
        message = "uses no profile, so nobody can enqueue to it"
        remedy = "connect it to a profile or delete it"
        yield warning("policy_without_profile", subject, message, remedy)


def _order_findings(
    subject: tuple[Kind, str], order: str, given: Sequence[str], wanted: Collection[str]
) -> Iterator[Finding]:
    """A priority list has to name each of `wanted` exactly once and nothing else."""
    counts, connected = Counter(given), set(wanted)
    faults = {
        "lacks": [name for name in wanted if name not in counts],
        "repeats": [name for name, times in counts.items() if times > 1],
        "names without a connection": [name for name in counts if name not in connected],
    }
    told = [f"{fault} {listing(map(quoted, names))}" for fault, names in faults.items() if names]
    if told:
        message = f"has a wrong {order}: it {', '.join(told)}"
        yield error("priority_mismatch", subject, message, "name each connected one exactly once")


def _first_of_each(names: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(names))
