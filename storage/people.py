"""What people want, and who looked at App Home lately."""

from datetime import datetime

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from domain.people import Preferences, Viewer
from storage.tables import PreferencesRow, ViewerRow
from storage.values import Values

_PREFERENCES = Values(PreferencesRow, Preferences)
_VIEWERS = Values(ViewerRow, Viewer)


def preferences(session: Session, user: str) -> Preferences:
    """What the person wants; the defaults, while they have said nothing."""
    column = _PREFERENCES.table.c
    found = _PREFERENCES.read(session, _PREFERENCES.select().where(column.user == user))
    return found[0] if found else Preferences(user=user)


def prefer(session: Session, preferences: Preferences) -> None:
    """Keep what the person wants."""
    _PREFERENCES.put(session, (preferences,))


def notified(session: Session) -> frozenset[str]:
    """Who wants direct messages about their tasks."""
    column = _PREFERENCES.table.c
    return frozenset(session.execute(select(column.user).where(column.notify)).scalars())


def seen(session: Session, user: str, at: datetime) -> None:
    """Note that the person opened App Home."""
    _VIEWERS.put(session, (Viewer(user=user, opened_at=at),))


def viewers(session: Session, since: datetime) -> tuple[Viewer, ...]:
    """Who opened App Home at that time or later, the latest first."""
    column = _VIEWERS.table.c
    lately = _VIEWERS.select().where(column.opened_at >= since)
    return _VIEWERS.read(session, lately.order_by(column.opened_at.desc(), column.user))


def prune_viewers(session: Session, before: datetime) -> int:
    """Forget who last opened App Home before that time; how many there were."""
    statement = delete(_VIEWERS.table).where(_VIEWERS.table.c.opened_at < before)
    return session.connection().execute(statement).rowcount
