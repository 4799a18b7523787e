"""Fixtures for all kinds of tests: one sandbox process per session, a fresh world per test."""

from collections.abc import Iterator

import pytest

from tests.sandbox_support import Sandbox


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
