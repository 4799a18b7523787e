"""Label and field selectors, as lists, watches and disruption budgets use them."""

import re
from collections.abc import Callable
from typing import Any

from sandbox.kubernetes import errors
from sandbox.kubernetes.documents import Doc, at, labels_of, name_of, namespace_of
from sandbox.kubernetes.resources import Resource

Test = Callable[[Doc], bool]

_KEY = r"[A-Za-z0-9](?:[-A-Za-z0-9_./]*[A-Za-z0-9])?"
_EQUAL = re.compile(rf"({_KEY})\s*(==|=|!=)\s*([-A-Za-z0-9_.]*)")
_SET = re.compile(rf"({_KEY})\s+(in|notin)\s+\(([^()]*)\)")
_PRESENT = re.compile(rf"(!?)\s*({_KEY})")
_COMMA = re.compile(r",(?![^()]*\))")


def by_labels(selector: str) -> Test:
    """`a=b,c!=d,e in (f,g),h,!i`; anything else is 400."""
    tests = [_label_test(part.strip()) for part in _COMMA.split(selector) if part.strip()]
    return lambda doc: all(test(labels_of(doc)) for test in tests)


def _label_test(part: str) -> Callable[[Doc], bool]:
    if found := _EQUAL.fullmatch(part):
        key, operator, value = found.groups()
        if operator == "!=":
            return lambda labels: labels.get(key) != value
        return lambda labels: labels.get(key) == value
    if found := _SET.fullmatch(part):
        key, operator = found[1], found[2]
        values = {one.strip() for one in found[3].split(",")}
        if operator == "in":
            return lambda labels: labels.get(key) in values
        return lambda labels: labels.get(key) not in values
    if found := _PRESENT.fullmatch(part):
        absent, key = bool(found[1]), found[2]
        return lambda labels: (key in labels) != absent
    raise errors.bad_request(f"unable to parse requirement: {part!r} is no label requirement")


def by_fields(resource: Resource, selector: str) -> Test:
    """`metadata.name=x,spec.unschedulable!=true`; unknown fields are 400."""
    tests = [_field_test(resource, part, selector) for part in selector.split(",") if part]
    return lambda doc: all(test(doc) for test in tests)


def _field_test(resource: Resource, part: str, selector: str) -> Test:
    found = re.fullmatch(r"([^!=]+)(==|=|!=)(.*)", part)
    if found is None:
        text = f"invalid selector: '{part}'; can't understand '{part}'"
        raise errors.bad_request(text)
    path, operator, value = found.groups()
    known = ("metadata.name", "metadata.namespace", *resource.fields)
    if path not in known:
        where = f'"{resource.group}/{resource.version}, Resource={resource.plural}"'
        raise errors.bad_request(
            f'Unable to find {where} that match label selector "", '
            f'field selector "{selector}": field label not supported: {path}'
        )
    equal = operator != "!="
    return lambda doc: (field_text(doc, path) == value) == equal


def field_text(doc: Doc, path: str) -> str:
    """A field as a selector compares it; absent booleans are "false"."""
    if path == "metadata.name":
        return name_of(doc)
    if path == "metadata.namespace":
        return namespace_of(doc)
    value: Any = at(doc, *path.split("."))
    if path in ("spec.unschedulable", "spec.hostNetwork"):
        return "true" if value else "false"
    return "" if value is None else str(value)


def by_selector(selector: Doc | None) -> Callable[[Doc], bool]:
    """A LabelSelector object (matchLabels, matchExpressions) on a dictionary of labels.

    Without a selector nothing matches; an empty one matches everything.
    """
    wanted = (selector or {}).get("matchLabels") or {}
    expressions = (selector or {}).get("matchExpressions") or []

    def matches(labels: Doc) -> bool:
        if selector is None or any(labels.get(key) != wanted[key] for key in wanted):
            return False
        return all(_expression(one, labels) for one in expressions)

    return matches


def _expression(one: Doc, labels: Doc) -> bool:
    key, values = one["key"], one.get("values") or []
    return {
        "In": labels.get(key) in values,
        "NotIn": labels.get(key) not in values,
        "Exists": key in labels,
        "DoesNotExist": key not in labels,
    }[one["operator"]]
