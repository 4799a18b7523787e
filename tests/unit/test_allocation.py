"""Examples of a round's decision; the laws and the oracle are in test_allocation_laws."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from fractions import Fraction

import pytest

from domain.allocation import allocate
from domain.amounts import Amount
from domain.configuration import (
    Configuration,
    IntakeQueue,
    Link,
    Policy,
    Pool,
    Profile,
    Queueing,
)
from domain.keeping import Keeper, Keeping, placeable
from domain.snapshot import Allocation, Plan, Reason, Snapshot, Task, Tier, WaitingQueue

NOW = datetime(2026, 12, 1, 10, tzinfo=UTC)
STRICT = Queueing.STRICT
NO_VALUES: list[object] = [None, "", "x", "0", "-1", True, float("nan"), [], {}]


@dataclass(frozen=True)
class P:
    """A profile in brief: `pools` in precedence; dynamic when it has a queueing."""

    allotment: int | str
    pools: str
    queueing: Queueing | None = None


@dataclass(frozen=True)
class Q:
    """A policy in brief; `tasks` by profile, in queue order, as amounts or as Tasks."""

    tasks: Mapping[str, list[int | Task]] = field(default_factory=dict)
    reserved: int = 0
    limit: int | None = None
    lend: bool = True


def snapshot(
    pools: Mapping[str, int | str], profiles: Mapping[str, P], policies: Mapping[str, Q]
) -> Snapshot:
    """Everything in the order given; tasks are named `<policy>-<profile>-1` and so on."""
    configuration = Configuration(
        pools=tuple(
            Pool(
                name=pool,
                resources=Fraction(resources),
                profiles=tuple(name for name, p in profiles.items() if pool in p.pools.split()),
            )
            for pool, resources in pools.items()
        ),
        profiles=tuple(
            Profile(
                name=name,
                allotment=Fraction(p.allotment),
                parameter="runtime.gpus" if p.queueing else None,
                queueing=p.queueing or Queueing.BACKFILL,
                pools=tuple(Link(pool=pool, name=f"{name}@{pool}") for pool in p.pools.split()),
                policies=tuple(policy for policy, q in policies.items() if name in q.tasks),
            )
            for name, p in profiles.items()
        ),
        policies=tuple(
            Policy(
                name=name,
                reservation=Fraction(q.reserved),
                limit=None if q.limit is None else Fraction(q.limit),
                lend=q.lend,
                queues=tuple(
                    IntakeQueue(profile=profile, queue=f"{name}-{profile}") for profile in q.tasks
                ),
            )
            for name, q in policies.items()
        ),
    )
    queues = tuple(
        WaitingQueue(
            policy=name,
            profile=profile,
            tasks=tuple(
                named if isinstance(named, Task) else task(f"{name}-{profile}-{n}", str(named))
                for n, named in enumerate(tasks, start=1)
            ),
        )
        for name, q in policies.items()
        for profile, tasks in q.tasks.items()
    )
    return Snapshot(taken_at=NOW, configuration=configuration, queues=queues)


def task(name: str, parameter: object, minutes: int = 1) -> Task:
    return Task(name, NOW - timedelta(minutes=minutes), parameter)


def running(pool: str, amount: int, policy: str = "gone") -> Allocation:
    return Allocation(
        task=f"r-{pool}-{policy}",
        policy=policy,
        profile="gone",
        pool=pool,
        amount=Fraction(amount),
    )


def starts(plan: Plan) -> list[str]:
    return [f"{d.task} {d.pool} {d.tier.value}" for d in plan.dispatch]


def waits(plan: Plan) -> dict[str, str]:
    return {w.task: w.reason.value for w in plan.waiting}


def test_the_worked_example() -> None:
    four: dict[str, list[int | Task]] = {"4xGPU": [0, 0, 0, 0]}
    example = snapshot(
        {"bare-metal": 8, "h100": 8},
        {"4xGPU": P(4, "bare-metal h100")},
        {"dev": Q(four, reserved=8, limit=16), "research": Q(four, reserved=8, limit=16)},
    )

    plan = allocate(example)

    assert starts(plan) == [
        "dev-4xGPU-1 bare-metal reserved",
        "dev-4xGPU-2 bare-metal reserved",
        "research-4xGPU-1 h100 reserved",
        "research-4xGPU-2 h100 reserved",
    ]
    assert waits(plan) == dict.fromkeys(
        ["dev-4xGPU-3", "dev-4xGPU-4", "research-4xGPU-3", "research-4xGPU-4"], "no_capacity"
    )
    assert plan.dispatch[0].link == "4xGPU@bare-metal"


def test_what_can_never_run_blocks_nobody() -> None:
    plan = allocate(
        snapshot(
            {"a": 8},
            {"flex": P(1, "a", STRICT), "lost": P(1, "")},
            {"dev": Q({"flex": [9, 5, 2], "lost": [0]}, limit=4)},
        )
    )

    assert starts(plan) == ["dev-flex-3 a shared"]
    assert waits(plan) == {
        "dev-flex-1": "too_large",
        "dev-flex-2": "over_limit_alone",
        "dev-lost-1": "unlinked",
    }


@pytest.mark.parametrize(
    ("parameter", "amount"),
    [("6", 6), (3, 3), ("1/7", Fraction(1, 7)), (0.5, Fraction(1, 2))]
    + [(raw, 2) for raw in NO_VALUES],
)
def test_a_dynamic_task_consumes_its_parameter_or_the_allotment(
    parameter: object, amount: Amount
) -> None:
    plan = allocate(
        snapshot(
            {"a": 8}, {"flex": P(2, "a", STRICT)}, {"dev": Q({"flex": [task("t", parameter)]})}
        )
    )

    assert [d.amount for d in plan.dispatch] == [amount]


def test_backfill_lets_a_smaller_task_pass_and_strict_does_not() -> None:
    def round_(queueing: Queueing) -> Plan:
        return allocate(
            replace(
                snapshot({"a": 8}, {"flex": P(1, "a", queueing)}, {"dev": Q({"flex": [6, 2, 3]})}),
                allocations=(running("a", 4),),
            )
        )

    assert starts(round_(Queueing.BACKFILL)) == ["dev-flex-2 a shared"]
    assert starts(round_(STRICT)) == []
    assert waits(round_(STRICT)) == {
        "dev-flex-1": "no_capacity",
        "dev-flex-2": "behind",
        "dev-flex-3": "behind",
    }


def test_the_reservation_comes_before_what_others_would_share() -> None:
    plan = allocate(
        snapshot(
            {"a": 4},
            {"one": P(1, "a")},
            {"first": Q({"one": [0] * 4}), "owner": Q({"one": [0] * 3}, reserved=2)},
        )
    )

    assert starts(plan) == [
        "owner-one-1 a reserved",
        "owner-one-2 a reserved",
        "first-one-1 a shared",
        "first-one-2 a shared",
    ]


def test_a_reservation_above_the_limit_counts_as_the_limit() -> None:
    plan = allocate(
        snapshot({"a": 8}, {"one": P(1, "a")}, {"dev": Q({"one": [0] * 3}, reserved=8, limit=2)})
    )

    assert starts(plan) == ["dev-one-1 a reserved", "dev-one-2 a reserved"]
    assert waits(plan) == {"dev-one-3": "limit_reached"}


def test_a_task_that_falls_over_gets_its_rightful_place_in_the_next_pool() -> None:
    # `big` comes first in b, but asks it only after a has refused it; `small` asks b at once.
    plan = allocate(
        replace(
            snapshot(
                {"b": 4, "a": 4},
                {"big": P(4, "a b"), "small": P(1, "b")},
                {"dev": Q({"big": [0], "small": [0]})},
            ),
            foreign={"a": Fraction(1)},
        )
    )

    assert starts(plan) == ["dev-big-1 b shared"]
    assert waits(plan) == {"dev-small-1": "no_capacity"}


def test_a_fixed_queue_s_first_tasks_get_the_pool_of_best_precedence() -> None:
    plan = allocate(
        snapshot({"b": 2, "a": 2}, {"one": P(1, "a b")}, {"dev": Q({"one": [0, 0, 0]})})
    )

    assert starts(plan) == ["dev-one-3 b shared", "dev-one-1 a shared", "dev-one-2 a shared"]


def test_a_pool_that_shrank_under_its_load_is_full_and_not_more() -> None:
    plan = allocate(
        replace(
            snapshot({"a": 2, "b": 1}, {"one": P(1, "a b")}, {"dev": Q({"one": [0, 0]})}),
            allocations=(running("a", 3), running("a", 2, "dev"), running("elsewhere", 9)),
            foreign={"b": Fraction(1, 2), "elsewhere": Fraction(1)},
        )
    )

    assert starts(plan) == []
    assert [(pool.used, pool.free) for pool in plan.pools] == [
        (5, 0),
        (Fraction(1, 2), Fraction(1, 2)),
    ]
    assert plan.policies[0].usage == 2


HOLDING = snapshot(
    {"a": 8, "b": 4},
    {"flex": P(1, "a b", Queueing.BACKFILL)},
    {"big": Q({"flex": [task("big", "8", minutes=30)]}), "dev": Q({"flex": [3, 4, 1]})},
)


def test_an_old_task_holds_the_first_pool_that_is_large_enough() -> None:
    plan = allocate(replace(HOLDING, allocations=(running("a", 2),)))

    # Refused by the held pool, the small ones ask the next.
    assert starts(plan) == ["dev-flex-1 b shared", "dev-flex-3 b shared"]
    assert waits(plan) == {"big": "no_capacity", "dev-flex-2": "held"}
    assert (plan.waiting[1].pool, plan.waiting[1].holder) == ("a", "big")


@pytest.mark.parametrize(
    "change",
    [
        {"hold_after": None},
        {"hold_after": timedelta(minutes=31)},
        {"hold_after": timedelta.max},
        {"enabled": True, "taken_at": NOW - timedelta(seconds=1)},
    ],
    ids=["off", "too young", "longer than the calendar", "a second too young"],
)
def test_nobody_holds_before_its_time(change: Mapping[str, object]) -> None:
    plan = allocate(replace(HOLDING, allocations=(running("a", 2),), **change))  # type: ignore[arg-type]

    assert len(plan.dispatch) == 3


def test_the_reserved_tier_takes_from_a_held_pool() -> None:
    policies = tuple(
        replace(p, reservation=Fraction(3)) if p.name == "dev" else p
        for p in HOLDING.configuration.policies
    )
    plan = allocate(
        replace(
            HOLDING,
            configuration=replace(HOLDING.configuration, policies=policies),
            allocations=(running("a", 2),),
        )
    )

    assert starts(plan)[0] == "dev-flex-1 a reserved"


def test_the_holder_inside_its_reservation_comes_first_then_who_was_seen_first() -> None:
    def holder(reserved: int) -> str | None:
        plan = allocate(
            replace(
                snapshot(
                    {"a": 8},
                    {"flex": P(1, "a", Queueing.BACKFILL)},
                    {
                        "one": Q(
                            {"flex": [task("z", "8", minutes=50), task("y", "7", minutes=60)]}
                        ),
                        "two": Q({"flex": [task("x", "6", minutes=40)]}, reserved=reserved),
                        "dev": Q({"flex": [1]}),
                    },
                ),
                allocations=(running("a", 5),),
            )
        )
        return plan.waiting[-1].holder

    assert holder(reserved=0) == "y"
    assert holder(reserved=6) == "x"


def keeping(lend: bool, tasks: list[int | Task], busy: int = 0) -> Plan:
    """A keeper with 4-GPU jobs and nothing waiting, and others with jobs of any size."""
    return allocate(
        replace(
            snapshot(
                {"a": 8, "b": 8},
                {"four": P(4, "a"), "flex": P(1, "a b", Queueing.BACKFILL)},
                {"owner": Q({"four": []}, reserved=6, lend=lend), "dev": Q({"flex": tasks})},
            ),
            allocations=(running("b", busy),) if busy else (),
        )
    )


def test_an_idle_reservation_is_lent_unless_its_owner_keeps_it() -> None:
    assert starts(keeping(True, [5], busy=8)) == ["dev-flex-1 a shared"]
    assert waits(keeping(False, [5], busy=8)) == {"dev-flex-1": "kept"}


def test_what_the_owner_s_jobs_could_not_use_is_not_kept() -> None:
    # It is owed 6, but one of its 4-GPU jobs fits that, so 4 of 8 are enough for it.
    assert starts(keeping(False, [5, 4], busy=8)) == ["dev-flex-2 a shared"]


def test_a_task_refused_for_a_keeper_asks_its_next_pool() -> None:
    plan = keeping(False, [5, 6])

    assert starts(plan) == ["dev-flex-1 b shared"]
    assert waits(plan) == {"dev-flex-2": "kept"}
    assert plan.waiting[0].pool == "a"


def test_the_owner_itself_is_not_stopped_for_its_own_reservation() -> None:
    plan = allocate(
        snapshot(
            {"a": 8},
            {"flex": P(1, "a", Queueing.BACKFILL)},
            {"owner": Q({"flex": [7]}, reserved=6, lend=False)},
        )
    )

    assert starts(plan) == ["owner-flex-1 a shared"]


def test_what_keepers_can_place_moves_to_other_pools_to_make_room() -> None:
    # The first keeper fills pool 0 unless it gives way to the second, which has no other.
    keepers = [Keeper(0, 4, {0: 1, 1: 1}), Keeper(1, 4, {0: 1})]

    assert placeable(keepers, [4, 4]) == 8
    assert placeable(keepers, [4, 3]) == 7
    assert placeable([Keeper(0, 6, {0: 4})], [9]) == 4


def test_what_must_stay_free_is_what_the_other_pools_cannot_take() -> None:
    keeping = Keeping([Keeper(0, 6, {0: 2, 1: 2})])

    assert keeping.kept(7, 0, [8, 4]) == 2
    assert keeping.kept(7, 0, [8, 8]) == 0
    assert keeping.kept(7, 0, [5, 0]) == 4
    assert keeping.kept(0, 0, [8, 4]) == 0


def test_denominators_that_nothing_divides_stay_exact() -> None:
    primes = [999_983, 999_979, 999_961, 999_959, 999_953, 999_931, 999_917, 999_907] * 2
    odd = [p - 2 * n for n, p in enumerate(primes)]
    tasks: list[int | Task] = [task(f"t{n:02}", f"1/{d}") for n, d in enumerate(odd)]

    plan = allocate(
        snapshot({"a": 1}, {"flex": P(1, "a", Queueing.BACKFILL)}, {"dev": Q({"flex": tasks})})
    )

    assert plan.pools[0].used == sum((Fraction(1, d) for d in odd), Fraction(0))
    assert {d.tier for d in plan.dispatch} == {Tier.SHARED}
    assert plan.pools[0].free == 1 - plan.pools[0].used


def test_disabled_comes_before_every_other_reason() -> None:
    plan = allocate(
        replace(
            snapshot({"a": 1}, {"lost": P(1, ""), "big": P(2, "a")}, {"dev": Q({"lost": [0]})}),
            enabled=False,
        )
    )

    assert [w.reason for w in plan.waiting] == [Reason.DISABLED]


def test_whoever_got_past_an_earlier_task_of_a_strict_queue_is_barred() -> None:
    # While the head falls over from a to b, its follower would take the budget that the head needs.
    plan = allocate(
        replace(
            snapshot(
                {"a": 4, "b": 4},
                {"flex": P(1, "a b", STRICT)},
                {"dev": Q({"flex": [4, 1]}, limit=4)},
            ),
            foreign={"a": Fraction(1)},
        )
    )

    assert starts(plan) == ["dev-flex-1 b shared"]
    assert waits(plan) == {"dev-flex-2": "limit_reached"}


def test_whom_the_budget_passes_over_stays_even_where_an_equal_one_moved_on() -> None:
    # In a: 4 is accepted, the first 3 moves on to b, 1 is accepted, and the second 3 is now over
    # what is left of the budget. So only one 3 asks b, and the 4 keeps its place.
    plan = allocate(
        snapshot(
            {"b": 8, "a": 5},
            {"flex": P(1, "a b", Queueing.BACKFILL)},
            {"dev": Q({"flex": [4, 3, 1, *[3] * 9]}, limit=7)},
        )
    )

    assert starts(plan) == ["dev-flex-2 b shared", "dev-flex-1 a shared"]
