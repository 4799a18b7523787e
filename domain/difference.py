"""What differs between two configurations, in sentences: for previews, refusals and history."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from typing import TypeAlias

from domain.amounts import Amount, format_amount
from domain.configuration import Configuration, Policy, Pool, Profile, Team
from domain.edits import Thing, kind_of, names_of, with_names
from domain.names import listing, quoted
from domain.renames import Kind, Renames, original

_LONGEST_SHOWN = 60


class Act(StrEnum):
    """What happened to the object that a change is about."""

    ADDED = "added"
    REMOVED = "removed"
    RENAMED = "renamed"
    CHANGED = "changed"


@dataclass(frozen=True)
class Change:
    """One difference; `kind` and `name` say of what, None and empty for the whole.

    `name` is the new one, or the old one of what was removed.
    """

    act: Act
    kind: Kind | None
    name: str
    sentence: str


def difference(
    old: Configuration, new: Configuration, renames: Renames | None = None
) -> tuple[Change, ...]:
    """All changes that lead from `old` to `new`; none exactly when the two are equal.

    `renames` are those between the two; without them, what has another name is another object.
    """
    renames = renames or Renames()
    # The old configuration under the names of the new one.
    here = old
    for kind in Kind:
        here = with_names(here, kind, partial(renames.current, kind))
    return (
        *_renamings(old, new, renames),
        *_comings_and_goings(here, new),
        *_connections(here, new),
        *_alterations(here, new),
        *_whole(here, new),
    )


def _renamings(old: Configuration, new: Configuration, renames: Renames) -> Iterator[Change]:
    for kind in Kind:
        there = set(names_of(new, kind))
        for name in names_of(old, kind):
            now = renames.current(kind, name)
            if now != name and now in there:
                sentence = f"{_titled(kind, name)} is renamed to {now}."
                yield Change(Act.RENAMED, kind, now, sentence)


def _comings_and_goings(here: Configuration, new: Configuration) -> Iterator[Change]:
    for kind in (Kind.POOL, Kind.PROFILE, Kind.POLICY):
        there = set(names_of(new, kind))
        for name in map(original, (name for name in names_of(here, kind) if name not in there)):
            yield Change(Act.REMOVED, kind, name, f"{_titled(kind, name)} is deleted.")
    known = {kind: set(names_of(here, kind)) for kind in Kind}
    for thing in _things(new):
        kind = kind_of(thing)
        if thing.name not in known[kind]:
            values = ", ".join(
                f"{what} {shown}"
                for what, raw, shown in _attributes(thing)
                if isinstance(raw, Amount) or (what == "parameter" and raw)
            )
            sentence = f"{_titled(kind, thing.name)} is new: {values}."
            yield Change(Act.ADDED, kind, thing.name, sentence)


def _connections(here: Configuration, new: Configuration) -> Iterator[Change]:
    for kind, read, joins in (
        (Kind.LINK, _links, "profile {} with pool {}"),
        (Kind.QUEUE, _queues, "policy {} with profile {}"),
    ):
        # Dictionaries, to look up fast and keep the order.
        was, now = dict.fromkeys(read(here)), dict.fromkeys(read(new))
        for name, *ends in (one for one in was if one not in now):
            shown = joins.format(*map(original, ends))
            sentence = f"{_titled(kind, original(name))} of {shown} is removed."
            yield Change(Act.REMOVED, kind, original(name), sentence)
        for name, *ends in (one for one in now if one not in was):
            sentence = f"{_titled(kind, name)} connects {joins.format(*ends)}."
            yield Change(Act.ADDED, kind, name, sentence)


def _alterations(here: Configuration, new: Configuration) -> Iterator[Change]:
    before = {(kind_of(thing), thing.name): thing for thing in _things(here)}
    for thing in _things(new):
        kind = kind_of(thing)
        was = before.get((kind, thing.name))
        if was is None:
            continue
        pairs = zip(_attributes(was), _attributes(thing), strict=True)
        told = [
            f"{what} {shown} → {shown_now}"
            for (what, raw, shown), (_, raw_now, shown_now) in pairs
            if raw != raw_now
        ]
        told += [f"{what} {_turned(*orders)}" for what, *orders in _orders(was, thing)]
        for each in told:
            sentence = f"{_titled(kind, thing.name)}: {each}."
            yield Change(Act.CHANGED, kind, thing.name, sentence)


def _whole(here: Configuration, new: Configuration) -> Iterator[Change]:
    for kind, plural in (
        (Kind.POOL, "pools"),
        (Kind.PROFILE, "profiles"),
        (Kind.POLICY, "policies"),
    ):
        was, now = names_of(here, kind), names_of(new, kind)
        if _is_reordered(was, now):
            yield Change(Act.CHANGED, None, "", f"Order of {plural}: {_turned(was, now)}.")
    cgpu = [f"policy {c.cgpu.policy}" if c.cgpu else "not managed" for c in (here, new)]
    if cgpu[0] != cgpu[1]:
        yield Change(Act.CHANGED, None, "", f"cGPU: {cgpu[0]} → {cgpu[1]}.")


_Attribute: TypeAlias = tuple[str, object, str]
"""What it is called, its value, and how that is shown."""


def _attributes(thing: Thing) -> list[_Attribute]:
    match thing:
        case Pool():
            return [
                _amount("resources", thing.resources),
                ("description", thing.description, _text(thing.description)),
                ("nodes", thing.nodes, ", ".join("=".join(pair) for pair in thing.nodes) or "any"),
            ]
        case Profile():
            return [
                _amount("allotment", thing.allotment),
                ("parameter", thing.parameter, thing.parameter or "none"),
                ("queueing", thing.queueing, str(thing.queueing)),
            ]
        case Policy():
            return [
                _amount("reservation", thing.reservation),
                _amount("limit", thing.limit),
                ("lend", thing.lend, "yes" if thing.lend else "no"),
                ("membership", thing.membership, str(thing.membership)),
                *_team(thing.team),
            ]


def _orders(was: Thing, now: Thing) -> Iterator[tuple[str, Sequence[str], Sequence[str]]]:
    """The priority lists that changed by more than what was connected or disconnected."""
    pairs: list[tuple[str, Sequence[str], Sequence[str]]] = []
    if isinstance(was, Pool) and isinstance(now, Pool):
        pairs = [("execution priority", was.profiles, now.profiles)]
    if isinstance(was, Profile) and isinstance(now, Profile):
        pools, pools_now = ([link.pool for link in profile.pools] for profile in (was, now))
        pairs = [
            ("pool precedence", pools, pools_now),
            ("policy priority", was.policies, now.policies),
        ]
    if isinstance(was, Policy) and isinstance(now, Policy):
        queues, queues_now = ([q.profile for q in policy.queues] for policy in (was, now))
        pairs = [("order of queues", queues, queues_now)]
    return (pair for pair in pairs if _is_reordered(pair[1], pair[2]))


def _is_reordered(was: Sequence[str], now: Sequence[str]) -> bool:
    before, after = set(was), set(now)
    expected = [name for name in was if name in after]
    expected += [name for name in now if name not in before]
    return expected != list(now)


def _turned(was: Sequence[str], now: Sequence[str]) -> str:
    return f"{', '.join(map(original, was))} → {', '.join(now)}"


def _things(configuration: Configuration) -> Iterator[Thing]:
    yield from configuration.pools
    yield from configuration.profiles
    yield from configuration.policies


def _links(configuration: Configuration) -> list[tuple[str, str, str]]:
    return [
        (link.name, profile.name, link.pool)
        for profile in configuration.profiles
        for link in profile.pools
    ]


def _queues(configuration: Configuration) -> list[tuple[str, str, str]]:
    return [
        (queue.queue, policy.name, queue.profile)
        for policy in configuration.policies
        for queue in policy.queues
    ]


def _amount(what: str, amount: Amount | None) -> _Attribute:
    return (what, amount, "none" if amount is None else format_amount(amount))


def _text(text: str) -> str:
    return quoted(text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}…")


def _team(team: Team | None) -> list[_Attribute]:
    who = team or Team()
    pairs = [f"{slack or 'nobody'} as {user}" for slack, user in who.clearml_users]
    return [
        ("team", team is None, "none" if team is None else "given"),
        ("channel", who.channel, who.channel or "none"),
        ("user group", who.usergroup, who.usergroup or "none"),
        ("users", who.users, listing(who.users) or "none"),
        ("ClearML users", who.clearml_users, listing(pairs) or "none"),
    ]


def _titled(kind: Kind, name: str) -> str:
    return f"{kind.capitalize()} {name}"
