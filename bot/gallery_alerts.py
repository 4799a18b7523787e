"""The gallery's messages that nobody asked for: alerts of every kind, notices, failures."""

from dataclasses import replace
from datetime import timedelta
from fractions import Fraction

from bot import announcements, carrying, notices
from bot.alert_messages import sent_back
from bot.blocks import Post, Reply, section
from bot.failing import away_text, failed_text
from bot.gallery_book import Book
from bot.gallery_digests import an_ended_task
from bot.gallery_examples import afternoon, waiting, with_afternoon
from bot.gallery_nasty import NASTY
from bot.gallery_stage import ADA, DANA, NOW, TEAM, snapshot, staged, task_id
from bot.submitting import late_view, outdated, still_working
from bot.surfaces import Done, Errors, Show
from controller.alerts import Kind, Trouble
from controller.loop import Outage
from domain.ledger import LedgerEntry, Stage
from domain.snapshot import Tier
from storage import ledger


def scenes(book: Book) -> None:
    for scene in (_alerts, _noticing, _failing):
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
                an_ended_task(1, "dev", outcome), task=task_id((1, 2, 11, 12)[place % 4]),
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
