"""Reading a request's body as ClearML does: named fields are checked, unknown ones ignored."""

from typing import Any, TypeVar

from sandbox.clearml import errors

Doc = dict[str, Any]
Value = TypeVar("Value", str, bool, int, list[Any], dict[str, Any])


def words(text: str) -> frozenset[str]:
    return frozenset(text.split())


def optional(body: Doc, field: str, kind: type[Value]) -> Value | None:
    """The field's value, or None when it is absent or null; a wrong type is 400/12."""
    value = body.get(field)
    if value is None:
        return None
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        wrong = f"('value is wrong, expected type \"{kind.__name__}\"', {value!r})"
        raise errors.validation(f"error for field '{field}': {wrong}.")
    return value


def required(body: Doc, field: str, kind: type[Value]) -> Value:
    value = optional(body, field, kind)
    if value is None:
        raise errors.validation(f"error for field '{field}'. field is required!")
    return value


def text(body: Doc, field: str) -> str:
    return required(body, field, str)


def flag(body: Doc, field: str, default: bool = False) -> bool:
    value = body.get(field)
    return default if value is None else bool(value)


def ids(body: Doc, field: str = "ids") -> list[str]:
    value: list[str] = required(body, field, list)
    if not value:
        small = f"value '{value}' length is lower than allowed minimum '1'"
        raise errors.validation(f"error for field '{field}': {small}..")
    return value


def choice(body: Doc, field: str, choices: frozenset[str], default: str) -> str:
    value = optional(body, field, str) or default
    if value not in choices:
        raise errors.validation(
            f"error for field '{field}': value '{value}' is not a valid choice.."
        )
    return value
