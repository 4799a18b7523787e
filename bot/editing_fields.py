"""What was filled in, as values of the domain, or a sentence below each wrong field. Pure."""

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from bot.editing_forms import is_user, nodes_text, users_text
from bot.surfaces import Errors, Fields
from domain.amounts import LARGEST, Amount, format_amount, parse_amount
from domain.configuration import (
    Configuration,
    Membership,
    Policy,
    Pool,
    Profile,
    Queueing,
    Team,
)
from domain.edits import Refused, Thing, unfit, unusable
from domain.names import quoted, text_fault
from domain.renames import Kind
from domain.validation_names import SHORTEST_QUEUE_NAME

Pairs = tuple[tuple[str, str], ...]

_GROUP = re.compile(r"S[A-Z0-9_]{2,}")


class Reading:
    """Reads the fields one by one, and remembers what is wrong with them."""

    def __init__(self, fields: Fields) -> None:
        self.fields = fields
        self.wrong: dict[str, str] = {}

    def text(self, block: str) -> str:
        return str(self.fields.get(block) or "").strip()

    def amount(self, block: str, *, zero: bool = False) -> Amount:
        """The amount in a field; 0 and a sentence where there is none."""
        said = self.text(block)
        amount = parse_amount(said, zero=zero)
        if amount is None:
            least = "0 or more" if zero else "more than 0"
            shown = quoted(said if len(said) <= 40 else f"{said[:39]}…")
            self.wrong[block] = (
                f"{shown} is no amount. Write a number such as 4, 0.5 or 1/7: {least}, at most "
                f"{LARGEST:,}."
            )
        return amount or Amount(0)

    def is_untouched(self, block: str, shown: str) -> bool:
        """Whether it says what it was shown with, or was too long to be shown."""
        return block not in self.fields or self.text(block) == shown.strip()

    def lines(self, block: str) -> list[str]:
        lines = (line.strip() for line in self.text(block).splitlines())
        return [line for line in lines if line]


def thing_of(
    kind: Kind, fields: Fields, before: Thing | None, configuration: Configuration
) -> Thing | Errors:
    """What a form says; `before` is what it was made for, None for something new."""
    reading = Reading(fields)
    thing = _READ[kind](reading, before)
    clash = unusable(configuration, kind, thing.name, instead_of=before.name if before else None)
    if clash is not None:
        reading.wrong["name"] = sentence(clash)
    if not reading.wrong and (fault := unfit(thing)) is not None:
        reading.wrong["name"] = sentence(fault)
    return Errors(by_block=reading.wrong) if reading.wrong else thing


def sentence(refused: Refused) -> str:
    """A refusal of the domain as a whole sentence."""
    text = str(refused)
    return f"{text[:1].upper()}{text[1:]}"


def queue_fault(kind: Kind, label: str) -> Errors | None:
    """What ClearML would not take as the name of a queue."""
    if kind is not Kind.QUEUE or len(label) >= SHORTEST_QUEUE_NAME:
        return None
    told = f"ClearML wants {SHORTEST_QUEUE_NAME} characters or more for the name of a queue."
    return Errors(by_block={"label": told})


def _pool(reading: Reading, before: Thing | None) -> Pool:
    description = str(reading.fields.get("description") or "")
    if (fault := text_fault(description)) is not None:
        reading.wrong["description"] = f"The description {fault}."
    return Pool(
        name=reading.text("name"),
        resources=reading.amount("resources", zero=True),
        description=description,
        nodes=_nodes(reading, before.nodes if isinstance(before, Pool) else ()),
    )


def _nodes(reading: Reading, was: Pairs) -> Pairs:
    if reading.is_untouched("nodes", nodes_text(was)):
        return was
    nodes: list[tuple[str, str]] = []
    for line in reading.lines("nodes"):
        label, equals, value = line.partition("=")
        if not equals or not label.strip():
            reading.wrong["nodes"] = f"{quoted(line[:60])} is no label: write label=value."
        elif label.strip() in dict(nodes):
            reading.wrong["nodes"] = f"The label {quoted(label.strip()[:60])} is there twice."
        nodes.append((label.strip(), value.strip()))
    return tuple(nodes)


def _profile(reading: Reading, before: Thing | None) -> Profile:
    return Profile(
        name=reading.text("name"),
        allotment=reading.amount("allotment"),
        parameter=_parameter(reading),
        queueing=Queueing(reading.text("queueing") or Queueing.BACKFILL),
    )


_PARAMETER = re.compile(r"runtime\..+|hyperparams\.[^.]+\..+|configuration\..+", re.DOTALL)


def _parameter(reading: Reading) -> str | None:
    said = reading.text("parameter")
    if said and not _PARAMETER.fullmatch(said):
        reading.wrong["parameter"] = (
            "Write runtime.NAME, hyperparams.SECTION.NAME or configuration.NAME, or leave it empty."
        )
    return said or None


def _policy(reading: Reading, before: Thing | None) -> Policy:
    reservation = reading.amount("reservation", zero=True)
    limit = reading.amount("limit") if reading.text("limit") else None
    if not reading.wrong and limit is not None and limit < reservation:
        reading.wrong["limit"] = (
            f"The limit of {format_amount(limit)} is less than the {format_amount(reservation)} "
            "that are reserved: raise it or reserve less."
        )
    was = before.team if isinstance(before, Policy) else None
    team = _team(reading, was or Team())
    return Policy(
        name=reading.text("name"),
        reservation=reservation,
        limit=limit,
        lend=reading.text("lend") != "no",
        team=None if was is None and team == Team() else team,
        membership=Membership(reading.text("membership") or Membership.REPORT),
    )


def _team(reading: Reading, was: Team) -> Team:
    group = reading.text("usergroup").removeprefix("<!subteam^").partition("|")[0].rstrip(">")
    if group and group != was.usergroup and not _GROUP.fullmatch(group):
        reading.wrong["usergroup"] = "This is no id of a user group; one looks like S0123ABCD."
    # What the selects cannot show stays as it is.
    channel = was.channel if was.channel and was.channel[:1] not in ("C", "G") else None
    others = tuple(user for user in was.users if not is_user(user))
    chosen: list[Any] = list(reading.fields.get("users") or ())
    kept = [user for user in was.users if user in chosen]
    added = [user for user in chosen if user not in kept]
    return replace(
        was,
        channel=reading.fields.get("channel") or channel,
        usergroup=group or None,
        users=was.users if "users" not in reading.fields else (*others, *kept, *added),
        clearml_users=_clearml_users(reading, was.clearml_users),
    )


def _clearml_users(reading: Reading, was: Pairs) -> Pairs:
    if reading.is_untouched("clearml_users", users_text(was)):
        return was
    pairs = []
    for line in reading.lines("clearml_users"):
        slack, equals, user = (part.strip() for part in line.partition("="))
        pairs.append((slack, user) if equals and is_user(slack) else ("", line))
        if not pairs[-1][1]:
            reading.wrong["clearml_users"] = f"{quoted(line[:60])} names no ClearML user."
    return tuple(pairs)


_READ: dict[Kind, Callable[[Reading, Thing | None], Thing]] = {
    Kind.POOL: _pool,
    Kind.PROFILE: _profile,
    Kind.POLICY: _policy,
}
