"""The gallery's digests, and what is said of their schedules."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from fractions import Fraction
from typing import Final

from bot.digest_messages import Told, message
from bot.gallery_book import Book
from bot.gallery_company import company, rush
from bot.gallery_examples import NAMES, afternoon, with_afternoon, worked
from bot.gallery_nasty import NASTY
from bot.gallery_stage import (
    ADA,
    ADMINS,
    DANA,
    GRACE,
    NOW,
    TEAM,
    snapshot,
    staged,
    task_id,
)
from bot.task_names import Names
from controller.digests import Facts, digest
from domain.allocation import allocate
from domain.amounts import ZERO
from domain.configuration import Policy
from domain.ledger import Ended
from domain.schedules import Schedule
from domain.snapshot import Snapshot, Tier
from domain.tasks import TaskFacts
from domain.usage import Usage

_DAY: Final = timedelta(days=1)


def scenes(book: Book) -> None:
    for scene in (_scheduling, _digests):
        scene(book)


def _scheduling(book: Book) -> None:
    with staged(book, "Digests") as stage:
        with_afternoon(stage)
        for line in (
            "digest show", "digest off", "digest at 25:00", "digest at 8 someday Mars",
            "digest on", "digest show", "digest at 07:30 mon,wed Asia/Shanghai", "digest off",
            "digest on", "notify on", "notify off",
        ):  # fmt: skip
            stage.says(DANA, line)
        for line in ("digest show", "digest on", "digest off", "notify on"):
            stage.says(GRACE, line, f"/pool {line}, in another team's channel")
        stage.says(ADA, "digest on", "/pool digest on, in an admins' channel", channel=ADMINS)
        stage.says(DANA, "digest show", "/pool digest show, in no channel", channel="")
    with staged(book, "Digests") as stage:
        stage.says(ADA, "digest on", "/pool digest on, before anything is provisioned")
        stage.says(ADA, "notify on", "/pool notify on, before anything is provisioned")


def _schedule(*policies: str, zone: str = "Europe/Berlin") -> Schedule:
    return Schedule(
        channel=TEAM, policies=policies, at=datetime(2026, 1, 1, 9).time(),  # noqa: DTZ001
        days=frozenset(range(5)), zone=zone, by=DANA, changed_at=NOW - 9 * _DAY,
    )  # fmt: skip


def an_ended_task(number: int, policy: str, outcome: str) -> Ended:
    start = NOW - timedelta(hours=20 - number % 18, minutes=number * 7 % 60)
    return Ended(
        task=task_id(5000 + number), policy=policy, profile="4xGPU", pool="h100",
        amount=Fraction(4), tier=Tier.RESERVED, first_seen=start - timedelta(minutes=number * 11),
        dispatched_at=start, ended_at=start + timedelta(hours=2, minutes=number), outcome=outcome,
    )  # fmt: skip


def told(seen: Snapshot, policies: Sequence[Policy], *, idle: bool = False) -> Told:
    """A day of these policies: a dozen tasks each have run, and some wait."""
    outcomes = ("completed", "failed", "stopped", "completed", "aborted during its move")
    facts = Facts(
        start=NOW - _DAY,
        end=NOW,
        ended=[] if idle else [
            an_ended_task(n, one.name, outcomes[n % 5]) for one in policies for n in range(12)
        ],
        usage=[] if idle else [
            Usage(
                at=NOW - timedelta(minutes=15 * n), length=timedelta(minutes=1), seconds=60,
                policy=one.name, pool="", used=ZERO, peak=ZERO, running=0,
                waiting=(n * 7 + 3) % 5,
            )
            for one in policies for n in range(1, 90)
        ],
        snapshot=seen,
        plan=allocate(seen),
    )  # fmt: skip
    whole = sum((pool.resources for pool in seen.configuration.pools), ZERO)
    known = {task: TaskFacts(task=task, name=name, user="dana") for task, name in NAMES.items()}
    names = Names(known=frozenset(NAMES), facts=known)
    schedule = _schedule(*(one.name for one in policies))
    return Told(
        digest=digest(facts, policies), schedule=schedule, whole=whole, names=names, now=NOW
    )


def _digests(book: Book) -> None:
    example, busy = worked(), company()
    dev, research = example.policies
    at_work, at_rest = afternoon(example), snapshot(example)
    quiet = replace(dev, name="quiet", limit=None)
    day = told(at_work, [dev]).digest
    still = told(at_rest, [quiet], idle=True).digest.policies
    lone = replace(
        day.policies[0], ended=0, waiting_now=1, longest=(), median=None, p95=None, started=1
    )
    base = told(at_work, [dev])
    nasty = [replace(dev, name=name, limit=Fraction(1, 7)) for name in NASTY[:3]]
    for title, told_day in {
        "A team's day": base,
        "Two teams' day": told(at_work, [dev, research]),
        "A day on which nothing happened": told(at_rest, [dev], idle=True),
        "One team idle, one at work": replace(
            base, digest=replace(day, policies=(*day.policies, *still))
        ),
        "Nothing has ended yet": replace(base, digest=replace(day, policies=(lone,))),
        "A company's day": told(rush(busy), busy.policies),
        "A large company's day": told(
            at_rest, [replace(dev, name=f"team {n} of a company") for n in range(34)]
        ),
        "Nasty names' day": told(at_rest, nasty),
    }.items():
        book.message(("Digests", title), message(told_day))
