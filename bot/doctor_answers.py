"""`doctor`: what is wrong with Slack, the settings, ClearML or the database, and the remedy."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from bot.access import Actor
from bot.blocks import (
    Block,
    Reply,
    buttons,
    context,
    counted,
    name,
    page_in,
    page_of,
    quoted,
    section,
    turn,
)
from bot.checkups import (
    SIGNS,
    Ailment,
    Channel,
    Rules,
    SlackState,
    Standing,
    cluster_ailments,
    round_ailments,
    rule_ailments,
    slack_ailments,
)
from bot.checkups_servers import ClearMLState, clearml_ailments
from bot.commands import Command, Role, Verb
from bot.desk import Desk, age
from bot.slack_door import Later, Slack, SlackError
from controller.cgpu_view import last_note
from controller.survey import last_survey
from domain.configuration import Configuration
from storage import alerts, outbox, queues, switch

_A_PAGE: Final = 12
_CHANNELS: Final = 40
"""Slack lets 50 channels be asked for in a minute."""


@dataclass(frozen=True, kw_only=True)
class Findings:
    """What is wrong, and in `facts` what was looked at, in words."""

    ailments: tuple[Ailment, ...]
    facts: tuple[str, ...]


def doctor(desk: Desk, actor: Actor, asked: Command) -> Reply:
    """Looks everything over now, Slack included."""
    _, number = page_in(asked.words)
    return diagnosis(examine(desk), number)


def diagnosis(found: Findings, number: int = 1) -> Reply:
    """What was found, the remedies first of all; paged."""
    count = len(found.ailments)
    text = "I found nothing wrong." if not count else f"I found {count} things that are wrong."
    text = "I found 1 thing that is wrong." if count == 1 else text
    page = page_of(found.ailments, number, _A_PAGE)
    blocks: list[Block] = [section(f"*{text}*")]
    for place, ailment in enumerate(page.items, page.first):
        how = f"{SIGNS[ailment.standing]} {ailment.standing}"
        blocks.append(section(f"*{place}. {how}* {ailment.says}\n→ {ailment.remedy}"))
    blocks += page.footer("doctor")
    blocks += [context(f"Looked at: {'; '.join(found.facts)}."), buttons(turn("Again", "doctor"))]
    return Reply(text=text, blocks=tuple(blocks))


def examine(desk: Desk) -> Findings:
    """Everything that can be wrong, in the order in which it is to be mended."""
    configuration = desk.configuration() or Configuration()
    rules = rules_of(desk)
    with desk.database.reading() as session:
        state = ClearMLState(
            configuration=configuration,
            owned=queues.owned_queues(session),
            survey=last_survey(session),
        )
        enabled = switch.is_enabled(session)
        raised = alerts.raised(session)
        waiting = len(outbox.heads(session, desk.clock()))
    view, now = desk.view(), desk.clock()
    groups = wanted_groups(desk.settings.admin_group, configuration)
    slack = slack_state(desk.slack, configuration, desk.settings.admin_channel)
    ailments = (
        *rule_ailments(rules),
        *slack_ailments(slack, groups),
        *clearml_ailments(state),
        *round_ailments(None if view is None else now - view.at, rules),
        *_cluster(desk),
        *alert_ailments(alert.text for alert in raised),
    )
    seen = "never" if view is None else age(view.at, now)
    version = state.survey.server_version if state.survey else ""
    facts = (
        f"Slack ({counted(len(slack.scopes), 'scope')}, {counted(len(groups), 'user group')}, "
        f"{counted(len(slack.channels), 'channel')})",
        f"ClearML {version or 'of unknown version'}",
        f"last round {seen}",
        "database readable and writable" if _writes(desk) else "database readable only",
        f"management {'on' if enabled else 'OFF: nothing is dispatched'}",
        f"{counted(waiting, 'channel')} with unsent messages",
    )
    return Findings(ailments=ailments, facts=facts)


def _cluster(desk: Desk) -> Iterator[Ailment]:
    if desk.settings.has_kubernetes:
        with desk.database.reading() as session:
            note = last_note(session)
        looked = desk.clock() - note.looked_at if note.looks else None
        yield from cluster_ailments(note.away, looked, desk.settings.cgpu_seconds)


def alert_ailments(texts: Iterable[str]) -> Iterator[Ailment]:
    for text in texts:
        yield Ailment(
            says=f"An alert is raised: {quoted(text, 600)}",
            remedy="See what it says.",
            standing=Standing.WARN,
        )


def _writes(desk: Desk) -> bool:
    """A transaction that changes nothing; what cannot be had is raised and told."""
    with desk.database.transaction():
        return True


def rules_of(desk: Desk) -> Rules:
    chosen = desk.settings
    return Rules(
        admins=desk.membership.admins(),
        admin_group=chosen.admin_group,
        admin_channel=chosen.admin_channel,
        approvals=chosen.approvals,
        lone_admin=chosen.lone_admin,
        round_s=chosen.round_seconds,
    )


def wanted_groups(admin_group: str, configuration: Configuration) -> dict[str, str]:
    """The user groups that must be readable, by id, with whose each is."""
    found = {admin_group: "the admins"} if admin_group else {}
    for policy in configuration.policies:
        if policy.team and policy.team.usergroup:
            found.setdefault(policy.team.usergroup, f"policy {name(policy.name)}")
    return found


def slack_state(
    slack: Slack | None, configuration: Configuration, admin_channel: str
) -> SlackState:
    if slack is None:
        return SlackState(error="the bot is not connected")
    try:
        scopes = slack.scopes()
    except SlackError as error:
        return SlackState(error=error.code)
    groups, groups_error = None, ""
    try:
        groups = frozenset(slack.groups())
    except SlackError as error:
        groups_error = error.code
    wanted = {admin_channel: "the admins"} if admin_channel else {}
    for policy in configuration.policies:
        if policy.team and policy.team.channel:
            wanted.setdefault(policy.team.channel, f"policy {name(policy.name)}")
    return SlackState(
        scopes=scopes,
        groups=groups,
        groups_error=groups_error,
        channels=tuple(
            Channel(id=one, whose=whose, fault=_fault(slack, one))
            for one, whose in list(wanted.items())[:_CHANNELS]
        ),
    )


def _fault(slack: Slack, channel: str) -> str:
    try:
        place = slack.place(channel)
    except Later:
        return ""  # what Slack does not say now is no finding
    except SlackError as error:
        return error.code
    return "is_archived" if place.archived else "" if place.joined else "not_in_channel"


VERBS = (
    Verb(
        words=("doctor",),
        role=Role.ADMIN,
        help="says what is wrong with Slack, the settings, ClearML and agents, and what to do.",
        takes=(0, 2),
        example="doctor",
        answer=doctor,
    ),
)
