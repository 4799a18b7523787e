"""What a single value of a document may be: names, texts, amounts, times, people.

They are schemas of pydantic's core. The classes that pydantic builds upon it take longer to load
than everything else that `poolkeeper plan` does.
"""

import math
from collections.abc import Callable, Iterator
from datetime import datetime
from enum import StrEnum
from fractions import Fraction
from typing import Final

from pydantic_core import PydanticCustomError
from pydantic_core.core_schema import (
    CoreSchema,
    bool_schema,
    int_schema,
    literal_schema,
    no_info_after_validator_function,
    no_info_plain_validator_function,
    str_schema,
)

from domain.amounts import parse_amount
from domain.names import name_fault, text_fault
from storage.document_problems import shown

SPOKEN: Final = "spoken"
"""The type of errors that bring their own sentence, as `what` and `remedy` in their context."""

_LONGEST_HOLD_S: Final = 10**9


def _spoken(what: str, remedy: str) -> PydanticCustomError:
    return PydanticCustomError(SPOKEN, "{what}", {"what": what, "remedy": remedy})


def _name(text: str) -> str:
    if (fault := name_fault(text)) is not None:
        raise _spoken(f"{shown(text)} {fault}", "write one line of at most 200 characters")
    return text


def _text(text: str) -> str:
    if (fault := text_fault(text)) is not None:
        raise _spoken(f"the text {fault}", "write at most 2,000 characters of plain text")
    return text


def _amount(*, zero: bool) -> Callable[[object], Fraction]:
    example = "a number such as 0, 4, 0.5 or 1/7" if zero else "a number such as 4, 0.5 or 1/7"

    def read(raw: object) -> Fraction:
        amount = parse_amount(raw, zero=zero)
        if amount is None:
            raise _spoken(f"{shown(raw)} is no amount", f"say {example}, at most 1000000")
        return amount

    return read


def _time(raw: object) -> datetime:
    remedy = "write it as 2026-12-01T10:00:00Z"
    try:
        time = datetime.fromisoformat(raw) if isinstance(raw, str) else raw
    except ValueError:
        time = None
    if not isinstance(time, datetime):
        raise _spoken(f"{shown(raw)} is no time", remedy)
    if time.utcoffset() is None:
        raise _spoken(f"{shown(raw)} has no time zone", remedy)
    return time


def _seconds(raw: object) -> float | None:
    if raw is None:
        return None
    if isinstance(raw, bool) or not isinstance(raw, int | float):
        raise _spoken(f"{shown(raw)} is no number of seconds", "say a number such as 1800, or null")
    if not (math.isfinite(raw) and 0 <= raw <= _LONGEST_HOLD_S):
        raise _spoken(f"{shown(raw)} seconds cannot be", f"say 0 to {_LONGEST_HOLD_S}, or null")
    return raw


def _people(raw: object) -> tuple[tuple[str, str], ...]:
    """Pairs of Slack id (or nothing) and ClearML id, from a mapping, a list, or a list of both."""
    if not isinstance(raw, list | dict):
        raise _no_user(raw)
    return tuple(_pairs(raw))


def _pairs(raw: list[object] | dict[object, object]) -> Iterator[tuple[str, str]]:
    for part in raw if isinstance(raw, list) else [raw]:
        for slack, user in part.items() if isinstance(part, dict) else [("", part)]:
            if not isinstance(slack, str) or not isinstance(user, str):
                raise _no_user(user if isinstance(slack, str) else slack)
            yield slack and _name(slack), _name(user)


def _no_user(raw: object) -> PydanticCustomError:
    remedy = "list ClearML user ids in quotes, or map each Slack user id to one"
    return _spoken(f"{shown(raw)} is no user", remedy)


NAME: Final = no_info_after_validator_function(_name, str_schema(strict=True))
TEXT: Final = no_info_after_validator_function(_text, str_schema(strict=True))
POSITIVE: Final = no_info_plain_validator_function(_amount(zero=False))
ZERO_OR_MORE: Final = no_info_plain_validator_function(_amount(zero=True))
TIME: Final = no_info_plain_validator_function(_time)
SECONDS: Final = no_info_plain_validator_function(_seconds)
PEOPLE: Final = no_info_plain_validator_function(_people)
SWITCH: Final = bool_schema(strict=True)
CGPU_POLICY: Final = int_schema(ge=0, le=5, strict=True)


def one_of(words: type[StrEnum]) -> CoreSchema:
    """One of the words of an enumeration; the value is its member."""
    return no_info_after_validator_function(words, literal_schema([str(word) for word in words]))
