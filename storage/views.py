"""The last published documents, for other processes and after a restart."""

import zlib
from datetime import datetime

from sqlalchemy import select
from sqlalchemy.orm import Session

from storage.tables import ViewRow
from storage.values import put_rows, table_of

_VIEWS = table_of(ViewRow)
# JSON shrinks tenfold at the fastest level; the others cost a round more than they save.
_LEVEL = 1


def publish(session: Session, key: str, document: str, at: datetime) -> None:
    """Keep the text, of up to some 20 MB, as what is published under the key."""
    packed = zlib.compress(document.encode(), _LEVEL)
    put_rows(session, _VIEWS, [{"key": key, "at": at, "document": packed}])


def published(session: Session, key: str) -> tuple[str, datetime] | None:
    """The text last published under the key and when, None when there is none."""
    statement = select(_VIEWS.c.document, _VIEWS.c.at).where(_VIEWS.c.key == key)
    row = session.execute(statement).one_or_none()
    return None if row is None else (zlib.decompress(row.document).decode(), row.at)
