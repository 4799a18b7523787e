"""Queues that are given up are emptied, and deleted when nothing needs them."""

from collections.abc import Iterable
from dataclasses import replace
from datetime import timedelta
from typing import cast

import pytest

from controller.draining import delete_empty, leaving
from controller.observe import Observation
from controller.ports import Queues
from domain.amounts import ZERO
from domain.ledger import LedgerEntry, OwnedQueue, Stage
from tests.ledgers import INTAKE, METAL, NOW, OTHER_INTAKE, SPARE, entry, remembered, seen, sighting

OLD_INTAKE, OLD_METAL = replace(INTAKE, retired=True), replace(METAL, retired=True)


class Deleting:
    """The one thing of the door that draining uses; queues in `full` are not deleted."""

    def __init__(self, full: Iterable[str] = ()) -> None:
        self.full = set(full)
        self.asked: list[str] = []

    def delete_queue(self, queue: str) -> bool:
        self.asked.append(queue)
        return queue not in self.full


def test_tasks_waiting_in_a_removed_links_queue_go_back() -> None:
    dispatched = entry()

    opened = leaving(
        remembered([dispatched], owned=[INTAKE, OLD_METAL]), seen({"metal": ["t1", "foreign"]})
    )

    assert opened == (replace(dispatched, stage=Stage.RETURNING),)


def test_tasks_waiting_in_a_removed_policys_queue_become_drafts() -> None:
    sight = sighting("t1", first_seen=NOW - timedelta(hours=5))

    first, second = leaving(
        remembered(sightings=[sight], owned=[OLD_INTAKE, METAL]), seen({"intake": ["t1", "t2"]})
    )

    assert (first.task, first.stage, first.intake) == ("t1", Stage.DRAFTING, "intake")
    assert (first.policy, first.profile, first.execution) == ("dev", "job", "")
    assert (first.pool, first.amount) == ("", ZERO)
    assert (first.first_seen, second.first_seen) == (NOW - timedelta(hours=5), NOW)


@pytest.mark.parametrize(
    ("known", "owned", "look"),
    [
        ([entry()], [INTAKE, METAL], seen({"metal": ["t1"], "intake": ["t2"]})),
        ([entry()], [OLD_INTAKE, OLD_METAL], seen({})),
        ([entry(stage=Stage.RETURNING)], [INTAKE, OLD_METAL], seen({"metal": ["t1"]})),
        ([entry(stage=Stage.INTENDED)], [INTAKE, OLD_METAL], seen({"metal": ["t1"]})),
        ([], [INTAKE, OLD_METAL], seen({"metal": ["foreign"]})),
        ([entry(stage=Stage.DRAFTING)], [OLD_INTAKE, METAL], seen({"intake": ["t1"]})),
        ([entry(stage=Stage.INTENDED)], [OLD_INTAKE, METAL], seen({"intake": ["t1"]})),
        ([entry()], [replace(OLD_METAL, id="gone")], seen({"metal": ["t1"]})),
    ],
    ids=[
        "nothing is retired",
        "it runs",
        "it is on its way back",
        "its move is open",
        "it is foreign",
        "it is on its way to a draft",
        "its intake is retired while its move is open",
        "the queue is gone",
    ],
)
def test_what_is_settled_or_not_ours_is_left_alone(
    known: list[LedgerEntry], owned: list[OwnedQueue], look: Observation
) -> None:
    assert leaving(remembered(known, owned=owned), look) == ()


RETIRED = (OLD_INTAKE, OTHER_INTAKE, OLD_METAL, SPARE)


def deleted(
    door: Deleting, known: Iterable[LedgerEntry], look: Observation
) -> tuple[OwnedQueue, ...]:
    return delete_empty(cast("Queues", door), remembered(known, owned=RETIRED), look)


def test_empty_retired_queues_are_deleted_and_others_are_not() -> None:
    door = Deleting()

    assert deleted(door, [], seen({})) == (OLD_INTAKE, OLD_METAL)

    assert door.asked == ["intake", "metal"]


def test_a_queue_with_foreign_tasks_is_not_even_asked_about() -> None:
    door = Deleting()

    assert deleted(door, [], seen({"metal": ["foreign"]})) == (OLD_INTAKE,)

    assert door.asked == ["intake"]


def test_a_queue_that_got_a_task_meanwhile_stays_ours() -> None:
    assert deleted(Deleting(full=["metal"]), [], seen({})) == (OLD_INTAKE,)


def test_a_queue_that_somebody_deleted_is_forgotten_without_a_call() -> None:
    door = Deleting()
    look = seen({})
    gone = replace(look, queues={id_: at for id_, at in look.queues.items() if id_ != "metal"})

    assert deleted(door, [], gone) == (OLD_INTAKE, OLD_METAL)

    assert door.asked == ["intake"]


@pytest.mark.parametrize("stage", [Stage.DISPATCHED, Stage.INTENDED, Stage.RETURNING])
def test_queues_that_a_task_of_the_ledger_came_through_are_kept(stage: Stage) -> None:
    door = Deleting()

    assert deleted(door, [entry(stage=stage)], seen({})) == ()

    assert door.asked == []


def test_a_draft_on_its_way_keeps_its_intake_queue_only() -> None:
    drafting = entry(stage=Stage.DRAFTING, execution="", pool="", link="")

    assert deleted(Deleting(), [drafting], seen({})) == (OLD_METAL,)
