"""The last published round, counted once: by names and by ids."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property, lru_cache

from controller.publishing import View
from domain.amounts import ZERO, Amount
from domain.explain import Explainer
from domain.snapshot import Allocation, Dispatch, Plan, PolicyState, PoolState, Snapshot, Waiting

Use = Allocation | Dispatch


@dataclass(frozen=True, kw_only=True, slots=True)
class Shares:
    """What a pool is used for: within its users' reservations, beyond them, and by others."""

    reserved: Amount = ZERO
    borrowed: Amount = ZERO
    foreign: Amount = ZERO


@dataclass(frozen=True, kw_only=True, slots=True)
class Place:
    """Where a task waits: `position` counts from 1 in its intake queue of `length` tasks."""

    policy: str
    profile: str
    position: int
    length: int


class Index:
    """One snapshot and its plan, by names and ids."""

    def __init__(self, snapshot: Snapshot, plan: Plan) -> None:
        self.explainer = Explainer(snapshot, plan)
        self._snapshot = snapshot
        self._plan = plan

    @property
    def pools(self) -> Mapping[str, PoolState]:
        return self.explainer.pools

    @property
    def policies(self) -> Mapping[str, PolicyState]:
        return self.explainer.policies

    @cached_property
    def places(self) -> Mapping[str, Place]:
        """Every task of the snapshot's queues, those included that the plan dispatches."""
        return {
            task.id: Place(
                policy=queue.policy,
                profile=queue.profile,
                position=place,
                length=len(queue.tasks),
            )
            for queue in self._snapshot.queues
            for place, task in enumerate(queue.tasks, 1)
        }

    @cached_property
    def first_seen(self) -> Mapping[str, datetime]:
        """Since when each task of the snapshot's queues waits."""
        return {task.id: task.first_seen for q in self._snapshot.queues for task in q.tasks}

    @cached_property
    def uses(self) -> Mapping[str, Use]:
        """What runs or starts now, by task."""
        uses: tuple[Use, ...] = (*self._snapshot.allocations, *self._plan.dispatch)
        return {use.task: use for use in uses}

    @cached_property
    def running(self) -> Counter[tuple[str, str]]:
        """How many tasks run, by policy and profile."""
        return Counter((use.policy, use.profile) for use in self.uses.values())

    @cached_property
    def running_by_policy(self) -> Counter[str]:
        return Counter(use.policy for use in self.uses.values())

    @cached_property
    def running_by_profile(self) -> Counter[str]:
        return Counter(use.profile for use in self.uses.values())

    @cached_property
    def waiting_by_profile(self) -> Counter[str]:
        return Counter(task.profile for task in self._plan.waiting)

    @cached_property
    def waiting(self) -> Counter[tuple[str, str]]:
        """How many tasks wait, by policy and profile."""
        return Counter((task.policy, task.profile) for task in self._plan.waiting)

    @cached_property
    def waiting_by_policy(self) -> Mapping[str, Sequence[Waiting]]:
        """Each policy's waiting tasks, in the snapshot's order."""
        found: defaultdict[str, list[Waiting]] = defaultdict(list)
        for task in self._plan.waiting:
            found[task.policy].append(task)
        return found

    @cached_property
    def use_in(self) -> Mapping[str, Mapping[str, Amount]]:
        """For each pool what each policy uses of it."""
        found: defaultdict[str, defaultdict[str, Amount]] = defaultdict(lambda: defaultdict(Amount))
        for use in self.uses.values():
            found[use.pool][use.policy] += use.amount
        return found

    @cached_property
    def shares(self) -> Mapping[str, Shares]:
        """Each pool's use. A policy's reservation covers what was dispatched first, wherever."""
        left = {policy.name: policy.reservation for policy in self._plan.policies}
        reserved: defaultdict[str, Amount] = defaultdict(Amount)
        used: defaultdict[str, Amount] = defaultdict(Amount)
        for use in self.uses.values():
            covered = min(use.amount, max(left.get(use.policy, ZERO), ZERO))
            if covered:
                left[use.policy] -= covered
                reserved[use.pool] += covered
            used[use.pool] += use.amount
        return {
            pool.name: Shares(
                reserved=reserved[pool.name],
                borrowed=used[pool.name] - reserved[pool.name],
                foreign=pool.used - used[pool.name],
            )
            for pool in self._plan.pools
        }


def index_of(view: View) -> Index:
    """The index of a view; the same for all who look at one snapshot."""
    return _indexed(_Same(view.snapshot, view.plan))


class _Same:
    """A snapshot by its identity: to compare two of them is to go through all their tasks."""

    def __init__(self, snapshot: Snapshot, plan: Plan) -> None:
        self.snapshot = snapshot
        self.plan = plan

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and other.snapshot is self.snapshot

    def __hash__(self) -> int:
        return id(self.snapshot)


@lru_cache(maxsize=2)
def _indexed(same: _Same) -> Index:
    return Index(same.snapshot, same.plan)
