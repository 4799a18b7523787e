"""Column types for values that are kept as text, each by a pair of functions."""

import json
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime, time
from functools import lru_cache
from typing import Any, TypeVar

from sqlalchemy import Text
from sqlalchemy.engine import Dialect
from sqlalchemy.types import TypeDecorator

from domain.configuration import Configuration
from domain.renames import Kind, Renames
from domain.requests import Vote
from storage.documents import read_configuration, write_configuration

V = TypeVar("V")


class Written(TypeDecorator[V]):
    """What `write` makes text of and `read` makes again of the text; None is NULL."""

    impl = Text
    cache_ok = True

    def __init__(self, write: Callable[[V], str], read: Callable[[str], V]) -> None:
        super().__init__()
        self.write = write
        self.read = read

    def process_bind_param(self, value: V | None, _dialect: Dialect) -> str | None:
        return None if value is None else self.write(value)

    def process_result_value(self, value: str | None, _dialect: Dialect) -> V | None:
        return None if value is None else self.read(value)


def check_readable(configuration: Configuration | None) -> None:
    """Raise DocumentError when the configuration could not be read again."""
    if configuration is not None:
        _read_configuration(_write_configuration(configuration))


def _json(value: object) -> str:
    return json.dumps(value, separators=(",", ":"))


def _write_configuration(configuration: Configuration) -> str:
    return _json(write_configuration(configuration))


@lru_cache(maxsize=16)
def _read_configuration(text: str) -> Configuration:
    return read_configuration(json.loads(text))


def _write_renames(renames: Renames) -> str:
    return _json({kind.value: dict(names) for kind, names in renames.by_kind.items() if names})


def _read_renames(text: str) -> Renames:
    by_kind: Mapping[str, Mapping[str, str]] = json.loads(text)
    return Renames({Kind(kind): dict(names) for kind, names in by_kind.items()})


def _write_votes(votes: Iterable[Vote]) -> str:
    return _json([[vote.by, vote.approve, vote.at.isoformat()] for vote in votes])


def _read_votes(text: str) -> tuple[Vote, ...]:
    return tuple(
        Vote(by=by, approve=approve, at=datetime.fromisoformat(at))
        for by, approve, at in json.loads(text)
    )


def _write_tuple(words: tuple[str, ...]) -> str:
    return _json(words)


def _read_tuple(text: str) -> tuple[str, ...]:
    return tuple(json.loads(text))


def _write_days(days: frozenset[int]) -> str:
    return _json(sorted(days))


def _read_days(text: str) -> frozenset[int]:
    return frozenset(json.loads(text))


def _write_time(value: time) -> str:
    return value.isoformat(timespec="minutes")


ConfigurationText: Any = Written(_write_configuration, _read_configuration)
RenamesText: Any = Written(_write_renames, _read_renames)
VotesText: Any = Written(_write_votes, _read_votes)
WordsText: Any = Written(_write_tuple, _read_tuple)
DaysText: Any = Written(_write_days, _read_days)
TimeText: Any = Written(_write_time, time.fromisoformat)
