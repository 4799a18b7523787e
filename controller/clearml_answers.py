"""What an HTTP answer of ClearML's API means: data, or an error with a type.

Codes are matched, never texts (facts/clearml.md M4).
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import requests

from controller.ports import Refused, Unavailable, Unsuitable

LATER: Final = frozenset({429, 502, 503, 504, 509})
"""HTTP codes by which a server, or what stands before it, says that it cannot now."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The envelope around every answer of the API."""

    code: int
    subcode: int
    message: str
    data: dict[str, Any]


def answer_of(response: requests.Response) -> Answer | None:
    """What ClearML's envelope says; None where the answer is in none."""
    try:
        answer = response.json()
        meta = answer["meta"]
        code, subcode = int(meta["result_code"]), int(meta.get("result_subcode") or 0)
        data = answer.get("data")
    except (ValueError, KeyError, TypeError, AttributeError):
        return None
    message = str(meta.get("result_msg", ""))
    return Answer(code, subcode, message, data if isinstance(data, dict) else {})


def data_of(call: str, response: requests.Response) -> dict[str, Any]:
    """The data of a call that succeeded; raises `Refused`, `Unsuitable` or `Unavailable`."""
    if response.status_code in LATER:
        raise Unavailable(f"ClearML answered {call} with {response.status_code}.")
    answer = answer_of(response)
    if answer is None:
        raise Unavailable(f"What answered {call} is no ClearML API server.")
    if answer.code == requests.codes.ok:
        return answer.data
    said = f"{answer.code}/{answer.subcode}: {answer.message}"
    if answer.code >= requests.codes.server_error:
        # A 500 may mean "done": queue metrics are written after the queue itself.
        raise Unavailable(f"ClearML answered {call} with {said}")
    if answer.code in (requests.codes.unauthorized, requests.codes.forbidden):
        raise Unsuitable(f"ClearML denies {call} to these credentials: {answer.message}")
    raise Refused(call, answer.code, answer.subcode, answer.message)


def token_of(host: str, response: requests.Response, is_readable: Callable[[str], bool]) -> str:
    """The token that auth.login gave; `Unsuitable` where asking again would not help."""
    answer = answer_of(response)
    status = answer.code if answer else response.status_code
    if status in LATER or status >= requests.codes.server_error:
        raise Unavailable(f"ClearML at {host} answered the login with {status}.")
    if answer is not None and answer.code != requests.codes.ok:
        raise Unsuitable(
            f"ClearML at {host} did not let Poolkeeper in ({answer.message}); check "
            "CLEARML_API_ACCESS_KEY and CLEARML_API_SECRET_KEY."
        )
    token = answer.data.get("token") if answer else None
    if not isinstance(token, str) or not is_readable(token):
        raise Unsuitable(
            f"What answers at {host} is no ClearML API server; check that CLEARML_API_HOST is "
            "the address of the API server, not of the web or the file server."
        )
    return token
