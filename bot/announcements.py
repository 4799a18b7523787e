"""Alerts as messages: one card per trouble and channel, and a word in its thread when it is over.

What is wrong is decided in `controller.alerts`; here it is remembered since when, told once to
those whom it concerns, and told over to those who were told. Each step is one transaction.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from bot import posts
from bot.alert_messages import entry, grouped, over, sent_back, standing
from bot.desk import Desk
from bot.task_names import Names, names_of
from controller.alerts import Facts, Kind, Thresholds, Trouble, troubles
from controller.loop import Outage
from controller.membership import SENT_BACK
from controller.publishing import View
from domain.configuration import Configuration, Membership
from storage import alerts, audit, ledger, tasks
from storage.alerts import Alert
from storage.database import Session

_OLD = timedelta(minutes=1)
"""A view that is older, by three rounds at least, tells nothing new: ClearML is away, which is an
alert of its own."""

_EDITS = timedelta(minutes=5)
"""How often a card that stands is brought up to date; its numbers change with every round."""

_LATELY = timedelta(days=1)
_SENT_BACK = 200

_ONCE = frozenset({Kind.NEVER, Kind.STRANGER})
"""Said once, many tasks in one message; that it is over is no news."""

_SEEN = frozenset({Kind.WAITS, Kind.RESERVATION, Kind.UNTAKEN, Kind.FOREIGN, *_ONCE})
_OF_POLICIES = frozenset({Kind.WAITS, Kind.RESERVATION})
_BOTH = frozenset({Kind.RESERVATION})
"""Told to the team and to the admins."""


@dataclass(frozen=True, kw_only=True)
class _Look:
    """One look at what is wrong, in one transaction."""

    desk: Desk
    session: Session
    configuration: Configuration
    names: Names
    now: datetime

    def channels(self, kind: str, policy: str) -> tuple[str, ...]:
        """Who is to hear of it; nobody where no channel is set."""
        found = self.configuration.policy_by_name.get(policy)
        team = (found.team.channel if found and found.team else None) or ""
        admins = self.desk.settings.admin_channel
        both = (team, admins) if kind in _BOTH else (team or admins,)
        return tuple(dict.fromkeys(channel for channel in both if channel))


def look(desk: Desk) -> None:
    """Compares what is wrong with what was, and tells the difference."""
    view, now = desk.view(), desk.clock()
    old = max(_OLD, timedelta(seconds=3 * desk.settings.round_seconds))
    if view is None or now - view.at > old:
        return
    facts = _facts(desk, view)
    found = {one.cause: one for one in troubles(facts, thresholds_of(desk))}
    with desk.database.transaction() as session:
        names = names_of(session, (task for one in found.values() for task in one.tasks))
        configuration = view.snapshot.configuration
        at = _Look(desk=desk, session=session, configuration=configuration, names=names, now=now)
        before = {one.cause: one for one in alerts.raised(session)}
        _raise(at, found.values(), before)
        for cause, alert in before.items():
            if alert.kind in _known_kinds(facts) and cause not in found:
                _end(at, alert)
        if any(one.membership is Membership.RETURN for one in configuration.policies):
            _tell_sent_back(at)
    desk.deliver()


def outage(desk: Desk, outage: Outage) -> None:
    """ClearML is away, or back."""
    text = f"ClearML does not answer, so no task is dispatched; running ones go on. {outage.error}"
    trouble = Trouble(kind=Kind.CLEARML, about="down", text=text, since=outage.since)
    _report(desk, trouble, is_over=outage.over)


def books(desk: Desk, alarms: Iterable[str], reference: str) -> None:
    """A round's plan was wrong, and was not carried out; without alarms it is right again."""
    first, *more = list(alarms) or [""]
    rest = f" There are {len(more)} more such findings." if more else ""
    text = (
        f"A round checked its books, found them wrong, and moved nothing: {first}{rest} "
        f"Say /pool audit {reference} for all of it, and tell whoever runs Poolkeeper."
    )
    trouble = Trouble(kind=Kind.BOOKS, about="rounds", text=text)
    _report(desk, trouble, is_over=not first)


def _report(desk: Desk, trouble: Trouble, *, is_over: bool) -> None:
    with desk.database.transaction() as session:
        at = _plain_look(desk, session)
        before = {one.cause: one for one in alerts.raised(session)}
        if not is_over:
            _raise(at, [trouble], before)
        elif trouble.cause in before:
            _end(at, before[trouble.cause])
    desk.deliver()


def compare(
    desk: Desk, session: Session, found: Iterable[Trouble], kinds: Collection[Kind]
) -> None:
    """These are all the troubles of these kinds that there are now: tells the difference."""
    at = _plain_look(desk, session)
    now = {trouble.cause: trouble for trouble in found}
    before = {one.cause: one for one in alerts.raised(session) if one.kind in kinds}
    _raise(at, now.values(), before)
    for cause, alert in before.items():
        if cause not in now:
            _end(at, alert)


def _plain_look(desk: Desk, session: Session) -> _Look:
    """A look at what concerns no task."""
    configuration = desk.configuration() or Configuration()
    return _Look(
        desk=desk, session=session, configuration=configuration, names=Names(), now=desk.clock()
    )


def thresholds_of(desk: Desk) -> Thresholds:
    return Thresholds(waits=timedelta(hours=desk.settings.waits_too_long_hours))


def _facts(desk: Desk, view: View) -> Facts:
    with desk.database.reading() as session:
        entries = ledger.entries(session)
        known = tasks.facts(session, _of_listed_users(view))
    execution = {entry.execution for entry in entries}
    held = [one.task for id_, queue in view.queues.items() if id_ in execution
            for one in queue.entries]  # fmt: skip
    # A view that was read back after a restart knows how many tasks there are, and not which.
    queued = None if "" in held else frozenset(held)
    return Facts(
        snapshot=view.snapshot, plan=view.plan, entries=entries, queued=queued, known=known
    )


def _of_listed_users(view: View) -> Iterator[str]:
    """The waiting tasks whose users matter: those of teams that list theirs."""
    policies = view.snapshot.configuration.policy_by_name
    for queue in view.snapshot.queues:
        policy = policies.get(queue.policy)
        if policy is not None and policy.team and policy.team.clearml_users:
            yield from (task.id for task in queue.tasks)


def _known_kinds(facts: Facts) -> frozenset[Kind]:
    return _SEEN if facts.queued is not None else _SEEN - {Kind.UNTAKEN}


def _raise(at: _Look, found: Iterable[Trouble], before: Mapping[str, Alert]) -> None:
    told: list[Trouble] = []
    for trouble in found:
        text = at.names.sentence(trouble.text)
        since = trouble.since or at.now
        new = Alert(cause=trouble.cause, kind=trouble.kind, text=text, since=since)
        alert = before.get(trouble.cause, new)
        is_news = alert.text != text
        if trouble.cause not in before or is_news:
            alert = replace(alert, text=text)
            alerts.raise_(at.session, alert)
        lasted = trouble.since is not None or at.now - alert.since >= trouble.after
        if alert.told_at is None and lasted and alerts.told(at.session, trouble.cause, at.now):
            told.append(trouble)
            _show(at, trouble, alert)
        elif alert.told_at is not None and is_news:
            _show(at, trouble, alert)
    _tell_once(at, [trouble for trouble in told if trouble.kind in _ONCE])


def _show(at: _Look, trouble: Trouble, alert: Alert) -> None:
    """The card as it is to be read now."""
    if trouble.kind in _ONCE:
        return
    within = _EDITS if alert.told_at else timedelta()
    for channel in at.channels(trouble.kind, trouble.policy):
        post = standing(channel, trouble, alert)
        posts.show_card(at.session, card_of(alert, channel), post, at.now, within)


def _tell_once(at: _Look, found: Iterable[Trouble]) -> None:
    """Tasks of one team and kind in one message."""
    groups: dict[tuple[str, str], list[Trouble]] = {}
    for trouble in found:
        groups.setdefault((trouble.kind, trouble.policy), []).append(trouble)
    for (kind, policy), every in groups.items():
        for channel in at.channels(kind, policy):
            post = grouped(channel, every, at.names)
            key = f"once:{every[0].cause}:{at.now.isoformat()}:{channel}"
            posts.announce(at.session, key, post, at.now)


def _end(at: _Look, alert: Alert) -> None:
    ended = alerts.over(at.session, alert.cause, at.now)
    if ended is None or ended.told_at is None or ended.kind in _ONCE:
        return
    about = alert.cause.partition(":")[2]
    for channel in at.channels(alert.kind, about if alert.kind in _OF_POLICIES else ""):
        card = card_of(alert, channel)
        posts.show_card(at.session, card, over(channel, alert, at.now), at.now)
        posts.tell_in_thread(at.session, card, f"{card}:over", entry(channel, alert), at.now)


def _tell_sent_back(at: _Look) -> None:
    """Each round's tasks of one team in one message, however often this looks."""
    rounds: dict[tuple[datetime, str], list[str]] = {}
    for record in audit.records(at.session, _SENT_BACK, SENT_BACK):
        if record.action == SENT_BACK and at.now - record.at < _LATELY:
            rounds.setdefault((record.at, record.subject), []).append(record.detail)
    for (when, policy), details in rounds.items():
        ids = (detail.split(" ", 1)[0] for detail in details)
        names = names_of(at.session, ids)
        for channel in at.channels(Kind.STRANGER, policy):
            post = sent_back(channel, policy, [names.sentence(detail) for detail in details])
            key = f"{SENT_BACK}:{policy}:{when.isoformat()}:{channel}"
            posts.announce(at.session, key, post, at.now)


def card_of(alert: Alert, channel: str) -> str:
    """The name of an alert's card in a channel; the next time it is another one."""
    return f"alert:{alert.cause}:{alert.since.isoformat()}:{channel}"
