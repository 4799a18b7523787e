"""The shapes of the configuration and snapshot documents of ALLOCATION.md, chapter "The files".

What comes out of a shape is domain values. Whoever reads documents goes through
`storage.documents`, which turns a shape's errors into sentences.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from typing import Any, Final

from pydantic_core.core_schema import (
    CoreSchema,
    any_schema,
    dict_schema,
    list_schema,
    no_info_after_validator_function,
    nullable_schema,
    typed_dict_field,
    typed_dict_schema,
)

from domain.configuration import (
    CGPU,
    Configuration,
    IntakeQueue,
    Link,
    Membership,
    Policy,
    Pool,
    Profile,
    Queueing,
    Team,
)
from domain.snapshot import HOLD_AFTER, Allocation, Snapshot, Task, WaitingQueue
from storage.document_fields import (
    CGPU_POLICY,
    NAME,
    PEOPLE,
    POSITIVE,
    SECONDS,
    SWITCH,
    TEXT,
    TIME,
    ZERO_OR_MORE,
    one_of,
)

_Fields = Mapping[str, CoreSchema]


def _shape(
    build: Callable[..., object],
    required: _Fields,
    optional: _Fields | None = None,
    nullable: _Fields | None = None,
) -> CoreSchema:
    """A mapping with these keys and no others, which `build` gets as keywords.

    A null is as good as no key among the `optional`; among the `nullable` it says something.
    """
    absent = {key: nullable_schema(schema) for key, schema in (optional or {}).items()}
    fields = {key: typed_dict_field(schema) for key, schema in required.items()}
    for key, schema in {**absent, **(nullable or {})}.items():
        fields[key] = typed_dict_field(schema, required=False)

    def built(entry: dict[str, Any]) -> object:
        present = {key: v for key, v in entry.items() if v is not None or key not in absent}
        return build(**present)

    mapping = typed_dict_schema(fields, extra_behavior="forbid", strict=True)
    return no_info_after_validator_function(built, mapping)


def _tuple(schema: CoreSchema) -> CoreSchema:
    """A list in the document, a tuple in the value."""
    return no_info_after_validator_function(tuple, list_schema(schema, strict=True))


def _pairs(schema: CoreSchema) -> CoreSchema:
    """A mapping in the document, a tuple of pairs in the value."""
    pairs = dict_schema(NAME, schema, strict=True)
    return no_info_after_validator_function(lambda mapping: tuple(mapping.items()), pairs)


def _link(pool: str, link: str) -> Link:
    return Link(pool=pool, name=link)


def _snapshot(hold_after_s: float | None = HOLD_AFTER.total_seconds(), **rest: Any) -> Snapshot:
    hold = None if hold_after_s is None else timedelta(seconds=hold_after_s)
    return Snapshot(configuration=Configuration(), hold_after=hold, **rest)


_POOL: Final = _shape(
    Pool,
    {"name": NAME, "resources": ZERO_OR_MORE},
    {"description": TEXT, "profiles": _tuple(NAME), "nodes": _pairs(TEXT)},
)
_LINK: Final = _shape(_link, {"pool": NAME, "link": NAME})
_PROFILE: Final = _shape(
    Profile,
    {"name": NAME, "allotment": POSITIVE},
    {
        "parameter": NAME,
        "queueing": one_of(Queueing),
        "pools": _tuple(_LINK),
        "policies": _tuple(NAME),
    },
)
_QUEUE: Final = _shape(IntakeQueue, {"profile": NAME, "queue": NAME})
_TEAM: Final = _shape(
    Team,
    {},
    {"channel": NAME, "usergroup": NAME, "users": _tuple(NAME), "clearml_users": PEOPLE},
)
_POLICY: Final = _shape(
    Policy,
    {"name": NAME, "reservation": ZERO_OR_MORE},
    {
        "limit": POSITIVE,
        "lend": SWITCH,
        "queues": _tuple(_QUEUE),
        "team": _TEAM,
        "membership": one_of(Membership),
    },
)
CONFIGURATION: Final = _shape(
    Configuration,
    {},
    {
        "pools": _tuple(_POOL),
        "profiles": _tuple(_PROFILE),
        "policies": _tuple(_POLICY),
        "cgpu": _shape(CGPU, {"policy": CGPU_POLICY}),
    },
)
"""A configuration's document; the value is the Configuration."""

_TASK: Final = _shape(Task, {"id": NAME, "first_seen": TIME}, {"parameter": any_schema()})
_WAITING: Final = _shape(WaitingQueue, {"policy": NAME, "profile": NAME, "tasks": _tuple(_TASK)})
_ALLOCATION: Final = _shape(
    Allocation,
    {"task": NAME, "policy": NAME, "profile": NAME, "pool": NAME, "amount": POSITIVE},
)
SNAPSHOT: Final = _shape(
    _snapshot,
    {"taken_at": TIME, "queues": _tuple(_WAITING)},
    {
        "enabled": SWITCH,
        "allocations": _tuple(_ALLOCATION),
        "foreign": dict_schema(NAME, ZERO_OR_MORE, strict=True),
    },
    {"hold_after_s": SECONDS},
)
"""A snapshot's document; the value is a Snapshot of an empty configuration."""


def keys_at(path: Sequence[int | str], schema: CoreSchema) -> tuple[str, ...]:
    """The keys that the mapping at `path` in a document of this shape may have."""
    found: Any = schema
    steps = [step for step in path if isinstance(step, str)]
    while found["type"] != "typed-dict" or steps:
        if found["type"] == "typed-dict":
            found = found["fields"][steps.pop(0)]["schema"]
        else:
            found = found["items_schema"] if found["type"] == "list" else found["schema"]
    return tuple(found["fields"])
