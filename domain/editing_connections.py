"""Connecting profiles to pools (links) and policies to profiles (intake queues), and back."""

from dataclasses import replace

from domain.configuration import IntakeQueue, Link
from domain.editing_objects import link_falls, queue_falls, stranded
from domain.edits import (
    Edit,
    Edited,
    Refused,
    unknown,
    unusable,
    with_policy,
    with_pool,
    with_profile,
)
from domain.names import quoted
from domain.renames import Kind


def link(draft: Edited, profile: str, new: Link) -> Edit:
    """`profile` may use the pool of `new`: last in its precedence and in the pool's priority."""
    configuration = draft.configuration
    if refused := (
        unknown(configuration, Kind.PROFILE, profile)
        or unknown(configuration, Kind.POOL, new.pool)
        or unusable(configuration, Kind.LINK, new.name)
    ):
        return refused
    linking, pool = configuration.profile_by_name[profile], configuration.pool_by_name[new.pool]
    if any(other.pool == new.pool for other in linking.pools):
        message = f"profile {quoted(profile)} is linked to pool {quoted(new.pool)} already"
        return Refused(message, "rename that link or take another pool")
    configuration = with_profile(configuration, replace(linking, pools=(*linking.pools, new)))
    pool = replace(pool, profiles=(*pool.profiles, profile))
    return Edited(with_pool(configuration, pool), draft.renames)


def unlink(draft: Edited, name: str) -> Edit:
    """The link called `name` goes, with its execution queue."""
    configuration = draft.configuration
    for profile in configuration.profiles:
        for old in profile.pools:
            if old.name == name:
                return _unlinked(draft, profile.name, old)
    return Refused(f"there is no link {quoted(name)}", "name an existing link")


def connect(draft: Edited, policy: str, new: IntakeQueue) -> Edit:
    """The team of `policy` may use the profile of `new`, last in its policy priority."""
    configuration = draft.configuration
    if refused := (
        unknown(configuration, Kind.POLICY, policy)
        or unknown(configuration, Kind.PROFILE, new.profile)
        or unusable(configuration, Kind.QUEUE, new.queue)
    ):
        return refused
    user, used = configuration.policy_by_name[policy], configuration.profile_by_name[new.profile]
    if any(queue.profile == new.profile for queue in user.queues):
        message = f"policy {quoted(policy)} has a queue for profile {quoted(new.profile)} already"
        return Refused(message, "rename that queue or take another profile")
    configuration = with_policy(configuration, replace(user, queues=(*user.queues, new)))
    used = replace(used, policies=(*used.policies, policy))
    return Edited(with_profile(configuration, used), draft.renames)


def disconnect(draft: Edited, policy: str, profile: str) -> Edit:
    """The team of `policy` may not use `profile` any more; its queue goes."""
    configuration = draft.configuration
    if refused := unknown(configuration, Kind.POLICY, policy):
        return refused
    user = configuration.policy_by_name[policy]
    old = next((queue for queue in user.queues if queue.profile == profile), None)
    if old is None:
        message = f"policy {quoted(policy)} has no queue for profile {quoted(profile)}"
        return Refused(message, "name a profile that it uses")
    queues = tuple(queue for queue in user.queues if queue != old)
    used = configuration.profile_by_name[profile]
    used = replace(used, policies=tuple(name for name in used.policies if name != policy))
    left = with_profile(with_policy(configuration, replace(user, queues=queues)), used)
    consequences = (queue_falls(policy, old), *stranded(configuration, left))
    return Edited(left, draft.renames.without(Kind.QUEUE, old.queue), consequences)


def _unlinked(draft: Edited, profile: str, old: Link) -> Edited:
    before = draft.configuration
    linking, pool = before.profile_by_name[profile], before.pool_by_name[old.pool]
    links = tuple(other for other in linking.pools if other.name != old.name)
    left = with_profile(before, replace(linking, pools=links))
    if all(other.pool != old.pool for other in links):
        rest = tuple(name for name in pool.profiles if name != profile)
        left = with_pool(left, replace(pool, profiles=rest))
    consequences = (link_falls(profile, old), *stranded(before, left))
    return Edited(left, draft.renames.without(Kind.LINK, old.name), consequences)
