"""The configuration as a document: what is imported, exported, drafted, hashed and kept.

The format is ALLOCATION.md's, chapter "The files", with DESIGN.md's further keys. A `tree` is a
parsed document (YAML or JSON): mappings, lists and scalars.
"""

import json
from fractions import Fraction
from itertools import chain

from domain.amounts import format_amount
from domain.configuration import Configuration, Membership, Policy, Pool, Profile, Queueing, Team
from storage.document_errors import value_of
from storage.document_problems import DocumentError, Problem
from storage.document_references import misfits
from storage.document_shapes import CONFIGURATION
from storage.snapshot_documents import check_snapshot, read_snapshot

__all__ = [
    "DocumentError",
    "Problem",
    "check_snapshot",
    "configuration_hash",
    "read_configuration",
    "read_snapshot",
    "write_configuration",
]


def read_configuration(tree: object) -> Configuration:
    """The configuration that `tree` describes.

    Raises DocumentError with everything that keeps it from being read: unknown keys, wrong types,
    amounts that are none, duplicate names, unknown references, priority lists that do not match.
    What else is wrong with a configuration is `domain.validation`'s to say.
    """
    try:
        configuration: Configuration = value_of(tree, CONFIGURATION)
    except DocumentError as error:
        problems = chain(error.problems, misfits(tree))
        raise DocumentError(problems, are_more=error.are_more) from None
    if (unfit := DocumentError(misfits(tree))).problems:
        raise unfit
    return configuration


def write_configuration(configuration: Configuration) -> dict[str, object]:
    """The document that `read_configuration` reads back to an equal value; JSON can hold it.

    Keys are in the order of ALLOCATION.md; whole amounts are numbers, others text; what has its
    default value is left out, apart from the lists that make the document easy to complete.
    """
    document: dict[str, object] = {
        "pools": [_pool_entry(pool) for pool in configuration.pools],
        "profiles": [_profile_entry(profile) for profile in configuration.profiles],
        "policies": [_policy_entry(policy) for policy in configuration.policies],
    }
    if configuration.cgpu is not None:
        document["cgpu"] = {"policy": configuration.cgpu.policy}
    return document


def configuration_hash(configuration: Configuration) -> str:
    """The SHA-256 of the configuration's document, as 64 hexadecimal digits.

    It does not depend on the order of keys, which databases may change.
    """
    # Reading documents, which has to start fast, needs no hashes.
    import hashlib

    document = write_configuration(configuration)
    canonical = json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(canonical.encode()).hexdigest()


def _pool_entry(pool: Pool) -> dict[str, object]:
    return {
        "name": pool.name,
        "resources": _written(pool.resources),
        **_unless_default("description", pool.description, ""),
        "profiles": list(pool.profiles),
        **_unless_default("nodes", dict(pool.nodes), {}),
    }


def _profile_entry(profile: Profile) -> dict[str, object]:
    return {
        "name": profile.name,
        "allotment": _written(profile.allotment),
        **_unless_default("parameter", profile.parameter, None),
        **_unless_default("queueing", profile.queueing.value, Queueing.BACKFILL.value),
        "pools": [{"pool": link.pool, "link": link.name} for link in profile.pools],
        "policies": list(profile.policies),
    }


def _policy_entry(policy: Policy) -> dict[str, object]:
    limit = None if policy.limit is None else _written(policy.limit)
    return {
        "name": policy.name,
        "reservation": _written(policy.reservation),
        **_unless_default("limit", limit, None),
        **_unless_default("lend", policy.lend, True),
        "queues": [{"profile": q.profile, "queue": q.queue} for q in policy.queues],
        **({} if policy.team is None else {"team": _team_entry(policy.team)}),
        **_unless_default("membership", policy.membership.value, Membership.REPORT.value),
    }


def _team_entry(team: Team) -> dict[str, object]:
    return {
        **_unless_default("channel", team.channel, None),
        **_unless_default("usergroup", team.usergroup, None),
        **_unless_default("users", list(team.users), []),
        **_unless_default("clearml_users", _people(team.clearml_users), []),
    }


def _people(pairs: tuple[tuple[str, str], ...]) -> object:
    """A mapping where every person has one Slack id of their own, else a list."""
    mapping = dict(pairs)
    if pairs and "" not in mapping and len(mapping) == len(pairs):
        return mapping
    return [{slack: user} if slack else user for slack, user in pairs]


def _unless_default(key: str, value: object, default: object) -> dict[str, object]:
    return {} if value == default else {key: value}


def _written(amount: Fraction) -> int | str:
    return amount.numerator if amount.denominator == 1 else format_amount(amount)
