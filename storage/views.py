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
# JSON text may hold lone surrogates, from names that users give; they are kept as they are.
_SURROGATES = "surrogatepass"


def publish(session: Session, key: str, document: str, at: datetime) -> None:
    """Keep the text, of up to some 20 MB, as what is published under the key."""
    packed = zlib.compress(document.encode(errors=_SURROGATES), _LEVEL)
    put_rows(session, _VIEWS, [{"key": key, "at": at, "document": packed}])


def published_at(session: Session, key: str) -> datetime | None:
    """When the text under the key was published, without reading it."""
    found: datetime | None = session.execute(
        select(_VIEWS.c.at).where(_VIEWS.c.key == key)
    ).scalar()
    return found


def published(session: Session, key: str) -> tuple[str, datetime] | None:
    """The text last published under the key and when, None when there is none."""
    statement = select(_VIEWS.c.document, _VIEWS.c.at).where(_VIEWS.c.key == key)
    row = session.execute(statement).one_or_none()
    if row is None:
        return None
    return zlib.decompress(row.document).decode(errors=_SURROGATES), row.at
