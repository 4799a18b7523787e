"""What the gallery's worlds hold: the documentation's example, a busy company, and the nastiest
names that people type."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from fractions import Fraction
from importlib import resources
from typing import Final

from bot.files import CONFIGURATION, read_document
from bot.gallery_stage import ADA, DANA, GRACE, NOW, TEAM, Stage, snapshot, task_id
from domain.configuration import (
    Configuration,
    IntakeQueue,
    Link,
    Membership,
    Policy,
    Pool,
    Profile,
    Queueing,
    Team,
)
from domain.editing import Edited, rename
from domain.ledger import OwnedQueue, Role
from domain.names import execution_queue_name
from domain.renames import Kind
from domain.snapshot import Allocation, Snapshot, Task, WaitingQueue
from storage import queues
from storage.database import Session
from storage.documents import read_configuration

LONGEST: Final = "An extraordinarily long name " + "that goes on and on and on " * 10
NASTY: Final = (
    "<!channel>", "<@U_BEN> *bold* _it_", "`code` ```", "\u202egpj.exe", "😀" * 60,
    "שלום עולם", "&lt;!here&gt; “smart” 'quotes'", LONGEST[:200].strip(),
)  # fmt: skip
"""Names that would ping a channel, break a message or turn its text around, if they could."""


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


_SIZES = (64, 48, 32, 24, 16, 8)


def company(pools: int = 23, teams: int = 18) -> Configuration:
    """A company with more of everything than one page shows; Dana is in its first seven teams."""
    halls = [f"{city}-{card}" for card in ("h200", "a100", "l40s", "mi300x") for city in _CITIES]
    jobs = [
        ("8xGPU", "8"), ("4xGPU", "4"), ("2xGPU", "2"), ("1xGPU", "1"), ("half", "1/2"),
        ("mig-1g", "1/7"), ("notebook", "0.5"), ("gang", "24"), ("sweep", "1"),
        ("inference", "1/4"), ("nightly", "2"), ("evaluation", "1"),
    ]  # fmt: skip
    names = [f"team-{animal}" for animal in _ANIMALS[:teams]]
    return Configuration(
        pools=tuple(
            Pool(
                name=hall,
                resources=Fraction(_SIZES[place % len(_SIZES)]),
                description=f"Hall {place + 1}" if place % 3 else "",
                profiles=tuple(name for name, _ in jobs),
            )
            for place, hall in enumerate(halls[:pools])
        ),
        profiles=tuple(
            Profile(
                name=name,
                allotment=Fraction(size),
                parameter="hyperparams.Args.gpus" if name in ("gang", "sweep") else None,
                queueing=Queueing.STRICT if name == "gang" else Queueing.BACKFILL,
                pools=tuple(Link(pool=hall, name=f"{name} on {hall}") for hall in halls[:pools]),
                policies=tuple(names),
            )
            for name, size in jobs
        ),
        policies=tuple(
            Policy(
                name=name,
                reservation=Fraction(_SIZES[place % len(_SIZES)], 2),
                limit=None if place % 4 == 3 else Fraction(_SIZES[place % len(_SIZES)] * 3),
                lend=place != 2,
                queues=tuple(IntakeQueue(profile=job, queue=f"{name}-{job}") for job, _ in jobs),
                team=Team(users=(DANA,)) if place < 7 else Team(users=(GRACE,)),
            )
            for place, name in enumerate(names)
        ),
    )


_CITIES = ("berlin", "shanghai", "austin", "osaka", "nairobi", "lima")
_ANIMALS = (
    "otter", "lynx", "heron", "ibex", "marten", "stork", "badger", "wren", "moose", "newt",
    "puffin", "raven", "seal", "tapir", "urial", "vole", "walrus", "yak", "zebra",
)  # fmt: skip


def at_length(configuration: Configuration) -> Configuration:
    """The same with pools whose names are as long as names may be."""
    draft = Edited(configuration)
    for pool in configuration.pools:
        renamed = rename(draft, Kind.POOL, pool.name, f"{pool.name} {LONGEST}"[:200].strip())
        assert isinstance(renamed, Edited), "the name is free"
        draft = renamed
    return draft.configuration


def rush(configuration: Configuration) -> Snapshot:
    """A busy day at the company: a hundred tasks run, and more than a page of each queue waits."""
    first, *others = configuration.policies
    allocations = [
        runs(
            1000 + n, configuration.policies[n % 6].name, "8xGPU",
            configuration.pools[n % 11].name, 8,
        )
        for n in range(34)
    ] + [
        runs(2000 + n, first.name, "1xGPU", configuration.pools[11 + n % 4].name, 1)
        for n in range(20)
    ]  # fmt: skip
    queues_ = [waiting(first.name, "gang", range(3000, 3030), 9, 512)]
    queues_ += [
        waiting(policy.name, "gang", range(4000 + 100 * n, 4003 + 100 * n), 6, 4096)
        for n, policy in enumerate(others)
    ]
    return snapshot(
        configuration, queues_, allocations, {configuration.pools[1].name: Fraction(48)}
    )


def nasty() -> Configuration:
    """Everything has one of the nasty names, and Dana's team uses all of it."""
    links = {profile: [f"{n} {profile}"[:200] for n in range(len(NASTY))] for profile in NASTY}
    return Configuration(
        pools=tuple(
            Pool(
                name=name, resources=Fraction(8), profiles=NASTY,
                description="<!here> *not bold* ```\n" + LONGEST,
            )
            for name in NASTY
        ),
        profiles=tuple(
            Profile(
                name=name,
                allotment=Fraction(1, 7),
                parameter="hyperparams.`Args`.<!channel>",
                pools=tuple(
                    Link(pool=pool, name=link)
                    for pool, link in zip(NASTY, links[name], strict=True)
                ),
                policies=NASTY,
            )
            for name in NASTY
        ),
        policies=tuple(
            Policy(
                name=name,
                reservation=Fraction(1, 7),
                limit=Fraction(8),
                queues=tuple(
                    IntakeQueue(profile=one, queue=f"{place} {name}"[:200])
                    for place, one in enumerate(NASTY)
                ),
                team=Team(
                    channel="<!channel>", usergroup="<!subteam^S_ADMINS>", users=(DANA, "*Dan*"),
                    clearml_users=((DANA, "<@U_BEN>"),),
                ),
                membership=Membership.RETURN,
            )
            for name in NASTY
        ),
    )  # fmt: skip


def mess(configuration: Configuration) -> Snapshot:
    """Tasks of nasty names that run and wait."""
    name = NASTY[0]
    queues_ = [waiting(one, NASTY[-1], (500 + n, 600 + n), 3, "9") for n, one in enumerate(NASTY)]
    return snapshot(
        configuration, queues_, [runs(700, name, name, name, "15/7")], {NASTY[1]: Fraction(3)}
    )


def with_mess(stage: Stage) -> Configuration:
    configuration = nasty()
    stage.provision(configuration, by=ADA, note=": <!channel> `note`")
    own_queues(stage, configuration)
    called = {task_id(500 + n): f"{one}\n{LONGEST}"[:300] for n, one in enumerate(NASTY)}
    stage.know({**called, task_id(600): "<!everyone>", task_id(700): "`run`"}, "<!channel>")
    stage.publish(mess(configuration))
    return configuration
