"""A real browser for tests: Debian's Chromium, driven by Playwright, on the playground's page."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from playwright.sync_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Locator,
    Page,
    expect,
    sync_playwright,
)

from tests.browser_missing import browser_path
from tests.sandbox_support import ROOT

Doc = dict[str, Any]

KEPT = ROOT / "build" / "browser"
_FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
)  # fmt: skip
PATIENCE_MS = 30_000
"""A condition is waited for; on a busy machine that takes longer than anybody would like."""

WIDE, NARROW = (1280, 900), (380, 780)


@contextmanager
def chromium() -> Iterator[Browser]:
    """A browser, ended with the block, as is the loop that Playwright runs."""
    expect.set_options(timeout=PATIENCE_MS)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=browser_path(), args=[*_FLAGS])
        try:
            yield browser
        finally:
            browser.close()


@dataclass
class Window:
    """One person's window: a browser context of its own, and all that its console said."""

    page: Page
    url: str
    console: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.page.set_default_timeout(PATIENCE_MS)
        self.page.on("console", self._heard)
        self.page.on("pageerror", lambda error: self.console.append(f"error: {error}"))

    def _heard(self, said: ConsoleMessage) -> None:
        self.console.append(f"{said.type}: {said.text}")

    @property
    def errors(self) -> list[str]:
        return [line for line in self.console if line.startswith("error")]

    # Where one is --------------------------------------------------------------------------------

    def opens(self, path: str) -> "Window":
        self.page.goto(f"{self.url}{path}")
        return self

    def enters(self, person: str, place: str = "C_GENERAL") -> "Window":
        """The chat, as this person, once it is live."""
        self.opens(f"/#/{person}/{place}")
        expect(self.find("connection-state")).to_have_text("live")
        expect(self.find("home" if place == "home" else "composer")).to_be_visible()
        if self.modal.count():  # what an earlier test has left open
            self.find("modal-close-all").click()
            expect(self.modal).to_have_count(0)
        return self

    def goes(self, channel: str) -> None:
        self.page.locator(f"[data-channel={channel}]").click()
        expect(self.page).to_have_url(re.compile(channel))

    def becomes(self, person: str) -> None:
        self.find("person-switch").select_option(person)
        expect(self.page).to_have_url(re.compile(person))

    # What is there -------------------------------------------------------------------------------

    def find(self, name: str) -> Locator:
        """What the page calls by this name (see sandbox/web/src/main.tsx)."""
        return self.page.get_by_test_id(name)

    def messages(self, containing: str = "") -> Locator:
        return self.find("message").filter(has_text=containing)

    @property
    def modal(self) -> Locator:
        return self.find("modal")

    # What is done --------------------------------------------------------------------------------

    def says(self, line: str) -> None:
        self.find("composer").fill(line)
        self.find("composer").press("Enter")

    def asks(self, line: str, containing: str) -> Locator:
        """Says it; the message that comes then and reads so."""
        answer = self.next(containing)
        self.says(line)
        expect(answer).to_be_visible()
        return answer

    def next(self, containing: str) -> Locator:
        """The message that will read so and is not there yet."""
        return self.messages(containing).nth(self.messages(containing).count())

    def presses(self, label: str, where: Locator | None = None) -> None:
        (where or self.page).get_by_role("button", name=label, exact=True).last.click()

    def confirms(self) -> None:
        """Yes to the dialog that asks."""
        self.find("confirm").locator("[data-autofocus]").click()
        expect(self.find("confirm")).to_have_count(0)

    def fills(self, block: str, value: str) -> None:
        self.modal.locator(f'[data-block="{block}"]').locator("input, textarea").fill(value)

    def submits(self) -> None:
        self.find("modal-submit").click()

    def keep(self, directory: Path, name: str) -> None:
        """A picture of it and what the console said, for who looks for what went wrong."""
        directory.mkdir(parents=True, exist_ok=True)
        self.page.screenshot(path=directory / f"{name}.png", full_page=True)
        (directory / f"{name}.log").write_text("\n".join([self.page.url, *self.console]))


@dataclass
class Windows:
    """Opens windows on one playground; each is another person's browser."""

    browser: Browser
    url: str
    opened: list[Window] = field(default_factory=list)
    contexts: list[BrowserContext] = field(default_factory=list)

    def open(self, size: tuple[int, int] = WIDE, theme: str = "light", url: str = "") -> Window:
        """A new window; `url` is where it meets the playground, if not there."""
        width, height = size
        context = self.browser.new_context(
            viewport={"width": width, "height": height},
            color_scheme="dark" if theme == "dark" else "light",
            reduced_motion="reduce",
        )
        self.contexts.append(context)
        window = Window(context.new_page(), url or self.url)
        self.opened.append(window)
        return window

    def close(self) -> None:
        for context in self.contexts:
            context.close()
