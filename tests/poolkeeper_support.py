"""Poolkeeper for tests: real processes, or its rounds one by one, against a sandbox's ClearML.

`Installation` is a directory with a database. Its processes can be killed; `Controller` runs the
same rounds in the test's process, each when the test says so and with a clock that can be put
forward, so that nobody sleeps. What ran, and how much at a time, is told by the sandbox alone.
"""

import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from pathlib import Path
from typing import Any

import yaml

from bot.applying import carry_out, compare, read_renames
from bot.compose import doors, new_reference
from bot.settings import Settings, load_settings
from controller.bookkeeping import Rules
from controller.moves import Mover
from controller.ports import ClearMLError
from controller.publishing import Publisher
from controller.round import Collaborators, Report, Rounds
from domain.configuration import Configuration, IntakeQueue, Link, Policy, Pool, Profile, Queueing
from domain.ledger import AuditRecord, Ended, LedgerEntry, OwnedQueue, Role, Sighting
from storage import audit, ledger, queues, switch
from storage.database import Database, open_database
from storage.documents import write_configuration
from tests.sandbox_support import ROOT, Doc, Fault, Person, Sandbox, wait_until

POOLKEEPER = Path(sys.executable).parent / "poolkeeper"
USER = "poolkeeper"
NOWHERE = timedelta(seconds=60)
STOPPED = timedelta(seconds=60)
_LONG_AGO, _FAR = datetime(2000, 1, 1, tzinfo=UTC), datetime(2100, 1, 1, tzinfo=UTC)


def one_profile(
    pools: Mapping[str, int | str],
    policies: Mapping[str, tuple[int, int | None]],
    allotment: int | str = 1,
    parameter: str | None = None,
    queueing: Queueing = Queueing.BACKFILL,
) -> Configuration:
    """The profile `job`, linked as `job on <pool>` to every pool, in each policy's `<policy>-jobs`.

    A policy is its reservation and its limit.
    """
    return Configuration(
        pools=tuple(
            Pool(name=name, resources=Fraction(size), profiles=("job",))
            for name, size in pools.items()
        ),
        profiles=(
            Profile(
                name="job",
                allotment=Fraction(allotment),
                parameter=parameter,
                queueing=queueing,
                pools=tuple(Link(pool=name, name=f"job on {name}") for name in pools),
                policies=tuple(policies),
            ),
        ),
        policies=tuple(
            Policy(
                name=name,
                reservation=Fraction(reserved),
                limit=None if limit is None else Fraction(limit),
                queues=(IntakeQueue(profile="job", queue=f"{name}-jobs"),),
            )
            for name, (reserved, limit) in policies.items()
        ),
    )


@dataclass
class Clock:
    """The time, put forward at will."""

    ahead: timedelta = timedelta()

    def __call__(self) -> datetime:
        return datetime.now(UTC) + self.ahead

    def advance(self, by: timedelta) -> None:
        self.ahead += by


class Controller:
    """Poolkeeper's rounds in this process, over HTTP and the database of the installation."""

    def __init__(self, settings: Settings, database: Database, clock: Clock) -> None:
        self.clock = clock
        door = doors(settings)
        self.mover = Mover(door, database, settings.connections)
        with_ = Collaborators(
            door=door,
            database=database,
            mover=self.mover,
            publisher=Publisher(database),
            clock=clock,
            reference=new_reference,
        )
        self._rounds = Rounds(with_, Rules(hold_after=settings.hold_after))

    def round(self) -> Report:
        """One round, as the loop runs it; raises what the loop would hear."""
        return self._rounds.run()

    def rounds(self, count: int) -> list[Report]:
        return [self._rounds.run() for _ in range(count)]

    def recover(self) -> Report:
        """Rounds as time passes, until nothing that was open can be in doubt any more."""
        for _ in range(3):
            self.round()
            self.clock.advance(NOWHERE)
        return self.round()


class Process:
    """A poolkeeper process and what it logs; `program` is another way to start it."""

    def __init__(
        self,
        arguments: Sequence[str],
        env: Mapping[str, str],
        log: Path,
        program: Sequence[str] = (str(POOLKEEPER),),
    ) -> None:
        self._path = log
        with log.open("wb") as file:
            self.popen = subprocess.Popen(
                [*program, *arguments], cwd=log.parent, env=env, stdout=file, stderr=file,
                stdin=subprocess.DEVNULL,
            )  # fmt: skip

    @property
    def log(self) -> str:
        return self._path.read_text()

    def wait_for(self, words: str, timeout: float = 60.0) -> None:
        wait_until(lambda: words in self.log, f"the log says {words!r}: {self.log}", timeout)

    def wait_until_held(self, fault: Fault) -> None:
        """Until the server holds a call of this process; fails with its log where it has ended."""

        def held_or_over() -> bool:
            return bool(fault.holding()) or self.popen.poll() is not None

        wait_until(held_or_over, f"{fault.id} holds a call: {self.log}", 60.0)
        assert self.popen.poll() is None, self.log

    def kill(self) -> None:
        """kill -9; whoever waits for its locks can have them afterwards."""
        self.popen.kill()
        self.popen.wait(timeout=10)

    def end(self) -> int:
        """SIGTERM, as an operator ends it; its exit code."""
        self.popen.send_signal(signal.SIGTERM)
        return self.popen.wait(timeout=30)

    def wait(self, timeout: float = 30.0) -> int:
        return self.popen.wait(timeout=timeout)


@dataclass
class Installation:
    """A Poolkeeper's directory, environment and database, beside a sandbox's ClearML.

    The database is a file in the directory, or has a `url`.
    """

    clearml: Sandbox
    directory: Path
    me: Person
    url: str = ""
    clock: Clock = field(default_factory=Clock)
    _started: int = 0
    _processes: list[Process] = field(default_factory=list)
    _database: Database | None = None
    _controllers: list[Controller] = field(default_factory=list)

    @property
    def path(self) -> Path:
        return self.directory / "poolkeeper.sqlite3"

    def env(self, **more: str) -> dict[str, str]:
        """This process's variables without any of Poolkeeper's, with quick rounds."""
        kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
        return {
            **kept,
            **self.clearml.env(),
            "CLEARML_API_ACCESS_KEY": self.me.access_key,
            "CLEARML_API_SECRET_KEY": self.me.secret_key,
            "PYTHONPATH": str(ROOT),
            "POOLKEEPER_DATABASE": self.url or f"sqlite:///{self.path}",
            "POOLKEEPER_ROUND_SECONDS": "0.2",
            "POOLKEEPER_NOWHERE_SECONDS": "1",
            "POOLKEEPER_STOPPED_SECONDS": "1",
            "POOLKEEPER_METRICS_PORT": "off",  # many run side by side
            **more,
        }

    def settings(self, **more: str) -> Settings:
        return load_settings({k: v for k, v in self.env(**more).items() if k.isupper()})

    @property
    def database(self) -> Database:
        if self._database is None:
            self._database = open_database(self.settings().database.get_secret_value())
        return self._database

    def lose_database(self) -> None:
        """Closes and removes the file with all that lies beside it; locks stay."""
        self.close()
        for path in self.directory.glob("poolkeeper.sqlite3*"):
            path.unlink()

    # Commands -----------------------------------------------------------------------------------

    def start(self, *arguments: str, **env: str) -> Process:
        """Starts a command; it ends with the test at the latest."""
        return self.keep(Process(arguments, self.env(**env), self.log_of(arguments[0])))

    def log_of(self, command: str) -> Path:
        """The file of the next process's log."""
        self._started += 1
        return self.directory / f"{command}-{self._started}.log"

    def keep(self, process: Process) -> Process:
        """Ends the process with the test."""
        self._processes.append(process)
        return process

    def command(self, *arguments: str, **env: str) -> tuple[int, str]:
        """Runs a command to its end: its exit code and all that it said."""
        process = self.start(*arguments, **env)
        return process.wait(), process.log

    def written(self, configuration: Configuration) -> str:
        """The path of a file with the configuration."""
        path = self.directory / "configuration.yaml"
        path.write_text(yaml.safe_dump(write_configuration(configuration), sort_keys=False))
        return str(path)

    def apply(self, configuration: Configuration, *renames: str) -> None:
        """What `poolkeeper apply --yes` does, without starting a process."""
        change = compare(self.database, configuration, read_renames(renames))
        if change is not None:
            carry_out(self.settings(), self.database, change, "a test", lambda _: None)

    def switch(self, *, enabled: bool) -> None:
        """What `poolkeeper enable` and `disable` do, without starting a process."""
        with self.database.transaction() as session:
            switch.set_enabled(session, enabled, "a test", self.clock())
        assert enabled or self.database.drain_moves(10.0)

    @contextmanager
    def in_background(self, call: Callable[[], object]) -> Iterator[None]:
        """The call runs in a thread while the block does; its error is raised at the end."""
        with ThreadPoolExecutor(1) as thread:
            future = thread.submit(call)
            yield
            future.result(timeout=30)

    def controller(self, **env: str) -> Controller:
        controller = Controller(self.settings(**env), self.database, self.clock)
        self._controllers.append(controller)
        return controller

    def close(self) -> None:
        """Ends what was started here, and nothing else."""
        for process in self._processes:
            if process.popen.poll() is None:
                process.kill()
        for controller in self._controllers:
            controller.mover.close()
        self._controllers.clear()
        if self._database is not None:
            self._database.close()
            self._database = None

    # What is remembered -------------------------------------------------------------------------

    def entries(self) -> dict[str, LedgerEntry]:
        with self.database.reading() as session:
            return {entry.task: entry for entry in ledger.entries(session)}

    def stages(self) -> dict[str, str]:
        return {task: str(entry.stage) for task, entry in self.entries().items()}

    def sightings(self) -> dict[str, Sighting]:
        with self.database.reading() as session:
            return {sighting.task: sighting for sighting in ledger.sightings(session)}

    def owned(self) -> tuple[OwnedQueue, ...]:
        with self.database.reading() as session:
            return queues.owned_queues(session)

    def audit(self, contains: str = "") -> list[AuditRecord]:
        with self.database.reading() as session:
            return list(audit.records(session, 1000, contains))

    def ended(self) -> list[Ended]:
        with self.database.reading() as session:
            return list(ledger.ended_between(session, _LONG_AGO, _FAR))

    def intake(self, policy: str = "dev", profile: str = "job") -> str:
        """The id of the queue that the policy's users enqueue to."""
        return self._queue(Role.INTAKE, owner=policy, profile=profile)

    def execution(self, pool: str = "metal", profile: str = "job") -> str:
        """The id of the queue that the pool's agents serve."""
        return self._queue(Role.EXECUTION, pool=pool, profile=profile)

    def _queue(self, role: Role, **is_: str) -> str:
        found = [
            queue.id
            for queue in self.owned()
            if queue.role is role and all(getattr(queue, key) == is_[key] for key in is_)
        ]
        assert len(found) == 1, f"{role} {is_}: {found} of {self.owned()}"
        return found[0]


@contextmanager
def installed(clearml: Sandbox, directory: Path, url: str = "") -> Iterator[Installation]:
    """An installation that leaves no process behind; Poolkeeper is a user of its own."""
    directory.mkdir(exist_ok=True)
    installation = Installation(clearml, directory, clearml.add_user(USER), url)
    try:
        yield installation
    finally:
        installation.close()


# What has happened, by the sandbox's own books --------------------------------------------------


def run_counts(clearml: Sandbox, tasks: Iterable[str]) -> dict[str, int]:
    lives = clearml.lives()
    return {task: len(lives.get(task, {"runs": []})["runs"]) for task in tasks}


def ran_after_abort(clearml: Sandbox) -> list[str]:
    """Tasks that an agent ran though their users had aborted them."""
    lives = clearml.lives()
    return [task for task, life in lives.items() if any(run["after_abort"] for run in life["runs"])]


_GLUE = ("moving to k8s pending queue", "k8s")
_ENDS = frozenset({"completed", "failed", "stopped", "created", "published", "closed"})
_ADMITTED = re.compile(r"allocated by policy manager: (?P<link>.*)")


def most_at_once(
    clearml: Sandbox, amounts: Mapping[str, Fraction | int] | None = None
) -> dict[str, Fraction]:
    """For each link, the most that its tasks took at any time; a task not in `amounts` takes 1.

    A task takes from its admission to its end, or until it is put back.
    """
    changes: list[tuple[str, int, str, Fraction]] = []
    for task, life in clearml.lives().items():
        amount = Fraction((amounts or {}).get(task, 1))
        changes += ((time, order, link, sign * amount) for time, order, link, sign in _uses(life))
    now: dict[str, Fraction] = {}
    most: dict[str, Fraction] = {}
    for _, _, link, change in sorted(changes):
        now[link] = now.get(link, Fraction(0)) + change
        most[link] = max(most.get(link, Fraction(0)), now[link])
    return most


def _uses(life: Doc) -> Iterator[tuple[str, int, str, int]]:
    """(time, order at equal times, link, +1 or -1)."""
    link = ""
    for event in life["history"]:
        admitted = _ADMITTED.match(event["reason"])
        is_end = event["to"] in _ENDS and not event["reason"].startswith(_GLUE)
        is_back = event["reason"].startswith("pushed back by policy manager")
        if link and (is_end or is_back or admitted):
            yield event["time"], 0, link, -1
            link = ""
        if admitted and event["to"] == "queued":
            link = admitted["link"]
            yield event["time"], 1, link, 1


def completed(clearml: Sandbox, tasks: Iterable[str]) -> bool:
    states: dict[str, Any] = clearml.dump()["tasks"]
    return all(states[task]["status"] == "completed" for task in tasks)


def kill_at(process: Process, fault: Fault) -> None:
    """kill -9 while the server holds the call; a call held before its write is never made."""
    process.wait_until_held(fault)
    process.kill()
    fault.release("drop")


@dataclass
class Agent:
    """Agents of some queues, as many as there is work: what they pop they start, each at once.

    What a `turn` finds running it completes; what it finds waiting it starts.
    """

    clearml: Sandbox
    queues: tuple[str, ...]
    running: list[str] = field(default_factory=list)
    name: str = "agent"

    def complete(self) -> None:
        for task in self.running:
            if self.clearml.call("tasks.get_by_id", task=task).code == 200:
                self.clearml.completed(task)
        self.running.clear()

    def start(self) -> None:
        worker = self.clearml.as_worker(self.name)
        for queue in self.queues:
            while self.clearml.call("queues.get_by_id", queue=queue).code == 200 and (
                task := worker.pop(queue)
            ):
                # A queue may hold the id of a task that was deleted: no agent can start it.
                if worker.call("tasks.started", task=task, force=True).code == 200:
                    self.running.append(task)

    def turn(self) -> None:
        self.complete()
        self.start()


def drive(
    controller: Controller, agents: Agent, over: Callable[[], bool], turns: int = 25
) -> list[Exception]:
    """Rounds and agents in turn, half a minute apart, until it is `over`; the rounds' errors."""
    errors: list[Exception] = []
    for _ in range(turns):
        try:
            controller.round()
        except ClearMLError as error:
            errors.append(error)
        agents.turn()
        if over():
            return errors
        controller.clock.advance(NOWHERE / 2)
    raise AssertionError(f"not over after {turns} turns; the rounds' errors: {errors}")
