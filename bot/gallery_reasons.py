"""One task for each reason why a task waits, for the gallery."""

from dataclasses import replace
from datetime import timedelta
from fractions import Fraction

from bot.gallery_book import Book
from bot.gallery_examples import runs
from bot.gallery_stage import ADA, DANA, GRACE, NOW, snapshot, staged, task_id
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
from domain.snapshot import Snapshot, Task, WaitingQueue


def scenes(book: Book) -> None:
    _reasons(book)


def _reasons(book: Book) -> None:
    """One task for each reason why a task waits."""
    with staged(book, "Why a task waits") as stage:
        configuration = _contended()
        stage.provision(configuration)
        seen = _contention(configuration)
        view = stage.publish(seen)
        stage.know({one.task: f"job of {one.policy}" for one in view.plan.waiting})
        first = {one.reason: one for one in reversed(view.plan.waiting)}
        for reason, one in sorted(first.items()):
            stage.says(ADA, f"why {one.task}", f"Because: {reason.value.replace('_', ' ')}")
        for policy in configuration.policies:
            stage.says(ADA, f"queue {policy.name}", f"The queue of {policy.name}")
        for one in first.values():
            if one.holder:
                stage.says(DANA, f"why {one.task}", f"To a member: {one.reason.value}")
        stage.turn(False)
        view = stage.publish(replace(seen, enabled=False))
        stage.says(ADA, f"why {view.plan.waiting[0].task}", "Because: disabled")


def _contended() -> Configuration:
    """A small pool, a large one, and teams that are in one another's way."""

    def policy(
        name: str, reservation: int, limit: int | None, *profiles: str, **more: bool
    ) -> Policy:
        return Policy(
            name=name, reservation=Fraction(reservation),
            limit=None if limit is None else Fraction(limit),
            queues=tuple(IntakeQueue(profile=one, queue=f"{name}-{one}") for one in profiles),
            team=Team(users=(GRACE if name == "speech" else DANA,)), lend=more.get("lend", True),
        )  # fmt: skip

    teams = (
        policy("vision", 0, 12, "sized", "single"), policy("speech", 8, None, "sized"),
        policy("robots", 2, None, "calm", lend=False), policy("maps", 0, 2, "single", "homeless"),
        policy("search", 0, None, "single", "strict", "calm"),
    )  # fmt: skip
    uses = {
        profile: tuple(one.name for one in teams if profile in {q.profile for q in one.queues})
        for profile in ("sized", "single", "strict", "calm", "homeless")
    }
    links = {
        "sized": ("large",),
        "single": ("large", "small"),
        "strict": ("large",),
        "calm": ("quiet",),
    }
    return Configuration(
        pools=tuple(
            Pool(
                name=pool, resources=Fraction(size),
                profiles=tuple(one for one, its in links.items() if pool in its),
            )
            for pool, size in (("large", 16), ("small", 2), ("quiet", 2))
        ),
        profiles=tuple(
            Profile(
                name=one, allotment=Fraction(1),
                parameter="hyperparams.Args.gpus" if one in ("sized", "strict") else None,
                queueing=Queueing.STRICT if one == "strict" else Queueing.BACKFILL,
                pools=tuple(Link(pool=p, name=f"{one} on {p}") for p in links.get(one, ())),
                policies=uses[one],
            )
            for one in uses
        ),
        policies=teams,
    )  # fmt: skip


def _contention(configuration: Configuration) -> Snapshot:
    def queue(policy: str, profile: str, *tasks: tuple[int, object]) -> WaitingQueue:
        since = NOW - timedelta(hours=2)
        found = (Task(task_id(n), since + timedelta(minutes=n % 50), size) for n, size in tasks)
        return WaitingQueue(policy=policy, profile=profile, tasks=tuple(found))

    return snapshot(
        configuration,
        [
            queue("vision", "sized", (101, 40), (102, 14), (103, 6)),
            queue("speech", "sized", (201, 8)),
            queue("maps", "single", (301, None), (302, None)),
            queue("maps", "homeless", (311, None)),
            queue("search", "strict", (401, 15), (402, 2)),
            queue("search", "single", *((n, None) for n in range(411, 416))),
            queue("search", "calm", (421, None)),
        ],
        [
            *(runs(900 + n, "vision", "single", "large", 1) for n in range(9)),
            runs(920, "maps", "single", "large", 1), runs(921, "maps", "single", "large", 1),
        ],
    )  # fmt: skip
