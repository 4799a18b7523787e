"""The sentence that a waiting task's owner reads: its reason with numbers and names.

Nothing here decides: the reason is the plan's, the numbers are those after the plan.
"""

from collections.abc import Mapping
from datetime import timedelta
from functools import cached_property

from domain.amounts import ZERO, Amount, format_amount
from domain.configuration import Configuration, Profile
from domain.snapshot import (
    Allocation,
    Dispatch,
    Plan,
    PolicyState,
    PoolState,
    Reason,
    Snapshot,
    Task,
    Waiting,
)


class Explainer:
    """The sentences of one plan. Tasks that wait for the same share theirs."""

    def __init__(self, snapshot: Snapshot, plan: Plan) -> None:
        self.snapshot = snapshot
        self.plan = plan
        self._configuration = snapshot.configuration
        self.pools: Mapping[str, PoolState] = {pool.name: pool for pool in plan.pools}
        self.policies: Mapping[str, PolicyState] = {p.name: p for p in plan.policies}
        self._sentences: dict[tuple[object, ...], tuple[Amount, str]] = {}

    def detail(self, waiting: Waiting) -> str:
        """One sentence, or two, that the task's owner understands."""
        # By the amount's identity, since hashing a fraction costs more than the lookup saves; the
        # amount is kept beside the sentence so that its identity stays its own.
        key = (
            waiting.policy,
            waiting.profile,
            id(waiting.amount),
            waiting.reason,
            waiting.pool,
            waiting.holder,
        )
        known = self._sentences.get(key)
        if known is None:
            known = self._sentences[key] = waiting.amount, _SENTENCES[waiting.reason](self, waiting)
        return known[1]

    @cached_property
    def waiting_by_task(self) -> Mapping[str, Waiting]:
        return {waiting.task: waiting for waiting in self.plan.waiting}

    @cached_property
    def use_by_pool(self) -> Mapping[str, Mapping[str, Amount]]:
        """For each pool what each policy that there is uses of it, after the plan."""
        found: dict[str, dict[str, Amount]] = {}
        parts: list[Allocation | Dispatch] = [*self.snapshot.allocations, *self.plan.dispatch]
        for part in parts:
            if part.policy in self.policies:
                used = found.setdefault(part.pool, {})
                used[part.policy] = used.get(part.policy, ZERO) + part.amount
        return found

    @cached_property
    def _tasks(self) -> Mapping[str, Task]:
        return {task.id: task for queue in self.snapshot.queues for task in queue.tasks}

    def profile(self, name: str) -> Profile:
        return self._configuration.profile_by_name[name]

    def _disabled(self, _: Waiting) -> str:
        return "Management is disabled; no task is dispatched until an admin enables it."

    def _unlinked(self, waiting: Waiting) -> str:
        return (
            f"Can never run: profile {waiting.profile} is linked to no pool. "
            "An admin has to link it to one."
        )

    def _too_large(self, waiting: Waiting) -> str:
        pools = [self.pools[link.pool] for link in self.profile(waiting.profile).pools]
        sizes = listed([f"{pool.name} has {format_amount(pool.resources)}" for pool in pools])
        return (
            f"Can never run: it needs {format_amount(waiting.amount)}, but {sizes} in all. "
            f"It has to ask for less, or {_one_of([p.name for p in pools])} has to grow."
        )

    def _over_limit_alone(self, waiting: Waiting) -> str:
        return (
            f"Can never run: it needs {format_amount(waiting.amount)}, more than the whole limit "
            f"of {waiting.policy}, {_limit(self.policies[waiting.policy])}. "
            "It has to ask for less, or the limit has to be raised."
        )

    def _behind(self, waiting: Waiting) -> str:
        return (
            f"Waits behind {waiting.holder}, which is earlier in the queue of {waiting.policy} for "
            f"{waiting.profile}; this queue is strict, so nobody passes."
        )

    def _limit_reached(self, waiting: Waiting) -> str:
        policy = self.policies[waiting.policy]
        return (
            f"{waiting.policy} uses {format_amount(policy.usage)} of its limit {_limit(policy)}; "
            f"{format_amount(waiting.amount)} more would exceed it."
        )

    def _no_capacity(self, waiting: Waiting) -> str:
        pools = [self.pools[link.pool] for link in self.profile(waiting.profile).pools]
        first = f"{pools[0].name} has {_free(pools[0])} free"
        others = [f"{pool.name} {_free(pool)}" for pool in pools[1:]]
        return f"Needs {format_amount(waiting.amount)}, but {listed([first, *others])}."

    def _held(self, waiting: Waiting) -> str:
        holder = self.waiting_by_task[str(waiting.holder)]
        waited = self.snapshot.taken_at - self._tasks[holder.task].first_seen
        return (
            f"{waiting.pool} has {format_amount(self._free_in(waiting))} free, but it is held for "
            f"{holder.task} of {holder.policy}, which needs {format_amount(holder.amount)} and has "
            f"waited for {_duration(waited)}."
        )

    def _kept(self, waiting: Waiting) -> str:
        keepers = [
            f"{name} ({format_amount(owed)} unused)" for name, owed in self.keepers(waiting).items()
        ]
        return (
            f"{waiting.pool} has {format_amount(self._free_in(waiting))} free, but it is kept for "
            f"the reservation of {listed(keepers)}."
        )

    def keepers(self, waiting: Waiting) -> dict[str, Amount]:
        """The other policies that keep room in the task's pool, with what each has unused."""
        owed = {}
        for policy in self._configuration.policies:
            state = self.policies[policy.name]
            limit = state.reservation if state.limit is None else state.limit
            unused = min(state.reservation, limit) - state.usage
            if policy.lend or policy.name == waiting.policy or unused <= 0:
                continue
            if any(_links(self._configuration, i.profile, waiting.pool) for i in policy.queues):
                owed[policy.name] = unused
        return owed

    def _free_in(self, waiting: Waiting) -> Amount:
        return self.pools[str(waiting.pool)].free


_SENTENCES = {
    Reason.DISABLED: Explainer._disabled,
    Reason.UNLINKED: Explainer._unlinked,
    Reason.TOO_LARGE: Explainer._too_large,
    Reason.OVER_LIMIT_ALONE: Explainer._over_limit_alone,
    Reason.BEHIND: Explainer._behind,
    Reason.LIMIT_REACHED: Explainer._limit_reached,
    Reason.NO_CAPACITY: Explainer._no_capacity,
    Reason.HELD: Explainer._held,
    Reason.KEPT: Explainer._kept,
}


def _links(configuration: Configuration, profile: str, pool: str | None) -> bool:
    return any(link.pool == pool for link in configuration.profile_by_name[profile].pools)


def _free(pool: PoolState) -> str:
    return f"{format_amount(pool.free)} of {format_amount(pool.resources)}"


def _limit(policy: PolicyState) -> str:
    return "none" if policy.limit is None else format_amount(policy.limit)


def listed(parts: list[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    return " and ".join(filter(None, [", ".join(parts[:-1]), parts[-1]]))


def _one_of(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"one of {listed(names)}"


def _duration(waited: timedelta) -> str:
    minutes = waited // timedelta(minutes=1)
    if minutes < 60:
        return f"{minutes} min"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours < 48 else f"{hours // 24} days"
