"""The chat with the real bot behind it: commands, windows, approvals, lost connections."""

import re

import pytest
from playwright.sync_api import Route, expect

from tests.browser_support import Window, Windows
from tests.cut_wire import CutWire
from tests.playground_support import Playground


@pytest.fixture(autouse=True)
def nothing_is_asked_for(played: Playground) -> None:
    """What an earlier test has left open is rejected."""
    listed = played.says("U_BEN", "C_GENERAL", "/pool requests")
    for number in re.findall(r"(r\d+)[^\n]*Waits for", listed):
        played.says("U_BEN", "C_GENERAL", f"/pool reject {number}")


def test_a_typo_is_answered_with_a_button_that_runs_what_was_meant(windows: Windows) -> None:
    window = windows.open().enters("U_CHIARA")

    answer = window.asks("/pool staus", "Did you mean status?")
    window.presses("Run: status", answer)

    expect(window.messages("2 pools:").last).to_contain_text("in use")


def test_a_wrong_field_is_said_below_it_and_the_window_stays(windows: Windows) -> None:
    window = windows.open().enters("U_CHIARA")
    window.says("/pool edit h100")
    window.presses("Edit", window.modal)
    expect(window.modal).to_contain_text("Edit pool")

    window.fills("resources", "many")
    window.submits()

    error = window.find("field-error")
    expect(error).to_contain_text("is no amount. Write a number such as 4, 0.5 or 1/7")
    expect(window.modal.locator('[data-block="resources"] input')).to_have_value("many")


def test_nobody_approves_their_own_request(windows: Windows) -> None:
    window = windows.open().enters("U_ADA")
    number = asked_to(window, "disable")

    window.goes("C_ADMINS")
    card = window.messages(f"{number}: disable management")
    window.presses("Approve", card)
    window.confirms()

    expect(window.messages("nobody approves their own request").last).to_be_visible()
    expect(card).to_contain_text("Waits for one approval.")
    withdrawn(window, number)


def test_a_late_click_says_what_has_happened_already(windows: Windows, played: Playground) -> None:
    ada = windows.open().enters("U_ADA")
    number = asked_to(ada, "disable")
    ben = windows.open().enters("U_BEN", "C_ADMINS")
    card = ben.messages(f"{number}: disable management")
    expect(card).to_contain_text("Waits for one approval.")
    ben.page.route(re.compile("/sandbox/changed"), held)
    played.says("U_ADA", "C_GENERAL", f"/pool reject {number}")

    ben.presses("Reject", card)

    ben.page.unroute_all()  # which lets go what is held
    late = ben.messages(f"{number}: nothing was done.")
    expect(late).to_contain_text("withdrawn by who asked for it")
    expect(card).to_contain_text("Void")


def test_a_reload_in_the_middle_of_an_edit_loses_nothing(
    windows: Windows, played: Playground
) -> None:
    window = windows.open().enters("U_CHIARA")
    window.says("/pool edit shared")
    window.presses("Edit", window.modal)
    window.fills("description", "Twice four A10, on the second floor")
    window.submits()
    expect(window.modal).to_contain_text("on the second floor")
    window.presses("Edit", window.modal)
    window.fills("description", "Moved to the third floor")
    # What is typed goes to the workspace a moment later, as the pause in typing tells.
    played.wait_until_typed("U_CHIARA", "Moved to the third floor")

    window.page.reload()

    expect(window.modal).to_contain_text("Edit pool")
    field = window.modal.locator('[data-block="description"] textarea')
    expect(field).to_have_value("Moved to the third floor")
    window.submits()
    expect(window.modal).to_contain_text("Moved to the third floor")
    expect(window.modal).to_contain_text("You have 1 unsaved change.")


def test_two_people_see_a_change_live_until_it_is_applied(windows: Windows) -> None:
    ada = windows.open().enters("U_ADA", "C_ADMINS")
    ben = windows.open().enters("U_BEN", "C_ADMINS")
    card = ben.next("move of the racks")
    ada.asks("/pool disable now for the move of the racks", "waits for approval")
    expect(card).to_contain_text("Waits for one approval.")

    ben.presses("Approve", card)
    ben.confirms()

    both = (one.messages("move of the racks").last for one in (ada, ben))
    for there in both:
        expect(there).to_contain_text(
            re.compile(r"Approved by @?ben.* and applied\.", re.IGNORECASE)
        )
    card = ben.next("enable management")
    ada.asks("/pool enable now", "waits for approval")
    ben.presses("Approve", card)
    ben.confirms()
    expect(card).to_contain_text("and applied.")


def test_a_restart_of_the_bots_connection_is_survived(windows: Windows, played: Playground) -> None:
    window = windows.open().enters("U_HIRO")
    played.post("/sandbox/refuse_connections", refuse=True)
    played.post("/sandbox/drop", how="reset")
    window.asks("/pool queue", "failed with the error")

    played.post("/sandbox/refuse_connections", refuse=False)
    played.wait_for_state(
        lambda _: bool(played.post("/sandbox/connections")["ready"]), "the bot is back"
    )

    window.asks("/pool queue language", "in the queues of language")


@pytest.mark.loses_connections
def test_the_page_says_when_it_hears_nothing_and_comes_back_by_itself(
    windows: Windows, played: Playground
) -> None:
    with CutWire(int(played.url.rpartition(":")[2])) as wire:
        window = windows.open(url=f"http://127.0.0.1:{wire.port}").enters("U_INES")
        wire.cut()
        expect(window.find("connection-state")).to_have_text("reconnecting…")
        played.says("U_INES", "C_GENERAL", "/pool help notify")
        assert window.messages("What you can say about notify").count() == 0

        wire.restore()

        expect(window.find("connection-state")).to_have_text("live")
        expect(window.messages("What you can say about notify").last).to_be_visible()


def held(_: Route) -> None:
    """It waits: the page does not hear what has changed."""


def asked_to(window: Window, verb: str) -> str:
    """The number of a new request."""
    answer = window.asks(f"/pool {verb} now", "waits for approval")
    found = re.search(r"\br\d+\b", answer.inner_text())
    assert found is not None
    return found[0]


def withdrawn(window: Window, number: str) -> None:
    window.says(f"/pool reject {number}")
    expect(window.messages(f"{number}: you withdrew it.").last).to_be_visible()
