"""What a plan may not do is found before anything moves (rule 9)."""

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

import pytest

from controller.books import violations
from domain.snapshot import (
    Dispatch,
    Plan,
    PolicyState,
    PoolState,
    Reason,
    Snapshot,
    Task,
    Tier,
    Waiting,
    WaitingQueue,
)
from tests.ledgers import CONFIGURATION, NOW


def snapshot(*tasks: str) -> Snapshot:
    queue = WaitingQueue(
        policy="dev", profile="job", tasks=tuple(Task(task, first_seen=NOW) for task in tasks)
    )
    return Snapshot(taken_at=NOW, configuration=CONFIGURATION, queues=(queue,))


def dispatch(task: str) -> Dispatch:
    return Dispatch(
        task=task,
        policy="dev",
        profile="job",
        pool="metal",
        link="job on metal",
        tier=Tier.RESERVED,
        amount=Fraction(2),
    )


def waiting(task: str) -> Waiting:
    return Waiting(
        task=task, policy="dev", profile="job", amount=Fraction(2), reason=Reason.NO_CAPACITY
    )


def pool(used: int | str, name: str = "metal") -> PoolState:
    amount = Fraction(used)
    return PoolState(
        name=name, resources=Fraction(8), used=amount, free=max(Fraction(0), 8 - amount)
    )


def policy(usage: int | str, limit: int | None = 8, name: str = "dev") -> PolicyState:
    return PolicyState(
        name=name,
        reservation=Fraction(4),
        limit=None if limit is None else Fraction(limit),
        usage=Fraction(usage),
    )


PLAN = Plan(
    dispatch=(dispatch("t1"),), waiting=(waiting("t2"),), pools=(pool(8),), policies=(policy(8),)
)
ASKED = snapshot("t1", "t2")

RIGHT = {
    "everything is full to the brim": PLAN,
    "a pool shrunk under its load gets nothing": replace(
        PLAN, pools=(pool(8), pool(9, "spare")), policies=(policy(8),)
    ),
    "a policy over a lowered limit gets nothing": replace(
        PLAN, policies=(policy(8), policy(9, name="research"))
    ),
    "no limit": replace(PLAN, policies=(policy(900, limit=None),)),
}

WRONG: dict[str, tuple[Plan, Sequence[str]]] = {
    "a task is not answered": (
        replace(PLAN, waiting=()),
        ["Task t2 is 1 times in the snapshot and was answered 0 times."],
    ),
    "a task is answered twice": (
        replace(PLAN, waiting=(waiting("t1"), waiting("t2"))),
        ["Task t1 is 1 times in the snapshot and was answered 2 times."],
    ),
    "a task is dispatched twice": (
        replace(PLAN, dispatch=(dispatch("t1"), dispatch("t1"))),
        ["Task t1 is 1 times in the snapshot and was answered 2 times."],
    ),
    "a task is answered that nobody asked for": (
        replace(PLAN, waiting=(waiting("t2"), waiting("t3"))),
        ["Task t3 is 0 times in the snapshot and was answered 1 times."],
    ),
    "a pool is over-committed": (
        replace(PLAN, pools=(pool("57/7"),)),
        ["Pool metal would be over-committed: 57/7 of 8."],
    ),
    "a policy exceeds its limit": (
        replace(PLAN, policies=(policy("8.5"),)),
        ["Policy dev would exceed its limit: 8.5 of 8."],
    ),
    "everything at once": (
        replace(PLAN, waiting=(), pools=(pool(9),), policies=(policy(9),)),
        [
            "Task t2 is 1 times in the snapshot and was answered 0 times.",
            "Pool metal would be over-committed: 9 of 8.",
            "Policy dev would exceed its limit: 9 of 8.",
        ],
    ),
}


@pytest.mark.parametrize("case", RIGHT)
def test_a_right_plan_is_no_alarm(case: str) -> None:
    assert violations(ASKED, RIGHT[case]) == ()


@pytest.mark.parametrize("case", WRONG)
def test_a_wrong_plan_is_said_with_its_numbers(case: str) -> None:
    plan, said = WRONG[case]

    assert violations(ASKED, plan) == tuple(said)


def test_a_task_that_is_twice_in_the_snapshot_is_to_be_answered_twice() -> None:
    assert len(violations(snapshot("t1", "t2", "t2"), PLAN)) == 1
