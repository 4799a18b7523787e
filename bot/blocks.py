"""Replies and the Block Kit pieces they are made of. Pure.

Everything that a person has named goes through `name` or `plain`: it can neither ping anybody nor
break a message, whatever it holds (DESIGN.md, rule 6). Limits are those of facts/slack.md 2.2.
"""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Final

from domain.names import listing

Block = dict[str, Any]

MOST_BLOCKS: Final = 45
"""Below Slack's 50, so that a context line and buttons always fit."""

MOST_CHARACTERS: Final = 10_000
"""Of all blocks of a message; Slack refuses somewhere above 13,000."""

SECTION: Final = 2_900
NAME: Final = 60
_BUTTON: Final = 75
_VALUE: Final = 2_000


@dataclass(frozen=True, kw_only=True)
class Reply:
    """What is answered: `text` is a whole sentence and stands alone; `blocks` are for the eye.

    `share` says whether a button to post it in the channel makes sense; `view` is a modal to be
    opened or put in place of the one that is open.
    """

    text: str
    blocks: tuple[Block, ...] = ()
    share: bool = False
    view: Block | None = None


@lru_cache(maxsize=4096)
def plain(text: str, most: int = NAME) -> str:
    """What somebody typed, on one line, without marks that turn text around, and not too long."""
    kept = text
    if not (text.isascii() and text.isprintable()):
        kept = "".join(" " if char.isspace() else char for char in text if _is_harmless(char))
    kept = re.sub(r" +", " ", kept).strip() or "(blank)"
    return kept if len(kept) <= most else f"{kept[: most - 1]}…"


def _is_harmless(char: str) -> bool:
    # Cf: format characters such as right-to-left overrides; Cc: control characters; Cs: halves.
    return char.isspace() or unicodedata.category(char) not in ("Cf", "Cc", "Cs", "Co", "Cn")


def escape(text: str) -> str:
    """Text in which Slack finds no link, mention or channel."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def quoted(text: str, most: int = NAME) -> str:
    """What somebody typed, inside a sentence: on one line, and nothing that Slack follows."""
    return escape(plain(text, most))


def name(text: str) -> str:
    """Somebody's name for something, in a message's markup: no markup in it counts."""
    return f"`{escape(plain(text).replace('`', 'ˋ'))}`"


def names(words: Sequence[str], most: int) -> str:
    """Several names as a sentence lists them, those beyond `most` counted only."""
    more = len(words) - most
    shown = [name(word) for word in words[:most]]
    return listing([*shown, *([f"{more} more"] if more > 0 else [])], most + 1)


def counted(number: int, noun: str, nouns: str = "") -> str:
    """`1 pool`, `2 pools`; `nouns` where it is not the noun with an s."""
    return f"{number} {noun if number == 1 else nouns or f'{noun}s'}"


def user(id_: str) -> str:
    """A person by Slack id; a mention only where it is the bot itself that chose it."""
    return f"<@{id_}>" if re.fullmatch(r"[UW][A-Z0-9_]+", id_) else name(id_)


def header(text: str) -> Block:
    return {"type": "header", "text": {"type": "plain_text", "text": plain(text, 150)}}


def section(markup: str) -> Block:
    """Markup as it stands; names in it went through `name`."""
    return {"type": "section", "text": {"type": "mrkdwn", "text": cut(markup, SECTION)}}


def sections(lines: Iterable[str]) -> list[Block]:
    """Lines in as few sections as hold them."""
    blocks: list[Block] = []
    held: list[str] = []
    for line in (cut(line, SECTION) for line in lines):
        if held and sum(map(len, held)) + len(held) + len(line) > SECTION:
            blocks.append(section("\n".join(held)))
            held = []
        held.append(line)
    if held:
        blocks.append(section("\n".join(held)))
    return blocks


def context(markup: str) -> Block:
    return {"type": "context", "elements": [{"type": "mrkdwn", "text": cut(markup, SECTION)}]}


def prose(text: str) -> Block:
    """A sentence with names in it, as small plain text: nothing in it is markup."""
    kept = plain(text, SECTION)
    return {"type": "context", "elements": [{"type": "plain_text", "text": kept, "emoji": False}]}


def bullets(lines: Iterable[str], title: str = "", most: int = 200) -> Block:
    """Lines in which nothing is markup, whatever somebody named his things; a bold title above."""
    items = [
        {"type": "rich_text_section", "elements": [{"type": "text", "text": plain(line, most)}]}
        for line in lines
    ]
    parts: list[Block] = []
    if title:
        bold = {"type": "text", "text": title, "style": {"bold": True}}
        parts.append({"type": "rich_text_section", "elements": [bold]})
    return {
        "type": "rich_text",
        "elements": [*parts, {"type": "rich_text_list", "style": "bullet", "elements": items}],
    }


def with_button(block: Block, element: Block) -> Block:
    """A section with a button at its side."""
    return {**block, "accessory": element}


def divider() -> Block:
    return {"type": "divider"}


def button(label: str, says: str, **more: object) -> Block:
    """A button that says a command, through the same parser and access check as typing it."""
    return action(label, "say", says, **more)


def turn(label: str, says: str) -> Block:
    """The same, in place of the answer that it stands in: another page of it."""
    return action(label, "turn", says)


def action(label: str, action_id: str, value: str, **more: object) -> Block:
    """A button with a handler of its own; `style` is primary or danger, `confirm` a dialog."""
    text = {"type": "plain_text", "text": plain(label, _BUTTON)}
    assert len(value) <= _VALUE, "what a button says fits into it"
    return {"type": "button", "text": text, "action_id": action_id, "value": value, **more}


def confirm(title: str, text: str, yes: str) -> Block:
    """A dialog that names what an action means before it happens."""
    return {
        "title": {"type": "plain_text", "text": plain(title, 100)},
        "text": {"type": "plain_text", "text": plain(text, 300)},
        "confirm": {"type": "plain_text", "text": plain(yes, 30)},
        "deny": {"type": "plain_text", "text": "Cancel"},
    }


def buttons(*elements: Block) -> Block:
    """A row of buttons; several of one action are told apart by their place."""
    numbered = [
        {**element, "action_id": f"{element['action_id']}:{place}"}
        for place, element in enumerate(elements)
    ]
    return {"type": "actions", "elements": numbered}


def cut(text: str, most: int) -> str:
    """Not longer than that, and visibly so."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


@dataclass(frozen=True, kw_only=True)
class Page:
    """A part of a long list: `items` from number `first` (counted from 1) of `whole`."""

    items: Sequence[Any]
    first: int
    whole: int
    number: int
    pages: int

    def footer(self, says: str) -> list[Block]:
        """Where one is in the list and how to go on; nothing where there is one page."""
        if self.pages == 1:
            return []
        last = self.first + len(self.items) - 1
        turns = []
        if self.number > 1:
            turns.append(turn("Previous", f"{says} page {self.number - 1}"))
        if self.number < self.pages:
            turns.append(turn("Next", f"{says} page {self.number + 1}"))
        text = f"{self.first}-{last} of {self.whole}, page {self.number} of {self.pages}"
        return [context(text), buttons(*turns)]


def page_of(items: Sequence[Any], number: int, size: int) -> Page:
    """Page `number`, counted from 1; one beyond the end is the last."""
    pages = max(1, -(-len(items) // size))
    number = min(max(number, 1), pages)
    start = (number - 1) * size
    return Page(
        items=items[start : start + size],
        first=start + 1 if items else 0,
        whole=len(items),
        number=number,
        pages=pages,
    )


def page_in(words: Sequence[str]) -> tuple[tuple[str, ...], int]:
    """The words before a closing `page N`, and N; 1 where there is none."""
    if len(words) >= 2 and words[-2].lower() == "page" and words[-1].isdecimal():
        return tuple(words[:-2]), int(words[-1])
    return tuple(words), 1


def fits(blocks: Sequence[Block]) -> bool:
    """Whether Slack takes that many blocks with that much in them."""
    return len(blocks) <= MOST_BLOCKS and sum(map(characters, blocks)) <= MOST_CHARACTERS


def characters(block: object) -> int:
    """How much text there is in a block, or in a part of one."""
    if isinstance(block, str):
        return len(block)
    if isinstance(block, dict):
        return sum(map(characters, block.values()))
    return sum(map(characters, block)) if isinstance(block, list | tuple) else 0


_NO_BLOCKS: Final[tuple[Block, ...]] = ()


@dataclass(frozen=True, kw_only=True)
class Post:
    """A message for a channel, on its way through the outbox."""

    channel: str
    text: str
    blocks: tuple[Block, ...] = field(default=_NO_BLOCKS)
    thread: str = ""
