"""Names and owners of tasks, so that people can say which one they mean and hear of theirs."""

from collections.abc import Iterable
from datetime import datetime
from typing import Final

from sqlalchemy import case, delete
from sqlalchemy.orm import Session

from domain.tasks import TaskFacts
from storage.tables import TaskRow
from storage.values import Values, put_rows

_TASKS = Values(TaskRow, TaskFacts)
_COLUMN = _TASKS.table.c
# SQLite refuses a statement with more than 32,766 parameters.
_AT_ONCE: Final = 1_000


def remember(session: Session, facts: Iterable[TaskFacts], at: datetime) -> None:
    """Keep what is known of these tasks now, each in place of what was known of it."""
    rows = [
        {
            "task": one.task,
            "name": _writable(one.name),
            "user": one.user,
            "searchable": _writable(one.name).casefold(),
            "seen_at": at,
        }
        for one in facts
    ]
    if rows:
        put_rows(session, _TASKS.table, rows)


def facts(session: Session, ids: Iterable[str]) -> dict[str, TaskFacts]:
    """What is known of the tasks with these ids, by id, in its order; unknown ones left out."""
    wanted = sorted(set(ids))
    found: dict[str, TaskFacts] = {}
    for start in range(0, len(wanted), _AT_ONCE):
        some = _TASKS.select().where(_COLUMN.task.in_(wanted[start : start + _AT_ONCE]))
        found |= {one.task: one for one in _TASKS.read(session, some.order_by(_COLUMN.task))}
    return found


def by_name(session: Session, text: str, limit: int = 10) -> tuple[TaskFacts, ...]:
    """Tasks whose name holds the text, in any case, at most `limit`.

    First those whose name it is, then those whose name begins with it, then the others; among
    these the latest seen first.
    """
    said = _writable(text).casefold()
    name = _COLUMN.searchable
    begins = name.startswith(said, autoescape=True)
    rank = case((name == said, 0), (begins, 1), else_=2)
    order = (rank, _COLUMN.seen_at.desc(), _COLUMN.task)
    holds = _TASKS.select().where(name.contains(said, autoescape=True))
    return _TASKS.read(session, holds.order_by(*order).limit(limit))


def by_id_prefix(session: Session, prefix: str, limit: int = 10) -> tuple[TaskFacts, ...]:
    """Tasks whose id begins so, by id, at most `limit`."""
    begins = _COLUMN.task.startswith(_writable(prefix), autoescape=True)
    return _TASKS.read(session, _TASKS.select().where(begins).order_by(_COLUMN.task).limit(limit))


def prune(session: Session, before: datetime) -> int:
    """Forget the tasks that were last remembered before that time; how many there were."""
    statement = delete(_TASKS.table).where(_COLUMN.seen_at < before)
    return session.connection().execute(statement).rowcount


def _writable(text: str) -> str:
    """The text with `?` for halves of surrogate pairs: JSON can spell them, databases cannot."""
    return text.encode(errors="replace").decode()
