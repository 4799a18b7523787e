"""What is wrong now: told once per cause, and once more when it is over.

Raise, put the message into the outbox and mark it told in one transaction.
"""

from dataclasses import dataclass, replace
from datetime import datetime

from sqlalchemy import Select, delete, update
from sqlalchemy.orm import Session

from storage.tables import AlertRow
from storage.values import Values


@dataclass(frozen=True, kw_only=True)
class Alert:
    """Something that is or was wrong.

    `cause` is the same as long as it is the same trouble, as `clearml-down` or `waits:<task>`.
    `text` is a sentence. `told_at` is None until people were told; `over_at` while it lasts.
    """

    cause: str
    kind: str
    text: str
    since: datetime
    told_at: datetime | None = None
    over_at: datetime | None = None


_ALERTS = Values(AlertRow, Alert)
_COLUMN = _ALERTS.table.c


def raised(session: Session) -> tuple[Alert, ...]:
    """What is wrong now, the longest first."""
    return _ALERTS.read(session, _raised().order_by(_COLUMN.since, _COLUMN.cause))


def raise_(session: Session, alert: Alert) -> bool:
    """Note that this is wrong; False when it was so already, and only the text is kept anew."""
    now = _ALERTS.read(session, _raised().where(_COLUMN.cause == alert.cause))
    kept = replace(now[0], text=alert.text) if now else alert
    _ALERTS.put(session, (kept,))
    return not now


def told(session: Session, cause: str, at: datetime) -> bool:
    """Note that people were told; False when it is over or they had been told before."""
    untold = (_COLUMN.cause == cause, _COLUMN.over_at.is_(None), _COLUMN.told_at.is_(None))
    statement = update(_ALERTS.table).where(*untold).values(told_at=at)
    return session.connection().execute(statement).rowcount == 1


def over(session: Session, cause: str, at: datetime) -> Alert | None:
    """Note that it is over; the alert as it was, None when nothing of the kind was wrong.

    That it is over is to be told only to those who were told: look at `told_at`.
    """
    now = _ALERTS.read(session, _raised().where(_COLUMN.cause == cause))
    if not now:
        return None
    ended = replace(now[0], over_at=at)
    _ALERTS.put(session, (ended,))
    return ended


def prune(session: Session, before: datetime) -> int:
    """Forget what was over before that time; how many there were."""
    statement = delete(_ALERTS.table).where(_COLUMN.over_at < before)
    return session.connection().execute(statement).rowcount


def _raised() -> Select[tuple[object, ...]]:
    return _ALERTS.select().where(_COLUMN.over_at.is_(None))
