"""The database server's clock: the one that all its clients have in common."""

from datetime import UTC, datetime

from sqlalchemy import func, select
from sqlalchemy.orm import Session


def server_time(session: Session) -> datetime | None:
    """What time the server says it is now; None where the database is a file of this machine."""
    if session.get_bind().dialect.name != "postgresql":
        return None
    found: datetime = session.execute(select(func.clock_timestamp())).scalar_one()
    return found.astimezone(UTC)
