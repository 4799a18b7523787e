"""How fast the page is: until it can be used, until an answer is on the screen, and how
smoothly messages come in. In a real browser, with the real bot behind it.

Run by hand, on a machine that does nothing else: `pytest tests/bench/test_page_speed.py`.
"""

import statistics
import sys
import time
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser

from tests.browser_missing import browser_missing
from tests.browser_support import Window, Windows, chromium
from tests.playground_support import Playground, playground

USABLE_S = 8.0
ANSWER_MS = 300.0
ROUNDS = 20
FRAME_MS = 100.0
"""Nineteen of twenty frames come at least that often while messages arrive."""

BLOCKED_MS = 200.0
"""No longer is the page deaf at a time."""

_FULL, _NEW = 500, 50

_ANSWERED = """() => new Promise((resolve) => {
    const all = () => [...document.querySelectorAll('[data-testid=message]')];
    const there = new Set(all().map((one) => one.dataset.ts));
    const isAnswer = (one) => !there.has(one.dataset.ts) && one.textContent.includes('pools:');
    let pressed = 0;
    const press = () => { pressed = performance.now(); };
    addEventListener('keydown', press, { once: true, capture: true });
    const frame = (now) => {
        if (pressed && all().some(isAnswer)) resolve(now - pressed);
        else requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
})"""
"""From the key to the first frame with the new answer, in milliseconds."""

_SMOOTH = """() => {
    const seen = { frames: [], blocked: [] };
    const longs = (list) => seen.blocked.push(...list.getEntries().map((one) => one.duration));
    new PerformanceObserver(longs).observe({ type: 'longtask' });
    let last = performance.now();
    const frame = (now) => {
        seen.frames.push(now - last);
        last = now;
        requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
    window.__seen = seen;
}"""
"""Notes how far frames are apart, and every task that blocks for more than 50 ms."""


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    if reason := browser_missing():
        pytest.skip(reason)
    with chromium() as found:
        yield found


@pytest.fixture(scope="module")
def played(browser: Browser) -> Iterator[Playground]:
    with playground() as found:
        yield found


@pytest.fixture
def windows(browser: Browser, played: Playground) -> Iterator[Windows]:
    found = Windows(browser, played.url)
    yield found
    found.close()


def told(capsys: pytest.CaptureFixture[str], line: str) -> None:
    with capsys.disabled():
        sys.stdout.write(f"\n{line}\n")


def test_the_page_can_be_used_soon_after_the_start(
    browser: Browser, capsys: pytest.CaptureFixture[str]
) -> None:
    start = time.perf_counter()
    with playground() as fresh:
        printed = time.perf_counter() - start
        windows = Windows(browser, fresh.url)
        windows.open().enters("U_ADA")
        taken = time.perf_counter() - start
        windows.close()
    told(capsys, f"poolkeeper demo: address after {printed:.1f} s, usable page after {taken:.1f} s")
    assert taken <= USABLE_S


def test_a_typed_command_is_answered_at_once(
    windows: Windows, capsys: pytest.CaptureFixture[str]
) -> None:
    window = windows.open().enters("U_ADA")
    taken = sorted(answered_ms(window) for _ in range(ROUNDS))
    median = statistics.median(taken)
    told(
        capsys, f"/pool status: {median:.0f} ms in the median of {ROUNDS}, {taken[-1]:.0f} at most"
    )
    assert median <= ANSWER_MS


def answered_ms(window: Window) -> float:
    """From pressing Enter to the frame that shows the answer."""
    window.find("composer").fill("/pool status")
    window.page.evaluate(f"window.__answered = ({_ANSWERED})(); undefined")
    window.find("composer").press("Enter")
    return float(window.page.evaluate("window.__answered"))


def test_a_full_channel_stays_smooth_while_messages_come(
    windows: Windows, played: Playground, capsys: pytest.CaptureFixture[str]
) -> None:
    for number in range(_FULL):
        says(played, number)
    window = windows.open().enters("U_INES")
    window.messages(f"Message {_FULL - 1}.").last.wait_for()
    window.page.evaluate(f"({_SMOOTH})()")

    for number in range(_FULL, _FULL + _NEW):
        says(played, number)
    window.messages(f"Message {_FULL + _NEW - 1}.").last.wait_for()

    seen: dict[str, Any] = window.page.evaluate("window.__seen")
    frames = sorted(seen["frames"])
    usual, p95, worst = statistics.median(frames), frames[len(frames) * 95 // 100], frames[-1]
    blocked = max(seen["blocked"], default=0.0)
    told(
        capsys,
        f"{_NEW} new messages in a channel of {_FULL}: frames {usual:.0f} ms apart, 95 % within "
        f"{p95:.0f}, at most {worst:.0f}; longest task {blocked:.0f} ms of {len(seen['blocked'])}",
    )
    assert p95 <= FRAME_MS
    assert blocked <= BLOCKED_MS


def says(played: Playground, number: int) -> None:
    played.post(
        "/sandbox/say", person="U_BEN", channel="C_GENERAL",
        text=f"Message {number}. It says something about a run that has *ended*, and `how`.",
    )  # fmt: skip
