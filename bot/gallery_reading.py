"""The gallery's answers to those who look: on the first day, on a busy one, under the worst of
names, and when what is seen is old."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from fractions import Fraction
from typing import Final

from bot.gallery_book import Book
from bot.gallery_company import company, rush
from bot.gallery_examples import afternoon, own_queues, runs, waiting, with_afternoon, worked
from bot.gallery_nasty import LONGEST, NASTY, with_mess
from bot.gallery_stage import ADA, BEN, DANA, NOW, snapshot, staged, task_id
from controller.alerts import Kind
from domain.configuration import (
    Configuration,
    Policy,
    Pool,
    Profile,
    Team,
)
from domain.ledger import AuditRecord
from storage import alerts, audit, queues
from storage.alerts import Alert
from storage.database import Session

_LOOKS: Final = ("status", "profiles", "policies", "queue", "agents", "audit")


def scenes(book: Book) -> None:
    for scene in (_first_day, _worked, _busy, _nasty, _old):
        scene(book)


def _first_day(book: Book) -> None:
    with staged(book, "Nothing yet") as stage:
        for line in (*_LOOKS, "why abc", "doctor"):
            stage.says(ADA, line)
        stage.provision(Configuration())
        stage.publish(snapshot(Configuration()))
        for line in (*_LOOKS[:4], "status h100"):
            stage.says(ADA, line, f"/pool {line}, with an empty configuration")
        bare = Configuration(
            pools=(Pool(name="h100", resources=Fraction(0), description="Delivered in May"),),
            profiles=(Profile(name="4xGPU", allotment=Fraction(4)),),
            policies=(Policy(name="dev", reservation=Fraction(0), team=Team(users=(DANA,))),),
        )
        stage.provision(bare)
        stage.publish(snapshot(bare))
        for line in ("status", "status h100", "profiles", "profiles 4xGPU"):
            stage.says(ADA, line, f"/pool {line}, where nothing is linked")
        stage.says(DANA, "policies", "/pool policies, of a policy with nothing")


def _worked(book: Book) -> None:
    with staged(book, "The worked example") as stage:
        with_afternoon(stage)
        for line in (
            "status", "status h100", "status bare", "status a100", "status 100", "profiles",
            "profiles 4xGPU", "profiles 8x", "policies", "policies dev", "policies res",
            "policies x", "queue", "queue research", "queue nobody", f"why {task_id(23)}",
            "why resnet", f"why {task_id(23)[:6]}", "why llama", "why zzz", f"why {task_id(1)}",
            f"why {task_id(99)[:8]}",
            "agents", "agents H100", "agents bare", "agents GPU", "agents zzz",
        ):  # fmt: skip
            stage.says(ADA, line, f"/pool {_short(line)}")
        for line in ("status", "profiles 4xGPU", "policies", "queue", "policies research"):
            stage.says(DANA, line, f"/pool {line}, of a member")
        idle = snapshot(worked())
        stage.publish(idle)
        for line in ("status", "queue", "queue dev", "policies dev"):
            stage.says(ADA, line, f"/pool {line}, while nothing runs")
        whole = [runs(n, "dev", "4xGPU", "bare-metal", 4) for n in (1, 2)]
        stage.publish(snapshot(worked(), [waiting("dev", "4xGPU", (31,))], whole))
        stage.says(ADA, "policies dev", "/pool policies dev, with its whole reservation in use")
        stage.says(ADA, f"why {task_id(31)}", "Why: it starts now")
        stage.says(ADA, "queue", "/pool queue, with nothing left")
        over = [runs(n, "dev", "4xGPU", "h100", 4) for n in (1, 2, 3)]
        stage.publish(snapshot(worked(), (), over))
        stage.says(ADA, "status h100", "More in use than the pool has")
        stage.change(lambda session: queues.remove_queue(session, task_id(7001)))
        stage.says(ADA, "agents H100", "/pool agents, before the queue is made")


def _short(line: str) -> str:
    """A line with an id cut as people cut it."""
    verb, _, rest = line.partition(" ")
    return f"{verb} {rest[:8]}…" if len(rest) == 32 else line


def _busy(book: Book) -> None:
    with staged(book, "A busy company") as stage:
        configuration = company()
        stage.provision(configuration)
        own_queues(stage, configuration)
        seen = rush(configuration)
        stage.know(
            {use.task: f"nightly/{use.policy}/{n}" for n, use in enumerate(seen.allocations)}
        )
        stage.publish(seen)
        for n in range(24):
            stage.change(_recorded(n))
        for line in (
            "status", "status page 2", "status page 9", "status berlin-h200", "status berlin",
            "status lima-h200", "profiles", "profiles page 2", "profiles 8xGPU",
            "profiles 8xGPU page 2", "profiles gang", "policies", "policies page 2",
            "policies otter", "policies otter page 2", "policies marten", "queue", "queue otter",
            "queue otter page 3", f"why {task_id(3007)}", f"why {task_id(3000)}", "why 0",
            "agents mig", "agents mig-1g on austin-h200", "agents gang on austin-h200",
            "agents 'half on lima-a100'", "audit", "audit page 2", "audit page 3",
            "audit save", "audit nothing-like-it",
        ):  # fmt: skip
            stage.says(ADA, line, f"/pool {_short(line)}")
        for line in ("queue", "policies", "profiles gang", "status"):
            stage.says(DANA, line, f"/pool {line}, of a member")
        stage.says(DANA, "why nightly", "/pool why, of a name that many have")


def _recorded(number: int) -> Callable[[Session], None]:
    what = ("save", "asked", "approved", "enable", "failed")[number % 5]
    record = AuditRecord(
        at=NOW - timedelta(hours=number),
        actor=(ADA, BEN, "poolkeeper")[number % 3],
        action=what,
        subject=f"draft revision {number}",
        detail="" if number % 4 == 1 else f"{number} changes, made from version 3",
        reference=f"e{number:07}" if what == "failed" else "",
    )
    return lambda session: audit.record(session, record)


def _nasty(book: Book) -> None:
    with staged(book, "Names at their nastiest") as stage:
        with_mess(stage)
        stage.change(_recorded_nastily)
        for line in (*_LOOKS, "help", f"why {task_id(500)}", f"why {task_id(700)}", "why <!ever"):
            stage.says(ADA, line, f"/pool {_short(line)}")
        for place, one in enumerate(NASTY):
            quoted = one.replace("'", "'\"'\"'")
            for verb in ("status", "profiles", "policies", "queue"):
                stage.says(DANA, f"{verb} '{quoted}'", f"/pool {verb}, of name {place + 1}")
        stage.says(ADA, f"agents '0 {NASTY[0]}'", "/pool agents, of a link")
        stage.says(ADA, f"status {LONGEST}", "A pool that there is not, with a long name")


def _recorded_nastily(session: Session) -> None:
    record = AuditRecord(
        at=NOW, actor="<!channel>", action="*failed*", subject="`<!here>`",
        detail=f"<!everyone> {LONGEST}", reference="e0000001",
    )  # fmt: skip
    audit.record(session, record)


def _old(book: Book) -> None:
    with staged(book, "Old, or switched off") as stage:
        configuration = with_afternoon(stage)
        lines = ("status", "status h100", "profiles", "policies dev", "queue dev", "why resnet 12")
        stage.later(minutes=4)
        for line in lines:
            stage.says(ADA, line, f"/pool {line}, with an old view")
        away = Alert(
            cause="clearml:down", kind=Kind.CLEARML, since=NOW, text="ClearML does not answer."
        )
        stage.change(lambda session: alerts.raise_(session, away))
        stage.later(hours=3)
        stage.says(ADA, "status", "/pool status, while ClearML is away")
        stage.later(days=3)
        stage.says(ADA, "why zzz", "/pool why, days later")
        stage.turn(False)
        stage.publish(replace(afternoon(configuration), taken_at=stage.now, enabled=False))
        for line in lines:
            stage.says(ADA, line, f"/pool {line}, while management is off")
