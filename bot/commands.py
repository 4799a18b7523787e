"""From what people type to typed commands, or to a helpful misreading.

The table of verbs (`bot.verbs`) is the only place that knows words, roles and help; slash command,
mention, direct message, App Home, buttons and the terminal all come through `read`.
"""

import difflib
import shlex
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

from bot.blocks import name

if TYPE_CHECKING:
    from bot.access import Actor
    from bot.blocks import Reply
    from bot.desk import Desk


class Role(StrEnum):
    """Who may say a verb. Members are shown what is theirs; admins everything."""

    EVERYBODY = "everybody"
    MEMBER = "members"
    ADMIN = "admins"


@dataclass(frozen=True, kw_only=True)
class Origin:
    """Where something was said, and by which payload it can be answered with a modal.

    `channel` is where it was said; `trigger` opens one view within three seconds, "" where there
    is none; `message` is the ts of the message whose button was pressed.
    """

    channel: str = ""
    trigger: str = ""
    message: str = ""


@dataclass(frozen=True, kw_only=True)
class Command:
    """A verb of the table with its words; `rest` is the text as it was typed after the verb."""

    verb: "Verb"
    words: tuple[str, ...] = ()
    rest: str = ""
    origin: Origin = field(default_factory=Origin)


Answer = Callable[["Desk", "Actor", Command], "Reply"]


@dataclass(frozen=True, kw_only=True)
class Verb:
    """One row of the table: `words` are what is typed, such as ("draft", "save").

    `usage` shows the arguments; `takes` is how few and how many words may follow, None for any.
    `help` is one line, `example` a whole command.
    """

    words: tuple[str, ...]
    role: Role
    help: str
    answer: Answer
    usage: str = ""
    takes: tuple[int, int | None] = (0, 0)
    example: str = ""

    @property
    def name(self) -> str:
        return " ".join(self.words)


@dataclass(frozen=True, kw_only=True)
class Misreading:
    """What could not be read: `said` as typed, a sentence in a message's markup, and the nearest
    command if any."""

    said: str
    sentence: str
    nearest: str = ""


def read(table: Sequence[Verb], text: str, origin: Origin | None = None) -> Command | Misreading:
    """Reads one command; an empty text is the request for help."""
    words = _split(text) or ["help"]
    lowered = [word.lower() for word in words]
    fitting = [verb for verb in table if tuple(lowered[: len(verb.words)]) == verb.words]
    if not fitting:
        return _unknown(table, text, lowered)
    verb = max(fitting, key=lambda verb: len(verb.words))
    rest = tuple(words[len(verb.words) :])
    fewest, most = verb.takes
    if len(rest) < fewest or (most is not None and len(rest) > most):
        return _misfit(table, verb, text, rest)
    return Command(
        verb=verb, words=rest, rest=_after(text, len(verb.words)), origin=origin or Origin()
    )


def _split(text: str) -> list[str]:
    """Words as in a shell, so that names with spaces can be quoted; a lone quote is a letter."""
    if not any(quote in text for quote in ("'", '"')):
        for typed, meant in (("“", '"'), ("”", '"'), ("‘", "'"), ("’", "'")):
            text = text.replace(typed, meant)  # what phones make of quotes
    try:
        return shlex.split(text)
    except ValueError:
        return text.split()


def _after(text: str, words: int) -> str:
    return text.strip().split(None, words)[words].strip() if len(text.split()) > words else ""


def _unknown(table: Sequence[Verb], text: str, lowered: Sequence[str]) -> Misreading:
    group = [verb for verb in table if verb.words[0] == lowered[0]]
    if group and len(lowered) > 1:
        sentence = f"{name(lowered[0])} has no {name(lowered[1])}"
    elif group:
        sentence = f"{name(lowered[0])} needs one more word"
    else:
        sentence = f"I do not know {name(lowered[0])}"
    nearest = _nearest(group or table, lowered, text)
    return Misreading(said=text, sentence=sentence, nearest=nearest)


def _nearest(table: Iterable[Verb], lowered: Sequence[str], text: str) -> str:
    """The command that differs least, with the words that were typed after it."""
    verbs = tuple(table)
    longest = max((len(verb.words) for verb in verbs), default=1)
    for length in range(min(longest, len(lowered)), 0, -1):
        # Words are compared with as many words: what follows a short verb is not part of it.
        names = {verb.name: verb for verb in verbs if len(verb.words) == length}
        groups = {verb.words[0] for verb in verbs if len(verb.words) > length == 1} - names.keys()
        said = " ".join(lowered[:length])
        close = difflib.get_close_matches(said, [*names, *groups], n=1, cutoff=0.6)
        if close and close[0] in groups:
            return f"help {close[0]}"
        if close:
            verb = names[close[0]]
            rest = _after(text, length) if verb.takes[1] != 0 else ""
            return f"{verb.name} {rest}".strip()
    return ""


def _misfit(table: Sequence[Verb], verb: Verb, text: str, rest: Sequence[str]) -> Misreading:
    below = [other for other in table if other.words[:-1] == verb.words]
    if rest and below:
        return _unknown(table, text, [*verb.words, *(word.lower() for word in rest)])
    wants = f" {verb.usage}" if verb.usage else ""
    said = "more than it takes" if rest else "too little"
    return Misreading(
        said=text, sentence=f"`{verb.name}` was given {said}: say `/pool {verb.name}{wants}`"
    )
