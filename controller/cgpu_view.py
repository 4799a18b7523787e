"""What everybody may see of cGPU: the last look at the cluster, published for all processes.

Published is what was seen; how nodes stand, what drifts and what comes next is derived from that
and from what is remembered, so that whoever reads it agrees with the reconciler.
"""

from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache, cached_property

from pydantic import TypeAdapter, ValidationError

from domain.cgpu_change import Situation, next_step
from domain.cgpu_cluster import Cluster, Pod
from domain.cgpu_drift import drifts, helm_values
from domain.cgpu_drift_kinds import Drift
from domain.cgpu_impact import Impact, impact
from domain.cgpu_memory import Change, Control, Restart
from domain.cgpu_nodes import NodeStatus
from domain.cgpu_pools import PoolNodes, pool_nodes, size_notes
from domain.cgpu_steps import Step
from domain.configuration import Configuration
from storage import cgpu, configurations, views
from storage.database import Session

_CLUSTER = "cgpu-cluster"
_NOTE = "cgpu-note"
_NEVER = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True, kw_only=True)
class Note:
    """What a look does not show: `refusals` are disruption budgets that keep pods from leaving.

    `away` is why the last run could not go on, "" when it could: Kubernetes did not answer, or a
    rule is missing. `since` is when that began, `times` how many runs in a row it has lasted.
    `looked_at` is our own time of the last good look.
    """

    looked_at: datetime = _NEVER
    refusals: tuple[str, ...] = ()
    away: str = ""
    since: datetime | None = None
    times: int = 0

    @property
    def looks(self) -> bool:
        """Whether there was a good look at all."""
        return self.looked_at > _NEVER


@dataclass(frozen=True)
class View:
    """All there is to show. `at` is its age's start."""

    situation: Situation
    configuration: Configuration
    note: Note

    @property
    def at(self) -> datetime:
        return self.note.looked_at

    @property
    def desired(self) -> int | None:
        """The provisioned policy; None where cGPU is not managed."""
        return self.situation.desired

    @property
    def change(self) -> Change | None:
        """The last change, open or over."""
        return self.situation.memory.change

    @property
    def restarts(self) -> tuple[Restart, ...]:
        """The wishes of admins that are not over, the oldest first."""
        return self.situation.memory.restarts

    @property
    def control(self) -> Control:
        return self.situation.memory.control

    @property
    def nodes(self) -> tuple[NodeStatus, ...]:
        """The table of nodes; none while cGPU is not managed."""
        return self.situation.statuses

    @cached_property
    def step(self) -> Step:
        """What the reconciler does next or waits for; its `says` is the sentence."""
        return next_step(self.situation)

    @cached_property
    def drifts(self) -> tuple[Drift, ...]:
        """What differs from what is provisioned; none while cGPU is not managed."""
        found = self.situation
        if found.desired is None:
            return ()
        return drifts(found.cluster, found.memory, found.desired, found.own)

    @cached_property
    def pools(self) -> tuple[PoolNodes, ...]:
        """The nodes of the pools that name theirs."""
        return pool_nodes(self.configuration, self.situation.cluster.nodes)

    @property
    def size_notes(self) -> tuple[str, ...]:
        """Sentences about pools that have not what their nodes have."""
        return size_notes(self.configuration, self.pools)

    @property
    def installed(self) -> bool:
        return bool(self.situation.cluster.installers)

    @property
    def values(self) -> str:
        """Helm values with which an installation takes the provisioned policy; "" without one."""
        return "" if self.desired is None else helm_values(self.desired)

    def leaving(self, node: str) -> tuple[Pod, ...]:
        """The pods that a restart of the node would evict; a `bare` one is made by nobody again."""
        pods = self.situation.cluster.pods
        return tuple(pod for pod in pods if pod.node == node and not pod.stays)

    def impact(self, policy: int, configuration: Configuration | None = None) -> Impact:
        """What setting this policy would mean, under another configuration if one is given."""
        return impact(self.situation, configuration or self.configuration, policy)


@cache
def _clusters() -> TypeAdapter[Cluster]:
    return TypeAdapter(Cluster)


@cache
def _notes() -> TypeAdapter[Note]:
    return TypeAdapter(Note)


def publish(session: Session, cluster: Cluster, note: Note) -> None:
    """Publish a look, and what is to be said with it."""
    views.publish(session, _CLUSTER, _clusters().dump_json(cluster).decode(), note.looked_at)
    publish_note(session, note)


def publish_note(session: Session, note: Note) -> None:
    """Publish only what is to be said; the last look stands."""
    views.publish(session, _NOTE, _notes().dump_json(note).decode(), note.looked_at)


def last_note(session: Session) -> Note:
    """What was said last."""
    found = views.published(session, _NOTE)
    try:
        return _notes().validate_json(found[0]) if found else Note()
    except ValidationError:
        return Note()


def last_cluster(session: Session) -> Cluster | None:
    """The last look; None before the first, or where another version of Poolkeeper published it."""
    found = views.published(session, _CLUSTER)
    try:
        return _clusters().validate_json(found[0]) if found else None
    except ValidationError:
        return None  # the next look replaces it


def looked_at(session: Session) -> datetime | None:
    """When the look was that is published, without reading it."""
    return views.published_at(session, _CLUSTER)


def last_view(session: Session) -> View | None:
    """What is to be shown now; None before the first look, or where Kubernetes is not set up."""
    cluster = last_cluster(session)
    if cluster is None:
        return None
    version = configurations.provisioned(session)
    configuration = version.configuration if version else Configuration()
    desired = configuration.cgpu.policy if configuration.cgpu else None
    situation = Situation(cluster, cgpu.memory(session), desired)
    return View(situation, configuration, last_note(session))
