"""Messages to be sent: written with what causes them, sent later, each key once.

A crash between sending and `mark_sent` sends a message again; whoever sends it makes that harmless.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from sqlalchemy import ColumnElement, delete, func, insert, select, update
from sqlalchemy.orm import Session

from storage.tables import OutboxRow
from storage.values import Values


@dataclass(frozen=True, kw_only=True)
class Message:
    """A message to a channel, under a key that says what it is about.

    `payload` is any JSON object, `result` any JSON value that sending gave. `edition` grows when
    a later text takes the place of an earlier one.
    """

    key: str
    channel: str
    payload: Mapping[str, object] = field(default_factory=dict)
    not_before: datetime
    attempts: int = 0
    edition: int = 1
    sent_at: datetime | None = None
    result: object = None


@dataclass(frozen=True, kw_only=True)
class Backlog:
    """How many messages are unsent; `first` tells the one put in first, and its edition, from all
    others, None where none is."""

    count: int
    first: tuple[int, int] | None


_OUTBOX = Values(OutboxRow, Message)
_COLUMN = _OUTBOX.table.c


def put(session: Session, message: Message) -> bool:
    """Put the message in; False, and nothing happens, when its key has been used before."""
    if find(session, message.key) is not None:
        return False
    _OUTBOX.add(session, (message,))
    return True


def supersede(session: Session, message: Message) -> None:
    """Put the message in, in place of the one with its key, sent or not; for edits."""
    earlier = find(session, message.key)
    if earlier is None:
        _OUTBOX.add(session, (message,))
        return
    _change(
        session,
        earlier,
        channel=message.channel,
        payload=message.payload,
        not_before=message.not_before,
        attempts=0,
        edition=earlier.edition + 1,
        sent_at=None,
    )


def find(session: Session, key: str) -> Message | None:
    """The message with that key, sent or not."""
    found = _OUTBOX.read(session, _OUTBOX.select().where(_COLUMN.key == key))
    return found[0] if found else None


def due(session: Session, now: datetime, limit: int) -> tuple[Message, ...]:
    """Unsent messages that may go now, at most `limit`, those first that were put in first."""
    unsent = _OUTBOX.select().where(_COLUMN.sent_at.is_(None), _COLUMN.not_before <= now)
    return _OUTBOX.read(session, unsent.order_by(_COLUMN.id).limit(limit))


def heads(session: Session, now: datetime) -> tuple[Message, ...]:
    """Of every channel the first unsent message that may go now, in the order of `due`."""
    unsent = (_COLUMN.sent_at.is_(None), _COLUMN.not_before <= now)
    first = select(func.min(_COLUMN.id)).where(*unsent).group_by(_COLUMN.channel)
    return _OUTBOX.read(session, _OUTBOX.select().where(_COLUMN.id.in_(first)).order_by(_COLUMN.id))


def backlog(session: Session) -> Backlog:
    """What is unsent, due or not."""
    unsent = _COLUMN.sent_at.is_(None)
    counted = select(func.count(), func.min(_COLUMN.id)).where(unsent)
    count, first = session.execute(counted).one()
    edition = session.execute(select(_COLUMN.edition).where(_COLUMN.id == first)).scalar()
    return Backlog(count=count, first=None if edition is None else (first, edition))


def begin(session: Session, message: Message, until: datetime) -> bool:
    """Count an attempt before it is made, and keep the message from others until then.

    False when another one sends it, or it was superseded or sent meanwhile. Whoever made the
    attempt says how it ended with the message as it was before; after a death in between it is
    due again at `until`, and its attempts say that it may have been sent.
    """
    now = (_COLUMN.attempts == message.attempts, _COLUMN.not_before == message.not_before)
    statement = update(_OUTBOX.table).where(*_same(message), *now, _COLUMN.sent_at.is_(None))
    values = {"attempts": message.attempts + 1, "not_before": until}
    return session.connection().execute(statement.values(values)).rowcount == 1


def begun(session: Session, now: datetime) -> tuple[Message, ...]:
    """What was begun and not ended, or has failed, and is not due yet."""
    waiting = (_COLUMN.sent_at.is_(None), _COLUMN.attempts > 0, _COLUMN.not_before > now)
    return _OUTBOX.read(session, _OUTBOX.select().where(*waiting).order_by(_COLUMN.id))


def free(session: Session, message: Message, at: datetime) -> bool:
    """Let it go at that time, if it would not go before: whoever sent it is dead by then."""
    if message.not_before <= at:
        return False
    return _change(session, message, not_before=at)


def mark_sent(session: Session, message: Message, at: datetime, result: object = None) -> bool:
    """Note that the message went out, and what sending gave (as the id of what was posted).

    False when it was superseded meanwhile: the later text is still to be sent.
    """
    return _change(session, message, sent_at=at, result=result, attempts=message.attempts + 1)


def postpone(session: Session, message: Message, not_before: datetime) -> bool:
    """Count a failed attempt and try again later; False when it was superseded meanwhile."""
    return _change(session, message, not_before=not_before, attempts=message.attempts + 1)


def empty(session: Session, before: datetime) -> int:
    """Forget what was said by messages that were sent before that time; how many there were.

    Their keys stay, so that nothing is sent again, and what sending gave.
    """
    said = (_COLUMN.sent_at < before, _COLUMN.payload != {})
    found = session.execute(select(_OUTBOX.table).where(*said).order_by(_COLUMN.id)).all()
    rows = [{**row._mapping, "payload": {}} for row in found]
    if rows:
        # Put in anew: SQLite joins pages that are half empty only where rows are deleted.
        gone = delete(_OUTBOX.table).where(*said)
        session.connection().execute(gone)
        session.execute(insert(_OUTBOX.table), rows)
    return len(rows)


def prune(session: Session, before: datetime) -> int:
    """Forget what was sent before that time, its keys included; how many there were."""
    statement = delete(_OUTBOX.table).where(_COLUMN.sent_at < before)
    return session.connection().execute(statement).rowcount


def _change(session: Session, message: Message, **values: object) -> bool:
    """Change the row that still holds this edition of the message."""
    statement = update(_OUTBOX.table).where(*_same(message)).values(values)
    return session.connection().execute(statement).rowcount == 1


def _same(message: Message) -> tuple[ColumnElement[bool], ...]:
    return (_COLUMN.key == message.key, _COLUMN.edition == message.edition)
