"""The last published round, counted once and looked at by every answer; and how old it is."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Final

from bot.blocks import Block, Reply, button, buttons, context, section
from bot.desk import age
from controller.publishing import View
from domain.amounts import ZERO, Amount
from domain.configuration import Configuration
from domain.explain import Explainer
from domain.snapshot import Allocation, Dispatch, Plan, PolicyState, PoolState, Snapshot, Waiting

if TYPE_CHECKING:
    from bot.desk import Desk

_ROUNDS: Final = 3
"""A view that is older than so many rounds is said to be old."""

_LEAST_STALE: Final = timedelta(seconds=15)

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


@dataclass(frozen=True, kw_only=True)
class Look:
    """What an answer is made from: the view, its index, and the time it is looked at.

    `stale` says that rounds should have published something newer by now.
    """

    view: View
    index: Index
    at: datetime
    stale: bool = False

    @property
    def configuration(self) -> Configuration:
        return self.view.snapshot.configuration

    @property
    def age(self) -> str:
        return age(self.view.at, self.at)

    def waiting_of(self, policy: str) -> Sequence[Waiting]:
        return self.index.waiting_by_policy.get(policy, ())

    def notice(self, seen: str = "") -> list[Block]:
        """What must be read first: that the view is old, that nothing is dispatched.

        `seen` says when, in place of its age.
        """
        said = []
        if self.stale:
            said.append(
                f"*This is old, seen {seen or self.age}.* No round has ended since: ClearML or my "
                "database may be away. Tasks that run, run on; admins can say `/pool doctor`."
            )
        if not self.view.snapshot.enabled:
            said.append("*Management is off*: nothing is dispatched until an admin enables it.")
        return [section("\n".join(said))] if said else []

    def footer(self, *more: str) -> Block:
        """How old this is, the version in force, and what else is to be said in small print."""
        return context(" · ".join([f"Seen {self.age}, version {self.view.version}", *more]))

    def warned(self, text: str) -> str:
        """A sentence that stands alone, with its age and what must be known with it."""
        old = " This is old: ClearML or my database may be away." if self.stale else ""
        off = "" if self.view.snapshot.enabled else " Management is off: nothing is dispatched."
        return f"{text} Seen {self.age}.{old}{off}"


def look(desk: "Desk") -> Look | None:
    """The last published round, None before the first."""
    view = desk.view()
    if view is None:
        return None
    now = desk.clock()
    after = max(_ROUNDS * timedelta(seconds=desk.settings.round_seconds), _LEAST_STALE)
    return Look(view=view, index=index_of(view), at=now, stale=now - view.at > after)


def nothing_yet() -> Reply:
    """The answer while there is nothing to look at."""
    text = (
        "No round has ended yet: nothing is provisioned, or ClearML is away. "
        "Admins can say `/pool doctor`."
    )
    return Reply(text=text, blocks=(section(text), buttons(button("Doctor", "doctor"))))


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
