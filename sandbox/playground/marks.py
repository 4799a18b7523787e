"""What Poolkeeper writes on ClearML's queues: what each is for, and its copy of the ledger."""

import json
import re
from dataclasses import dataclass
from fractions import Fraction

from sandbox.agents import PENDING_QUEUE
from sandbox.clearml.world import Queue, World

INTAKE, EXECUTION, OTHER = "intake", "execution", "other"
_AMOUNT = re.compile(r"[0-9]{1,9}(\.[0-9]{1,9})?|[0-9]{1,9}/0*[1-9][0-9]{0,8}")


@dataclass(frozen=True, slots=True)
class Marked:
    """A queue and what it is for. `owner` is an intake queue's policy, else the link."""

    queue: Queue
    role: str
    profile: str = ""
    owner: str = ""
    pool: str = ""

    @property
    def id(self) -> str:
        return str(self.queue.doc["id"])

    @property
    def policy(self) -> str:
        return self.owner if self.role == INTAKE else ""

    @property
    def link(self) -> str:
        return self.owner if self.role == EXECUTION else ""


@dataclass(frozen=True, slots=True)
class Use:
    """What one task takes of a pool, as the ledger has it."""

    task: str
    policy: str
    profile: str
    amount: Fraction
    since: str


def marked(world: World) -> list[Marked]:
    """All queues that people know of; the agents' own pending queue is none."""
    return [_marked(queue) for queue in world.queues.values() if queue.doc["name"] != PENDING_QUEUE]


def _marked(queue: Queue) -> Marked:
    role = _mark(queue, "role")
    if role not in (INTAKE, EXECUTION):
        return Marked(queue, OTHER)
    profile, owner, pool = (_mark(queue, key) for key in ("profile", "owner", "pool"))
    return Marked(queue, role, profile, owner, pool)


def _mark(queue: Queue, key: str) -> str:
    return str(queue.doc["metadata"].get(f"poolkeeper_{key}", {}).get("value", ""))


def uses(queue: Marked) -> list[Use]:
    """What went through an execution queue and is not over, in the order of first sight."""
    try:
        copies = json.loads(_mark(queue.queue, "ledger") or "{}")
        found = [
            Use(task, str(copy[0]), queue.profile, amount(copy[2]), str(copy[4]))
            for task, copy in copies.items()
        ]
    except (ValueError, LookupError, TypeError, AttributeError):
        return []  # somebody wrote something else there
    return sorted(found, key=lambda use: use.since)


def amount(said: object) -> Fraction:
    """`4`, `0.5`, `1/7`; raises ValueError for anything else, exponents too."""
    text = str(said).strip()
    if not _AMOUNT.fullmatch(text):
        raise ValueError(f"{text[:20]!r} is no amount")
    return Fraction(text)


def written(exact: Fraction) -> str:
    """`4`, `0.5`, `1/7`: as Poolkeeper writes amounts."""
    decimal = f"{float(exact):g}"
    return decimal if Fraction(decimal) == exact else str(exact)
