"""The sentences for people who wait: numbers and names, and what would unblock them."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from fractions import Fraction

import pytest

from domain.allocation import allocate
from domain.configuration import (
    Configuration,
    IntakeQueue,
    Link,
    Policy,
    Pool,
    Profile,
    Queueing,
)
from domain.explain import Explainer, PoolUse, detail, why
from domain.plan_document import plan_document
from domain.snapshot import Allocation, Plan, Reason, Snapshot, Task, WaitingQueue

NOW = datetime(2026, 12, 1, 10, tzinfo=UTC)


def world(*, parameter: str | None = "4", queueing: Queueing = Queueing.BACKFILL) -> Snapshot:
    """Two pools, a dynamic profile linked to both, dev with a task that needs 4, and research."""
    return Snapshot(
        taken_at=NOW,
        configuration=Configuration(
            pools=(
                Pool(name="bare-metal", resources=Fraction(8), profiles=("flex",)),
                Pool(name="h100", resources=Fraction(8), profiles=("flex",)),
            ),
            profiles=(
                Profile(
                    name="flex",
                    allotment=Fraction(1),
                    parameter="runtime.gpus",
                    queueing=queueing,
                    pools=(Link(pool="bare-metal", name="low"), Link(pool="h100", name="high")),
                    policies=("dev", "research"),
                ),
            ),
            policies=(
                Policy(
                    name="dev",
                    reservation=Fraction(8),
                    limit=Fraction(16),
                    queues=(IntakeQueue(profile="flex", queue="dev-flex"),),
                ),
                Policy(
                    name="research",
                    reservation=Fraction(0),
                    queues=(IntakeQueue(profile="flex", queue="research-flex"),),
                ),
            ),
        ),
        queues=(
            WaitingQueue(policy="dev", profile="flex", tasks=(task("t1", parameter=parameter),)),
        ),
    )


def task(name: str, *, parameter: str | None = "4", minutes: int = 1) -> Task:
    return Task(name, NOW - timedelta(minutes=minutes), parameter)


def running(pool: str, amount: int | str, policy: str = "research") -> Allocation:
    return Allocation(
        task=f"r-{pool}-{policy}", policy=policy, profile="flex", pool=pool, amount=Fraction(amount)
    )


def policies(snapshot: Snapshot, **changes: Policy) -> Snapshot:
    """The snapshot with policies of these names replaced."""
    configuration = snapshot.configuration
    changed = tuple(changes.get(p.name, p) for p in configuration.policies)
    return replace(snapshot, configuration=replace(configuration, policies=changed))


def disabled() -> Snapshot:
    return replace(world(), enabled=False)


def unlinked() -> Snapshot:
    snapshot = world()
    configuration = snapshot.configuration
    profile = replace(configuration.profiles[0], pools=())
    pools = tuple(replace(pool, profiles=()) for pool in configuration.pools)
    return replace(snapshot, configuration=replace(configuration, profiles=(profile,), pools=pools))


def too_large() -> Snapshot:
    return world(parameter="9")


def over_limit_alone() -> Snapshot:
    snapshot = world()
    dev = replace(snapshot.configuration.policies[0], limit=Fraction(3))
    return policies(snapshot, dev=dev)


def behind() -> Snapshot:
    snapshot = world(queueing=Queueing.STRICT)
    tasks = (task("t0", parameter="5"), task("t1", parameter="1"))
    return replace(
        snapshot,
        queues=(WaitingQueue(policy="dev", profile="flex", tasks=tasks),),
        allocations=(running("bare-metal", 4), running("h100", 4)),
    )


def limit_reached() -> Snapshot:
    return replace(
        world(), allocations=(running("bare-metal", 7, "dev"), running("h100", 7, "dev"))
    )


def no_capacity() -> Snapshot:
    return replace(
        world(),
        allocations=(running("bare-metal", 5, "dev"), running("h100", 6)),
        foreign={"bare-metal": Fraction(3)},
    )


def held() -> Snapshot:
    snapshot = world(parameter="2")
    big = WaitingQueue(
        policy="research", profile="flex", tasks=(task("t-big", parameter="8", minutes=130),)
    )
    return replace(
        snapshot,
        queues=(*snapshot.queues, big),
        allocations=(running("bare-metal", 4, "dev"), running("h100", 8, "dev")),
    )


def kept() -> Snapshot:
    snapshot = world()
    research = replace(snapshot.configuration.policies[1], reservation=Fraction(8), lend=False)
    dev = replace(snapshot.configuration.policies[0], reservation=Fraction(0))
    return replace(
        policies(snapshot, dev=dev, research=research),
        allocations=(running("bare-metal", 8, "dev"), running("h100", "1/2", "dev")),
    )


CASES = [
    (
        disabled,
        Reason.DISABLED,
        "Management is disabled; no task is dispatched until an admin enables it.",
        "An admin enables management.",
    ),
    (
        unlinked,
        Reason.UNLINKED,
        "Can never run: profile flex is linked to no pool. An admin has to link it to one.",
        "An admin links flex to a pool.",
    ),
    (
        too_large,
        Reason.TOO_LARGE,
        "Can never run: it needs 9, but bare-metal has 8 and h100 has 8 in all. "
        "It has to ask for less, or one of bare-metal and h100 has to grow.",
        "The task asks for less, or an admin enlarges a pool of its profile.",
    ),
    (
        over_limit_alone,
        Reason.OVER_LIMIT_ALONE,
        "Can never run: it needs 4, more than the whole limit of dev, 3. "
        "It has to ask for less, or the limit has to be raised.",
        "The task asks for less, or the limit of dev becomes at least 4.",
    ),
    (
        behind,
        Reason.BEHIND,
        "Waits behind t0, which is earlier in the queue of dev for flex; "
        "this queue is strict, so nobody passes.",
        "t0 has to start first. Needs 5, but bare-metal has 4 of 8 free and h100 4 of 8.",
    ),
    (
        limit_reached,
        Reason.LIMIT_REACHED,
        "dev uses 14 of its limit 16; 4 more would exceed it.",
        "Running tasks of dev that use 2 end, or its limit becomes at least 18.",
    ),
    (
        no_capacity,
        Reason.NO_CAPACITY,
        "Needs 4, but bare-metal has 0 of 8 free and h100 2 of 8.",
        "2 more in h100 becomes free; it is used by research (6).",
    ),
    (
        held,
        Reason.HELD,
        "bare-metal has 4 free, but it is held for t-big of research, which needs 8 and has waited "
        "for 2 h 10 min.",
        "t-big starts, or leaves the queue; then bare-metal is free for all.",
    ),
    (
        kept,
        Reason.KEPT,
        "h100 has 7.5 free, but it is kept for the reservation of research (8 unused).",
        "More becomes free in its pools, or research uses or lends what is reserved and unused.",
    ),
]


@pytest.mark.parametrize(
    ("make", "reason", "sentence", "remedy"), CASES, ids=[case[1].value for case in CASES]
)
def test_each_reason_is_a_sentence_with_its_numbers_and_says_what_would_unblock(
    make: object, reason: Reason, sentence: str, remedy: str
) -> None:
    assert callable(make)
    snapshot: Snapshot = make()
    plan = allocate(snapshot)
    waiting = next(waiting for waiting in plan.waiting if waiting.task == "t1")

    answer = why("t1", snapshot, plan)

    assert waiting.reason is reason
    assert detail(waiting, snapshot, plan) == sentence
    assert answer is not None
    assert (answer.reason, answer.sentence, answer.unblocked_by) == (reason, sentence, remedy)


def test_every_reason_has_its_case() -> None:
    assert {case[1] for case in CASES} == set(Reason)


def test_why_gives_the_position_and_who_uses_the_linked_pools() -> None:
    snapshot = no_capacity()
    queue = replace(snapshot.queues[0], tasks=(task("t0"), task("t1")))
    snapshot = replace(snapshot, queues=(queue,))

    answer = why("t1", snapshot, allocate(snapshot))

    assert answer is not None
    assert (answer.position, answer.queue_length) == (2, 2)
    assert answer.uses == (
        PoolUse(
            pool="bare-metal",
            resources=Fraction(8),
            free=Fraction(0),
            policies=(("dev", Fraction(5)),),
            elsewhere=Fraction(3),
        ),
        PoolUse(
            pool="h100",
            resources=Fraction(8),
            free=Fraction(2),
            policies=(("research", Fraction(6)),),
            elsewhere=Fraction(0),
        ),
    )


def test_why_of_a_task_that_starts_says_where() -> None:
    snapshot = world()

    answer = why("t1", snapshot, allocate(snapshot))

    assert answer is not None
    assert answer.reason is None
    assert answer.sentence == "Starts now with 4 of bare-metal, inside the reservation of dev."


def test_why_of_an_unknown_task_is_nothing() -> None:
    snapshot = world()

    assert why("t2", snapshot, allocate(snapshot)) is None
    assert why("t1", snapshot, Plan()) is None


def test_tasks_that_wait_for_the_same_share_their_sentence() -> None:
    snapshot = no_capacity()
    queue = replace(snapshot.queues[0], tasks=(task("t1"), task("t2")))
    snapshot = replace(snapshot, queues=(queue,))
    plan = allocate(snapshot)
    explainer = Explainer(snapshot, plan)

    first, second = (explainer.detail(waiting) for waiting in plan.waiting)

    assert first is second


def test_the_plan_document_is_the_page_s_own() -> None:
    snapshot = replace(world(), foreign={"h100": Fraction(1, 7)})
    queue = replace(snapshot.queues[0], tasks=(task("t1"), task("t2", parameter="12")))
    research = WaitingQueue(policy="research", profile="flex", tasks=(task("t3", parameter="0.5"),))
    snapshot = replace(snapshot, queues=(queue, research))

    document = plan_document(snapshot, allocate(snapshot))

    assert document == {
        "dispatch": [
            {
                "task": "t1",
                "policy": "dev",
                "profile": "flex",
                "pool": "bare-metal",
                "link": "low",
                "tier": "reserved",
                "amount": "4",
            },
            {
                "task": "t3",
                "policy": "research",
                "profile": "flex",
                "pool": "bare-metal",
                "link": "low",
                "tier": "shared",
                "amount": "0.5",
            },
        ],
        "waiting": [
            {
                "task": "t2",
                "policy": "dev",
                "profile": "flex",
                "amount": "12",
                "reason": "too_large",
                "detail": "Can never run: it needs 12, but bare-metal has 8 and h100 has 8 in all. "
                "It has to ask for less, or one of bare-metal and h100 has to grow.",
            },
        ],
        "pools": [
            {"name": "bare-metal", "resources": "8", "used": "4.5", "free": "3.5"},
            {"name": "h100", "resources": "8", "used": "1/7", "free": "55/7"},
        ],
        "policies": [
            {"name": "dev", "reservation": "8", "limit": "16", "usage": "4"},
            {"name": "research", "reservation": "0", "limit": None, "usage": "0.5"},
        ],
    }
