"""The ClearML queues that Poolkeeper made or adopted."""

from sqlalchemy.orm import Session

from domain.ledger import OwnedQueue
from storage.tables import QueueRow
from storage.values import Values

_QUEUES = Values(QueueRow, OwnedQueue)


def owned_queues(session: Session) -> tuple[OwnedQueue, ...]:
    """Every one, retired ones too, by role, profile, owner, then id."""
    column = _QUEUES.table.c
    order = (column.role, column.profile, column.owner, column.id)
    return _QUEUES.read(session, _QUEUES.select().order_by(*order))


def put_queue(session: Session, queue: OwnedQueue) -> None:
    """Write the queue, replacing what was known under its id."""
    _QUEUES.put(session, (queue,))


def remove_queue(session: Session, id: str) -> None:  # noqa: A002  ClearML's word for it
    """Forget the queue; nothing happens when it is not known."""
    _QUEUES.remove(session, (id,))
