"""What is wrong with a document, one sentence for each thing: where, what, and the remedy."""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice
from typing import Final

MOST_PROBLEMS: Final = 1_000

_LONGEST_SHOWN: Final = 60
_MOST_COMPARED: Final = 300


@dataclass(frozen=True)
class Problem:
    """One thing that keeps a document from being read.

    `where` is a path such as `profiles[0].allotment`, empty for the document as a whole; `what`
    and `remedy` are parts of the sentence that `str()` gives, always on one line.
    """

    where: str
    what: str
    remedy: str

    def __str__(self) -> str:
        end = "" if self.remedy.endswith("?") else "."
        return f"{self.where or 'the document'}: {self.what}; {self.remedy}{end}"


class DocumentError(Exception):
    """A document cannot be read.

    `problems` has everything that is wrong with it, but no more than 1,000 things; `are_more`
    says that there are others.
    """

    def __init__(self, problems: Iterable[Problem], *, are_more: bool = False) -> None:
        found = tuple(islice(problems, MOST_PROBLEMS + 1))
        self.problems = found[:MOST_PROBLEMS]
        self.are_more = are_more or len(found) > MOST_PROBLEMS
        super().__init__("\n".join(map(str, self.problems)))


def shown(value: object) -> str:
    """`value` as a person recognises it: in quotes, on one line, cut to 60 characters.

    >>> shown("four"), shown(8), shown(True), shown(None), shown([1, 2])
    ("'four'", '8', 'true', 'null', 'a list')
    """
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list | tuple | set):
        return "a list"
    if isinstance(value, dict):
        return "a mapping"
    if isinstance(value, str):
        return _cut(repr(value[: 2 * _LONGEST_SHOWN]))
    try:
        return _cut(str(value))
    except ValueError:
        return "a number of thousands of digits"


def nearest(word: object, known: Iterable[str]) -> str | None:
    """The known word that `word` was probably meant to be."""
    # Needed only where something is wrong; kept from the start of every command.
    from difflib import get_close_matches

    choices = list(known)
    # Comparing with thousands, for thousands of words, would take minutes.
    if len(choices) > _MOST_COMPARED:
        return None
    close = get_close_matches(str(word)[:_LONGEST_SHOWN], choices, n=1)
    return close[0] if close else None


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST_SHOWN else f"{text[: _LONGEST_SHOWN - 1]}…"
