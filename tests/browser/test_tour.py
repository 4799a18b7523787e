"""The whole tour as its texts say it: a promise too much, mended, approved, applied."""

import re

import pytest
from playwright.sync_api import Locator, expect

from tests.browser_support import PATIENCE_MS, Window, Windows
from tests.playground_support import Playground

_STEPS = (
    "status", "queue", "why", "edit", "overpromise", "refused", "mend", "provision", "second",
    "approve", "watch", "digest",
)  # fmt: skip
_DIGEST_MS = 6 * 60_000


def step(window: Window, name: str) -> Locator:
    return window.page.locator(f'[data-step="{name}"]')


def is_done(window: Window, name: str) -> None:
    expect(step(window, name)).to_have_attribute("data-state", "done")
    following = _STEPS[_STEPS.index(name) + 1] if name != _STEPS[-1] else ""
    if following:
        expect(step(window, following)).to_have_attribute("data-state", "now")


@pytest.mark.timeout(600)
def test_the_tour_can_be_walked_from_its_first_step_to_its_last(
    windows: Windows, played: Playground
) -> None:
    window = windows.open().enters("U_ADA")
    expect(step(window, "status")).to_have_attribute("data-state", "now")
    assert [one.get_attribute("data-step") for one in window.find("tour-step").all()] == [*_STEPS]

    looks(window)
    promises_too_much(window)
    mends(window)
    has_it_approved(window)

    window.find("split").click()
    is_done(window, "watch")
    window.goes("C_VISION")
    expect(step(window, "digest")).to_have_attribute("data-state", "done", timeout=_DIGEST_MS)
    expect(window.find("tour")).to_contain_text("That was the tour.")


def looks(window: Window) -> None:
    window.says("/pool status")
    is_done(window, "status")
    window.says("/pool queue vision")
    is_done(window, "queue")
    answer = window.messages("in the queues of vision").last
    answer.get_by_role("button", name="Why?").first.click()
    is_done(window, "why")


def promises_too_much(window: Window) -> None:
    window.says("/pool edit")
    is_done(window, "edit")
    window.presses("Policies (2)", window.modal)
    expect(window.modal).to_contain_text("8 reserved")
    reserves(window, "12")
    is_done(window, "overpromise")
    window.presses("Back", window.modal)
    window.presses("Validate", window.modal)
    is_done(window, "refused")
    expect(window.modal).to_contain_text("is not valid and cannot be provisioned")


def reserves(window: Window, amount: str) -> None:
    """Vision's reservation is set to that, and saved."""
    row = window.modal.locator("[data-action=ed-go]", has_text="Open")
    row.first.click()
    expect(window.modal).to_contain_text("Policy")
    window.presses("Edit", window.modal)
    window.fills("reservation", amount)
    window.submits()
    expect(window.modal).to_contain_text(f"{amount} reserved")
    window.submits()
    expect(window.modal).to_contain_text("Saved as draft revision")


def mends(window: Window) -> None:
    window.find("modal-close").click()
    reserves(window, "10")
    window.presses("Back", window.modal)
    window.presses("Validate", window.modal)
    is_done(window, "mend")


def has_it_approved(window: Window) -> None:
    window.find("modal-close").click()
    window.presses("Provision", window.modal)
    is_done(window, "provision")
    window.find("modal-close-all").click()
    expect(window.modal).to_have_count(0)
    window.becomes("U_BEN")
    is_done(window, "second")
    window.goes("C_ADMINS")
    card = window.messages("provision the draft").last
    expect(card).to_contain_text("Policy vision: reservation 8 → 10.")
    window.presses("Approve", card)
    window.confirms()
    is_done(window, "approve")
    expect(card).to_contain_text(re.compile("applied as version 2"), timeout=PATIENCE_MS)
