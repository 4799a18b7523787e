"""A browser and a playground for each module, windows for each test; what fails is kept.

Where there is no Chromium or no built page, these tests are skipped, and that is said; with
POOLKEEPER_CONTRACT_BROWSER=required they fail instead.
"""

import re
from collections.abc import Generator, Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser

from tests.browser_missing import browser_missing, is_required
from tests.browser_support import KEPT, Windows, chromium
from tests.playground_support import Playground, playground

_REPORTS = pytest.StashKey[dict[str, pytest.TestReport]]()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: Any
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    item.stash.setdefault(_REPORTS, {})[report.when] = report
    return report


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    if reason := browser_missing():
        if is_required():
            pytest.fail(reason)
        pytest.skip(reason)
    with chromium() as found:
        yield found


@pytest.fixture(scope="module")
def played(browser: Browser) -> Iterator[Playground]:
    """The real `poolkeeper demo`, shared by a module's tests."""
    with playground() as found:
        # How fast this machine is, is not what these tests are about.
        found.post("/sandbox/configure", ack_seconds=30)
        yield found


@pytest.fixture
def windows(
    browser: Browser, played: Playground, request: pytest.FixtureRequest
) -> Iterator[Windows]:
    """Windows of people on that playground; afterwards none has said a word of an error."""
    found = Windows(browser, played.url)
    try:
        yield found
        reports = request.node.stash.get(_REPORTS, {})
        if "call" in reports and reports["call"].failed:
            _keep(found, request.node.name)
        else:
            errors = [line for window in found.opened for line in window.errors]
            expected = request.node.get_closest_marker("loses_connections")
            if errors and not expected:
                _keep(found, request.node.name)
                pytest.fail("\n".join(["The browser's console has errors:", *errors]))
    finally:
        found.close()


def _keep(windows: Windows, test: str) -> None:
    name = re.sub(r"[^A-Za-z0-9]+", "-", test).strip("-")[:100]
    for number, window in enumerate(windows.opened, 1):
        window.keep(KEPT, f"{name}-{number}")
