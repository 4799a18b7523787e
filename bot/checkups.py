"""What the doctor finds: pure comparisons of how things are with how they have to be."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from typing import Final

from bot.blocks import name, quoted
from bot.desk import span
from bot.manifest import BOT_SCOPES


class Standing(StrEnum):
    """How something is. What is not known is a warning at least: it is never fine."""

    OK = "ok"
    WARN = "warn"
    FAIL = "fail"


SIGNS: Final = {Standing.OK: "\N{CHECK MARK}", Standing.WARN: "!", Standing.FAIL: "\N{BALLOT X}"}
"""A sign for each, beside its word: never a colour alone."""


@dataclass(frozen=True, kw_only=True)
class Ailment:
    """Something that is wrong, and what to do about it; both are sentences in markup."""

    says: str
    remedy: str
    standing: Standing = Standing.FAIL


@dataclass(frozen=True, kw_only=True)
class Channel:
    """A channel that the bot is to post in; `fault` is Slack's word, "" where it can."""

    id: str
    whose: str
    fault: str = ""


@dataclass(frozen=True, kw_only=True)
class SlackState:
    """What Slack says. `error` is why nothing else is known; `groups` None where unreadable."""

    error: str = ""
    scopes: frozenset[str] = frozenset()
    groups: frozenset[str] | None = frozenset()
    groups_error: str = ""
    channels: Sequence[Channel] = ()


@dataclass(frozen=True, kw_only=True)
class Rules:
    """What the settings ask for."""

    admins: frozenset[str] | None
    admin_group: str
    admin_channel: str
    approvals: int
    lone_admin: bool
    round_s: float


SLACK_LATER: Final = "Try again in a minute; Slack's status page says whether it is Slack."
_FAULTS: Final[Mapping[str, tuple[str, str]]] = {
    "channel_not_found": (
        "does not exist, or is private and I am not in it",
        "invite me there with `/invite @poolkeeper`, or correct the id",
    ),
    "is_archived": ("is archived", "unarchive it, or name another channel"),
    "missing_scope": ("cannot be looked at", "grant the scopes that are missing"),
    "not_in_channel": ("does not have me as a member", "say `/invite @poolkeeper` there"),
}


def slack_ailments(state: SlackState, wanted: Mapping[str, str]) -> Iterator[Ailment]:
    """Tokens, scopes, user groups (`wanted`: id to whose it is) and channels."""
    if state.error:
        yield Ailment(
            says=f"Slack does not answer as it should: {state.error}.", remedy=SLACK_LATER
        )
        return
    lacking = [scope for scope in BOT_SCOPES if scope.name not in state.scopes]
    for scope in lacking:
        yield Ailment(
            says=f"The app lacks the scope {name(scope.name)}, which {scope.purpose}",
            remedy="Update the app's manifest (`poolkeeper manifest`) and install it again.",
        )
    if wanted and state.groups is None:
        yield Ailment(
            says=f"User groups cannot be read ({state.groups_error}): nobody has rights by them.",
            remedy=(
                "Grant `usergroups:read`; on a plan without user groups, list people by id in "
                "POOLKEEPER_ADMINS and in the policies' teams."
            ),
        )
    for group, whose in wanted.items():
        if state.groups is not None and group not in state.groups:
            yield Ailment(
                says=f"The user group {name(group)} of {whose} does not exist.",
                remedy="Correct the id, or enable the group in Slack.",
            )
    for channel in state.channels:
        if channel.fault:
            says, remedy = _FAULTS.get(
                channel.fault, (f"cannot be used ({channel.fault})", "correct the id")
            )
            yield Ailment(
                says=f"The channel {name(channel.id)} of {channel.whose} {says}.",
                remedy=f"{remedy[0].upper()}{remedy[1:]}.",
            )


def rule_ailments(rules: Rules) -> Iterator[Ailment]:
    """The settings, as far as they do not fit one another."""
    if rules.admins is None:
        yield Ailment(
            says="Who is an admin cannot be read, so nobody can approve anything.",
            remedy="List a few admins by id in POOLKEEPER_ADMINS as well.",
        )
    elif not rules.admins:
        yield Ailment(
            says="There is no admin.", remedy="Set POOLKEEPER_ADMINS or POOLKEEPER_ADMIN_GROUP."
        )
    elif len(rules.admins) <= rules.approvals and not (rules.lone_admin and len(rules.admins) == 1):
        admins = "1 admin" if len(rules.admins) == 1 else f"{len(rules.admins)} admins"
        yield Ailment(
            says=(
                f"A change needs {rules.approvals} approvals by other admins than its requester, "
                f"but there are only {admins}."
            ),
            remedy=(
                "Name more admins, lower POOLKEEPER_APPROVALS, or allow an only admin to approve "
                "by POOLKEEPER_LONE_ADMIN."
            ),
        )
    if not rules.admin_channel:
        yield Ailment(
            says="There is no channel for requests and alerts.",
            remedy="Set POOLKEEPER_ADMIN_CHANNEL to a channel's id, and invite me there.",
            standing=Standing.WARN,
        )


def round_ailments(age: timedelta | None, rules: Rules) -> Iterator[Ailment]:
    """How long ago the last round ended; None for never."""
    if age is None:
        yield Ailment(
            says="No round has ended yet.",
            remedy="Provision a configuration and start `poolkeeper run`; if both are done, see "
            "what is said of ClearML.",
            standing=Standing.WARN,
        )
    elif age > max(3 * timedelta(seconds=rules.round_s), timedelta(seconds=15)):
        yield Ailment(
            says=f"The last round ended {span(age)} ago; one is to end every {rules.round_s:g} s.",
            remedy="See what is said of ClearML, and the log of `poolkeeper run`.",
        )


def cluster_ailments(away: str, age: timedelta | None, every_s: float) -> Iterator[Ailment]:
    """Whether Kubernetes is looked at; `age` is that of the last look, None for never."""
    if away:
        yield Ailment(
            says=f"Kubernetes cannot be worked with: {quoted(away, 300)}",
            remedy="See POOLKEEPER_KUBERNETES, and the role in deploy/manifests/cgpu-role.yaml.",
        )
    elif age is None:
        yield Ailment(
            says="The Kubernetes cluster was not looked at yet.",
            remedy="Wait a minute after the start of `poolkeeper run`; only it looks.",
            standing=Standing.WARN,
        )
    elif age > max(3 * timedelta(seconds=every_s), timedelta(seconds=30)):
        yield Ailment(
            says=f"The Kubernetes cluster was looked at {span(age)} ago; every {every_s:g} s is "
            "what is set.",
            remedy="See the log of `poolkeeper run`.",
            standing=Standing.WARN,
        )
