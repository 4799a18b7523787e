"""The shapes of the configuration and snapshot documents of ALLOCATION.md, chapter "The files".

These models only take documents in; what is known of them afterwards is domain values. Whoever
reads them goes through `storage.documents`, which turns their errors into sentences.
"""

import math
from collections.abc import Callable
from datetime import datetime
from fractions import Fraction
from typing import Annotated, Any, Final, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, PlainValidator, model_validator
from pydantic_core import PydanticCustomError

from domain.amounts import parse_amount
from domain.names import name_fault, text_fault
from storage.document_problems import shown

SPOKEN: Final = "spoken"
"""The type of errors that bring their own sentence, as `what` and `remedy` in their context."""

_LONGEST_HOLD_S: Final = 10**9


def _spoken(what: str, remedy: str) -> PydanticCustomError:
    return PydanticCustomError(SPOKEN, "{what}", {"what": what, "remedy": remedy})


def _name(text: str) -> str:
    if (fault := name_fault(text)) is not None:
        raise _spoken(f"{shown(text)} {fault}", "write one line of at most 200 characters")
    return text


def _text(text: str) -> str:
    if (fault := text_fault(text)) is not None:
        raise _spoken(f"the text {fault}", "write at most 2,000 characters of plain text")
    return text


def _amount(*, zero: bool) -> Callable[[object], Fraction]:
    example = "a number such as 0, 4, 0.5 or 1/7" if zero else "a number such as 4, 0.5 or 1/7"

    def read(raw: object) -> Fraction:
        amount = parse_amount(raw, zero=zero)
        if amount is None:
            raise _spoken(f"{shown(raw)} is no amount", f"say {example}, at most 1000000")
        return amount

    return read


def _time(raw: object) -> datetime:
    remedy = "write it as 2026-12-01T10:00:00Z"
    try:
        time = datetime.fromisoformat(raw) if isinstance(raw, str) else raw
    except ValueError:
        time = None
    if not isinstance(time, datetime):
        raise _spoken(f"{shown(raw)} is no time", remedy)
    if time.utcoffset() is None:
        raise _spoken(f"{shown(raw)} has no time zone", remedy)
    return time


def _seconds(raw: object) -> float | None:
    if raw is None:
        return None
    if isinstance(raw, bool) or not isinstance(raw, int | float):
        raise _spoken(f"{shown(raw)} is no number of seconds", "say a number such as 1800, or null")
    if not (math.isfinite(raw) and 0 <= raw <= _LONGEST_HOLD_S):
        raise _spoken(f"{shown(raw)} seconds cannot be", f"say 0 to {_LONGEST_HOLD_S}, or null")
    return raw


def _people(raw: object) -> list[tuple[str, str]]:
    """Pairs of Slack id (or nothing) and ClearML id, from a mapping, a list, or a list of both."""
    parts = raw if isinstance(raw, list) else [raw]
    pairs: list[tuple[object, object]] = []
    for part in parts:
        pairs += list(part.items()) if isinstance(part, dict) else [("", part)]
    people = [(slack, user) for slack, user in pairs if isinstance(slack, str)]
    known = [(slack, user) for slack, user in people if isinstance(user, str) and user.strip()]
    if not isinstance(raw, list | dict) or len(known) < len(pairs):
        wrong = next((user for _, user in pairs if not isinstance(user, str)), raw)
        raise _spoken(
            f"{shown(wrong)} is no ClearML user",
            "list ClearML user ids in quotes, or map each Slack user id to one",
        )
    return [(_name(slack) if slack else "", _name(user)) for slack, user in known]


Name = Annotated[str, AfterValidator(_name)]
Text = Annotated[str, AfterValidator(_text)]
Positive = Annotated[Fraction, PlainValidator(_amount(zero=False))]
ZeroOrMore = Annotated[Fraction, PlainValidator(_amount(zero=True))]
Time = Annotated[datetime, PlainValidator(_time)]


class Entry(BaseModel):
    """Every mapping of a document: no unknown keys, no type taken for another."""

    model_config = ConfigDict(strict=True, extra="forbid", defer_build=True)

    @model_validator(mode="before")
    @classmethod
    def _null_is_absent(cls, raw: object) -> object:
        """A key without value is as good as none, where it may be absent."""
        if not isinstance(raw, dict) or None not in raw.values():
            return raw
        fields = cls.model_fields
        return {
            key: value
            for key, value in raw.items()
            if value is not None or key not in fields or cls._means_null(key)
        }

    @classmethod
    def _means_null(cls, key: str) -> bool:
        return cls.model_fields[key].is_required()


class PoolEntry(Entry):
    name: Name
    resources: ZeroOrMore
    description: Text = ""
    profiles: list[Name] = []
    nodes: dict[Name, Text] = {}


class LinkEntry(Entry):
    pool: Name
    link: Name


class ProfileEntry(Entry):
    name: Name
    allotment: Positive
    parameter: Name | None = None
    queueing: Literal["backfill", "strict"] = "backfill"
    pools: list[LinkEntry] = []
    policies: list[Name] = []


class QueueEntry(Entry):
    profile: Name
    queue: Name


class TeamEntry(Entry):
    channel: Name | None = None
    usergroup: Name | None = None
    users: list[Name] = []
    clearml_users: Annotated[list[tuple[str, str]], PlainValidator(_people)] = []


class PolicyEntry(Entry):
    name: Name
    reservation: ZeroOrMore
    limit: Positive | None = None
    lend: bool = True
    queues: list[QueueEntry] = []
    team: TeamEntry | None = None
    membership: Literal["report", "return"] = "report"


class CGPUEntry(Entry):
    policy: Annotated[int, Field(ge=0, le=5)]


class ConfigurationDocument(Entry):
    pools: list[PoolEntry] = []
    profiles: list[ProfileEntry] = []
    policies: list[PolicyEntry] = []
    cgpu: CGPUEntry | None = None


class TaskEntry(Entry):
    id: Name
    first_seen: Time
    parameter: Any = None


class WaitingEntry(Entry):
    policy: Name
    profile: Name
    tasks: list[TaskEntry]


class AllocationEntry(Entry):
    task: Name
    policy: Name
    profile: Name
    pool: Name
    amount: Positive


class SnapshotDocument(Entry):
    taken_at: Time
    enabled: bool = True
    hold_after_s: Annotated[float | None, PlainValidator(_seconds)] = 1800
    queues: list[WaitingEntry]
    allocations: list[AllocationEntry] = []
    foreign: dict[Name, ZeroOrMore] = {}

    @classmethod
    def _means_null(cls, key: str) -> bool:
        # Here null says something: it switches holds off.
        return key == "hold_after_s" or super()._means_null(key)


MODELS: Final[dict[tuple[str, ...], type[Entry]]] = {
    ("pools",): PoolEntry,
    ("profiles",): ProfileEntry,
    ("profiles", "pools"): LinkEntry,
    ("policies",): PolicyEntry,
    ("policies", "queues"): QueueEntry,
    ("policies", "team"): TeamEntry,
    ("cgpu",): CGPUEntry,
    ("queues",): WaitingEntry,
    ("queues", "tasks"): TaskEntry,
    ("allocations",): AllocationEntry,
}
"""Which mapping stands at which path, positions in lists left out."""
