"""What an edit gives back, and what no edit lets in."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from domain.amounts import LARGEST, parse_amount
from domain.configuration import Configuration, IntakeQueue, Link, Policy, Pool, Profile, Team
from domain.names import name_fault, quoted, text_fault
from domain.renames import Kind, Renames

Thing: TypeAlias = Pool | Profile | Policy


@dataclass(frozen=True)
class Edited:
    """A configuration that is being edited, with what its last edit brings about.

    `renames` are against the version that editing began with; `consequences` are sentences about
    what falls with the edit or changes for those who use it.
    """

    configuration: Configuration
    renames: Renames = field(default_factory=Renames)
    consequences: tuple[str, ...] = ()


@dataclass(frozen=True)
class Refused:
    """Why an edit was not made; `str()` is the sentence, with the remedy."""

    message: str
    remedy: str

    def __str__(self) -> str:
        return f"{self.message}; {self.remedy}."


Edit: TypeAlias = Edited | Refused
"""What every edit returns."""


def kind_of(thing: Thing | Link | IntakeQueue) -> Kind:
    """The kind of what is named."""
    kinds = {
        Pool: Kind.POOL,
        Profile: Kind.PROFILE,
        Policy: Kind.POLICY,
        Link: Kind.LINK,
        IntakeQueue: Kind.QUEUE,
    }
    return kinds[type(thing)]


def names_of(configuration: Configuration, kind: Kind) -> list[str]:
    """The names of everything of a kind, in the configuration's order."""
    match kind:
        case Kind.POOL:
            return [pool.name for pool in configuration.pools]
        case Kind.PROFILE:
            return [profile.name for profile in configuration.profiles]
        case Kind.POLICY:
            return [policy.name for policy in configuration.policies]
        case Kind.LINK:
            return [link.name for profile in configuration.profiles for link in profile.pools]
        case Kind.QUEUE:
            return [queue.queue for policy in configuration.policies for queue in policy.queues]


def with_pool(configuration: Configuration, pool: Pool) -> Configuration:
    """The configuration with `pool` in the place of the one of its name."""
    pools = tuple(pool if other.name == pool.name else other for other in configuration.pools)
    return replace(configuration, pools=pools)


def with_profile(configuration: Configuration, profile: Profile) -> Configuration:
    """The configuration with `profile` in the place of the one of its name."""
    profiles = tuple(
        profile if other.name == profile.name else other for other in configuration.profiles
    )
    return replace(configuration, profiles=profiles)


def with_policy(configuration: Configuration, policy: Policy) -> Configuration:
    """The configuration with `policy` in the place of the one of its name."""
    policies = tuple(
        policy if other.name == policy.name else other for other in configuration.policies
    )
    return replace(configuration, policies=policies)


def with_names(
    configuration: Configuration, kind: Kind, name: Callable[[str], str]
) -> Configuration:
    """The configuration with `name` applied to every name of `kind`."""

    def of(its: Kind, text: str) -> str:
        return name(text) if its is kind else text

    def each(its: Kind, texts: Iterable[str]) -> tuple[str, ...]:
        return tuple(of(its, text) for text in texts)

    pools = tuple(
        replace(pool, name=of(Kind.POOL, pool.name), profiles=each(Kind.PROFILE, pool.profiles))
        for pool in configuration.pools
    )
    profiles = tuple(
        replace(
            profile,
            name=of(Kind.PROFILE, profile.name),
            pools=tuple(
                Link(pool=of(Kind.POOL, link.pool), name=of(Kind.LINK, link.name))
                for link in profile.pools
            ),
            policies=each(Kind.POLICY, profile.policies),
        )
        for profile in configuration.profiles
    )
    policies = tuple(
        replace(
            policy,
            name=of(Kind.POLICY, policy.name),
            queues=tuple(
                IntakeQueue(
                    profile=of(Kind.PROFILE, queue.profile), queue=of(Kind.QUEUE, queue.queue)
                )
                for queue in policy.queues
            ),
        )
        for policy in configuration.policies
    )
    return replace(configuration, pools=pools, profiles=profiles, policies=policies)


def unknown(configuration: Configuration, kind: Kind, name: str) -> Refused | None:
    """The refusal where there is nothing of this kind and name."""
    if name in names_of(configuration, kind):
        return None
    return Refused(f"there is no {kind} {quoted(name)}", f"name an existing {kind}")


def unusable(
    configuration: Configuration, kind: Kind, name: str, *, instead_of: str | None = None
) -> Refused | None:
    """The refusal where a name is none or another of its kind has it; `instead_of` gives way."""
    if (fault := name_fault(name)) is not None:
        return Refused(f"the name {quoted(name)} {fault}", "write one line of 1 to 200 characters")
    if name != name.strip():
        return Refused(f"the name {quoted(name)} begins or ends with a space", "take it away")
    for other in names_of(configuration, kind):
        if other != instead_of and other.casefold() == name.casefold():
            return Refused(f"there is a {kind} {quoted(other)} already", "take another name")
    return None


def unfit(thing: Thing) -> Refused | None:
    """The refusal where a value of `thing` could not be written to a document and read back."""
    return next(_faults(thing), None)


def _faults(thing: Thing) -> Iterator[Refused]:
    match thing:
        case Pool():
            yield from _amount_fault("resources", parse_amount(thing.resources, zero=True))
            yield from _text_faults("description", [thing.description])
            yield from _node_faults(thing)
        case Profile():
            yield from _amount_fault("allotment", parse_amount(thing.allotment))
            yield from _name_faults("parameter", [thing.parameter])
        case Policy():
            yield from _amount_fault("reservation", parse_amount(thing.reservation, zero=True))
            if thing.limit is not None:
                yield from _amount_fault("limit", parse_amount(thing.limit))
            if thing.team is not None:
                yield from _team_faults(thing.team)


def _amount_fault(what: str, amount: object) -> Iterator[Refused]:
    if amount is None:
        may = "0 or more" if what in ("resources", "reservation") else "more than 0"
        yield Refused(f"the {what} is no amount", f"say {may}, at most {LARGEST}")


def _name_faults(what: str, names: Iterable[str | None]) -> Iterator[Refused]:
    for name in names:
        if name is not None and (fault := name_fault(name)) is not None:
            yield Refused(f"the {what} {quoted(name)} {fault}", "write one line of text")


def _text_faults(what: str, texts: Iterable[str]) -> Iterator[Refused]:
    for text in texts:
        if (fault := text_fault(text)) is not None:
            yield Refused(f"the {what} {fault}", "write at most 2,000 characters of plain text")


def _node_faults(pool: Pool) -> Iterator[Refused]:
    labels = [label for label, _ in pool.nodes]
    yield from _name_faults("node label", labels)
    yield from _text_faults("value of a node label", [value for _, value in pool.nodes])
    if len(set(labels)) < len(labels):
        yield Refused("a node label is there twice", "leave one of them")


def _team_faults(team: Team) -> Iterator[Refused]:
    yield from _name_faults("channel", [team.channel])
    yield from _name_faults("user group", [team.usergroup])
    yield from _name_faults("Slack user", team.users)
    yield from _name_faults("Slack user", [slack for slack, _ in team.clearml_users if slack])
    yield from _name_faults("ClearML user", [user for _, user in team.clearml_users])
