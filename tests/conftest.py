"""Fixtures for all kinds of tests: one sandbox process per session, a fresh world per test."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from storage.database import Database, open_database
from tests.browser_missing import browser_missing
from tests.kubernetes_support import Cluster
from tests.postgres_support import Postgres
from tests.sandbox_support import Sandbox
from tests.slack_support import Workspace

Opener = Callable[[], Database]


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    """A PostgreSQL server; who restarts it waits until it answers again."""
    server = Postgres()
    yield server
    server.remove()


@pytest.fixture(params=["sqlite", "postgresql"])
def database_url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """A database of the test's own, on each of the engines that state may be kept in."""
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path}/poolkeeper.db"
        return
    server: Postgres = request.getfixturevalue("postgres")
    url = server.database()
    yield url
    server.give_back(url)


@pytest.fixture(params=["sqlite", "postgresql"])
def empty_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The same, but nobody has opened it yet, and the test may break it."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/poolkeeper.db"
    server: Postgres = request.getfixturevalue("postgres")
    return server.database(empty=True)


@pytest.fixture
def open_(database_url: str) -> Iterator[Opener]:
    """Opens that database, each time as another process would; closed with the test."""
    opened: list[Database] = []

    def open_again() -> Database:
        opened.append(open_database(database_url))
        return opened[-1]

    yield open_again
    for database in opened:
        database.close()


@pytest.fixture(scope="session")
def _clearml_process() -> Iterator[Sandbox]:
    with Sandbox() as sandbox:
        yield sandbox


@pytest.fixture
def clearml(_clearml_process: Sandbox) -> Iterator[Sandbox]:
    """A ClearML server without tasks, users and queues but the admin and `default`."""
    _clearml_process.reset()
    yield _clearml_process
    _clearml_process.reset()


@pytest.fixture(scope="session")
def _slack_process() -> Iterator[Workspace]:
    with Workspace() as workspace:
        yield workspace


@pytest.fixture
def slack(_slack_process: Workspace) -> Iterator[Workspace]:
    """A workspace with the people and channels of tests/slack_support.py, and no messages."""
    _slack_process.reset()
    yield _slack_process
    _slack_process.reset()


@pytest.fixture(scope="session")
def _kubernetes_process() -> Iterator[Cluster]:
    with Cluster() as cluster:
        yield cluster


@pytest.fixture
def kubernetes(_kubernetes_process: Cluster) -> Iterator[Cluster]:
    """An API server with the standard world: three cGPU nodes, one without GPUs, the installer."""
    _kubernetes_process.reset()
    yield _kubernetes_process
    _kubernetes_process.reset()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """What was not tested is said last of all."""
    if reason := browser_missing():
        terminalreporter.write_line(f"NOT TESTED: the playground's page in a browser. {reason}")
