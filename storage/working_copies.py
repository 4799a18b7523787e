"""What each person has in the editor and has not saved: theirs alone, until they save or exit."""

from dataclasses import dataclass, field, replace
from datetime import datetime

from sqlalchemy import Select, select, update
from sqlalchemy.orm import Session

from domain.configuration import Configuration
from domain.renames import Renames
from storage.tables import WorkingCopyRow
from storage.values import Values
from storage.written import check_readable


@dataclass(frozen=True, kw_only=True)
class WorkingCopy:
    """A person's unsaved configuration.

    `renames` are against the version `base`, 0 before the first; `draft` is the revision of the
    shared draft that it started from, None when there was none. `revision` grows with every
    change, over deletions too; 0 is that of a copy not yet kept. `origin` is what it started from,
    with its renames against `base`: what the person changed is what differs from it.
    """

    user: str
    configuration: Configuration
    renames: Renames = field(default_factory=Renames)
    base: int
    draft: int | None = None
    changed_at: datetime
    revision: int = 0
    origin: Configuration | None = None
    origin_renames: Renames = field(default_factory=Renames)


@dataclass(frozen=True, kw_only=True)
class ChangedMeanwhile:
    """Refused: another window of the same person changed it; None for closed."""

    copy: WorkingCopy | None


_COPIES = Values(WorkingCopyRow, WorkingCopy)
_COLUMN = _COPIES.table.c


def get(session: Session, user: str) -> WorkingCopy | None:
    """What the person has in the editor, None when it is closed."""
    found = _COPIES.read(session, _of(user).where(_COLUMN.configuration.is_not(None)))
    return found[0] if found else None


def put(session: Session, copy: WorkingCopy) -> WorkingCopy | ChangedMeanwhile:
    """Keep the copy over the revision that it says, 0 to open the editor; gives the next one.

    Raises DocumentError when the configuration could not be read again.
    """
    now = get(session, copy.user)
    if copy.revision != (now.revision if now else 0):
        return ChangedMeanwhile(copy=now)
    check_readable(copy.configuration)
    last = select(_COLUMN.revision).where(_COLUMN.user == copy.user)
    kept = replace(copy, revision=(session.execute(last).scalar() or 0) + 1)
    _COPIES.put(session, (kept,))
    return kept


def delete(session: Session, user: str) -> bool:
    """Close the editor, with what was not saved; False when it was closed."""
    opened = (_COLUMN.user == user, _COLUMN.configuration.is_not(None))
    statement = update(_COPIES.table).where(*opened).values(configuration=None)
    return session.connection().execute(statement).rowcount == 1


def editing(session: Session) -> tuple[WorkingCopy, ...]:
    """Everybody's, the latest changed first: who else is editing."""
    opened = _COPIES.select().where(_COLUMN.configuration.is_not(None))
    return _COPIES.read(session, opened.order_by(_COLUMN.changed_at.desc(), _COLUMN.user))


def _of(user: str) -> Select[tuple[object, ...]]:
    return _COPIES.select().where(_COLUMN.user == user)
