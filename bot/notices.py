"""Direct messages to those who want them: their task starts, ends, or can never run.

Whose a task is, ClearML says; which Slack user that is, a team's `clearml_users`. How far the
history was told is remembered with what was told, so nothing is told twice or left out.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from bot import posts
from bot.blocks import Post, button, buttons, escape, name, plain, section
from bot.desk import Desk, span
from bot.naming import command
from bot.task_names import Names, names_of
from domain.amounts import format_amount
from domain.configuration import Configuration
from domain.explain import Explainer
from domain.ledger import Ended, LedgerEntry, Stage
from domain.snapshot import NEVER
from storage import ledger, people, views
from storage.database import Session

KEY = "noticed"
"""Under which it is remembered up to when everything was told."""

_NOTED = timedelta(minutes=1)
_OUTCOMES = {
    "completed": "has completed",
    "failed": "has failed",
    "stopped": "was stopped",
    "deleted": "was deleted",
    "created": "was made a draft again",
}
_NO_NEWS = frozenset({"enqueued again", "aborted during its move"})
"""Their users did this themselves, a moment ago."""

_OVERLAP = timedelta(minutes=1)
"""What is dispatched is written down a little later than its time says; keys keep it single."""


@dataclass(frozen=True, kw_only=True)
class _Notice:
    """Something to say about a task, once under `key`; `says` opens a command's answer."""

    task: str
    key: str
    text: str
    label: str = ""
    says: str = ""


def tell(desk: Desk) -> None:
    """Tells what happened since the last time."""
    now, configuration = desk.clock(), desk.configuration()
    if configuration is None:
        return
    with desk.database.reading() as session:
        wants = people.notified(session)
        since = views.published_at(session, KEY) or now
        if not wants:
            return
        found = list(_notices(desk, session, since - _OVERLAP))
        names = names_of(session, (notice.task for notice in found))
    if not found and now - since < _NOTED:
        return
    owners = owners_of(configuration, wants)
    with desk.database.transaction() as session:
        for notice in found:
            fact = names.facts.get(notice.task)
            for person in owners.get(fact.user, ()) if fact else ():
                key = f"notice:{notice.key}:{person}"
                posts.direct(session, key, person, _post(notice, names, person), now)
        views.publish(session, KEY, "", now)
    desk.deliver()


def owners_of(configuration: Configuration, wants: Iterable[str]) -> dict[str, set[str]]:
    """Of each ClearML user the Slack users that they are, among those who want to hear."""
    found: dict[str, set[str]] = {}
    wanted = set(wants)
    for policy in configuration.policies:
        for slack, clearml in policy.team.clearml_users if policy.team else ():
            if slack in wanted:
                found.setdefault(clearml, set()).add(slack)
    return found


def _notices(desk: Desk, session: Session, since: datetime) -> Iterator[_Notice]:
    for entry in ledger.entries(session):
        if entry.stage is Stage.DISPATCHED and (entry.dispatched_at or since) > since:
            yield _started(entry)
    for over in ledger.ended_between(session, since, desk.clock() + timedelta(days=1)):
        if over.outcome not in _NO_NEWS:
            yield _ended(over)
    view = desk.view()
    if view is None:
        return
    explainer = Explainer(view.snapshot, view.plan)
    for one in view.plan.waiting:
        if one.reason in NEVER:
            detail = explainer.detail(one)
            text = escape(plain(detail[0].lower() + detail[1:], 500))
            says = command("why", one.task)
            yield _Notice(
                task=one.task, key=f"never:{one.task}:{one.reason}", text=text, label="Why",
                says=says,
            )  # fmt: skip


def _started(entry: LedgerEntry) -> _Notice:
    at = entry.dispatched_at or entry.intended_at
    text = (
        f"got {format_amount(entry.amount)} of {name(entry.pool)} after waiting for "
        f"{span(at - entry.first_seen)}, and starts as soon as an agent there takes it."
    )
    return _Notice(task=entry.task, key=f"start:{entry.task}:{at.isoformat()}", text=text)


def _ended(over: Ended) -> _Notice:
    ran = span(over.ended_at - over.dispatched_at)
    what = _OUTCOMES.get(over.outcome, f"is over ({escape(plain(over.outcome))})")
    text = f"{what}, {ran} after it was dispatched to {name(over.pool)}."
    key = f"end:{over.task}:{over.ended_at.isoformat()}"
    return _Notice(task=over.task, key=key, text=text)


def _post(notice: _Notice, names: Names, person: str) -> Post:
    text = f"Your task {names.label(notice.task)} {names.sentence(notice.text)}"
    row = [buttons(button(notice.label, notice.says))] if notice.says else []
    return Post(channel=person, text=text, blocks=(section(text), *row))
