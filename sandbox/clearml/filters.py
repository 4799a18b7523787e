"""Which documents a list call finds. Unknown filters, and empty lists, filter nothing."""

import re
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from typing import Any

from sandbox.clearml import errors
from sandbox.clearml.projection import Path, value_at

Doc = dict[str, Any]
Test = Callable[[Doc], bool]

TASK_LISTS = (
    "user",
    "tags",
    "system_tags",
    "type",
    "status",
    "project",
    "parent",
    "execution.queue",
)
QUEUE_LISTS = ("tags", "system_tags")
PATTERNS = ("name", "comment", "report")
TIMES = ("created", "started", "completed", "status_changed", "last_update", "last_change")
_COMPARISONS: dict[str, Callable[[str, str], bool]] = {
    ">=": lambda value, bound: value >= bound,
    "<=": lambda value, bound: value <= bound,
    ">": lambda value, bound: value > bound,
    "<": lambda value, bound: value < bound,
}


def found(docs: dict[str, Doc], body: Doc, lists: tuple[str, ...]) -> list[Doc]:
    """The documents that pass every filter of the body; by id it costs only the ids."""
    tests = list(_tests(body, lists))
    chosen: Iterable[Doc] = docs.values()
    if wanted := _as_list(body.get("id")):
        chosen = (docs[key] for key in dict.fromkeys(wanted) if key in docs)
    return [doc for doc in chosen if all(test(doc) for test in tests)]


def pattern(text: str) -> re.Pattern[str]:
    try:
        return re.compile(text)
    except re.error as err:
        raise errors.bad_regex(err) from err


def _tests(body: Doc, lists: tuple[str, ...]) -> Iterator[Test]:
    for key, value in body.items():
        if value is None or value == []:
            continue
        if key in lists or key.startswith("hyperparams."):
            yield _one_of(tuple(key.split(".")), _as_list(value))
        elif key in PATTERNS:
            yield _matches((key,), pattern(value))
        elif key in TIMES:
            yield _between((key,), value)
        elif key.startswith("runtime."):
            yield _equals(tuple(key.split(".", 1)), value)
        elif key in ("_any_", "_all_"):
            yield _anywhere(key, value)
        elif key == "filters":
            yield from (_includes(tuple(name.split(".")), rule) for name, rule in value.items())


def _as_list(value: Any) -> list[Any]:
    if value is None:
        return []
    return value if isinstance(value, list) else [value]


def _values(doc: Doc, path: Path) -> list[Any]:
    return _as_list(value_at(doc, path)) or [None]


def _one_of(path: Path, wanted: list[Any]) -> Test:
    """Any of the wanted, none of the excluded: "-x", or "x" after "__$not"."""
    include, exclude, negate, need_all = set(), set(), False, False
    for item in wanted:
        if item in ("__$all", "__$and"):
            need_all = True
        elif item == "__$not":
            negate = True
        elif isinstance(item, str) and item.startswith("__$"):
            continue
        elif negate or (isinstance(item, str) and item.startswith("-")):
            exclude.add(item if negate else item[1:])
            negate = False
        else:
            include.add(item)
    return _membership(path, include, exclude, need_all)


def _membership(path: Path, include: set[Any], exclude: set[Any], need_all: bool) -> Test:
    def test(doc: Doc) -> bool:
        values = _values(doc, path)
        if not exclude.isdisjoint(values):
            return False
        if not include:
            return True
        return include.issubset(values) if need_all else not include.isdisjoint(values)

    return test


def _includes(path: Path, rule: Doc) -> Test:
    """The `filters` of the _ex calls: {any|all: {include, exclude}}."""
    need_all = "all" in rule
    clause = rule.get("all") or rule.get("any") or {}
    include, exclude = clause.get("include") or [], clause.get("exclude") or []
    return _membership(path, set(include), set(exclude), need_all)


def _matches(path: Path, wanted: re.Pattern[str]) -> Test:
    return lambda doc: bool(wanted.search(value_at(doc, path) or ""))


def _equals(path: Path, wanted: Any) -> Test:
    return lambda doc: bool(value_at(doc, path) == wanted)


def _anywhere(key: str, rule: Doc) -> Test:
    paths = [tuple(name.split(".")) for name in rule.get("fields", [])]
    wanted = re.compile(pattern(rule.get("pattern", "")).pattern, re.IGNORECASE)
    how = any if key == "_any_" else all
    return lambda doc: how(wanted.search(str(value_at(doc, path) or "")) for path in paths)


def _between(path: Path, value: Any) -> Test:
    """[from, to] with null for open, or conditions like ">=2026-01-01T00:00:00"."""
    conditions = list(_conditions(_as_list(value)))

    def test(doc: Doc) -> bool:
        at = value_at(doc, path)
        return at is not None and all(_COMPARISONS[sign](at, bound) for sign, bound in conditions)

    return test


def _conditions(bounds: list[str | None]) -> Iterator[tuple[str, str]]:
    for default, bound in zip((">=", "<="), bounds, strict=False):
        if bound:
            sign = re.match(r"[<>]=?", bound)
            yield (sign.group(), _time(bound[sign.end() :])) if sign else (default, _time(bound))


def _time(text: str) -> str:
    at = datetime.fromisoformat(text)
    at = at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)
    return at.isoformat(timespec="microseconds")
