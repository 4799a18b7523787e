"""Ledger entries, queues and looks at ClearML for tests of what is decided from them.

One policy, dev, with the profile job and its intake queue `intake`; two pools, metal and spare,
whose execution queues are `metal` and `spare`.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from typing import Any

from controller.accounting import Remembered
from controller.observe import Observation
from controller.ports import QueueEntry, QueueState, Status, TaskState
from domain.configuration import Configuration, IntakeQueue, Link, Policy, Pool, Profile
from domain.ledger import LedgerEntry, OwnedQueue, Role, Sighting, Stage
from domain.snapshot import Tier

NOW = datetime(2026, 12, 1, 10, tzinfo=UTC)
SECOND = timedelta(seconds=1)

CONFIGURATION = Configuration(
    pools=tuple(
        Pool(name=name, resources=Fraction(8), profiles=("job",)) for name in ("metal", "spare")
    ),
    profiles=(
        Profile(
            name="job",
            allotment=Fraction(2),
            pools=(
                Link(pool="metal", name="job on metal"),
                Link(pool="spare", name="job on spare"),
            ),
            policies=("dev", "research"),
        ),
    ),
    policies=tuple(
        Policy(
            name=name,
            reservation=Fraction(4),
            limit=Fraction(8),
            queues=(IntakeQueue(profile="job", queue=f"{name}-jobs"),),
        )
        for name in ("dev", "research")
    ),
)

INTAKE = OwnedQueue(id="intake", role=Role.INTAKE, profile="job", owner="dev", name="dev-jobs")
OTHER_INTAKE = OwnedQueue(
    id="other intake", role=Role.INTAKE, profile="job", owner="research", name="research-jobs"
)
METAL, SPARE = (
    OwnedQueue(
        id=pool,
        role=Role.EXECUTION,
        profile="job",
        owner=f"job on {pool}",
        pool=pool,
        name=f"pool {pool} · job on {pool}",
    )
    for pool in ("metal", "spare")
)
OWNED = (INTAKE, OTHER_INTAKE, METAL, SPARE)
OURS = frozenset(queue.id for queue in OWNED)

ENTRY = LedgerEntry(
    task="t1",
    policy="dev",
    profile="job",
    pool="metal",
    link="job on metal",
    intake="intake",
    execution="metal",
    amount=Fraction(2),
    tier=Tier.RESERVED,
    stage=Stage.DISPATCHED,
    first_seen=NOW - timedelta(hours=2),
    intended_at=NOW - timedelta(hours=1),
    dispatched_at=NOW - timedelta(hours=1),
)


def entry(task: str = "t1", **changes: Any) -> LedgerEntry:
    return replace(ENTRY, task=task, **changes)


def sighting(task: str = "t1", **changes: Any) -> Sighting:
    sight = Sighting(
        task=task, policy="dev", profile="job", queue="intake", first_seen=NOW - timedelta(hours=2)
    )
    return replace(sight, **changes)


def state(status: Status, queue: str = "", reason: str = "", task: str = "t1") -> TaskState:
    return TaskState(id=task, status=status, queue=queue, reason=reason)


def seen(
    queues: Mapping[str, Sequence[str]] | None = None,
    states: Iterable[TaskState] = (),
    gone: Iterable[str] = (),
    at: datetime = NOW,
) -> Observation:
    """Our queues are there, and "default", the glue's queue "glue", hidden, and "old glue"."""
    held = queues or {}
    names = {"old glue": "k8s_scheduler", **{queue.id: queue.name for queue in OWNED}}
    known = (*OURS, "default", "glue", "old glue", *held)
    return Observation(
        at=at,
        queues={
            id_: QueueState(
                id=id_,
                name=names.get(id_, id_),
                hidden=id_ in ("glue", "metal", "spare"),
                entries=tuple(QueueEntry(task, NOW - SECOND) for task in held.get(id_, ())),
            )
            for id_ in known
        },
        states={task.id: task for task in states},
        gone=frozenset(gone),
    )


def remembered(
    entries: Iterable[LedgerEntry] = (),
    sightings: Iterable[Sighting] = (),
    owned: Iterable[OwnedQueue] = OWNED,
    configuration: Configuration = CONFIGURATION,
) -> Remembered:
    return Remembered(
        configuration=configuration,
        entries=tuple(entries),
        sightings=tuple(sightings),
        owned=tuple(owned),
    )
