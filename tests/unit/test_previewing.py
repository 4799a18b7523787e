"""What a changed configuration would mean for the tasks of the last snapshot."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from fractions import Fraction

import pytest

from domain.configuration import Configuration, IntakeQueue, Link, Policy, Pool, Profile
from domain.previewing import Effect, effect, under
from domain.renames import Kind, Renames
from domain.snapshot import Allocation, Snapshot, Task, WaitingQueue
from tests.ledgers import CONFIGURATION, NOW

NONE = Renames()


def waiting(policy: str, *tasks: str) -> WaitingQueue:
    return WaitingQueue(
        policy=policy,
        profile="job",
        tasks=tuple(Task(task, first_seen=NOW) for task in tasks),
    )


def running(policy: str, pool: str, amount: int) -> Allocation:
    return Allocation(
        task=f"{policy} on {pool}", policy=policy, profile="job", pool=pool, amount=Fraction(amount)
    )


# Both pools are full; dev has its limit, and research has not.
FULL = Snapshot(
    taken_at=NOW,
    configuration=CONFIGURATION,
    queues=(waiting("dev", "d1", "d2"), waiting("research", "r1")),
    allocations=(running("dev", "metal", 8), running("research", "spare", 4)),
    foreign={"spare": Fraction(4)},
)


def pools(change: Callable[[Pool], Pool]) -> Configuration:
    return replace(CONFIGURATION, pools=tuple(map(change, CONFIGURATION.pools)))


def policies(change: Callable[[Policy], Policy]) -> Configuration:
    return replace(CONFIGURATION, policies=tuple(map(change, CONFIGURATION.policies)))


def profile(**changes: object) -> Configuration:
    [only] = CONFIGURATION.profiles
    return replace(CONFIGURATION, profiles=(replace(only, **changes),))  # type: ignore[arg-type]


def without(names: Iterable[str]) -> Configuration:
    left = tuple(name for name in ("dev", "research") if name not in names)
    changed = profile(policies=left)
    return replace(
        changed, policies=tuple(one for one in CONFIGURATION.policies if one.name in left)
    )


EFFECTS: dict[str, tuple[Configuration, Effect]] = {
    "nothing changes": (CONFIGURATION, Effect()),
    "a pool grows": (
        pools(lambda pool: replace(pool, resources=Fraction(10))),
        Effect(starts=("r1",)),
    ),
    "a pool and a limit grow": (
        replace(
            pools(lambda pool: replace(pool, resources=Fraction(20))),
            policies=policies(lambda policy: replace(policy, limit=None)).policies,
        ),
        Effect(starts=("d1", "d2", "r1")),
    ),
    "a limit grows under full pools": (
        policies(lambda policy: replace(policy, limit=Fraction(100))),
        Effect(),
    ),
    "jobs become too large for the limit": (
        profile(allotment=Fraction(9)),
        Effect(never=("d1", "d2", "r1")),
    ),
    "links are removed": (
        replace(
            profile(pools=()),
            pools=pools(lambda pool: replace(pool, profiles=())).pools,
        ),
        Effect(never=("d1", "d2", "r1")),
    ),
    "a policy is removed": (without(["dev"]), Effect(homeless=("d1", "d2"))),
    "all policies are removed": (
        without(["dev", "research"]),
        Effect(homeless=("d1", "d2", "r1")),
    ),
}


@pytest.mark.parametrize("case", EFFECTS)
def test_the_effect_of_a_change_is_said_by_task(case: str) -> None:
    configuration, expected = EFFECTS[case]

    assert effect(FULL, configuration, NONE) == expected


def test_tasks_that_can_run_at_last_are_said() -> None:
    snapshot = replace(FULL, configuration=profile(allotment=Fraction(9)))

    assert effect(snapshot, CONFIGURATION, NONE) == Effect(able=("d1", "d2", "r1"))


def test_tasks_that_never_could_run_and_lose_their_queue_are_homeless_only() -> None:
    snapshot = replace(FULL, configuration=profile(allotment=Fraction(9)))

    found = effect(snapshot, without(["dev"]), NONE)

    assert found == Effect(able=("r1",), homeless=("d1", "d2"))


RENAMED = Renames(
    {
        Kind.POLICY: {"dev": "research", "research": "dev"},
        Kind.PROFILE: {"job": "work"},
        Kind.POOL: {"metal": "iron"},
    }
)
NEW_NAMES = Configuration(
    pools=(
        Pool(name="iron", resources=Fraction(8), profiles=("work",)),
        Pool(name="spare", resources=Fraction(8), profiles=("work",)),
    ),
    profiles=(
        Profile(
            name="work",
            allotment=Fraction(2),
            pools=(
                Link(pool="iron", name="job on metal"),
                Link(pool="spare", name="job on spare"),
            ),
            policies=("research", "dev"),
        ),
    ),
    policies=tuple(
        Policy(
            name=new,
            reservation=Fraction(4),
            limit=Fraction(8),
            queues=(IntakeQueue(profile="work", queue=f"{old}-jobs"),),
        )
        for old, new in (("dev", "research"), ("research", "dev"))
    ),
)


def test_a_rename_by_itself_changes_nothing_for_anybody() -> None:
    assert effect(FULL, NEW_NAMES, RENAMED) == Effect()


def test_without_its_rename_a_new_name_is_another_object() -> None:
    assert effect(FULL, NEW_NAMES, NONE).homeless == ("d1", "d2", "r1")


def test_under_new_names_everything_counts_for_the_same_as_before() -> None:
    changed = under(FULL, NEW_NAMES, RENAMED)

    assert [(queue.policy, queue.profile) for queue in changed.queues] == [
        ("research", "work"),
        ("dev", "work"),
    ]
    assert [(one.policy, one.profile, one.pool) for one in changed.allocations] == [
        ("research", "work", "iron"),
        ("dev", "work", "spare"),
    ]
    assert changed.foreign == {"spare": Fraction(4)}
    assert changed.configuration is NEW_NAMES
