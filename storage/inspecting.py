"""How a database stands, looked at from outside: nothing is made, migrated or locked by it."""

import shutil
import sqlite3
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from storage import locks, schema
from storage.errors import StorageError, translated
from storage.names import is_postgresql

_REVISION: Final = "SELECT version_num FROM alembic_version"


@dataclass(frozen=True, kw_only=True)
class Condition:
    """What was found. `revision` is None where there is no database yet, or an empty one.

    `size` and `free` are in bytes, `free` of what the database holds and does not use; `disk` is
    what the disk has left, None where that is the server's. `leader` says who runs rounds.
    `server_time` is None where the database is a file of this machine.
    """

    name: str
    revision: str | None = None
    size: int = 0
    free: int = 0
    disk: int | None = None
    leader: str | None = None
    server_time: datetime | None = None

    @property
    def newest(self) -> str:
        """The revision that this program works with."""
        return schema.revisions()[-1]

    @property
    def is_known(self) -> bool:
        """Whether it is of no newer program than this one."""
        return self.revision is None or self.revision in schema.revisions()


def condition(url: str) -> Condition:
    """Look at it; raises StorageError where it cannot be reached or is not Poolkeeper's."""
    return _on_server(url) if is_postgresql(url) else _in_file(url)


def _in_file(url: str) -> Condition:
    from storage.sqlite import look, path_of

    path = path_of(url)
    look(path)
    disk = shutil.disk_usage(path.parent).free
    if not path.exists():
        return Condition(name=str(path), disk=disk)
    with translated(path):
        connection = sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True, timeout=5)
        try:
            tables = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
            known = {name for (name,) in tables}
            revision = _one(connection, _REVISION) if "alembic_version" in known else None
            page, free = (
                _one(connection, "PRAGMA page_size"),
                _one(connection, "PRAGMA freelist_count"),
            )
        finally:
            connection.close()
    if known and revision is None:
        raise StorageError(f"The database {path} is not Poolkeeper's: name another one.")
    return Condition(
        name=str(path),
        revision=revision,
        size=path.stat().st_size + _size(path.with_name(f"{path.name}-wal")),
        free=page * free,
        disk=disk,
        leader=locks.leader(path.with_name(f"{path.name}.leader.lock")),
    )


def _on_server(url: str) -> Condition:
    from storage.postgresql_asking import Asking
    from storage.postgresql_errors import translated as translated_there
    from storage.postgresql_leading import leader
    from storage.postgresql_wire import target_of

    target = target_of(url)
    asking = Asking(target)
    with translated_there(target.name):
        try:
            (there, now, size) = asking.first(
                "SELECT to_regclass('alembic_version') IS NOT NULL, clock_timestamp(), "
                "pg_database_size(current_database())"
            )
            row = asking.first(_REVISION) if there else None
            who = leader(asking)
        finally:
            asking.close()
    revision = str(row[0]) if row else None
    return Condition(
        name=target.name,
        revision=revision,
        size=int(size),
        leader=who,
        server_time=now.astimezone(UTC),
    )


def _one(connection: sqlite3.Connection, question: str) -> Any:
    row = connection.execute(question).fetchone()
    return row[0] if row else None


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0
