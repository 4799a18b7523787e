"""Creating, editing, renaming and deleting pools, profiles and policies, and renaming the rest."""

from collections.abc import Iterable
from dataclasses import replace

from domain.configuration import CGPU, Configuration, IntakeQueue, Link, Policy, Pool, Profile
from domain.edits import (
    Edit,
    Edited,
    Refused,
    Thing,
    kind_of,
    unfit,
    unknown,
    unusable,
    with_names,
    with_policy,
    with_pool,
    with_profile,
)
from domain.names import quoted
from domain.renames import Kind


def create(draft: Edited, thing: Thing) -> Edit:
    """`thing` comes last among its kind, with the values it has and no connections."""
    configuration = draft.configuration
    if refused := unusable(configuration, kind_of(thing), thing.name) or unfit(thing):
        return refused
    match thing:
        case Pool():
            pools = (*configuration.pools, replace(thing, profiles=()))
            configuration = replace(configuration, pools=pools)
        case Profile():
            profiles = (*configuration.profiles, replace(thing, pools=(), policies=()))
            configuration = replace(configuration, profiles=profiles)
        case Policy():
            policies = (*configuration.policies, replace(thing, queues=()))
            configuration = replace(configuration, policies=policies)
    return Edited(configuration, draft.renames)


def edit(draft: Edited, thing: Thing) -> Edit:
    """What has the name of `thing` gets its values; name and connections stay as they are."""
    configuration = draft.configuration
    if refused := unknown(configuration, kind_of(thing), thing.name) or unfit(thing):
        return refused
    match thing:
        case Pool():
            pool = configuration.pool_by_name[thing.name]
            configuration = with_pool(configuration, replace(thing, profiles=pool.profiles))
        case Profile():
            now = configuration.profile_by_name[thing.name]
            profile = replace(thing, pools=now.pools, policies=now.policies)
            configuration = with_profile(configuration, profile)
        case Policy():
            policy = configuration.policy_by_name[thing.name]
            configuration = with_policy(configuration, replace(thing, queues=policy.queues))
    return Edited(configuration, draft.renames)


def set_cgpu(draft: Edited, policy: int | None) -> Edit:
    """The cGPU policy of all nodes becomes `policy`, 0 to 5; None leaves cGPU unmanaged."""
    if policy is not None and policy not in range(6):
        return Refused(f"{policy} is none of the cGPU policies", "say a whole number from 0 to 5")
    cgpu = None if policy is None else CGPU(policy=policy)
    return Edited(replace(draft.configuration, cgpu=cgpu), draft.renames)


def rename(draft: Edited, kind: Kind, old: str, new: str) -> Edit:
    """What is called `old` is called `new`, wherever it is named; it stays the same object."""
    configuration = draft.configuration
    if refused := unknown(configuration, kind, old):
        return refused
    if refused := unusable(configuration, kind, new, instead_of=old):
        return refused
    consequences: tuple[str, ...] = ()
    if kind is Kind.QUEUE and old != new:
        told = f"Who enqueues to {quoted(old)} by name has to use {quoted(new)} from now on."
        consequences = (told,)
    renamed = with_names(configuration, kind, lambda name: new if name == old else name)
    return Edited(renamed, draft.renames.then(kind, old, new), consequences)


def delete(draft: Edited, kind: Kind, name: str) -> Edit:
    """The pool, profile or policy goes, and all its links and queues with it."""
    configuration, renames = draft.configuration, draft.renames
    if refused := unknown(configuration, kind, name):
        return refused
    match kind:
        case Kind.POOL:
            left = _without_pool(configuration, name)
        case Kind.PROFILE:
            left = _without_profile(configuration, name)
        case Kind.POLICY:
            left = _without_policy(configuration, name)
        case _:
            return Refused(f"a {kind} cannot be deleted by itself", "disconnect what it connects")
    renames = renames.without(kind, name)
    consequences = []
    for profile, link in _links(configuration):
        if (profile, link) not in _links(left):
            renames = renames.without(Kind.LINK, link.name)
            consequences.append(link_falls(profile, link))
    for policy, queue in _queues(configuration):
        if (policy, queue) not in _queues(left):
            renames = renames.without(Kind.QUEUE, queue.queue)
            consequences.append(queue_falls(policy, queue))
    return Edited(left, renames, (*consequences, *stranded(configuration, left)))


def link_falls(profile: str, link: Link) -> str:
    """What it means that a link goes (DESIGN.md, "What provisioning does to queues")."""
    return (
        f"The link {quoted(link.name)} from profile {quoted(profile)} to pool {quoted(link.pool)} "
        "and its execution queue go; tasks that wait in it return to their intake queues."
    )


def queue_falls(policy: str, queue: IntakeQueue) -> str:
    """What it means that an intake queue goes."""
    return (
        f"The queue {quoted(queue.queue)} of policy {quoted(policy)} for profile "
        f"{quoted(queue.profile)} goes; tasks that wait in it become drafts."
    )


def stranded(before: Configuration, after: Configuration) -> Iterable[str]:
    """What has no connection any more and had one before."""
    for profile in after.profiles:
        if not profile.pools and before.profile_by_name[profile.name].pools:
            yield f"Profile {quoted(profile.name)} is linked to no pool then: no job of it can run."
    for policy in after.policies:
        if not policy.queues and before.policy_by_name[policy.name].queues:
            yield f"Policy {quoted(policy.name)} uses no profile then: nobody can enqueue to it."


def _without_pool(configuration: Configuration, name: str) -> Configuration:
    return replace(
        configuration,
        pools=tuple(pool for pool in configuration.pools if pool.name != name),
        profiles=tuple(
            replace(profile, pools=tuple(link for link in profile.pools if link.pool != name))
            for profile in configuration.profiles
        ),
    )


def _without_profile(configuration: Configuration, name: str) -> Configuration:
    return replace(
        configuration,
        pools=tuple(
            replace(pool, profiles=tuple(other for other in pool.profiles if other != name))
            for pool in configuration.pools
        ),
        profiles=tuple(profile for profile in configuration.profiles if profile.name != name),
        policies=tuple(
            replace(policy, queues=tuple(q for q in policy.queues if q.profile != name))
            for policy in configuration.policies
        ),
    )


def _without_policy(configuration: Configuration, name: str) -> Configuration:
    return replace(
        configuration,
        profiles=tuple(
            replace(profile, policies=tuple(other for other in profile.policies if other != name))
            for profile in configuration.profiles
        ),
        policies=tuple(policy for policy in configuration.policies if policy.name != name),
    )


def _links(configuration: Configuration) -> list[tuple[str, Link]]:
    return [(p.name, link) for p in configuration.profiles for link in p.pools]


def _queues(configuration: Configuration) -> list[tuple[str, IntakeQueue]]:
    return [(p.name, queue) for p in configuration.policies for queue in p.queues]
