"""What PostgreSQL and libpq say, in sentences for people; vendor errors end here, chained."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import psycopg
from sqlalchemy.exc import SQLAlchemyError, StatementError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from storage.errors import DatabaseUnavailable, StorageError
from storage.sessions import BUSY_S

# Before there is a session there is no code, only libpq's and the server's words.
_UNCONNECTED: Final = (
    ("invalid connection option", "the URL has an option that libpq does not know"),
    ("invalid sslmode", "the URL has an sslmode that libpq does not know"),
    (
        "password authentication failed",
        "the server does not take this user and password; correct them in POOLKEEPER_DATABASE",
    ),
    ("no password supplied", "the server wants a password; put it into POOLKEEPER_DATABASE"),
    ("no pg_hba.conf entry", "the server's pg_hba.conf admits no such connection; see sslmode too"),
    ("does not exist", "the server has no such database or user; create it there"),
    ("connection refused", "nothing listens there; start the server, or correct host and port"),
    ("no such file", "nothing listens there; start the server, or correct the socket's folder"),
    ("certificate", "the server's certificate is not trusted; see sslmode and sslrootcert"),
    ("ssl", "the server and the URL's sslmode do not agree on encryption"),
    ("not known", "no such host is known; correct its name"),
    ("resolve", "no such host is known; correct its name"),
    ("connection timeout", f"the server did not answer within {BUSY_S:g} s"),
    ("hot standby", "this server is a standby; name the primary"),
    ("starting up", "the server is starting; try again soon"),
    ("shutting down", "the server is shutting down"),
    ("too many clients", "the server has no connection left; raise its max_connections"),
    ("connection slots", "the server has no connection left; raise its max_connections"),
    ("closed", "the connection to the server was lost"),
    ("lost", "the connection to the server was lost"),
    ("timed out", "the connection to the server was lost"),
)
_CODES: Final = {
    "25006": "it is read-only now",
    "42501": "the user may not do what is needed; make it the owner of the database",
    "55P03": f"another writer does not finish within {BUSY_S:g} s",
    "57014": "a statement took too long",
    "25P03": f"nothing was written for {BUSY_S:g} s, while others wait",
    "57P01": "the server ended the connection",
}
# Classes of codes that tell of the surroundings and not of what was asked (PostgreSQL, appendix A).
_OUTSIDE: Final = ("08", "28", "3D", "40", "53", "55", "57", "58", "XX")


@contextmanager
def translated(name: str) -> Iterator[None]:
    """Raise StorageErrors where the block raises the vendors' errors."""
    try:
        yield
    except (SQLAlchemyError, psycopg.Error) as error:
        raise translation(name, error) from error


def translation(name: str, error: Exception) -> StorageError:
    """The vendor's error as a sentence; it holds nothing of the URL but the name."""
    cause = (error.orig if isinstance(error, StatementError) else None) or error
    if isinstance(cause, PoolTimeout):
        return DatabaseUnavailable(name, "all connections of this process are in use")
    if not isinstance(cause, psycopg.Error):
        return StorageError(f"The database {name} refused what it was asked: {cause}")
    code = cause.sqlstate
    said = cause.diag.message_primary or _last_line(cause)
    if code in _CODES:
        return DatabaseUnavailable(name, _CODES[code])
    if code is None and not isinstance(cause, psycopg.DataError):
        return DatabaseUnavailable(name, _unconnected(str(cause).lower()) or said)
    if code is not None and code.startswith(_OUTSIDE):
        return DatabaseUnavailable(name, said)
    return StorageError(f"The database {name} refused what it was asked: {said}")


def _unconnected(said: str) -> str:
    return next((sentence for words, sentence in _UNCONNECTED if words in said), "")


def _last_line(error: psycopg.Error) -> str:
    """libpq gives a line for every address that was tried, each with its prefix."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()] or [repr(error)]
    return lines[-1].rpartition("failed: ")[2].removeprefix("FATAL:").strip()
