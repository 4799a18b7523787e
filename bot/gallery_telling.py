"""The gallery's messages that nobody asked for: alerts of every kind, digests, notices, schedules,
what is said when something fails or takes too long; and the Homes of all sorts of people."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from fractions import Fraction
from typing import Final

from bot import announcements, carrying, notices
from bot.alert_messages import sent_back
from bot.blocks import Post, Reply, section
from bot.digest_messages import Told, message
from bot.failing import away_text, failed_text
from bot.gallery_changing import keep, larger, save
from bot.gallery_examples import (
    NAMES,
    NASTY,
    afternoon,
    at_length,
    company,
    own_queues,
    rush,
    waiting,
    with_afternoon,
    with_mess,
    worked,
)
from bot.gallery_stage import (
    ADA,
    ADMINS,
    BEN,
    DANA,
    GRACE,
    GUS,
    NOW,
    TEAM,
    Book,
    snapshot,
    staged,
    task_id,
)
from bot.submitting import late_view, outdated, still_working
from bot.surfaces import Done, Errors, Show
from bot.task_names import Names
from controller.alerts import Kind, Trouble
from controller.digests import Facts, digest
from controller.loop import Outage
from domain.allocation import allocate
from domain.amounts import ZERO
from domain.configuration import Configuration, Policy
from domain.ledger import Ended, LedgerEntry, Stage
from domain.schedules import Schedule
from domain.snapshot import Snapshot, Tier
from domain.tasks import TaskFacts
from domain.usage import Usage
from storage import ledger

_DAY: Final = timedelta(days=1)


def scenes(book: Book) -> None:
    for scene in (_alerts, _scheduling, _digests, _noticing, _failing, _homes):
        scene(book)


def _troubles() -> list[Trouble]:
    """One of each kind; a team's own and the nastiest words among them."""
    first, second = task_id(11), task_id(21)
    since = NOW - timedelta(hours=5)
    return [
        Trouble(
            kind=Kind.WAITS, about="dev", policy="dev", since=since, tasks=(first,),
            text=f"{first} of dev has waited longer than 4 h, since 04:30. Needs 4, but no room.",
        ),
        Trouble(
            kind=Kind.RESERVATION, about="research", policy="research", tasks=(second,),
            text="The reservation of research is not honoured: it uses 4 of 8, and 2 tasks wait.",
        ),
        Trouble(
            kind=Kind.UNTAKEN, about="4 GPU H100 link", since=since,
            text="3 tasks wait for an agent of h100. Does an agent serve that queue?",
        ),
        Trouble(
            kind=Kind.FOREIGN, about="h100",
            text="h100 is full of tasks that came through no intake queue: they use 8 of 8.",
        ),
        Trouble(
            kind=Kind.CGPU, about="setting:x",
            text="POLICY is <!channel> `5` *now*. To put it right: say resume.",
        ),
        Trouble(
            kind=Kind.KUBERNETES, about="cgpu", since=NOW, text="Kubernetes does not answer.",
        ),
    ]  # fmt: skip


def _alerts(book: Book) -> None:
    with staged(book, "Alerts") as stage:
        with_afternoon(stage)
        found, desk = _troubles(), stage.desk
        kinds = frozenset(one.kind for one in found)
        for trouble in found:
            stage.change(
                lambda session, one=trouble: announcements.compare(  # type: ignore[misc]
                    desk, session, [one], {one.kind}
                )
            )
            stage.posted(f"Raised: {trouble.kind}", f"Raised: {trouble.kind}, to the admins")
        stage.later(hours=2)
        news = replace(found[1], text=f"{found[1].text} Nothing has changed.")
        stage.change(lambda session: announcements.compare(desk, session, [news], {news.kind}))
        stage.posted("Brought up to date: reservation")
        for kind in sorted(kinds):
            stage.change(
                lambda session, one=kind: announcements.compare(  # type: ignore[misc]
                    desk, session, [], {one}
                )
            )
            stage.posted(f"Over: {kind}", f"Over: {kind}, in the thread")
        stage.later(minutes=3)
        announcements.outage(
            desk, Outage(since=stage.now, rounds=3, error="It said <502> Bad Gateway.")
        )
        stage.posted("Raised: clearml")
        stage.later(minutes=30)
        announcements.outage(desk, Outage(since=NOW, rounds=9, error="", over=True))
        stage.posted("Over: clearml", "Over: clearml, in the thread")
        alarms = ["h100 would have 12 of 8 in use.", "dev would exceed its limit.", "…"]
        announcements.books(desk, alarms, "e0000042")
        stage.posted("Raised: books")
        announcements.books(desk, [], "")
        stage.posted("Over: books", "Over: books, in the thread")
    _once(book)


def _once(book: Book) -> None:
    """What is said once, of tasks."""
    with staged(book, "Alerts") as stage:
        configuration = with_afternoon(stage)
        long = afternoon(configuration)
        stage.publish(replace(long, queues=(waiting("research", "4xGPU", (21, 22), 7),)))
        announcements.look(stage.desk)
        stage.posted("Raised: two tasks have waited too long")
        big = [waiting("dev", "4xGPU", (11, 12, *range(40, 52)))]
        profiles = tuple(replace(one, allotment=Fraction(64)) for one in configuration.profiles)
        large = replace(configuration, profiles=profiles)
        stage.know({task_id(n): f"sweep {n}" for n in range(40, 52)}, user="mallory")
        stage.publish(snapshot(large, big))
        announcements.look(stage.desk)
        stage.posted("Once: tasks that can never run", "Once: tasks of strangers")
        stage.publish(snapshot(large, [waiting("research", "4xGPU", (61,))]))
        announcements.look(stage.desk)
        stage.posted("Once: a task that can never run")
    details = [
        f"{NASTY[n % 8]} was put there by <!channel>, who is not on its list" for n in range(12)
    ]
    book.message(("Alerts", "Sent back: a task"), sent_back(TEAM, "dev", ["x (1234) of mallory"]))
    book.message(("Alerts", "Sent back: many tasks"), sent_back(TEAM, NASTY[0], details))


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


def _ended(number: int, policy: str, outcome: str) -> Ended:
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
            _ended(n, one.name, outcomes[n % 5]) for one in policies for n in range(12)
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


def _entry(number: int, **given: object) -> LedgerEntry:
    usual = {
        "task": task_id(number), "policy": "dev", "profile": "4xGPU", "pool": "h100",
        "link": "4 GPU H100 link", "intake": task_id(8000), "execution": task_id(7001),
        "amount": Fraction(4), "tier": Tier.RESERVED, "stage": Stage.DISPATCHED,
        "first_seen": NOW - timedelta(minutes=50), "intended_at": NOW, "dispatched_at": NOW,
    }  # fmt: skip
    return LedgerEntry(**{**usual, **given})  # type: ignore[arg-type]


def _noticing(book: Book) -> None:
    with staged(book, "Notices") as stage:
        configuration = with_afternoon(stage)
        stage.says(DANA, "notify on")
        stage.later(minutes=2)
        stage.change(lambda session: ledger.put(session, [_entry(1, dispatched_at=stage.now)]))
        notices.tell(stage.desk)
        stage.posted("It got its GPUs")
        outcomes = ("completed", "failed", "stopped", "deleted", "created", "<!channel>")
        for place, outcome in enumerate(outcomes):
            stage.later(minutes=2)
            over = replace(
                _ended(1, "dev", outcome), task=task_id((1, 2, 11, 12)[place % 4]),
                ended_at=stage.now,
            )  # fmt: skip
            stage.change(lambda session, one=over: ledger.end(session, [one]))  # type: ignore[misc]
            notices.tell(stage.desk)
            stage.posted(f"It is over: {outcome}")
        profiles = tuple(replace(one, allotment=Fraction(64)) for one in configuration.profiles)
        large = replace(configuration, profiles=profiles)
        stage.later(minutes=2)
        stage.publish(snapshot(large, [waiting("dev", "4xGPU", (11,))]))
        notices.tell(stage.desk)
        stage.posted("It can never run")


def _failing(book: Book) -> None:
    group = "When something fails"
    for title, text in {
        "Something went wrong": failed_text("e0000007"),
        "The database is away": away_text("e0000008"),
    }.items():
        reply = Reply(text=text, blocks=(section(text),))
        book.reply((group, title), reply)
        book.add("modal", (group, f"{title}, in a window"), carrying.message_view(reply))
        book.add("home", (group, f"{title}, in the Home"), {
            "type": "home", "blocks": list(reply.blocks),
        })  # fmt: skip
    book.reply((group, "From an older version"), outdated())
    book.reply((group, "No window any more"), carrying.too_late("edit h100"))
    with staged(book, group) as stage:
        with_afternoon(stage)
        asked = carrying.without_window(stage.answered(ADA, "edit h100"), "edit h100")
        book.reply((group, "A window is needed, in a direct message"), asked)
        seen = carrying.without_window(stage.answered(ADA, "status"), "status")
        shown = carrying.posted(seen, Post(channel="D_ADA", text=""))
        book.message((group, "An answer in a direct message"), shown)
        window = stage.answered(ADA, "edit").view
        assert window is not None, "it opens the editor"
    book.add("modal", (group, "It takes longer"), carrying.message_view(still_working()))
    results: dict[str, Errors | Show | Done] = {
        "Refused in the end": Errors(by_block={"name": "The name <!channel> is taken."}),
        "Shown in the end": Show(view=window),
        "Done in the end": Done(),
        "Told in the end": Done(reply=outdated()),
    }
    for title, result in results.items():
        book.add("modal", (group, title), late_view(result))


def _homes(book: Book) -> None:
    with staged(book, "Home") as stage:
        stage.opens_home(ADA, "Nothing is provisioned yet")
        stage.provision(Configuration())
        stage.publish(snapshot(Configuration()))
        stage.opens_home(ADA, "An empty configuration")
    with staged(book, "Home", POOLKEEPER_KUBERNETES="in-cluster") as stage:
        configuration = with_afternoon(stage)
        for person, who in ((ADA, "An admin"), (DANA, "A member"), (GUS, "Somebody in no team")):
            stage.opens_home(person, who)
        stage.answered(DANA, "propose dev limit 20 a deadline")
        stage.opens_home(DANA, "A member with a request")
        save(stage, larger(configuration), 1)
        keep(stage, ADA, configuration, draft=1)
        for line in ("disable now", "rollback 1", "draft provision", "cgpu set 3 now"):
            stage.answered(BEN, line)
        stage.opens_home(ADA, "An admin with a draft and requests")
        stage.later(minutes=9)
        stage.opens_home(DANA, "An old view")
        stage.turn(False)
        stage.publish(replace(afternoon(configuration), taken_at=stage.now, enabled=False))
        stage.opens_home(DANA, "Management is off")
    with staged(book, "Home") as stage:
        configuration = company()
        stage.provision(configuration)
        own_queues(stage, configuration)
        stage.publish(rush(configuration))
        for one in configuration.policies[:7]:
            stage.answered(DANA, f"propose {one.name} limit none more")
        stage.opens_home(DANA, "A member of seven teams")
        stage.opens_home(ADA, "An admin of a company")
    with staged(book, "Home") as stage:
        configuration = at_length(company())
        stage.provision(configuration)
        stage.publish(rush(configuration))
        stage.opens_home(DANA, "More than a Home holds")
    with staged(book, "Names at their nastiest") as stage:
        configuration = with_mess(stage)
        stage.answered(DANA, f"propose '{configuration.policies[1].name}' limit 9 <!channel>")
        stage.opens_home(DANA, "Home")
