"""A small language for what a document may look like; a rule gives the problems it sees.

`limits.py` writes Slack's limits in it, as one table.
"""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

Doc = dict[str, Any]


class Problem(NamedTuple):
    """What is wrong, where (a JSON pointer), and the code by which Slack refuses the call."""

    pointer: str
    message: str
    code: str = "invalid_blocks"

    def __str__(self) -> str:
        return f"[ERROR] {self.message} [json-pointer:{self.pointer or '/'}]"


Problems = Iterator[Problem]
Rule = Callable[[Any, str], Problems]


def anything(_value: Any, _at: str) -> Problems:
    yield from ()


def words(most: int, least: int = 1) -> Rule:
    """A string of so many characters."""

    def check(value: Any, at: str) -> Problems:
        if not isinstance(value, str):
            yield Problem(at, "must be a string")
        elif len(value) > most:
            yield Problem(at, f"must be less than {most + 1} characters")
        elif len(value) < least:
            yield Problem(at, f"must be more than {least - 1} characters")

    return check


def flag(value: Any, at: str) -> Problems:
    if not isinstance(value, bool):
        yield Problem(at, "must be a boolean")


def number(least: int, most: int) -> Rule:
    def check(value: Any, at: str) -> Problems:
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
            yield Problem(at, f"must be a whole number from {least} to {most}")

    return check


def choice(*values: str) -> Rule:
    def check(value: Any, at: str) -> Problems:
        if value not in values:
            yield Problem(at, f"must be one of: {', '.join(values)}")

    return check


def many(rule: Rule, most: int, least: int = 1) -> Rule:
    """A list of so many items, each by the rule."""

    def check(value: Any, at: str) -> Problems:
        if not isinstance(value, list):
            yield Problem(at, "must be a list")
            return
        if len(value) > most:
            yield Problem(at, f"no more than {most} items allowed")
        if len(value) < least:
            yield Problem(at, f"no less than {least} items allowed")
        for index, item in enumerate(value[:most]):
            yield from rule(item, f"{at}/{index}")

    return check


def shape(fields: dict[str, Rule]) -> Rule:
    """An object with these fields and no others; those written "name!" are required."""
    rules = {name.removesuffix("!"): rule for name, rule in fields.items()}
    required = [name.removesuffix("!") for name in fields if name.endswith("!")]

    def check(value: Any, at: str) -> Problems:
        if not isinstance(value, dict):
            yield Problem(at, "must be an object")
            return
        for name in required:
            if value.get(name) is None:
                yield Problem(at, f"missing required field: {name}")
        for name, item in value.items():
            if name not in rules:
                yield Problem(at, f"invalid additional property: {name}")
            elif item is not None:
                yield from rules[name](item, f"{at}/{name}")

    return check


def kinds(table: dict[str, Rule]) -> Rule:
    """An object whose `type` says which rule it follows."""

    def check(value: Any, at: str) -> Problems:
        kind = value.get("type") if isinstance(value, dict) else None
        if kind not in table:
            yield Problem(at, f"unsupported type: {kind}")
            return
        rest = {name: item for name, item in value.items() if name != "type"}
        yield from table[str(kind)](rest, at)

    return check


def text(most: int, *types: str, least: int = 1) -> Rule:
    """A text object: plain_text, and mrkdwn where it is named."""
    said = words(most, least)
    plain = shape({"text!": said, "emoji": flag})
    marked = shape({"text!": said, "verbatim": flag})
    known = {"plain_text": plain, "mrkdwn": marked}
    return kinds({kind: known[kind] for kind in types or ("plain_text",)})


def exactly_one(rule: Rule, *names: str) -> Rule:
    """The rule, and just one of these fields."""

    def check(value: Any, at: str) -> Problems:
        yield from rule(value, at)
        if isinstance(value, dict) and sum(value.get(name) is not None for name in names) != 1:
            yield Problem(at, f"must have exactly one of: {', '.join(names)}")

    return check


def at_least_one(rule: Rule, *names: str) -> Rule:
    def check(value: Any, at: str) -> Problems:
        yield from rule(value, at)
        if isinstance(value, dict) and all(value.get(name) is None for name in names):
            yield Problem(at, f"must have at least one of: {', '.join(names)}")

    return check
