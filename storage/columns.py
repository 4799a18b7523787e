"""Column types that carry domain values: what is bound and what is read is the value itself."""

import json
from datetime import UTC, datetime
from enum import StrEnum
from fractions import Fraction
from typing import Any

from sqlalchemy import DateTime, String, Text
from sqlalchemy.engine import Dialect
from sqlalchemy.types import TypeDecorator

from domain.amounts import Amount, format_amount


class UtcDateTime(TypeDecorator[datetime]):
    """Times with a zone go in, the same instants in UTC come out; naive ones are refused."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, _dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        if value.utcoffset() is None:
            raise ValueError(f"the time {value.isoformat()} says no time zone")
        return value.astimezone(UTC)

    def process_result_value(self, value: datetime | None, _dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        # SQLite keeps no zone: what is written there is UTC, by the line above.
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


class AmountText(TypeDecorator[Amount]):
    """An exact rational as people read it; sums may have denominators that no input has."""

    impl = String
    cache_ok = True

    def process_bind_param(self, value: Amount | None, _dialect: Dialect) -> str | None:
        return None if value is None else format_amount(value)

    def process_result_value(self, value: str | None, _dialect: Dialect) -> Amount | None:
        return None if value is None else Fraction(value)


class JsonText(TypeDecorator[Any]):
    """Any JSON value, kept as text so that no database normalises it; None is NULL."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: object, _dialect: Dialect) -> str | None:
        return None if value is None else json.dumps(value, separators=(",", ":"))

    def process_result_value(self, value: str | None, _dialect: Dialect) -> Any:
        return None if value is None else json.loads(value)


class Word(TypeDecorator[StrEnum]):
    """A member of a `StrEnum`, kept as its word."""

    impl = String
    cache_ok = True

    def __init__(self, words: type[StrEnum]) -> None:
        super().__init__()
        self.words = words

    def process_bind_param(self, value: StrEnum | None, _dialect: Dialect) -> str | None:
        return None if value is None else self.words(value).value

    def process_result_value(self, value: str | None, _dialect: Dialect) -> StrEnum | None:
        return None if value is None else self.words(value)
