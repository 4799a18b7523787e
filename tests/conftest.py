"""Fixtures for all kinds of tests: one sandbox process per session, a fresh world per test."""

from collections.abc import Iterator

import pytest

from tests.kubernetes_support import Cluster
from tests.sandbox_support import Sandbox
from tests.slack_support import Workspace


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
