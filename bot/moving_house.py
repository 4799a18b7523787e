"""`poolkeeper migrate --to URL`: from SQLite to PostgreSQL, with every table told."""

from contextlib import closing

from bot.refusing import Refusal
from storage.copying import Copied, copy_to
from storage.database import StorageError
from storage.sqlite import SQLiteDatabase, path_of


def copy_database(source: str, to: str) -> None:
    """Copy the SQLite database to the PostgreSQL URL; `Refusal` where nothing was changed."""
    try:
        if not to.startswith("postgres"):
            raise Refusal(["--to names no PostgreSQL database: write postgresql://user@host/name."])
        path = path_of(source)
        if not path.exists():  # opening it would make an empty one
            raise Refusal([f"There is no database at {path}; POOLKEEPER_DATABASE names it."])
        with closing(SQLiteDatabase.open(source)) as database:
            name = copy_to(database, to, _say)
    except StorageError as error:
        raise Refusal([f"{error} Nothing was copied."]) from error
    print(f"Everything is in {name}. Set POOLKEEPER_DATABASE to it, and start Poolkeeper again;")
    print(f"{path} stays as it was, and is not used any more.")


def _say(copied: Copied) -> None:
    rows = f"{copied.rows:,} row{'' if copied.rows == 1 else 's'}"
    proof = f"the same on both sides (SHA-256 {copied.hash[:16]}…)"
    print(f"{copied.table}: {rows}, {proof}", flush=True)
