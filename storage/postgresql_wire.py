"""Connections to PostgreSQL: what a URL names, and how a connection behaves when the network ends.

A cut network says nothing, so both sides ask: TCP keepalives end a silent connection within about
five seconds, here and in the server, which then gives back its locks. What answers keepalives and
still lets nothing through (a proxy, a frozen machine) is bounded by a limit on every wait.
"""

import time
from collections.abc import Generator, Mapping
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Any, Final, TypeVar

import psycopg
from psycopg.abc import PQGen
from psycopg.types.string import StrDumperUnknown
from sqlalchemy import URL, make_url
from sqlalchemy.exc import ArgumentError

from storage.errors import StorageError
from storage.sessions import BUSY_S

T = TypeVar("T")

ANSWER_S: Final = 30.0
"""How long any statement may take; ours take milliseconds."""

_FORM: Final = "write postgresql://user:password@host:port/name"
_OURS: Final = {
    "application_name": "poolkeeper",
    "client_encoding": "utf8",
    "connect_timeout": int(BUSY_S),
    "keepalives": 1,
    "keepalives_idle": 2,
    "keepalives_interval": 1,
    "keepalives_count": 3,
    "tcp_user_timeout": 5_000,
    "target_session_attrs": "primary",
}
_SERVERS: Final = {
    "timezone": "UTC",
    "tcp_keepalives_idle": 2,
    "tcp_keepalives_interval": 1,
    "tcp_keepalives_count": 3,
    "tcp_user_timeout": 5_000,
}
# What would be a secret in a message, or is said elsewhere in the URL.
_REFUSED: Final = frozenset({"password", "user", "dbname", "service", "passfile"})


@dataclass(frozen=True)
class Target:
    """A database on a server; `name` is its URL without password and options."""

    name: str
    parameters: Mapping[str, Any] = field(repr=False)


def target_of(url: str) -> Target:
    """What the URL names. Raises StorageError, which does not repeat it."""
    try:
        parsed = make_url("postgresql+psycopg" + url[url.index(":") :])
        _, said = parsed.get_dialect()().create_connect_args(parsed)
    except (ArgumentError, ValueError):
        # Not chained: the vendor's words may hold what was to be read.
        raise StorageError(f"The database URL cannot be read: {_FORM}.") from None
    if "@" in (parsed.host or ""):
        raise StorageError(
            "The password in the database URL must be percent-encoded: write %40 for @."
        )
    if not parsed.database:
        raise StorageError(f"The database URL names no database: {_FORM}.")
    if refused := sorted(_REFUSED & parsed.query.keys()):
        raise StorageError(f"The database URL may not have the option {refused[0]}: {_FORM}.")
    parameters = {**_OURS, **{name: str(value) for name, value in said.items()}}
    return Target(name=_shown(parsed, parameters), parameters=parameters)


def _shown(url: URL, parameters: Mapping[str, Any]) -> str:
    hosts = parameters.get("host", "").split(",")
    ports = parameters.get("port", "").split(",")
    places = (f"{host}:{port}" if port else host for host, port in zip_longest(hosts, ports))
    user = f"{url.username}@" if url.username else ""
    return f"postgresql://{user}{','.join(places)}/{url.database}"


class Wire(psycopg.Connection[Any]):
    """A connection that never waits without end."""

    answer_s = ANSWER_S

    def wait(self, gen: PQGen[T], *arguments: Any, **keywords: Any) -> T:
        return super().wait(_bounded(gen, self), *arguments, **keywords)

    def rollback(self) -> None:
        try:
            super().rollback()
        except psycopg.Error:
            # One that the server ended in the middle of many rows does not look closed, and would
            # not be given back: then nobody here could write until it is collected.
            self.close()
            raise


def _bounded(gen: PQGen[T], wire: Wire) -> Generator[Any, Any, T]:
    """The same, but it raises and ends the connection when the answer does not come in time.

    psycopg looks in ten times a second while there is nothing to be read.
    """
    deadline = time.monotonic() + wire.answer_s
    try:
        ready = yield next(gen)
        while True:
            if not ready and time.monotonic() >= deadline:
                wire.close()
                raise psycopg.OperationalError(f"no answer came within {wire.answer_s:g} s")
            ready = yield gen.send(ready)
    except StopIteration as end:
        result: T = end.value
        return result


NUL: Final = "\u2400"


class _Text(StrDumperUnknown):
    """PostgreSQL's text holds every character but NUL, which is kept as its picture."""

    def dump(self, obj: str) -> Any:
        return super().dump(obj.replace("\0", NUL))


def connect(
    target: Target, *, autocommit: bool = False, answer_s: float = ANSWER_S, **settings: object
) -> Wire:
    """A connection whose session has these settings of the server. Raises psycopg.Error."""
    said = target.parameters.get("options", "")
    ours = " ".join(
        f"-c {name}={str(value).replace(' ', chr(92) + ' ')}"
        for name, value in (_SERVERS | settings).items()
    )
    parameters = {**target.parameters, "options": f"{said} {ours}".strip()}
    wire = Wire.connect("", autocommit=autocommit, **parameters)
    wire.answer_s = answer_s
    wire.adapters.register_dumper(str, _Text)
    return wire
