"""What can go wrong with the database, in sentences for people; vendor errors end here, chained."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy.exc import SQLAlchemyError, StatementError
from sqlalchemy.exc import TimeoutError as PoolTimeout


class StorageError(Exception):
    """What was to be remembered or recalled could not be; the message is one sentence."""


class DatabaseTooNew(StorageError):
    """The database was written by a later Poolkeeper than this one."""

    def __init__(self, name: object, revision: str) -> None:
        super().__init__(
            f"The database {name} was written by a newer Poolkeeper (revision {revision}):"
            " install that version again, or restore a backup from before the upgrade."
        )
        self.revision = revision


class DatabaseUnavailable(StorageError):
    """The database is locked, damaged, or cannot be opened."""

    def __init__(self, name: object, reason: str) -> None:
        super().__init__(f"The database {name} cannot be used: {reason.rstrip('.')}.")
        self.reason = reason


class LeadershipLost(StorageError):
    """What only a leader may do was refused, and nothing was done."""

    def __init__(self, name: object) -> None:
        super().__init__(
            f"This process does not lead any more on the database {name}, so it writes and moves"
            " nothing as the leader."
        )


# sqlite3 says both "locked" and "no such file" with OperationalError, and damage with the bare
# DatabaseError, whose subclasses are mistakes of the program.
_OUTSIDE = (sqlite3.OperationalError, sqlite3.DatabaseError)


@contextmanager
def translated(name: object) -> Iterator[None]:
    """Raise StorageErrors where the block raises SQLite's errors."""
    try:
        yield
    except (SQLAlchemyError, sqlite3.Error) as error:
        raise _translation(name, error) from error


def _translation(name: object, error: Exception) -> StorageError:
    # The vendor's own text repeats the statement over several lines; its cause is a sentence.
    cause = (error.orig if isinstance(error, StatementError) else None) or error
    if type(cause) in _OUTSIDE or isinstance(cause, PoolTimeout):
        return DatabaseUnavailable(name, str(cause))
    return StorageError(f"The database {name} refused what it was asked: {cause}")
