"""A copy of the SQLite file, taken while others write to it: the state of one instant, verified.

Counts and copy come from the same snapshot; in WAL mode nobody waits for it.
"""

import os
import sqlite3
from collections.abc import Mapping
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path

from storage.errors import DatabaseUnavailable, StorageError, translated
from storage.names import is_postgresql

_PATIENCE_S = 5.0


@dataclass(frozen=True, kw_only=True)
class Backup:
    """What was written: `size` in bytes, how many rows of each table."""

    path: Path
    revision: str
    size: int
    rows: Mapping[str, int]


def back_up(url: str, to: Path) -> Backup:
    """Copy the database to a new file that only its owner reads, and verify it.

    Raises StorageError where there is nothing to copy, the file is there already, or the copy is
    not what it is a copy of; no file is left then.
    """
    if is_postgresql(url):
        from storage.postgresql_wire import target_of

        raise StorageError(
            f"PostgreSQL is backed up by its own means: say `pg_dump --format=custom --file={to} "
            f"{target_of(url).name}`, and `pg_restore --clean --if-exists --dbname=...` to restore."
        )
    from storage.sqlite import look, path_of

    path = path_of(url)
    look(path)
    if not path.exists():
        raise DatabaseUnavailable(path, "it does not exist, so there is nothing to back up")
    _make(to)
    try:
        with translated(path):
            return _copied(path, to)
    except BaseException:
        for name in (to, to.with_name(f"{to.name}-journal")):
            with suppress(FileNotFoundError):
                name.unlink()
        raise


def _make(to: Path) -> None:
    try:
        os.close(os.open(to, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
    except FileExistsError as error:
        raise StorageError(
            f"{to} is there already; name a new file, or remove it first."
        ) from error
    except OSError as error:
        raise StorageError(f"{to} cannot be written: {error.strerror or error}.") from error


def _copied(path: Path, to: Path) -> Backup:
    source = sqlite3.connect(path, timeout=_PATIENCE_S, isolation_level=None)
    with closing(source), closing(sqlite3.connect(to, isolation_level=None)) as target:
        source.execute("PRAGMA query_only=ON")
        source.execute("BEGIN")
        revision, rows = _revision(path, source), _rows(source)
        source.backup(target)
        # Alone as it is: a file in WAL mode would have two others beside it as soon as it is read.
        target.execute("PRAGMA journal_mode=DELETE")
        verdict = target.execute("PRAGMA integrity_check").fetchone()[0]
        if verdict != "ok" or _rows(target) != rows:
            raise StorageError(f"The copy at {to} is not what the database {path} is: {verdict}.")
    _sync(to)
    return Backup(path=to, revision=revision, size=to.stat().st_size, rows=rows)


def _revision(path: Path, source: sqlite3.Connection) -> str:
    try:
        ((revision,),) = source.execute("SELECT version_num FROM alembic_version").fetchall()
    except (sqlite3.OperationalError, ValueError) as error:
        raise StorageError(
            f"The database {path} is not Poolkeeper's: name another file."
        ) from error
    return str(revision)


def _rows(connection: sqlite3.Connection) -> dict[str, int]:
    tables = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
    counts = {}
    for (table,) in sorted(tables):
        quoted = table.replace('"', '""')
        (counts[table],) = connection.execute(f'SELECT count(*) FROM "{quoted}"').fetchone()  # noqa: S608  the names are the schema's own
    return counts


def _sync(path: Path) -> None:
    """Both the file and its name are on the disk when this returns."""
    for name, flags in ((path, os.O_RDONLY), (path.parent, os.O_RDONLY | os.O_DIRECTORY)):
        descriptor = os.open(name, flags)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
