"""How things of a configuration are said in the editor, in a message's markup. Pure."""

import re
from collections.abc import Iterable
from datetime import datetime, timedelta

from bot.blocks import name, user
from bot.desk import age
from domain.amounts import format_amount
from domain.configuration import Membership, Policy, Pool, Profile, Team
from domain.edits import Thing
from domain.names import listing

_JUST_NOW = timedelta(seconds=10)


def count(number: int, noun: str) -> str:
    """A number with its noun, in the singular for one."""
    if number == 1:
        return f"1 {noun}"
    plural = f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"
    return f"{number} {plural}"


def thing_line(thing: Thing) -> str:
    """One thing in a list: its name, and below it what it is in a few words."""
    return f"{name(thing.name)}\n{' · '.join(_facts(thing))}"


def _facts(thing: Thing) -> list[str]:
    match thing:
        case Pool():
            return [resources(thing), count(len(thing.profiles), "profile")]
        case Profile():
            pools, policies = len(thing.pools), len(thing.policies)
            return [allotment(thing), count(pools, "pool"), count(policies, "policy")]
        case Policy():
            return [terms(thing), count(len(thing.queues), "queue")]


def resources(pool: Pool) -> str:
    amount = format_amount(pool.resources)
    return "1 resource" if pool.resources == 1 else f"{amount} resources"


def allotment(profile: Profile) -> str:
    amount = format_amount(profile.allotment)
    if profile.parameter is None:
        return f"{amount} per job"
    return f"{name(profile.parameter)} of the task per job, else {amount}"


def terms(policy: Policy) -> str:
    limit = "no limit" if policy.limit is None else f"limit {format_amount(policy.limit)}"
    return f"{format_amount(policy.reservation)} reserved, {limit}"


def thing_lines(thing: Thing) -> list[str]:
    """Everything about one thing but its description and what it is connected with."""
    lines = [f"*{name(thing.name)}*", *_values(thing)]
    return [line for line in lines if line]


def _values(thing: Thing) -> list[str]:
    match thing:
        case Pool():
            nodes = ", ".join(name("=".join(pair)) for pair in thing.nodes)
            return [resources(thing), f"Nodes with the labels {nodes}" if nodes else ""]
        case Profile():
            passing = {"backfill": "may pass", "strict": "never pass"}[thing.queueing]
            order = f"Smaller jobs {passing} larger ones that wait before them ({thing.queueing})"
            return [allotment(thing), order if thing.is_dynamic else ""]
        case Policy():
            lends = "lent to others while idle" if thing.lend else "kept free while idle"
            outside = _OUTSIDE[thing.membership]
            return [terms(thing), f"The reservation is {lends}", *_team(thing.team), outside]


_OUTSIDE = {
    Membership.REPORT: "Tasks of others than its ClearML users are reported",
    Membership.RETURN: "Tasks of others than its ClearML users are sent back to draft",
}


def _team(team: Team | None) -> Iterable[str]:
    if team is None:
        yield "No team is named"
        return
    channel = _place(team.channel, "C", "#") if team.channel else "none"
    group = _place(team.usergroup, "S", "!subteam^") if team.usergroup else "none"
    yield f"Team: channel {channel}, user group {group}"
    if team.users:
        yield f"People: {listing(map(user, team.users))}"
    if team.clearml_users:
        pairs = (
            f"{name(clearml)} ({user(slack)})" if slack else name(clearml)
            for slack, clearml in team.clearml_users
        )
        yield f"ClearML users: {listing(pairs)}"


def _place(id_: str, first: str, sign: str) -> str:
    """A channel or user group by its id, as Slack shows it; windows notify nobody."""
    return f"<{sign}{id_}>" if re.fullmatch(rf"{first}[A-Z0-9_]+", id_) else name(id_)


def ago(then: datetime, now: datetime) -> str:
    """How long ago, in words."""
    return "just now" if now - then < _JUST_NOW else age(then, now)
