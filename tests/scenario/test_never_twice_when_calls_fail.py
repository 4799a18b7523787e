"""Whatever call of Poolkeeper's fails, and on whichever side of its write: each task runs once.

Each story is told once undisturbed, to know Poolkeeper's calls in it, and then again for the first
of each kind: with the connection refused, the answer lost, or an error after the write.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from bot.refusing import Refusal
from domain.configuration import Configuration
from tests.poolkeeper_support import (
    USER,
    Agent,
    Controller,
    Installation,
    drive,
    installed,
    most_at_once,
    one_profile,
    ran_after_abort,
    run_counts,
)
from tests.sandbox_support import Sandbox

TWO_TEAMS = one_profile({"metal": 2, "spare": 1}, {"dev": (1, None), "research": (1, 2)})
READS = frozenset({"queues.get_all", "queues.get_by_id", "tasks.get_all", "tasks.get_by_id"})


@dataclass
class Scene:
    """Two teams with three tasks each, and room for three; `fault` is what is to happen."""

    there: Installation
    controller: Controller
    agents: Agent
    dev: list[str]
    research: list[str]
    fault: Mapping[str, object]
    disturbed_from: int = 0
    errors: list[Exception] = field(default_factory=list)

    def disturb(self) -> None:
        """From here on Poolkeeper's calls are counted, and one of them fails."""
        self.disturbed_from = self.there.clearml.last_call()
        if self.fault:
            self.there.clearml.fault(user=USER, **self.fault)  # type: ignore[arg-type]

    def apply(self, configuration: Configuration, *renames: str) -> None:
        with suppress(Refusal):  # "approved but not applied yet": the rounds go on with it
            self.there.apply(configuration, *renames)

    def drive(self, over: Callable[[], bool]) -> None:
        drive(self.controller, self.agents, over)

    def statuses(self, tasks: list[str]) -> set[str]:
        known = self.there.clearml.dump()["tasks"]
        return {known[task]["status"] for task in tasks}

    def calls(self) -> list[str]:
        calls = self.there.clearml.calls(since=self.disturbed_from)
        return [entry["call"] for entry in calls if entry["user"] == USER]


def scene(there: Installation, fault: Mapping[str, object]) -> Scene:
    there.apply(TWO_TEAMS)
    dev = there.clearml.bulk_enqueue(there.intake("dev"), 3, name="dev")
    research = there.clearml.bulk_enqueue(there.intake("research"), 3, name="research")
    agents = Agent(there.clearml, (there.execution("metal"), there.execution("spare")))
    return Scene(there, there.controller(), agents, dev, research, fault)


def moved(scene: Scene) -> None:
    """Six tasks of two teams go through pools of three."""
    scene.disturb()
    scene.drive(lambda: scene.statuses(scene.dev + scene.research) == {"completed"})


def link_removed(scene: Scene) -> None:
    """The pool metal is given up while two tasks wait in its queue; all run in spare instead."""
    scene.controller.round()
    scene.disturb()
    scene.apply(one_profile({"spare": 1}, {"dev": (1, None), "research": (1, 2)}))
    scene.drive(lambda: scene.statuses(scene.dev + scene.research) == {"completed"})


def policy_removed(scene: Scene) -> None:
    """research's waiting tasks become drafts; what was dispatched of it runs on."""
    scene.controller.round()
    scene.disturb()
    scene.apply(one_profile({"metal": 2, "spare": 1}, {"dev": (1, None)}))
    scene.drive(
        lambda: (
            scene.statuses(scene.dev) == {"completed"}
            and scene.statuses(scene.research) <= {"completed", "created"}
        )
    )


def all_renamed(scene: Scene) -> None:
    """The teams swap their names, and so do the pools and links."""
    scene.controller.round()
    scene.disturb()
    swapped = one_profile({"spare": 2, "metal": 1}, {"research": (1, None), "dev": (1, 2)})
    names = ("policy:dev=research", "policy:research=dev", "pool:metal=spare", "pool:spare=metal")
    links = ("link:job on metal=job on spare", "link:job on spare=job on metal")
    scene.apply(swapped, *names, *links)
    scene.drive(lambda: scene.statuses(scene.dev + scene.research) == {"completed"})


STORIES = [moved, link_removed, policy_removed, all_renamed]


def told(
    clearml: Sandbox,
    directory: Path,
    story: Callable[[Scene], None],
    fault: Mapping[str, object],
) -> list[str]:
    """Tells the story and checks what must hold at the end; gives Poolkeeper's calls in it."""
    with installed(clearml, directory) as there:
        told = scene(there, fault)
        story(told)
        told.controller.recover()
        tasks = told.dev + told.research
        drafts = [task for task in tasks if clearml.status(task) == "created"]
        assert len(drafts) == (2 if story is policy_removed else 0), fault
        runs = run_counts(clearml, tasks)
        assert runs == {task: int(task not in drafts) for task in tasks}, fault
        assert ran_after_abort(clearml) == [], fault
        assert_within_pools(clearml, story)
        assert (there.entries(), there.sightings()) == ({}, {}), fault
        owned = {queue.id: queue.retired for queue in there.owned()}
        assert set(owned.values()) == {False}, fault
        assert set(owned) == set(queues_but_default(clearml)), fault
        assert there.audit("round failed") == [], fault
        return told.calls()


def assert_within_pools(clearml: Sandbox, story: Callable[[Scene], None]) -> None:
    sizes = {"job on metal": 2, "job on spare": 1}
    if story is all_renamed:  # a link's tasks of both times are counted under either name
        sizes = {"job on metal": 2, "job on spare": 2}
    most = most_at_once(clearml)
    assert {link: min(most[link], sizes[link]) for link in most} == most


def queues_but_default(clearml: Sandbox) -> Iterator[str]:
    for id_, queue in clearml.dump()["queues"].items():
        if queue["name"] != "default":
            yield id_


@pytest.mark.parametrize("story", STORIES, ids=[story.__name__ for story in STORIES])
def test_each_task_runs_once_whichever_call_fails(
    clearml: Sandbox, tmp_path: Path, story: Callable[[Scene], None]
) -> None:
    calls = told(clearml, tmp_path / "undisturbed", story, {})
    for call in sorted(set(calls)):
        # A read that fails is repeated or ends the round, whatever its fault. To a caller an
        # error after the write says as little as no answer does: once is enough to show it.
        errors = ["error_after"] if story is moved else []
        for action in ["drop_response"] if call in READS else ["refuse", "drop_response", *errors]:
            clearml.reset()
            told(clearml, tmp_path / f"{call}-{action}", story, {"action": action, "call": call})
