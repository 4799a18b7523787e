"""Rounds learn what new tasks are called and whose they are, at one call a page of new tasks."""

from pathlib import Path

from storage import tasks
from tests.poolkeeper_support import installed, one_profile
from tests.sandbox_support import Doc, Sandbox


def test_a_round_learns_the_names_of_new_tasks_and_asks_for_them_once(
    clearml: Sandbox, tmp_path: Path
) -> None:
    with installed(clearml, tmp_path / "here") as there:
        there.apply(one_profile({"metal": 0}, {"dev": (0, None)}))
        controller = there.controller()
        controller.round()
        cleo = clearml.add_user("cleo")
        mine = cleo.queued_task(there.intake(), "train *resnet*")
        others = clearml.bulk_enqueue(there.intake(), 700, name="sweep")

        controller.round()
        clearml.reset_calls()
        idle = controller.round()

        with there.database.reading() as session:
            facts = tasks.facts(session, [mine, *others])
    assert (facts[mine].name, facts[mine].user) == ("train *resnet*", "cleo")
    assert {facts[one].name for one in others} == {f"sweep-{n}" for n in range(700)}
    assert len(idle.plan.waiting) == 701
    assert _asked_for_names(clearml) == []


def test_names_cost_a_call_for_every_500_new_tasks(clearml: Sandbox, tmp_path: Path) -> None:
    with installed(clearml, tmp_path / "here") as there:
        there.apply(one_profile({"metal": 0}, {"dev": (0, None)}))
        controller = there.controller()
        controller.round()
        clearml.bulk_enqueue(there.intake(), 1_001)
        clearml.reset_calls()

        controller.round()

        asked = _asked_for_names(clearml)
    assert len(asked) == 3


def _asked_for_names(clearml: Sandbox) -> list[Doc]:
    calls = clearml.calls("tasks.get_all")
    return [call for call in calls if "name" in call["body"].get("only_fields", [])]
