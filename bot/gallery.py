"""Everything that the bot can show, as documents: every message, every window, every Home.

Made by the bot's own handlers and pure functions from examples, at one fixed time; the playground
shows it, tests post all of it to the sandbox's Slack, and the README's pictures come from it.
"""

from typing import Any

from bot import (
    gallery_alerts,
    gallery_cgpu,
    gallery_cgpu_restarts,
    gallery_digests,
    gallery_doctor,
    gallery_drafts,
    gallery_editing,
    gallery_editing_life,
    gallery_helping,
    gallery_homes,
    gallery_reading,
    gallery_reasons,
    gallery_requests,
    gallery_votes,
)
from bot.gallery_book import Book

_PARTS = (
    gallery_helping,
    gallery_reading,
    gallery_reasons,
    gallery_doctor,
    gallery_requests,
    gallery_votes,
    gallery_drafts,
    gallery_editing,
    gallery_editing_life,
    gallery_alerts,
    gallery_digests,
    gallery_homes,
    gallery_cgpu,
    gallery_cgpu_restarts,
)


def documents() -> dict[str, list[dict[str, Any]]]:
    """{"entries": [{group, slug, title, kind, document}]}; kind is message, modal or home.

    A message is {text, blocks}, the others are views. `said` is the line that it answers. Where a
    window was refused, `errors` has the sentences below its fields, by block id. Takes seconds.
    """
    book = Book()
    for part in _PARTS:
        part.scenes(book)
    return {"entries": book.entries}
