"""`digest` and `notify`: what a channel and a person hear without asking."""

from dataclasses import replace
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from bot import notices
from bot.access import Actor
from bot.blocks import Reply, button, buttons, escape, name, section
from bot.commands import Command, Role, Verb
from bot.desk import Desk
from bot.digest_posting import told_policies
from domain.configuration import Configuration
from domain.people import Preferences
from domain.schedule_words import Misreading, parse_schedule, schedule_text
from domain.schedules import Schedule, Timing, instant
from storage import people, schedules, views

_DEFAULT = "09:00 weekdays"
_WEEK = 8


def show(desk: Desk, actor: Actor, command: Command) -> Reply:
    """When this channel gets its digest, and about whom."""
    refused = _refusal(desk, actor, command)
    if refused:
        return refused
    with desk.database.reading() as session:
        schedule = schedules.schedule(session, command.origin.channel)
    return _shown(desk, schedule)


def turn_on(desk: Desk, actor: Actor, command: Command) -> Reply:
    """As it was before, or else on weekday mornings."""
    return _keep(desk, actor, command, None)


def set_time(desk: Desk, actor: Actor, command: Command) -> Reply:
    """At another time, on other days, by another clock; what is not said stays."""
    with desk.database.reading() as session:
        before = schedules.schedule(session, command.origin.channel)
    read = parse_schedule(" ".join(command.words), before.zone if before else "UTC")
    if isinstance(read, Misreading):
        said = f"{escape(read.reason)}. Nothing was changed."
        return Reply(text=said, blocks=(section(said),))
    return _keep(desk, actor, command, read)


def turn_off(desk: Desk, actor: Actor, command: Command) -> Reply:
    refused = _refusal(desk, actor, command)
    if refused:
        return refused
    channel, now = command.origin.channel, desk.clock()
    with desk.database.transaction() as session:
        before = schedules.schedule(session, channel)
        if before is None or not before.on:
            return Reply(text="This channel gets no digest, so there is nothing to turn off.")
        schedules.put(session, replace(before, on=False, by=actor.user, changed_at=now))
        desk.record(session, actor.user, "digest off", channel, schedule_text(before))
    text = "This channel gets no digest any more. `/pool digest on` brings it back as it was."
    return Reply(text=text)


def _keep(desk: Desk, actor: Actor, command: Command, timing: Timing | None) -> Reply:
    refused = _refusal(desk, actor, command)
    if refused:
        return refused
    channel = command.origin.channel
    with desk.database.transaction() as session:
        before = schedules.schedule(session, channel)
        chosen = timing or before or parse_schedule(_DEFAULT)
        assert not isinstance(chosen, Misreading), "the default can be read"
        schedule = Schedule(
            channel=channel,
            policies=_told_about(desk.configuration(), channel),
            at=chosen.at,
            days=chosen.days,
            zone=chosen.zone,
            by=actor.user,
            changed_at=desk.clock(),
        )
        # One that stays as it is keeps its time of change, and with it a digest that is just due.
        if before is None or schedule != replace(
            before, by=schedule.by, changed_at=schedule.changed_at
        ):
            schedules.put(session, schedule)
            desk.record(session, actor.user, "digest on", channel, schedule_text(schedule))
    return _shown(desk, schedule)


def _shown(desk: Desk, schedule: Schedule | None) -> Reply:
    if schedule is None or not schedule.on:
        text = "This channel gets no digest."
        row = buttons(button("Turn it on", "digest on"))
        return Reply(text=f"{text} Say `/pool digest on`.", blocks=(section(text), row))
    configuration = desk.configuration()
    policies = told_policies(schedule, configuration) if configuration else ()
    about = ", ".join(name(policy.name) for policy in policies) or "nobody yet"
    zone = schedule.zone
    hint = " Say `/pool digest at 09:00 weekdays Europe/Berlin` for your own clock." * (
        zone == "UTC"
    )
    text = (
        f"This channel gets a digest about {about} at {schedule_text(schedule)}; the next one "
        f"comes {_when(_next(schedule, desk.clock()), zone)}.{hint}"
    )
    row = buttons(button("Turn it off", "digest off"))
    return Reply(text=text, blocks=(section(text), row))


def _next(schedule: Schedule, now: datetime) -> datetime:
    today = now.astimezone(ZoneInfo(schedule.zone)).date()
    days = (today + timedelta(days=ahead) for ahead in range(_WEEK + 1))
    instants = (instant(schedule, day) for day in days if day.weekday() in schedule.days)
    return next(at for at in instants if at > now)


def _when(at: datetime, zone: str) -> str:
    there = at.astimezone(ZoneInfo(zone))
    return f"on {there:%a} {there.day} {there:%b} at {there:%H:%M} {zone}"


def _told_about(configuration: Configuration | None, channel: str) -> tuple[str, ...]:
    """The policies whose team's channel it is; in any other one, all."""
    policies = configuration.policies if configuration else ()
    return tuple(one.name for one in policies if one.team and one.team.channel == channel)


def _refusal(desk: Desk, actor: Actor, command: Command) -> Reply | None:
    """Members decide for their team's channel, admins for any."""
    channel = command.origin.channel
    if not channel:
        return Reply(text="Say this in the channel that is to get the digest.")
    theirs = set(_told_about(desk.configuration(), channel))
    if actor.is_admin or (theirs and theirs <= actor.policies):
        return None
    return Reply(
        text="Only an admin may decide about digests here: this is not the channel of your team, "
        "or not of yours alone. Say it in your team's channel, or ask an admin."
    )


def notify_on(desk: Desk, actor: Actor, command: Command) -> Reply:
    """Direct messages about one's own tasks, for those whom a team maps to a ClearML user."""
    configuration = desk.configuration()
    if configuration is None or actor.user not in mapped(configuration):
        return Reply(
            text="I do not know which ClearML user you are, so I cannot tell which tasks are "
            "yours. Ask an admin to add you to the `clearml_users` of your team."
        )
    return _prefer(desk, actor, notify=True)


def notify_off(desk: Desk, actor: Actor, command: Command) -> Reply:
    return _prefer(desk, actor, notify=False)


def _prefer(desk: Desk, actor: Actor, *, notify: bool) -> Reply:
    with desk.database.transaction() as session:
        if notify and not people.notified(session):
            views.publish(session, notices.KEY, "", desk.clock())  # nobody was told before
        people.prefer(session, Preferences(user=actor.user, notify=notify))
    if not notify:
        return Reply(text="I write to you no more when your tasks start or end.")
    return Reply(
        text="I write to you directly when a task of yours starts, ends, or can never run. "
        "`/pool notify off` ends that."
    )


def mapped(configuration: Configuration) -> dict[str, set[str]]:
    """The ClearML users whom each Slack user is, by their teams."""
    found: dict[str, set[str]] = {}
    for policy in configuration.policies:
        for slack, clearml in policy.team.clearml_users if policy.team else ():
            if slack:
                found.setdefault(slack, set()).add(clearml)
    return found


VERBS = (
    Verb(
        words=("digest", "show"),
        role=Role.MEMBER,
        help="says when this channel gets its digest.",
        answer=show,
        example="digest show",
    ),
    Verb(
        words=("digest", "on"),
        role=Role.MEMBER,
        help="sends this channel a digest, on weekdays at 09:00 unless said otherwise.",
        answer=turn_on,
    ),
    Verb(
        words=("digest", "off"),
        role=Role.MEMBER,
        help="sends this channel no digest any more.",
        answer=turn_off,
    ),
    Verb(
        words=("digest", "at"),
        role=Role.MEMBER,
        help="sets when the digest comes, and turns it on.",
        usage="TIME [days] [zone]",
        takes=(1, 12),
        example="digest at 09:00 weekdays Europe/Berlin",
        answer=set_time,
    ),
    Verb(
        words=("notify", "on"),
        role=Role.MEMBER,
        help="writes to you when a task of yours starts, ends, or can never run.",
        answer=notify_on,
    ),
    Verb(
        words=("notify", "off"),
        role=Role.MEMBER,
        help="writes to you about your tasks no more.",
        answer=notify_off,
    ),
)
