"""From the queues that there are to those that a configuration needs, step by step."""

from collections.abc import Iterable, Mapping
from dataclasses import replace

import pytest

from controller.ports import QueueEntry, QueueState
from controller.queue_plan import (
    BACKUP,
    Act,
    QueueStep,
    desired_queues,
    key_of,
    marks_of,
    plan_queues,
    renamed,
)
from domain.configuration import Configuration, IntakeQueue
from domain.ledger import OwnedQueue
from domain.renames import Kind, Renames
from tests.ledgers import CONFIGURATION, INTAKE, METAL, OTHER_INTAKE, OWNED, SPARE


def listed(
    queue: OwnedQueue,
    *,
    name: str | None = None,
    marks: Mapping[str, str] | None = None,
    tasks: int = 0,
) -> QueueState:
    """The queue as ClearML has it: with its own name and marks, unless others are given."""
    return QueueState(
        id=queue.id,
        name=queue.name if name is None else name,
        marks=marks_of(queue) if marks is None else marks,
        entries=tuple(QueueEntry(f"t{number}") for number in range(tasks)),
    )


def plan(
    owned: Iterable[OwnedQueue],
    there: Iterable[QueueState],
    configuration: Configuration = CONFIGURATION,
) -> tuple[QueueStep, ...]:
    return plan_queues(configuration, owned, {state.id: state for state in there})


def acts(steps: Iterable[QueueStep]) -> list[tuple[Act, str, str]]:
    """Those that do something, each with the queue's id and the name that it is to have."""
    return [(step.act, step.queue.id, step.queue.name) for step in steps if step.act != Act.KEEP]


ALL = tuple(map(listed, OWNED))


def with_policies(*names: str) -> Configuration:
    policies = tuple(one for one in CONFIGURATION.policies if one.name in names)
    profiles = tuple(replace(one, policies=names) for one in CONFIGURATION.profiles)
    return replace(CONFIGURATION, policies=policies, profiles=profiles)


def with_queue_names(**names: str) -> Configuration:
    return replace(
        CONFIGURATION,
        policies=tuple(
            replace(
                one,
                queues=(
                    IntakeQueue(profile="job", queue=names.get(one.name, one.queues[0].queue)),
                ),
            )
            for one in CONFIGURATION.policies
        ),
    )


def test_a_configuration_needs_a_queue_for_every_policys_profile_and_every_link() -> None:
    assert list(desired_queues(CONFIGURATION)) == [replace(queue, id="") for queue in OWNED]


def test_without_queues_all_are_created() -> None:
    assert acts(plan([], [])) == [(Act.CREATE, "", queue.name) for queue in OWNED]


def test_when_all_is_as_it_should_be_nothing_is_done() -> None:
    steps = plan(OWNED, ALL)

    assert acts(steps) == []
    assert [step.queue for step in steps] == list(OWNED)


def test_further_marks_and_strangers_queues_do_not_matter() -> None:
    ledger = {**marks_of(METAL), BACKUP: "{}"}
    strangers = [QueueState(id="default", name="default"), QueueState(id="x", name="job on metal")]

    steps = plan(OWNED, [*ALL[:2], listed(METAL, marks=ledger), ALL[3], *strangers])

    assert acts(steps) == []


def test_a_deleted_queue_is_created_again() -> None:
    assert acts(plan(OWNED, ALL[1:])) == [(Act.CREATE, "", "dev-jobs")]


def test_a_deleted_queue_whose_name_somebody_took_is_adopted_with_its_tasks() -> None:
    stranger = QueueState(id="new", name="dev-jobs", entries=(QueueEntry("t1"), QueueEntry("t2")))

    steps = plan(OWNED, [*ALL[1:], stranger])

    assert acts(steps) == [(Act.ADOPT, "new", "dev-jobs")]
    assert [step.tasks for step in steps if step.act is Act.ADOPT] == [2]


def test_when_the_database_is_lost_queues_are_known_by_their_marks() -> None:
    by_hand = [listed(queue, name=f"{queue.name}, renamed by hand") for queue in OWNED]

    steps = plan([], by_hand)

    assert acts(steps) == [(Act.ADOPT, queue.id, queue.name) for queue in OWNED]
    assert [step.was for step in steps] == [state.name for state in by_hand]


def test_marks_tell_more_than_names() -> None:
    """Two queues whose names were swapped by hand; each is adopted for what it is for."""
    swapped = [
        listed(INTAKE, name=OTHER_INTAKE.name),
        listed(OTHER_INTAKE, name=INTAKE.name),
        *ALL[2:],
    ]

    steps = plan([], swapped)

    assert [(step.queue.id, step.queue.owner) for step in steps[:2]] == [
        ("intake", "dev"),
        ("other intake", "research"),
    ]


def test_no_queue_is_adopted_for_two_purposes() -> None:
    """Research's queue has the name that dev's is to have, and dev's is gone."""
    there = [listed(OTHER_INTAKE, name=INTAKE.name), *ALL[2:]]

    steps = plan([], there)

    assert acts(steps)[:2] == [
        (Act.CREATE, "", "dev-jobs"),
        (Act.ADOPT, "other intake", "research-jobs"),
    ]
    ids = [step.queue.id for step in steps if step.queue.id]
    assert len(ids) == len(set(ids))


def test_a_name_that_the_configuration_changed_is_changed() -> None:
    steps = plan(OWNED, ALL, with_queue_names(dev="vision"))

    assert acts(steps) == [(Act.RENAME, "intake", "vision")]
    assert [step.was for step in steps if step.act is Act.RENAME] == ["dev-jobs"]


def test_a_name_that_was_changed_by_hand_is_left() -> None:
    assert acts(plan(OWNED, [listed(INTAKE, name="by hand"), *ALL[1:]])) == []


def test_names_can_be_swapped() -> None:
    steps = plan(OWNED, ALL, with_queue_names(dev="research-jobs", research="dev-jobs"))

    assert acts(steps) == [
        (Act.RENAME, "intake", "research-jobs"),
        (Act.RENAME, "other intake", "dev-jobs"),
    ]


@pytest.mark.parametrize(
    "marks",
    [{}, {**marks_of(METAL), "poolkeeper_owner": "another link"}, {BACKUP: "{}"}],
    ids=["lost", "another", "the copy only"],
)
def test_marks_that_are_not_true_are_written_again(marks: Mapping[str, str]) -> None:
    steps = plan(OWNED, [*ALL[:2], listed(METAL, marks=marks), ALL[3]])

    assert acts(steps) == [(Act.MARK, "metal", METAL.name)]


def test_what_is_not_configured_any_more_is_retired_first() -> None:
    full = [listed(INTAKE, tasks=3), *ALL[1:]]

    steps = plan(OWNED, full, with_policies("research"))

    assert acts(steps) == [(Act.RETIRE, "intake", "dev-jobs")]
    assert steps[0].queue.retired
    assert steps[0].tasks == 3


def test_what_is_retired_already_is_left_to_be_emptied() -> None:
    retired = replace(INTAKE, retired=True)

    assert acts(plan([retired, *OWNED[1:]], ALL, with_policies("research"))) == []


def test_what_is_configured_again_while_it_is_emptied_is_kept() -> None:
    retired = replace(INTAKE, retired=True)

    steps = plan([retired, *OWNED[1:]], ALL)

    [(_, id_, name)] = acts(steps)
    assert (id_, name) == ("intake", "dev-jobs")
    assert not steps[0].queue.retired


def test_what_is_not_configured_and_gone_needs_no_step() -> None:
    assert acts(plan(OWNED, ALL[1:], with_policies("research"))) == []


RENAMES = Renames(
    {
        Kind.POLICY: {"dev": "research", "research": "dev"},
        Kind.PROFILE: {"job": "work"},
        Kind.POOL: {"metal": "iron"},
        Kind.LINK: {"job on metal": "work on iron"},
    }
)


def test_owned_queues_are_called_by_todays_names() -> None:
    intake, other, metal, spare = renamed(OWNED, RENAMES)

    assert (intake.owner, other.owner) == ("research", "dev")
    assert {queue.profile for queue in (intake, other, metal, spare)} == {"work"}
    assert (metal.pool, metal.owner) == ("iron", "work on iron")
    assert (spare.pool, spare.owner) == ("spare", "job on spare")
    assert [queue.name for queue in (intake, other, metal, spare)] == [q.name for q in OWNED]


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (INTAKE, replace(INTAKE, id="x", name="x"), True),
        (INTAKE, OTHER_INTAKE, False),
        (INTAKE, replace(INTAKE, profile="x"), False),
        (METAL, replace(METAL, owner="another link"), True),
        (METAL, SPARE, False),
        (METAL, replace(INTAKE, owner="job on metal"), False),
    ],
    ids=["a name", "a policy", "a profile", "a link's name", "a pool", "a role"],
)
def test_a_queue_is_for_a_policy_or_a_pool_whatever_it_is_called(
    one: OwnedQueue, other: OwnedQueue, same: bool
) -> None:
    assert (key_of(one) == key_of(other)) is same
