"""What Slack delivered already: it delivers at least once, and what it causes happens once.

facts/slack.md, 2.4: events are known by their `event_id`, interactions by their `trigger_id` or
by user and `action_ts`. Ask in the transaction of what the delivery causes: when that fails, the
next delivery is the first again.
"""

from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import delete
from sqlalchemy.orm import Session

from storage.tables import DeliveryRow
from storage.values import insert_into, table_of

KEPT: Final = timedelta(days=1)
"""How long a delivery is remembered; Slack repeats one for some minutes."""

_DELIVERIES = table_of(DeliveryRow)


def first_time(session: Session, key: str, at: datetime) -> bool:
    """Whether nothing was delivered under that key before; from now on, something was."""
    once = insert_into(session, _DELIVERIES).values(key=key, at=at).on_conflict_do_nothing()
    return session.execute(once.returning(_DELIVERIES.c.key)).first() is not None


def prune(session: Session, before: datetime) -> int:
    """Forget what was delivered before that time; how many there were."""
    statement = delete(_DELIVERIES).where(_DELIVERIES.c.at < before)
    return session.connection().execute(statement).rowcount
