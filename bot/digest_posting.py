"""When a channel's digest is due, and that it goes into the outbox once.

A digest belongs to a local date. It is put into the outbox in the transaction that notes the
date, so it is never sent twice and never forgotten, whatever dies when (DESIGN.md, "Slack").
"""

from datetime import date, timedelta

from bot import posts
from bot.blocks import Post
from bot.desk import Desk
from bot.digest_messages import Told, message, picture
from bot.task_names import names_of
from controller.digests import Facts, digest
from domain.amounts import ZERO
from domain.configuration import Configuration, Policy
from domain.schedules import Schedule, due, period
from storage import ledger, schedules, usage


def put_due(desk: Desk) -> None:
    """Puts every digest that is due into the outbox, each once."""
    now = desk.clock()
    with desk.database.reading() as session:
        last = schedules.last_dates(session)
        every = schedules.schedules(session)
    for schedule in every:
        day = due(schedule, now, last.get(schedule.channel))
        if day is not None:
            put(desk, schedule, day)


def put(desk: Desk, schedule: Schedule, day: date) -> None:
    """Puts the digest of that date into the outbox, unless it is there already."""
    told = _told(desk, schedule, day)
    key = f"digest:{schedule.channel}:{day.isoformat()}"
    with desk.database.transaction() as session:
        now = schedules.schedule(session, schedule.channel)
        last = schedules.last_dates(session).get(schedule.channel)
        if now != schedule or (last is not None and last >= day):
            return  # changed or sent while this one was being computed
        schedules.mark(session, schedule.channel, day)
        if told is None:
            return
        posts.announce(session, key, message(told), told.now)
        if not told.digest.is_idle:
            post = Post(channel=schedule.channel, text="")
            posts.picture(session, f"{key}:picture", post, picture(told), told.now)
    desk.deliver()


def _told(desk: Desk, schedule: Schedule, day: date) -> Told | None:
    """None where there is no policy to tell about any more."""
    configuration = desk.configuration()
    policies = told_policies(schedule, configuration) if configuration else ()
    if configuration is None or not policies:
        return None
    now, view = desk.clock(), desk.view()
    start, end = period(schedule, day)
    with desk.database.reading() as session:
        facts = Facts(
            start=start,
            end=end,
            entries=ledger.entries(session),
            ended=ledger.ended_between(session, start, now + timedelta(days=1)),
            usage=usage.between(session, start, end),
            snapshot=view.snapshot if view else None,
            plan=view.plan if view else None,
        )
        found = digest(facts, policies)
        longest = [wait.task for one in found.policies for wait in one.longest]
        names = names_of(session, longest)
    whole = sum((pool.resources for pool in configuration.pools), ZERO)
    return Told(digest=found, schedule=schedule, whole=whole, names=names, now=now)


def told_policies(schedule: Schedule, configuration: Configuration) -> tuple[Policy, ...]:
    """What the schedule's digest is about, as it is called now."""
    wanted = schedule.policies
    return tuple(one for one in configuration.policies if not wanted or one.name in wanted)
