"""ALLOCATION.md: the procedure itself as oracle, and its laws as properties."""

import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

from hypothesis import given, settings
from hypothesis import strategies as st

from domain.allocation import allocate
from domain.amounts import ZERO
from domain.snapshot import NEVER, Allocation, Plan, Reason, Snapshot, Tier, Waiting
from tests.unit.allocation_cases import random_snapshot
from tests.unit.allocation_oracle import Events, allocate_slowly

SNAPSHOTS = st.integers(min_value=0, max_value=2**32).map(
    lambda seed: random_snapshot(random.Random(seed))
)
law = settings(max_examples=300, derandomize=True, deadline=None, database=None)


@law
@given(SNAPSHOTS)
def test_the_plan_is_the_procedure_s(snapshot: Snapshot) -> None:
    assert allocate(snapshot) == allocate_slowly(snapshot)


def test_the_random_cases_take_every_turn_of_the_procedure() -> None:
    events = Events()

    for seed in range(600):
        allocate_slowly(random_snapshot(random.Random(seed)), events)

    turns = {*Reason, "bars", *(f"several settles, {tier}" for tier in Tier)}
    assert turns <= events.seen.keys()


@law
@given(SNAPSHOTS)
def test_law_1_no_pool_is_over_its_resources_and_no_policy_over_its_limit(
    snapshot: Snapshot,
) -> None:
    plan = allocate(snapshot)

    in_pools, of_policies = dispatched(plan)
    before_pools, before_policies = taken(snapshot)
    for pool in snapshot.configuration.pools:
        assert not in_pools[pool.name] or (
            before_pools[pool.name] + in_pools[pool.name] <= pool.resources
        )
    for policy in snapshot.configuration.policies:
        assert (
            not of_policies[policy.name]
            or policy.limit is None
            or (before_policies[policy.name] + of_policies[policy.name] <= policy.limit)
        )


@law
@given(SNAPSHOTS)
def test_law_2_a_task_inside_its_reservation_comes_before_all_shared_use(
    snapshot: Snapshot,
) -> None:
    plan = allocate(snapshot)

    shared = dict.fromkeys((pool.name for pool in plan.pools), ZERO)
    for dispatch in plan.dispatch:
        if dispatch.tier is Tier.SHARED:
            shared[dispatch.pool] += dispatch.amount
    free = {pool.name: pool.free for pool in plan.pools}
    rest = {
        p.name: (p.reservation if p.limit is None else min(p.reservation, p.limit)) - p.usage
        for p in plan.policies
    }
    for waiting in plan.waiting:
        if waiting.reason in (Reason.DISABLED, Reason.BEHIND) or waiting.reason in NEVER:
            continue
        if waiting.amount <= rest[waiting.policy]:
            for pool in linked(snapshot, waiting):
                assert free[pool] + shared[pool] < waiting.amount


@law
@given(SNAPSHOTS)
def test_law_3_room_and_budget_are_used_unless_the_reason_says_who_has_them(
    snapshot: Snapshot,
) -> None:
    plan = allocate(snapshot)

    free = {pool.name: pool.free for pool in plan.pools}
    for waiting in plan.waiting:
        room = [pool for pool in linked(snapshot, waiting) if free[pool] >= waiting.amount]
        policy = snapshot.configuration.policy_by_name[waiting.policy]
        usage = next(p.usage for p in plan.policies if p.name == policy.name)
        over = policy.limit is not None and usage + waiting.amount > policy.limit
        match waiting.reason:
            case Reason.LIMIT_REACHED:
                assert over
            case Reason.NO_CAPACITY:
                assert not over
                assert not room
            case Reason.HELD | Reason.KEPT:
                assert not over
                assert waiting.pool in room
            case Reason.BEHIND:
                assert waiting.holder in {other.task for other in plan.waiting}
            case Reason.OVER_LIMIT_ALONE:
                assert policy.limit is not None
                assert waiting.amount > policy.limit
            case Reason.TOO_LARGE | Reason.UNLINKED:
                assert not room
            case Reason.DISABLED:
                assert not snapshot.enabled


@law
@given(SNAPSHOTS)
def test_law_4_no_task_of_a_fixed_queue_overtakes_an_earlier_one(snapshot: Snapshot) -> None:
    plan = allocate(snapshot)

    started = {dispatch.task for dispatch in plan.dispatch}
    profiles = snapshot.configuration.profile_by_name
    for queue in snapshot.queues:
        if not profiles[queue.profile].is_dynamic:
            starts = [task.id in started for task in queue.tasks]
            assert starts == sorted(starts, reverse=True)


@law
@given(SNAPSHOTS)
def test_law_5_every_task_is_answered_exactly_once(snapshot: Snapshot) -> None:
    plan = allocate(snapshot)

    answered = [d.task for d in plan.dispatch] + [w.task for w in plan.waiting]
    tasks = [task.id for queue in snapshot.queues for task in queue.tasks]
    assert Counter(answered) == Counter(tasks)
    started = {d.task for d in plan.dispatch}
    assert [w.task for w in plan.waiting] == [task for task in tasks if task not in started]


@law
@given(SNAPSHOTS)
def test_law_6_the_same_snapshot_gives_the_same_plan_and_the_applied_plan_nothing(
    snapshot: Snapshot,
) -> None:
    plan = allocate(snapshot)

    assert allocate(snapshot) == plan
    again = allocate(applied(snapshot, plan))
    assert again.dispatch == ()
    assert again.pools == plan.pools
    assert again.policies == plan.policies


@law
@given(SNAPSHOTS)
def test_law_7_with_management_disabled_nothing_moves(snapshot: Snapshot) -> None:
    plan = allocate(replace(snapshot, enabled=False))

    assert plan.dispatch == ()
    assert {waiting.reason for waiting in plan.waiting} <= {Reason.DISABLED}


def dispatched(plan: Plan) -> tuple[dict[str, Fraction], dict[str, Fraction]]:
    """What the plan adds, by pool and by policy."""
    pools = {pool.name: ZERO for pool in plan.pools}
    policies = {policy.name: ZERO for policy in plan.policies}
    for dispatch in plan.dispatch:
        pools[dispatch.pool] += dispatch.amount
        policies[dispatch.policy] += dispatch.amount
    return pools, policies


def taken(snapshot: Snapshot) -> tuple[dict[str, Fraction], dict[str, Fraction]]:
    """What was in use before, by pool and by policy."""
    pools = {pool.name: ZERO for pool in snapshot.configuration.pools} | dict(snapshot.foreign)
    policies = {policy.name: ZERO for policy in snapshot.configuration.policies}
    for allocation in snapshot.allocations:
        pools[allocation.pool] = pools.get(allocation.pool, ZERO) + allocation.amount
        policies[allocation.policy] = policies.get(allocation.policy, ZERO) + allocation.amount
    return pools, policies


def linked(snapshot: Snapshot, waiting: Waiting) -> Iterator[str]:
    for link in snapshot.configuration.profile_by_name[waiting.profile].pools:
        yield link.pool


def applied(snapshot: Snapshot, plan: Plan) -> Snapshot:
    """The snapshot after everything that the plan dispatches has been moved."""
    started = {dispatch.task for dispatch in plan.dispatch}
    moved = tuple(
        Allocation(task=d.task, policy=d.policy, profile=d.profile, pool=d.pool, amount=d.amount)
        for d in plan.dispatch
    )
    queues = tuple(
        replace(queue, tasks=tuple(task for task in queue.tasks if task.id not in started))
        for queue in snapshot.queues
    )
    return replace(snapshot, queues=queues, allocations=(*snapshot.allocations, *moved))
