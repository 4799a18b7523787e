"""JSON text to plain values, stricter than the standard library: no key twice, no NaN."""

import json
import re
from typing import Final, NoReturn

from storage.document_problems import DocumentError, Problem, shown

_TOKEN: Final = re.compile(
    r'(?P<text>"(?:[^"\\]|\\.)*")(?P<colon>\s*:)?|(?P<word>NaN|-?Infinity)|(?P<bracket>[\[\]{}])'
)


class _NotTaken(Exception):
    """The text has something that the standard library takes and we do not."""


def parse_json(text: str) -> object:
    """The value that `text` spells. Raises DocumentError with what is wrong with it."""
    try:
        return json.loads(text, object_pairs_hook=_mapping, parse_constant=_no_number)
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        what = f"is no JSON ({error.msg[:1].lower()}{error.msg[1:]})"
        problems = [Problem(where, what, "correct it there")]
    except _NotTaken:
        problems = _not_taken(text)
    except RecursionError:
        problems = [Problem("", "is nested too deeply", "nest it as shown in the README")]
    except ValueError:
        # The only other one: Python refuses to build integers of more than 4,300 digits.
        problems = [Problem("", "has a number of thousands of digits", "shorten it")]
    raise DocumentError(problems)


def _mapping(pairs: list[tuple[str, object]]) -> dict[str, object]:
    mapping = dict(pairs)
    if len(mapping) < len(pairs):
        raise _NotTaken
    return mapping


def _no_number(_word: str) -> NoReturn:
    raise _NotTaken


def _not_taken(text: str) -> list[Problem]:
    """Repeated keys and words for no numbers, with their lines, which the parser does not tell."""
    problems = []
    keys: list[set[str]] = []
    for token in _TOKEN.finditer(text):
        where = f"line {text.count(chr(10), 0, token.start()) + 1}"
        if token["bracket"] in ("{", "["):
            keys.append(set())
        elif token["bracket"]:
            keys.pop()
        elif token["word"]:
            what = f"{token['word']} is no number in JSON"
            problems.append(Problem(where, what, "write a number, or null for none"))
        elif token["colon"]:
            key = json.loads(token["text"])
            if key in keys[-1]:
                what = f"the key {shown(key)} is there already in the same object"
                problems.append(Problem(where, what, "leave one of them"))
            keys[-1].add(key)
    return problems
