"""What the gallery's worlds are made of: the documentation's example, tasks, queues."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from fractions import Fraction
from importlib import resources
from typing import Final

from bot.files import CONFIGURATION, read_document
from bot.gallery_stage import DANA, GRACE, NOW, TEAM, Stage, snapshot, task_id
from domain.configuration import (
    Configuration,
    Team,
)
from domain.ledger import OwnedQueue, Role
from domain.names import execution_queue_name
from domain.snapshot import Allocation, Snapshot, Task, WaitingQueue
from storage import queues
from storage.database import Session
from storage.documents import read_configuration


def worked() -> Configuration:
    """The worked example of ClearML's documentation, with a team in Slack for each policy."""
    example = resources.files("bot").joinpath("worked_example.yaml")
    with resources.as_file(example) as path:
        configuration = read_document(str(path), CONFIGURATION, read_configuration)
    dev = Team(
        channel=TEAM,
        users=(DANA,),
        usergroup="S_VISION",
        clearml_users=((DANA, "dana"), ("", "robot")),
    )
    teams = {"dev": dev, "research": Team(channel="C_LANGUAGE", users=(GRACE,))}
    return with_teams(configuration, teams)


def with_teams(configuration: Configuration, teams: dict[str, Team]) -> Configuration:
    policies = (replace(one, team=teams.get(one.name)) for one in configuration.policies)
    return replace(configuration, policies=tuple(policies))


def waiting(
    policy: str, profile: str, numbers: Sequence[int], hours: float = 1, parameter: object = None
) -> WaitingQueue:
    """An intake queue with these tasks, seen so many hours ago and later."""
    since = NOW - timedelta(hours=hours)
    found = (
        Task(task_id(one), since + timedelta(minutes=7 * place), parameter)
        for place, one in enumerate(numbers)
    )
    return WaitingQueue(policy=policy, profile=profile, tasks=tuple(found))


def runs(number: int, policy: str, profile: str, pool: str, amount: int | str) -> Allocation:
    return Allocation(
        task=task_id(number), policy=policy, profile=profile, pool=pool, amount=Fraction(amount)
    )


def afternoon(configuration: Configuration) -> Snapshot:
    """The worked example with all of its pools in use, and five tasks that wait."""
    return snapshot(
        configuration,
        [waiting("dev", "4xGPU", (11, 12)), waiting("research", "4xGPU", (21, 22, 23), 5)],
        [
            runs(1, "dev", "4xGPU", "bare-metal", 4), runs(2, "dev", "4xGPU", "bare-metal", 4),
            runs(3, "research", "4xGPU", "h100", 4),
        ],
        {"h100": Fraction(2)},
    )  # fmt: skip


NAMES: Final = {
    **{task_id(n): f"resnet sweep {n}" for n in (1, 2, 11, 12)},
    **{task_id(n): f"llama fine-tune {n}" for n in (3, 21, 22, 23)},
}


def with_afternoon(stage: Stage) -> Configuration:
    """The worked example in force, and a round that has just seen its afternoon."""
    configuration = worked()
    stage.provision(configuration, note=": the example of the documentation")
    own_queues(stage, configuration)
    stage.know(NAMES)
    stage.publish(afternoon(configuration))
    return configuration


def own_queues(stage: Stage, configuration: Configuration) -> None:
    """Every queue that the configuration asks for is there in ClearML."""
    found = [
        OwnedQueue(
            id=task_id(7000 + number), role=Role.EXECUTION, profile=profile.name,
            owner=link.name, name=execution_queue_name(link.pool, link.name), pool=link.pool,
        )
        for number, (profile, link) in enumerate(
            (profile, link) for profile in configuration.profiles for link in profile.pools
        )
    ] + [
        OwnedQueue(
            id=task_id(8000 + number), role=Role.INTAKE, profile=queue.profile,
            owner=policy.name, name=queue.queue,
        )
        for number, (policy, queue) in enumerate(
            (policy, queue) for policy in configuration.policies for queue in policy.queues
        )
    ]  # fmt: skip

    def work(session: Session) -> None:
        for one in found:
            queues.put_queue(session, one)

    stage.change(work)
