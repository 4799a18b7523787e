"""The gallery's entries: documents under their group and title, each with a name of its own."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from bot import carrying
from bot.blocks import Block, Post, Reply


@dataclass
class Book:
    """The entries so far. A slug names each, and none twice."""

    entries: list[dict[str, Any]] = field(default_factory=list)
    _slugs: set[str] = field(default_factory=set)

    def add(self, kind: str, where: tuple[str, str], document: Block, **more: Any) -> None:
        """One document under (group, title)."""
        group, title = where
        stem = re.sub(r"[^a-z0-9]+", "-", f"{group} {title}".lower()).strip("-")[:80].strip("-")
        slug = next(one for one in self._names(stem) if one not in self._slugs)
        self._slugs.add(slug)
        entry = {"group": group, "slug": slug, "title": title, "kind": kind, "document": document}
        self.entries.append({**entry, **more})

    @staticmethod
    def _names(stem: str) -> Iterator[str]:
        yield stem
        yield from (f"{stem}-{number}" for number in count(2))

    def reply(self, where: tuple[str, str], reply: Reply, said: str = "") -> None:
        """An answer as it comes to who asked: with the button that shares it, or as a window."""
        more = {"said": said} if said else {}
        if reply.view is not None:
            self.add("modal", where, reply.view, **more)
            return
        shown = carrying.posted(carrying.shareable(reply, said), Post(channel="", text=""))
        self.message(where, shown, **more)

    def message(self, where: tuple[str, str], post: Post, **more: str) -> None:
        document: Block = {"text": post.text}
        if post.blocks:
            document["blocks"] = list(post.blocks)
        self.add("message", where, document, **more)
