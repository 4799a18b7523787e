"""Several `poolkeeper run` on one PostgreSQL, each with a wire of its own to the database.

Each is a ClearML user of its own as well, so that the sandbox's log tells who did what.
"""

import logging
import re
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tests.cut_wire import CutWire
from tests.poolkeeper_support import Installation, Process, installed
from tests.postgres_support import Postgres
from tests.sandbox_support import Person, Sandbox, wait_until
from tests.slack_support import Workspace

log = logging.getLogger(__name__)

TAKEOVER_S = 20.0
"""Another replica leads within ten seconds (README, "Several replicas"), on an idle machine."""


@dataclass
class Replica:
    """A process, its wire to the database, and who it is in ClearML."""

    name: str
    process: Process
    wire: CutWire
    user: Person

    @property
    def has_led(self) -> int:
        """How often it began to lead."""
        return self.process.log.count("role=leader")

    @property
    def port(self) -> int:
        """Where it listens for Slack."""
        found = re.search(r"listening for Slack: port=(\d+)", self.process.log)
        assert found is not None, self.process.log
        return int(found[1])

    @property
    def is_alive(self) -> bool:
        return self.process.popen.poll() is None


@dataclass
class Replicas:
    """Those of one installation; `env` is what all of them are started with."""

    there: Installation
    server: Postgres
    env: dict[str, str] = field(default_factory=dict)
    started: list[Replica] = field(default_factory=list)
    _wires: ExitStack = field(default_factory=ExitStack)

    @property
    def clearml(self) -> Sandbox:
        return self.there.clearml

    def start(self, ahead_s: float = 0, **env: str) -> Replica:
        """One more, with a clock that is `ahead_s` ahead."""
        name = f"replica{len(self.started) + 1}"
        user = self.clearml.add_user(name)
        wire = self._wires.enter_context(CutWire(self.server.port))
        mine = {
            "POOLKEEPER_DATABASE": self.server.url(self.database, wire.port),
            "CLEARML_API_ACCESS_KEY": user.access_key,
            "CLEARML_API_SECRET_KEY": user.secret_key,
        }
        variables = self.there.env(**{**mine, **self.env, **env})
        log = self.there.log_of(name)
        if ahead_s:
            program = (sys.executable, "-m", "tests.wrong_clock")
            process = Process([str(ahead_s)], variables, log, program)
        else:
            process = Process(["run"], variables, log)
        replica = Replica(name, self.there.keep(process), wire, user)
        self.started.append(replica)
        return replica

    def start_all(self, count: int = 3) -> tuple[Replica, list[Replica]]:
        """So many at once: the one that leads, and those that follow."""
        started = [self.start() for _ in range(count)]
        leader = self.leader_of(started)
        followers = [one for one in started if one is not leader]
        for one in followers:
            one.process.wait_for("role=follower")
        return leader, followers

    def leader_of(self, some: list[Replica]) -> Replica:
        """The one of them that leads, as soon as one does."""
        logs = "\n\n".join(one.process.log for one in some)
        found = wait_until(
            lambda: next((one for one in some if one.has_led), None), f"one leads: {logs}", 60
        )
        assert found is not None
        return found

    @property
    def database(self) -> str:
        return self.there.url.rpartition("/")[2]

    def wait_until_leads(self, replica: Replica, times: int = 1, timeout: float = 60.0) -> None:
        what = f"{replica.name} leads"
        wait_until(
            lambda: replica.has_led >= times or not replica.is_alive,
            f"{what}: {replica.process.log}",
            timeout,
        )
        assert replica.has_led >= times, replica.process.log

    def takeover(self, of: Replica) -> Replica:
        """Who leads next, within the time that is promised."""
        before = {one.name: one.has_led for one in self.started if one is not of}
        begun = time.monotonic()

        def next_one() -> Replica | None:
            others = (one for one in self.started if one is not of)
            return next((one for one in others if one.has_led > before[one.name]), None)

        logs = "\n\n".join(one.process.log for one in self.started)
        found = wait_until(next_one, f"another leads: {logs}", TAKEOVER_S)
        assert found is not None
        self.measured("takeover", begun)
        return found

    def measured(self, what: str, begun: float) -> None:
        """A figure for the log of the tests (`-o log_cli=true -o log_cli_level=INFO`)."""
        log.info("%s: %.1f s", what, time.monotonic() - begun)

    def close(self) -> None:
        for one in self.started:
            if one.is_alive:
                one.process.kill()
        self._wires.close()


@contextmanager
def replicas_on(
    clearml: Sandbox, server: Postgres, directory: Path, slack: Workspace | None = None
) -> Iterator[Replicas]:
    """No replica yet, on a database of their own; with Slack, where one is given."""
    url = server.database()
    with installed(clearml, directory, url) as there:
        replicas = Replicas(there, server, slack_variables(slack) if slack else {})
        try:
            yield replicas
        finally:
            replicas.close()
            there.close()
            server.give_back(url)


def slack_variables(slack: Workspace) -> dict[str, str]:
    return {
        "POOLKEEPER_ADMINS": "U_ADA,U_BEN",
        "POOLKEEPER_ADMIN_CHANNEL": "C_ADMINS",
        "POOLKEEPER_SLACK_API": slack.api,
        "SLACK_BOT_TOKEN": slack.bot_token,
        "SLACK_APP_TOKEN": slack.app_token,
    }


def reach(slack: Workspace, replica: Replica) -> None:
    """What is said from now on comes to that one, over HTTP."""
    slack.deliver_to(f"http://127.0.0.1:{replica.port}/slack/events")
