"""Brings a database to this program's schema: from zero, from any earlier one, or not at all."""

from pathlib import Path
from typing import Any, Final

from sqlalchemy import Connection, Engine, Select, column, inspect, select, table

from storage.errors import DatabaseTooNew, StorageError

MIGRATIONS: Final = Path(__file__).parent / "migrations"
_REVISIONS: Final[Select[Any]] = select(column("version_num")).select_from(table("alembic_version"))


def revisions() -> tuple[str, ...]:
    """The revisions that this program knows, oldest first: the numbers of the files."""
    files = (MIGRATIONS / "versions").glob("[0-9]*_*.py")
    return tuple(sorted(file.name.partition("_")[0] for file in files))


def migrate(name: str, reading: Engine, writing: Engine) -> None:
    """Bring the database to the newest known revision, in one transaction.

    A database that is there already is only read, and Alembic not imported. Raises
    DatabaseTooNew, and StorageError for a database that is not Poolkeeper's.
    """
    head = revisions()[-1]
    with reading.connect() as connection:
        if revision_of(name, connection) == head:
            return
    with writing.begin() as connection:
        # Another process may have done it while this one waited for the write lock.
        if revision_of(name, connection) != head:
            upgrade(connection, head)


def upgrade(connection: Connection, revision: str) -> None:
    """Migrate upwards inside the connection's transaction."""
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    config.attributes["connection"] = connection
    command.upgrade(config, revision)


def revision_of(name: str, connection: Connection) -> str | None:
    """The database's revision, None for an empty one.

    Raises DatabaseTooNew, and StorageError for a database that is not Poolkeeper's.
    """
    tables = inspect(connection).get_table_names()
    found = connection.execute(_REVISIONS).scalars().all() if "alembic_version" in tables else []
    if not found and not set(tables) - {"alembic_version"}:
        return None
    if not found or not str(found[0]).isdigit():
        raise StorageError(f"The database {name} is not Poolkeeper's: name another one.")
    (revision, *others) = found
    if others or revision not in revisions():
        raise DatabaseTooNew(name, str(revision))
    return str(revision)
