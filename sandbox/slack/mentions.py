"""Mentions: what a client makes of typed text, and whom a message's markup would notify.

Only <@U>, <!channel>, <!here>, <!everyone> and <!subteam^S> notify, and only where Slack reads
markup: mrkdwn, markdown and rich text, never plain_text objects.
"""

import html
import re
from collections.abc import Iterator
from typing import Any

Doc = dict[str, Any]

_MARKUP = re.compile(r"<(@[A-Z0-9_]+|!channel|!here|!everyone|!subteam\^[A-Z0-9_]+)(?:\|[^<>]*)?>")
_TYPED = re.compile(r"([@#])([\w.-]*\w)|(https?://[^\s<>]+)")
_EVERYBODY = ("channel", "here", "everyone")


def typed(text: str, handles: dict[str, str]) -> str:
    """Text as a client sends it: & < > escaped, then known @names, #channels and links marked.

    `handles` gives the markup of each name that the client would complete, "@ada" to "<@U_ADA>".
    """
    return _TYPED.sub(lambda found: _marked(found, handles), html.escape(text, quote=False))


def _marked(found: re.Match[str], handles: dict[str, str]) -> str:
    sign, name, link = found.groups()
    if link:
        return f"<{link}>"
    if sign == "@" and name in _EVERYBODY:
        return f"<!{name}>"
    return handles.get(f"{sign}{name}", found.group())


def mentions(text: str, blocks: list[Doc]) -> list[str]:
    """The mentions in a message, as "@U_ADA", "!channel", "!subteam^S_OPS"; each once."""
    found: list[str] = []
    for piece in (text, *_read_as_markup(blocks)):
        found += [match.group(1) for match in _MARKUP.finditer(piece)]
    return list(dict.fromkeys(found + list(_rich(blocks))))


def _read_as_markup(part: Any) -> Iterator[str]:
    """The texts of mrkdwn objects and markdown blocks, however deep."""
    if isinstance(part, list):
        for item in part:
            yield from _read_as_markup(item)
    elif isinstance(part, dict):
        if part.get("type") in ("mrkdwn", "markdown") and isinstance(part.get("text"), str):
            yield part["text"]
        for value in part.values():
            yield from _read_as_markup(value)


def _rich(part: Any) -> Iterator[str]:
    """The mention elements of rich text, which are objects of their own."""
    if isinstance(part, list):
        for item in part:
            yield from _rich(item)
    elif isinstance(part, dict):
        if part.get("type") == "user" and "user_id" in part:
            yield f"@{part['user_id']}"
        elif part.get("type") == "usergroup" and "usergroup_id" in part:
            yield f"!subteam^{part['usergroup_id']}"
        elif part.get("type") == "broadcast" and "range" in part:
            yield f"!{part['range']}"
        for value in part.values():
            yield from _rich(value)
