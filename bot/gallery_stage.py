"""Where the gallery's pictures are played: the bot's own handlers, on a database of their own.

A stage has a clock that stands still and ids that count up, so that it plays the same every time.
What is answered, posted and shown on it goes into a book, entry by entry.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cache
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from bot import carrying
from bot.access import Actor, Admins, Membership
from bot.answering import answer
from bot.blocks import Block, Reply
from bot.commands import Origin
from bot.desk import Desk
from bot.gallery_book import Book
from bot.gallery_slack import StagedSlack
from bot.gallery_windows import initial, pressed
from bot.home import open_home
from bot.payloads import kind_of
from bot.posts import post_of
from bot.registry import SURFACES
from bot.settings import load_settings
from bot.surfaces import Done, Errors, Press, Show, Submission
from controller.ports import QueueEntry, QueueState
from controller.publishing import Publisher, View, Viewer
from domain.allocation import allocate
from domain.amounts import Amount
from domain.configuration import Configuration
from domain.ledger import OwnedQueue
from domain.renames import Renames
from domain.snapshot import Allocation, Snapshot, WaitingQueue
from domain.tasks import TaskFacts
from storage import configurations, outbox, queues, switch, tasks
from storage.configurations import Approval
from storage.database import Database, Session, open_database

Result = Reply | Show | Errors | Done | None

NOW: Final = datetime(2026, 12, 1, 9, 30, tzinfo=UTC)

ADA, BEN, DANA, GRACE, GUS = "U_ADA", "U_BEN", "U_DANA", "U_GRACE", "U_GUS"
"""Ada and Ben are admins, Dana and Grace in a team each, and Gus is in none."""

ADMINS, TEAM = "C_ADMINS", "C_VISION"
"""The admins' channel, and Dana's team's."""

_GROUPS: Final = {"S_VISION": frozenset({DANA})}


@dataclass
class Stage:
    """One group of the book, and the world that it is played in. `stack` are the open windows."""

    book: Book
    group: str
    desk: Desk
    slack: StagedSlack
    publisher: Publisher
    time: "Time"
    stack: list[Block] = field(default_factory=list)

    # What people do ----------------------------------------------------------------------------

    def actor(self, person: str | Actor) -> Actor:
        if isinstance(person, Actor):
            return person
        return self.desk.membership.actor(person, self.desk.configuration())

    def answered(self, person: str | Actor, line: str, channel: str = TEAM) -> Reply:
        """The answer to a line, which is not shown."""
        origin = Origin(channel=channel, trigger="trigger")
        return answer(self.desk, self.actor(person), line, origin)

    def says(self, person: str | Actor, line: str, title: str = "", channel: str = TEAM) -> Reply:
        """The answer to a line, and a window that opens with it."""
        reply = self.answered(person, line, channel)
        if reply.view is not None:
            self.stack = [reply.view]
        self.book.reply((self.group, title or f"/pool {line}".strip()), reply, line)
        return reply

    def opens_home(self, person: str, title: str) -> None:
        open_home(self.desk, self.slack, person)
        self.book.add("home", (self.group, title), self.slack.homes[person])

    def opens(self, person: str, line: str) -> None:
        """A window that opens with the answer to a line, and is not shown."""
        view = self.answered(person, line).view
        assert view is not None, f"{line} opens a window"
        self.stack = [view]

    def presses(self, person: str | Actor, label: str, title: str = "", near: str = "") -> None:
        """A button, or an entry of a menu, of the window on top: by its label, `near` a text."""
        view = self.stack[-1]
        action_id, value = pressed(view, label, near)
        kind = kind_of(action_id)
        if kind in ("say", "turn"):
            self._takes(title, self.answered(person, value))
            return
        press = Press(action=kind, value=value, origin=Origin(), view=view)
        self._takes(title, SURFACES.acts[kind](self.desk, self.actor(person), press))

    def submits(self, person: str | Actor, title: str = "", **fields: Any) -> None:
        """The window on top, with these inputs changed from what it shows."""
        view = self.stack[-1]
        below = {"previous_view_id": "V_BELOW"} if len(self.stack) > 1 else {}
        submission = Submission(
            callback=view["callback_id"],
            fields={**initial(view), **fields},
            view={**view, **below},
            origin=Origin(),
        )
        submit = SURFACES.submits[view["callback_id"]]
        self._takes(title, submit(self.desk, self.actor(person), submission))

    def closes(self, person: str, title: str = "") -> None:
        """The cross of the window on top; what is said of that."""
        view = self.stack.pop()
        said = Submission(callback=view["callback_id"], fields={}, view=view, origin=Origin())
        close = SURFACES.closes.get(view["callback_id"])
        reply = close(self.desk, self.actor(person), said) if close else None
        if reply is not None:
            self.book.reply((self.group, title), reply)

    def _takes(self, title: str, result: Result) -> None:
        """What came of a press or a submission; without a title it is not shown."""
        where = (self.group, title)
        if isinstance(result, Errors):
            errors = dict(result.by_block)
            self.book.add("modal", where, self.stack[-1], errors=errors)
            return
        if isinstance(result, Done):
            self._is_done(title, result)
            return
        assert result is not None, "something is shown"
        if isinstance(result, Reply):
            shown = result.view or carrying.message_view(result)
        else:
            shown = result.view
        if isinstance(result, Reply) or result.push:
            self.stack.append(shown)
        else:
            self.stack[-1] = shown
        if title:
            self.book.add("modal", where, shown)

    def _is_done(self, title: str, done: Done) -> None:
        self.stack.pop()
        if done.all_:
            self.stack.clear()
        if done.reply is not None:
            self.book.reply((self.group, title), done.reply)
        if done.below is not None:
            self.stack = [*self.stack[:-1], done.below]
            if title:
                self.book.add("modal", (self.group, title), done.below)

    # What happens ------------------------------------------------------------------------------

    @property
    def now(self) -> datetime:
        return self.time()

    def later(self, **length: float) -> None:
        self.time.now += timedelta(**length)

    def provision(self, configuration: Configuration, by: str = ADA, note: str = "") -> int:
        """In force, as though it had been asked for, approved and applied."""
        with self.desk.database.transaction() as session:
            pending = configurations.approved(session)
            if pending is None:
                approval = Approval(by=by, at=self.now, note=note)
                added = configurations.add_version(session, configuration, Renames(), approval)
                assert not isinstance(added, configurations.Pending), "none is pending"
                pending = added
            configurations.mark_provisioned(session, pending.number)
        return pending.number

    def publish(self, seen: Snapshot) -> View:
        """A round has just seen this, under the version that is in force."""
        with self.desk.database.reading() as session:
            version = configurations.provisioned(session)
            owned = queues.owned_queues(session)
        number = version.number if version else 0
        view = View(
            at=seen.taken_at,
            version=number,
            snapshot=seen,
            plan=allocate(seen),
            queues={one.id: _listed(one, seen) for one in owned},
        )
        self.publisher.publish(view)
        return view

    def know(self, names: Mapping[str, str], user: str = "dana") -> None:
        """What tasks are called in ClearML."""
        facts = [TaskFacts(task=task, name=name, user=user) for task, name in names.items()]
        with self.desk.database.transaction() as session:
            tasks.remember(session, facts, self.now)

    def turn(self, enabled: bool) -> None:
        with self.desk.database.transaction() as session:
            switch.set_enabled(session, enabled, ADA, self.now)

    def change(self, work: Callable[[Session], object]) -> None:
        """One transaction of somebody else's."""
        with self.desk.database.transaction() as session:
            work(session)

    def posted(self, *titles: str) -> None:
        """What waits to be posted, under these titles in its order; none are left over."""
        with self.desk.database.transaction() as session:
            found = outbox.due(session, self.now + timedelta(days=1), 100)
            for message in found:
                outbox.mark_sent(session, message, self.now)
        for place, message in enumerate(found):
            title = titles[place] if place < len(titles) else f"{titles[-1]}, {place + 1}"
            self.book.message((self.group, title), post_of(message))


@dataclass
class Time:
    """A clock that stands still until it is put forward."""

    now: datetime = NOW

    def __call__(self) -> datetime:
        return self.now


@contextmanager
def staged(book: Book, group: str, **settings: str) -> Iterator[Stage]:
    """An empty world, for one group of the book."""
    chosen = load_settings(
        {
            "POOLKEEPER_ADMINS": f"{ADA},{BEN}",
            "POOLKEEPER_ADMIN_CHANNEL": ADMINS,
            **settings,
        }
    )
    with TemporaryDirectory(prefix="poolkeeper-gallery-") as directory:
        path = Path(directory) / "stage.sqlite3"
        path.write_bytes(_empty_database())
        database = open_database(f"sqlite:///{path}")
        try:
            yield _stage(book, group, database, chosen)
        finally:
            database.close()


@cache
def _empty_database() -> bytes:
    """A new database's file: to make its tables takes longer than most plays."""
    with TemporaryDirectory(prefix="poolkeeper-gallery-") as directory:
        path = Path(directory) / "empty.sqlite3"
        open_database(f"sqlite:///{path}").close()
        return path.read_bytes()


def _listed(queue: OwnedQueue, seen: Snapshot) -> QueueState:
    """A queue as ClearML lists it: an intake queue with what waits there."""
    whose = (queue.owner, queue.profile)
    waits = (one.tasks for one in seen.queues if (one.policy, one.profile) == whose)
    entries = tuple(QueueEntry(task.id) for tasks_ in waits for task in tasks_)
    return QueueState(id=queue.id, name=queue.name, entries=entries)


def _stage(book: Book, group: str, database: Database, settings: Any) -> Stage:
    numbers, time = count(1), Time()
    publisher, slack = Publisher(database), StagedSlack()
    admins = Admins(group=settings.admin_group, users=settings.admin_users)
    desk = Desk(
        database=database,
        viewer=Viewer(database, publisher),
        membership=Membership(lambda: _GROUPS, time, admins),
        settings=settings,
        clock=time,
        nudge=lambda: None,
        deliver=lambda: None,
        reference=lambda: f"e{next(numbers):07}",
        slack=slack,
    )
    return Stage(book=book, group=group, desk=desk, slack=slack, publisher=publisher, time=time)


def snapshot(
    configuration: Configuration,
    queues: Sequence[WaitingQueue] = (),
    allocations: Sequence[Allocation] = (),
    foreign: Mapping[str, Amount] | None = None,
    **more: Any,
) -> Snapshot:
    """What a round sees just now."""
    return Snapshot(
        taken_at=more.pop("taken_at", NOW),
        configuration=configuration,
        queues=tuple(queues),
        allocations=tuple(allocations),
        foreign=dict(foreign or {}),
        **more,
    )


def task_id(number: int) -> str:
    """An id as ClearML makes them: 32 hexadecimal digits."""
    return f"{number * 2654435761 % 2**32:08x}{number:024x}"
