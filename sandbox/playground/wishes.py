"""What the page wants of the cluster, read from JSON; what it cannot mean is told in a sentence."""

import json
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from sandbox.playground.marks import amount

Doc = dict[str, Any]

SLOWEST, FASTEST = 0.5, 20.0
MOST_AT_ONCE = 50
LONGEST_NAME = 200


class Refused(Exception):
    """Why a wish is not done; a sentence for the page to show."""


@dataclass(frozen=True, slots=True)
class Addition:
    """Jobs to enqueue: to a queue by its id or name, or to one of a policy's. "" is not said."""

    queue: str
    policy: str
    profile: str
    size: Fraction | None
    name: str
    user: str
    count: int


def addition(body: Doc) -> Addition:
    wanted = Addition(
        queue=_text(body, "queue"),
        policy=_text(body, "policy"),
        profile=_text(body, "profile"),
        size=_size(body.get("size")),
        name=_text(body, "name"),
        user=_text(body, "user"),
        count=_count(body.get("count", 1)),
    )
    if not wanted.queue and not wanted.policy:
        raise Refused("Say which policy or which queue the job is for.")
    if not wanted.user:
        raise Refused("Say whose job it is.")
    if wanted.name and not 3 <= len(wanted.name) <= LONGEST_NAME:
        raise Refused(f"A job's name has 3 to {LONGEST_NAME} characters.")
    return wanted


@dataclass(frozen=True, slots=True)
class Tempo:
    """None is not said, and stays."""

    speed: float | None
    paused: bool | None


def tempo(body: Doc) -> Tempo:
    """{speed} goes on at that speed; {pause: true or false}; "pause" as a speed is a pause."""
    speed, pause = body.get("speed"), body.get("pause")
    if speed == "pause":
        speed, pause = None, True
    if pause is not None and not isinstance(pause, bool):
        raise Refused("`pause` is true or false.")
    if speed is None and pause is None:
        raise Refused("Say a speed, or `pause`.")
    if speed is None:
        return Tempo(None, pause)
    known = isinstance(speed, int | float) and not isinstance(speed, bool)
    if not known or not SLOWEST <= speed <= FASTEST:
        raise Refused(f"The speed is a number from {SLOWEST:g} to {FASTEST:g}.")
    return Tempo(float(speed), bool(pause))


def task(body: Doc) -> str:
    if not (found := _text(body, "task")):
        raise Refused("Say which task.")
    return found


def switch(body: Doc) -> bool:
    on = body.get("on")
    if not isinstance(on, bool):
        raise Refused("`on` is true or false.")
    return on


def _text(body: Doc, key: str) -> str:
    value = body.get(key)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise Refused(f"`{key}` is text.")
    return value.strip()


def _count(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= MOST_AT_ONCE:
        raise Refused(f"`count` is a number from 1 to {MOST_AT_ONCE}.")
    return value


def _size(value: object) -> Fraction | None:
    if value is None or value == "":
        return None
    try:
        return amount("" if isinstance(value, bool) else value)
    except ValueError:
        raise Refused("`size` is an amount such as 4, 0.5 or 1/2.") from None


def body(raw: bytes) -> Doc:
    try:
        found = json.loads(raw or b"{}")
    except ValueError:
        raise Refused("The body is no JSON.") from None
    if not isinstance(found, dict):
        raise Refused("The body is to be a JSON object.")
    return found
