"""The three kinds of patches: JSON patch, merge patch, strategic merge by the API's merge keys."""

from typing import Any

from sandbox.kubernetes import errors
from sandbox.kubernetes.documents import MERGE_KEYS, MERGED_SETS, Doc, copied

_ORDER = "$setElementOrder/"
_FROM_SET = "$deleteFromPrimitiveList/"


class MissingError(Exception):
    """A path of a JSON patch leads nowhere, or a `test` fails."""


def json_patch(doc: Doc, operations: Any) -> Doc:
    """RFC 6902; every failure is the same 422 (recording 08)."""
    if not isinstance(operations, list):
        raise errors.bad_request(
            "error decoding patch: json: cannot unmarshal object into Go value"
        )
    doc = copied(doc)
    try:
        for operation in operations:
            _perform(doc, operation)
    except (MissingError, KeyError, TypeError, ValueError, AttributeError):
        raise errors.unprocessable() from None
    return doc


def _perform(doc: Doc, operation: Doc) -> None:
    kind, path = operation["op"], operation["path"]
    if kind in ("move", "copy"):
        value = copied(_look(doc, operation["from"]))
        if kind == "move":
            _remove(doc, operation["from"])
        _add(doc, path, value)
    elif kind == "add":
        _add(doc, path, copied(operation["value"]))
    elif kind == "remove":
        _remove(doc, path)
    elif kind == "replace":
        _look(doc, path)
        holder, last = _holder(doc, path)
        holder[last] = copied(operation["value"])
    elif kind == "test":
        if _look(doc, path) != operation["value"]:
            raise MissingError
    else:
        raise errors.unprocessable()


def _steps(path: str) -> list[str]:
    if not path.startswith("/"):
        raise MissingError
    return [step.replace("~1", "/").replace("~0", "~") for step in path[1:].split("/")]


def _into(holder: Any, step: str) -> Any:
    if isinstance(holder, list):
        number = int(step)
        if not 0 <= number < len(holder):
            raise MissingError
        return holder[number]
    if not isinstance(holder, dict) or step not in holder:
        raise MissingError
    return holder[step]


def _holder(doc: Doc, path: str) -> tuple[Any, Any]:
    """The container of the path's last step, and that step as an index or a key."""
    *way, last = _steps(path)
    holder: Any = doc
    for step in way:
        holder = _into(holder, step)
    if isinstance(holder, list):
        return holder, len(holder) if last == "-" else int(last)
    if not isinstance(holder, dict):
        raise MissingError
    return holder, last


def _look(doc: Doc, path: str) -> Any:
    value: Any = doc
    for step in _steps(path):
        value = _into(value, step)
    return value


def _add(doc: Doc, path: str, value: Any) -> None:
    holder, last = _holder(doc, path)
    if isinstance(holder, list):
        if not 0 <= last <= len(holder):
            raise MissingError
        holder.insert(last, value)
    else:
        holder[last] = value


def _remove(doc: Doc, path: str) -> None:
    _look(doc, path)
    holder, last = _holder(doc, path)
    del holder[last]


def merge_patch(doc: Any, patch: Any) -> Any:
    """RFC 7386: null removes, lists are replaced."""
    if not isinstance(patch, dict):
        return copied(patch)
    result = dict(doc) if isinstance(doc, dict) else {}
    for key, value in patch.items():
        if value is None:
            result.pop(key, None)
        else:
            result[key] = merge_patch(result.get(key), value)
    return result


def strategic_merge(doc: Any, patch: Any) -> Any:
    """Lists with a merge key are merged item by item and keep their order."""
    if not isinstance(patch, dict):
        return copied(patch)
    if patch.get("$patch") == "replace":
        return {key: copied(value) for key, value in patch.items() if key != "$patch"}
    result = dict(doc) if isinstance(doc, dict) else {}
    for key, value in patch.items():
        if key.startswith(_FROM_SET):
            field = key.removeprefix(_FROM_SET)
            result[field] = [one for one in result.get(field) or [] if one not in value]
        elif key.startswith("$"):
            continue
        elif value is None:
            result.pop(key, None)
        elif isinstance(value, list):
            result[key] = _merged_list(key, result.get(key) or [], value)
        else:
            result[key] = strategic_merge(result.get(key), value)
    return _ordered(result, patch)


def _merged_list(field: str, old: list[Any], new: list[Any]) -> list[Any]:
    if field in MERGED_SETS:
        return [*old, *(one for one in new if one not in old)]
    key = MERGE_KEYS.get(field)
    if key is None or not all(isinstance(one, dict) for one in [*old, *new]):
        return list(copied(new))
    result = list(old)
    for item in new:
        if item.get("$patch") == "replace":
            result.clear()
            continue
        where = [place for place, one in enumerate(result) if one.get(key) == item.get(key)]
        if item.get("$patch") == "delete":
            result = [one for one in result if one.get(key) != item.get(key)]
        elif where:
            result[where[0]] = strategic_merge(result[where[0]], item)
        else:
            result.append(strategic_merge({}, item))
    return result


def _ordered(result: Doc, patch: Doc) -> Doc:
    """`$setElementOrder/<list>`, which kubectl sends: the named items come in that order."""
    for key, order in patch.items():
        if not key.startswith(_ORDER):
            continue
        field = key.removeprefix(_ORDER)
        name = MERGE_KEYS.get(field, "name")
        places = {_key_of(one, name): place for place, one in enumerate(order)}
        items = result.get(field) or []
        result[field] = sorted(items, key=lambda one: places.get(_key_of(one, name), len(places)))
    return result


def _key_of(item: Any, name: str) -> Any:
    return item.get(name) if isinstance(item, dict) else item
