"""What everybody may see of the last round, for this process and others, and after a restart.

Published is the snapshot, not the plan: a plan is what `allocate` says of it, so whoever reads
computes the same one, and `why` and previews start from the same facts as the round did.
"""

import json
from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from threading import Lock
from typing import Protocol

from controller.ports import QueueEntry, QueueState
from domain.allocation import allocate
from domain.amounts import ZERO, Amount
from domain.ledger import Sample
from domain.snapshot import Allocation, Dispatch, Plan, Snapshot
from storage import configurations, samples, views
from storage.database import Database, Session
from storage.snapshot_documents import read_running, write_snapshot

_SNAPSHOT = "snapshot"
_SEEN = "seen"
_NO_TIME = datetime.min.replace(tzinfo=UTC)
_SAMPLE_EVERY = timedelta(minutes=1)


@dataclass(frozen=True, kw_only=True)
class View:
    """The last published round: what it saw, and what that means. `at` is its age's start.

    `queues` are all of ClearML's by id, by name and with as many entries as they had.
    """

    at: datetime
    version: int
    snapshot: Snapshot
    plan: Plan
    queues: Mapping[str, QueueState] = field(default_factory=dict)


class Publisher:
    """Publishes a round; the snapshot only when something changed, its time always."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._last: tuple[int, Snapshot, object] | None = None
        self._sampled_at: datetime | None = None
        self.latest: View | None = None
        """The view of the last round that this process ran."""

    def publish(self, view: View) -> None:
        snapshot = view.snapshot
        queues = [[state.id, state.name, len(state.entries)] for state in view.queues.values()]
        timeless = (view.version, replace(snapshot, taken_at=_NO_TIME), queues)
        with self._database.transaction() as session:
            if timeless != self._last:
                document = {
                    "version": view.version,
                    "snapshot": write_snapshot(snapshot),
                    "queues": queues,
                }
                views.publish(session, _SNAPSHOT, json.dumps(document), snapshot.taken_at)
            views.publish(session, _SEEN, "", snapshot.taken_at)
            self._sample(session, snapshot, view.plan)
        self._last = timeless
        self.latest = view

    def _sample(self, session: Session, snapshot: Snapshot, plan: Plan) -> None:
        since = snapshot.taken_at - self._sampled_at if self._sampled_at else _SAMPLE_EVERY
        if since < _SAMPLE_EVERY:
            return
        self._sampled_at = snapshot.taken_at
        # What happened while no round ended is not known: a sample speaks for two minutes at most.
        seconds = round(min(since, 2 * _SAMPLE_EVERY).total_seconds())
        samples.add(session, (replace(one, seconds=seconds) for one in _samples(snapshot, plan)))


class Latest(Protocol):
    """What has the view of the last round where this process ran it: the publisher of its term."""

    @property
    def latest(self) -> View | None: ...


class Viewer:
    """The last published view, without reading it anew where this process made it or knows it."""

    def __init__(self, database: Database, made_here: Latest | None = None) -> None:
        self._database = database
        self._made_here = made_here
        self._reading = Lock()
        self._known: tuple[datetime, View] | None = None

    def view(self) -> View | None:
        """None before the first round."""
        if self._made_here is not None and (latest := self._made_here.latest) is not None:
            return latest
        with self._reading:  # to allocate a large snapshot is work; the others wait for the first
            return self._published()

    def _published(self) -> View | None:
        with self._database.reading() as session:
            made, seen = views.published_at(session, _SNAPSHOT), views.published_at(session, _SEEN)
            if self._known is not None and seen is not None and self._known[0] == made:
                return replace(self._known[1], at=seen)
            view = last_view(session)
        self._known = (made, view) if made is not None and view is not None else None
        return view


def last_view(session: Session) -> View | None:
    """The last published round, or None before the first."""
    published, seen = views.published(session, _SNAPSHOT), views.published(session, _SEEN)
    if published is None or seen is None:
        return None
    document = json.loads(published[0])
    version = configurations.version(session, document["version"])
    if version is None:
        return None
    snapshot = read_running(document["snapshot"], version.configuration)
    snapshot = replace(snapshot, taken_at=seen[1])
    return View(
        at=seen[1],
        version=version.number,
        snapshot=snapshot,
        plan=allocate(snapshot),
        queues={id_: _queue(id_, name, count) for id_, name, count in document.get("queues", ())},
    )


def _queue(id_: str, name: str, count: int) -> QueueState:
    # How many wait is all that is published of queues; which tasks they are is the snapshot's.
    return QueueState(id=id_, name=name, entries=(QueueEntry(""),) * count)


def _samples(snapshot: Snapshot, plan: Plan) -> tuple[Sample, ...]:
    """For every policy what waits, under no pool, and what it uses of each pool."""
    at = snapshot.taken_at
    waiting = Counter(task.policy for task in plan.waiting)
    running: Counter[tuple[str, str]] = Counter()
    used: defaultdict[tuple[str, str], Amount] = defaultdict(lambda: ZERO)
    uses: tuple[Allocation | Dispatch, ...] = (*snapshot.allocations, *plan.dispatch)
    for use in uses:
        running[use.policy, use.pool] += 1
        used[use.policy, use.pool] += use.amount
    return (
        *(
            Sample(at=at, policy=policy, pool="", used=ZERO, running=0, waiting=waiting[policy])
            for policy in snapshot.configuration.policy_by_name
        ),
        *(
            Sample(
                at=at, policy=key[0], pool=key[1], used=used[key], running=running[key], waiting=0
            )
            for key in running
        ),
    )
