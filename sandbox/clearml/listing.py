"""The common way of the list calls: filter, order, page, project."""

from typing import Any

from sandbox.clearml import body as given
from sandbox.clearml import errors
from sandbox.clearml.projection import Path, parsed_path, value_at
from sandbox.clearml.world import World, new_id

Doc = dict[str, Any]

PAGE_CAP = 500


def ordered(docs: list[Doc], body: Doc, known: frozenset[str]) -> list[Doc]:
    """By `order_by`, then id; a text is read letter by letter, as the real server does."""
    names = list(body.get("order_by") or ())
    if not names:
        return docs
    keys = [(parsed_path(name.removeprefix("-"), known), name.startswith("-")) for name in names]
    for path, backwards in reversed([*keys, (("id",), False)]):
        docs = sorted(docs, key=_sort_key(path), reverse=backwards)
    return docs


def _sort_key(path: Path) -> Any:
    def key(doc: Doc) -> tuple[int, Any]:
        value = value_at(doc, path)
        if value is None:
            return (0, 0)
        return (1, value) if isinstance(value, int | float) else (2, str(value))

    return key


def paged(world: World, docs: list[Doc], body: Doc) -> tuple[list[Doc], Doc]:
    """One page, and what the answer says besides (the scroll id)."""
    if "scroll_id" in body:
        return _scrolled(world, docs, body)
    if body.get("start") is not None or body.get("size") is not None:
        start, size = body.get("start") or 0, body.get("size") or PAGE_CAP
        return docs[start : start + size], {}
    page = given.optional(body, "page", int) or 0
    size = given.optional(body, "page_size", int)
    if page < 0:
        raise errors.validation("page must be >=0): field=page")
    if size is not None and size <= 0:
        raise errors.validation("page_size must be >0): field=page_size")
    size = min(size or PAGE_CAP, PAGE_CAP)
    return docs[page * size : (page + 1) * size], {}


def _scrolled(world: World, docs: list[Doc], body: Doc) -> tuple[list[Doc], Doc]:
    """A scroll is a stored offset, not a snapshot; an unknown id starts a new one."""
    size = given.optional(body, "size", int)
    if not size or size < 1:
        raise errors.validation(
            "Integer size parameter greater than 1 should be provided when working with scroll"
        )
    scroll = body["scroll_id"] if body["scroll_id"] in world.scrolls else new_id()
    offset = world.scrolls.get(scroll, 0)
    if given.flag(body, "refresh_scroll"):
        offset, size = 0, max(offset, size)
    part = docs[offset : offset + size]
    world.scrolls[scroll] = offset + len(part)
    return part, {"scroll_id": scroll}
