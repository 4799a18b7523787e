"""A busy company, with more of everything than one page shows, for the gallery."""

from fractions import Fraction

from bot.gallery_examples import runs, waiting
from bot.gallery_nasty import LONGEST
from bot.gallery_stage import DANA, GRACE, snapshot
from domain.configuration import (
    Configuration,
    IntakeQueue,
    Link,
    Policy,
    Pool,
    Profile,
    Queueing,
    Team,
)
from domain.editing import Edited, rename
from domain.renames import Kind
from domain.snapshot import Snapshot

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
