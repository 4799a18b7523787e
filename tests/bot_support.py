"""The real bot for tests: its desk, Bolt app, outbox and stock Socket Mode client, in this process,
against the loopback Slack and a real database; with real rounds where a test wants them.

`Bot` is what `poolkeeper run` builds (bot.connecting), with a clock that can be put forward.
Without ClearML, `publish` stands for a round: it approves a configuration and publishes a snapshot.
"""

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from fractions import Fraction
from pathlib import Path

from bot import compose
from bot.compose import Controller, new_reference
from bot.connecting import Bot as Built
from bot.connecting import HttpLink, SocketLink, Surroundings, build_bot
from bot.desk import Desk
from bot.outbox_worker import Worker
from bot.settings import Settings, load_settings
from bot.tending import resume
from controller.publishing import Publisher, View, Viewer
from domain.allocation import allocate
from domain.configuration import Configuration, Team
from domain.ledger import AuditRecord
from domain.renames import Renames
from domain.snapshot import Allocation, Plan, Snapshot, Task, WaitingQueue
from domain.tasks import TaskFacts
from storage import audit, configurations, switch, tasks
from storage.configurations import Approval
from storage.database import Database, open_database
from tests.poolkeeper_support import Clock, Installation, one_profile
from tests.slack_support import Exchange, Message, Person, Workspace

ADMINS = "U_ADA,U_BEN"


def task_id(number: int) -> str:
    """The id of a ClearML task, as ClearML makes them: 32 hexadecimal digits."""
    return f"{number * 2654435761 % 2**32:08x}{number:024x}"


def waiting_queue(
    policy: str, tasks_: Iterable[str], first_seen: datetime, profile: str = "job"
) -> WaitingQueue:
    """An intake queue whose tasks have waited since then."""
    found = tuple(Task(id=one, first_seen=first_seen) for one in tasks_)
    return WaitingQueue(policy=policy, profile=profile, tasks=found)


def allocation(task: str, policy: str, pool: str, amount: int | str = 1) -> Allocation:
    return Allocation(task=task, policy=policy, profile="job", pool=pool, amount=Fraction(amount))


def with_teams(configuration: Configuration, teams: Mapping[str, Team]) -> Configuration:
    """The configuration with these policies' people."""
    policies = tuple(
        replace(one, team=teams.get(one.name, one.team)) for one in configuration.policies
    )
    return replace(configuration, policies=policies)


@dataclass
class Bot:
    """A running bot. `nudges` tells when a round was asked for; `rounds_ended` counts those run."""

    slack: Workspace
    database: Database
    settings: Settings
    clock: Clock = field(default_factory=Clock)
    publisher: Publisher = field(init=False)
    nudges: list[datetime] = field(default_factory=list)
    rounds_ended: Callable[[], int] = lambda: 0
    _built: Built | None = None
    _worker: Worker | None = None

    def __post_init__(self) -> None:
        self.publisher = Publisher(self.database)

    @property
    def desk(self) -> Desk:
        assert self._built is not None, "it was not started"
        return self._built.desk

    @property
    def socket(self) -> SocketLink:
        assert self._built is not None, "it was not started"
        assert isinstance(self._built.link, SocketLink)
        return self._built.link

    def start(self, viewer: Viewer | None = None) -> None:
        """Builds it anew, as after a restart, and waits until Slack reaches it."""
        around = Surroundings(
            database=self.database,
            viewer=viewer or Viewer(self.database, self.publisher),
            nudge=lambda: self.nudges.append(self.clock()),
            deliver=self._deliver,
            clock=self.clock,
            reference=new_reference,
        )
        self._built = build_bot(self.settings, around)
        self._worker = self._built.worker(self.database)
        resume(self._built.desk)
        self._worker.start()
        self._built.start()
        if isinstance(self._built.link, HttpLink):
            self.slack.deliver_to(f"http://127.0.0.1:{self._built.link.port}/slack/events")
        else:
            self.slack.wait_for_bot()

    def stop(self) -> None:
        if self._built is not None:
            self._built.stop()
            self._built = None
        if self._worker is not None:
            self._worker.stop()
            self._worker = None

    def _deliver(self) -> None:
        if self._worker is not None:
            self._worker.deliver()

    # What people do -----------------------------------------------------------------------------

    def person(self, person: str) -> Person:
        return self.slack.person(person)

    def says(self, person: str, line: str, channel: str = "C_GENERAL") -> Exchange:
        """`/pool line`, acknowledged in time."""
        said = self.person(person).command(f"/pool {line}".strip(), channel)
        assert not said.error, f"{line}: {said.error}"
        return said

    def asks(self, person: str, line: str, channel: str = "C_GENERAL") -> Message:
        """The bot's answer to `/pool line`."""
        return self.says(person, line, channel).reply()

    # What is known ------------------------------------------------------------------------------

    def provision(self, configuration: Configuration, by: str = "U_ADA") -> int:
        """The configuration is in force, as though it had been approved and applied."""
        with self.database.transaction() as session:
            approval = Approval(by=by, at=self.clock())
            version = configurations.add_version(session, configuration, Renames(), approval)
            assert not isinstance(version, configurations.Pending)
            configurations.mark_provisioned(session, version.number)
        return version.number

    def publish(
        self,
        configuration: Configuration,
        queues: Sequence[WaitingQueue] = (),
        allocations: Sequence[Allocation] = (),
        foreign: Mapping[str, Fraction] | None = None,
    ) -> Plan:
        """A round has just seen this, under a version of its own."""
        version = self.provision(configuration)
        with self.database.reading() as session:
            enabled = switch.is_enabled(session)
        snapshot = Snapshot(
            taken_at=self.clock(),
            configuration=configuration,
            enabled=enabled,
            queues=tuple(queues),
            allocations=tuple(allocations),
            foreign=dict(foreign or {}),
        )
        plan = allocate(snapshot)
        self.publisher.publish(
            View(at=snapshot.taken_at, version=version, snapshot=snapshot, plan=plan)
        )
        return plan

    def name_tasks(self, names: Mapping[str, str], user: str = "admin") -> None:
        """What the tasks with these ids are called in ClearML."""
        facts = [TaskFacts(task=task, name=name, user=user) for task, name in names.items()]
        with self.database.transaction() as session:
            tasks.remember(session, facts, self.clock())

    def audit(self, contains: str = "") -> list[AuditRecord]:
        with self.database.reading() as session:
            return list(audit.records(session, 1000, contains))

    def turn(self, enabled: bool) -> None:
        """The management switch, as `poolkeeper disable` leaves it."""
        with self.database.transaction() as session:
            switch.set_enabled(session, enabled, "U_ADA", self.clock())


def over_http(slack: Workspace) -> dict[str, str]:
    """The settings that make it HTTP instead of Socket Mode."""
    return {
        "SLACK_APP_TOKEN": "",
        "SLACK_SIGNING_SECRET": slack.signing_secret,
        "POOLKEEPER_SLACK_PORT": "0",
    }


def bot_settings(slack: Workspace, database: Path, **more: str) -> Settings:
    """The settings of a bot on Socket Mode with two admins; an empty one takes a setting away."""
    path = {"POOLKEEPER_DATABASE": f"sqlite:///{database}"}
    return load_settings({**path, **_slack_variables(slack), **more})


def _slack_variables(slack: Workspace) -> dict[str, str]:
    return {
        "POOLKEEPER_ADMINS": ADMINS,
        "POOLKEEPER_ADMIN_CHANNEL": "C_ADMINS",
        "POOLKEEPER_SLACK_API": slack.api,
        "SLACK_BOT_TOKEN": slack.bot_token,
        "SLACK_APP_TOKEN": slack.app_token,
    }


@contextmanager
def running_bot(slack: Workspace, directory: Path, **settings: str) -> Iterator[Bot]:
    """A bot with an empty database, started, and ended with the block."""
    path = directory / "bot.sqlite3"
    database = open_database(f"sqlite:///{path}")
    bot = Bot(slack, database, bot_settings(slack, path, **settings))
    try:
        bot.start()
        yield bot
    finally:
        bot.stop()
        database.close()


@contextmanager
def rounds_meanwhile(run: Callable[[], object]) -> Iterator[Callable[[], int]]:
    """Runs rounds in a thread of this process, one after the other; gives how many ended."""
    ended, counted, faults = threading.Event(), [0], list[BaseException]()

    def work() -> None:
        try:
            while not ended.is_set():
                run()
                counted[0] += 1
        except BaseException as error:
            faults.append(error)

    thread = threading.Thread(target=work, name="rounds")
    thread.start()
    try:
        yield lambda: counted[0]
    finally:
        ended.set()
        thread.join(timeout=60)
        assert not faults, faults


def example() -> Configuration:
    """Two pools of 8 for `dev` (Cleo's) and `research` (Dan's), each task taking 2."""
    configuration = one_profile(
        {"bare-metal": 8, "h100": 8}, {"dev": (4, 12), "research": (8, 16)}, allotment=2
    )
    teams = {"dev": Team(users=("U_CLEO",)), "research": Team(users=("U_DAN",))}
    return with_teams(configuration, teams)


TASKS = [task_id(number) for number in range(1, 31)]
RUNNING = TASKS[:7]
DEV, RESEARCH = TASKS[10:14], TASKS[14:25]


def busy(bot: Bot) -> None:
    """The example with all its pools in use: tasks `llama <number>` wait for room."""
    now = bot.clock()
    bot.publish(
        example(),
        [
            waiting_queue("dev", DEV, now - timedelta(minutes=50)),
            waiting_queue("research", RESEARCH, now - timedelta(hours=3)),
        ],
        [
            *(allocation(one, "dev", "bare-metal", 2) for one in RUNNING[:3]),
            allocation(RUNNING[3], "research", "bare-metal", 2),
            *(allocation(one, "research", "h100", 2) for one in RUNNING[4:7]),
        ],
        {"h100": Fraction(2)},
    )
    bot.name_tasks({one: f"llama {number}" for number, one in enumerate(TASKS, 1)})


@contextmanager
def bot_with_rounds(
    slack: Workspace, there: Installation, **settings: str
) -> Iterator[tuple[Bot, Controller]]:
    """A bot and the controller of one process, on an installation's database and ClearML."""
    chosen = there.settings(**{**_slack_variables(slack), **settings})
    controller = compose.controller(chosen, there.database)
    bot = Bot(slack, there.database, chosen, there.clock)
    try:
        bot.start(Viewer(there.database, controller.publisher))
        yield bot, controller
    finally:
        bot.stop()
        controller.mover.close()
