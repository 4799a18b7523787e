"""Calls to ClearML as they are counted at its door: which one, how it ended, how long it took."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from controller.clearml_answers import LATER

_SERVER_ERROR: Final = 500
_DENIED: Final = frozenset({401, 403})
_REFUSED: Final = 300


class Result(StrEnum):
    """How a request to ClearML ended, by the status of its HTTP answer."""

    OK = "ok"
    REFUSED = "refused"
    """ClearML understood and said no, as it does where a task moved on meanwhile."""
    DENIED = "denied"
    """To these credentials; a token that has just expired is renewed, and the call sent again."""
    BUSY = "busy"
    """An answer that says that it cannot now, or that something broke."""
    UNANSWERED = "unanswered"
    """No connection, or no answer in time."""


@dataclass(frozen=True, slots=True)
class Call:
    """One request: `name` is the API's, such as `tasks.get_all`, of those that the door makes."""

    name: str
    result: Result
    seconds: float


Heard = Callable[[Call], None]
"""Whoever counts; called by the thread that made the call, and must not raise."""


def unheard(_: Call) -> None:
    """Nobody counts."""


def result_of(status: int) -> Result:
    """What an HTTP status means for those who count."""
    if status in LATER or status >= _SERVER_ERROR:
        return Result.BUSY
    if status in _DENIED:
        return Result.DENIED
    return Result.OK if status < _REFUSED else Result.REFUSED
