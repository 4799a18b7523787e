"""What a name or a text may look like, wherever it came from: a file, Slack, the command line."""

import unicodedata
from collections.abc import Iterable
from typing import Final

LONGEST_NAME: Final = 200
LONGEST_TEXT: Final = 2_000

_LINE_ENDS: Final = frozenset("\n\r\t")


def name_fault(name: str) -> str | None:
    """Why `name` can name nothing, as the end of a sentence that begins with it; None if it can.

    A name is not blank, is one line of at most 200 characters and has no control characters.
    """
    if not name.strip():
        return "is blank"
    if len(name) > LONGEST_NAME:
        return f"has {len(name)} characters, more than {LONGEST_NAME}"
    if any(_is_unprintable(character) for character in name):
        return "has a line break or another control character"
    return None


def text_fault(text: str) -> str | None:
    """The same for free text, which may have several lines and at most 2,000 characters."""
    if len(text) > LONGEST_TEXT:
        return f"has {len(text)} characters, more than {LONGEST_TEXT}"
    if any(_is_unprintable(character) for character in text if character not in _LINE_ENDS):
        return "has a control character"
    return None


def quoted(name: str) -> str:
    """The name in quotes, on one line whatever is in it."""
    return repr(name)


def listing(words: Iterable[str], most: int = 8) -> str:
    """The words as a sentence lists them, those beyond `most` counted only.

    >>> listing(["a", "b", "c"]), listing(["a", "b", "c"], most=1)
    ('a, b and c', 'a and 2 more')
    """
    all_words = list(words)
    if len(all_words) > most:
        all_words = [*all_words[:most], f"{len(all_words) - most} more"]
    *first, last = all_words or [""]
    return f"{', '.join(first)} and {last}" if first else last


def execution_queue_name(pool: str, link: str) -> str:
    """The name of the ClearML queue of a link (DESIGN.md, "What provisioning does to queues")."""
    return f"pool {pool} · {link}"


def _is_unprintable(character: str) -> bool:
    # Control characters, line and paragraph separators, and halves of surrogate pairs, which
    # JSON can spell but UTF-8 cannot write.
    return unicodedata.category(character) in {"Cc", "Zl", "Zp", "Cs"}
