"""Messages that show how something stands and are edited in place: where each is."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import delete
from sqlalchemy.orm import Session

from storage.tables import CardRow
from storage.values import Values


@dataclass(frozen=True, kw_only=True)
class Card:
    """A posted message: its key says what it is about, `hash` what it shows."""

    key: str
    channel: str
    ts: str
    hash: str
    updated_at: datetime


_CARDS = Values(CardRow, Card)
_COLUMN = _CARDS.table.c


def card(session: Session, key: str) -> Card | None:
    """The card about that, None when none was posted or it is gone."""
    found = _CARDS.read(session, _CARDS.select().where(_COLUMN.key == key))
    return found[0] if found else None


def put(session: Session, card: Card) -> None:
    """Write the card, replacing the one with its key."""
    _CARDS.put(session, (card,))


def remove(session: Session, key: str) -> None:
    """Forget the card, as when its message was deleted; nothing happens when there is none."""
    _CARDS.remove(session, (key,))


def prune(session: Session, before: datetime) -> int:
    """Forget the cards that were last edited before that time; how many there were."""
    statement = delete(_CARDS.table).where(_COLUMN.updated_at < before)
    return session.connection().execute(statement).rowcount
