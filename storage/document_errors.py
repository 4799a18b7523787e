"""Turns what pydantic found in a document into problems that its author understands."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from pydantic_core import CoreSchema, ErrorDetails, SchemaValidator, ValidationError

from domain.names import listing
from storage.document_fields import SPOKEN
from storage.document_problems import DocumentError, Problem, nearest, shown
from storage.document_shapes import keys_at

_EXAMPLES: Final[Mapping[str, str]] = {
    "name": "name: h100",
    "resources": "resources: 8",
    "allotment": "allotment: 1",
    "reservation": "reservation: 8",
    "pool": "pool: h100",
    "link": "link: 4 GPU H100 link",
    "profile": "profile: 4xGPU",
    "queue": "queue: dev-4gpu",
    "policy": "policy: dev",
    "task": "task: 0a1b2c",
    "id": "id: 0a1b2c",
    "amount": 'amount: "4"',
    "tasks": "tasks: []",
    "queues": "queues: []",
    "taken_at": "taken_at: 2026-12-01T10:00:00Z",
    "first_seen": "first_seen: 2026-12-01T09:59:00Z",
}


def value_of(tree: object, shape: CoreSchema) -> Any:
    """What `shape` makes of `tree`; raises DocumentError with everything it refuses."""
    try:
        return SchemaValidator(shape).validate_python(tree)
    except ValidationError as error:
        # A generator: of a hundred thousand errors only so many are told as will be shown.
        problems = (_problem(found, shape) for found in error.errors(include_url=False))
        raise DocumentError(problems) from None


def place(path: Sequence[int | str]) -> str:
    """`profiles[0].allotment` for the path `("profiles", 0, "allotment")`."""
    steps = (f"[{step}]" if isinstance(step, int) else f".{_key(step)}" for step in path)
    return "".join(steps).removeprefix(".")


def _key(key: str) -> str:
    return key if key.isidentifier() and len(key) < 60 else shown(key)


def _problem(details: ErrorDetails, shape: CoreSchema) -> Problem:
    path, raw, kind = details["loc"], details["input"], details["type"]
    last = next((step for step in reversed(path) if isinstance(step, str)), "")
    if kind == SPOKEN:
        what, remedy = details["ctx"]["what"], details["ctx"]["remedy"]
    elif kind == "missing":
        what, remedy = "is missing", f"add it, as in `{_EXAMPLES.get(last, f'{last}: …')}`"
    elif kind == "extra_forbidden":
        what, remedy = "is an unknown key", _known_keys(path, shape)
    elif raw is None and not path:
        what, remedy = "is empty", "write it as shown in the README"
    elif raw is None:
        what, remedy = "has no value", f"write one, as in `{_EXAMPLES.get(last, f'{last}: …')}`"
    else:
        what, remedy = _mistyped(kind, raw, details)
    return Problem(place([step for step in path if step != "[key]"]), what, remedy)


def _known_keys(path: Sequence[int | str], shape: CoreSchema) -> str:
    known = keys_at(path[:-1], shape)
    close = nearest(path[-1], known)
    return f"did you mean {close}?" if close else f"take it away; known are {listing(known, 12)}"


def _mistyped(kind: str, raw: object, details: ErrorDetails) -> tuple[str, str]:
    match kind:
        case "string_type":
            return _no_text(raw)
        case "bool_type":
            return f"{shown(raw)} is neither true nor false", "write true or false"
        case "literal_error":
            return f"{shown(raw)} is not known here", f"write {details['ctx']['expected']}"
        case "list_type":
            return f"{shown(raw)} is no list", "write one entry a line after `- `, or [a, b]"
        case "dict_type":
            return f"{shown(raw)} is no mapping", "write keys and values, such as `name: h100`"
        case "int_type" | "greater_than_equal" | "less_than_equal":
            return f"{shown(raw)} is none of the cGPU policies", "say a whole number from 0 to 5"
        case "invalid_key":
            return f"the key {shown(raw)} is no text", "put it in quotes"
        case _:
            return f"{shown(raw)} cannot be read", details["msg"].lower()


def _no_text(raw: object) -> tuple[str, str]:
    if isinstance(raw, bool):
        return f"{shown(raw)} is no text, as YAML reads on, yes, off and no", "put it in quotes"
    if isinstance(raw, list | dict):
        return f"{shown(raw)} is no text", "write one text"
    return f"{shown(raw)} is no text", "put it in quotes"
