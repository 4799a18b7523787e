"""The gallery, the cluster, and what holds for all pages: names, keyboard, sizes, themes."""

import re
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.browser_support import NARROW, PATIENCE_MS, WIDE, Window, Windows
from tests.playground_support import Playground

Doc = dict[str, Any]

_OVERFLOWING = """() => [...document.querySelectorAll('[data-gallery-entry]')].filter((entry) => {
    const frame = entry.querySelector('.gallery-drawn').getBoundingClientRect();
    return [...entry.querySelectorAll('.gallery-drawn *')].some((one) => {
        const box = one.getBoundingClientRect();
        if (!box.width || !box.height) return false;
        for (let it = one.parentElement; it && it !== entry; it = it.parentElement) {
            if (/auto|scroll|hidden|clip/.test(getComputedStyle(it).overflowX)) return false;
        }
        return box.right > frame.right + 1 || box.left < frame.left - 1;
    });
}).map((entry) => entry.dataset.galleryEntry)"""
"""The entries of which something stands out at the side of their frame."""

_NAMELESS = """() => [...document.querySelectorAll(
    'button, a[href], input, select, textarea, [role=button], [role=combobox], [tabindex="0"]',
)].filter((one) => one.offsetParent !== null).filter((one) => {
    const labels = [...(one.labels ?? [])].map((label) => label.textContent).join('');
    const by = (one.getAttribute('aria-labelledby') ?? '').split(' ')
        .map((id) => document.getElementById(id)?.textContent ?? '').join('');
    const name = [one.getAttribute('aria-label'), by, labels, one.title, one.innerText,
        one.type === 'submit' ? one.value : ''].join('').trim();
    const scrolls = one.getAttribute('tabindex') === '0' && !one.matches('button, a, input');
    return !name && !(scrolls && one.scrollHeight >= one.clientHeight);
}).map((one) => one.outerHTML.slice(0, 160))"""
"""What can be pressed or typed in and has no name."""

_LOOKS = ("wide and light", "narrow and dark")
_WIDER = "() => document.documentElement.scrollWidth - document.documentElement.clientWidth"


@pytest.fixture(scope="module")
def entries(played: Playground) -> list[Doc]:
    """What the demo has pushed; it does so after its start."""
    return played.gallery()


@pytest.mark.parametrize(("size", "theme"), [(WIDE, "light"), (NARROW, "dark")], ids=_LOOKS)
def test_every_entry_of_the_gallery_is_drawn_whole(
    windows: Windows, entries: list[Doc], size: tuple[int, int], theme: str
) -> None:
    window = windows.open(size, theme).opens("/gallery")
    shown = window.page.locator("[data-gallery-entry]")
    expect(shown).to_have_count(len(entries), timeout=4 * PATIENCE_MS)
    expect(window.page.locator('[data-state="ok"]')).to_have_count(len(entries))

    broken = window.page.locator('[data-gallery-entry]:not([data-state="ok"])').all()
    assert [one.get_attribute("data-gallery-entry") for one in broken] == []
    assert window.page.evaluate(_OVERFLOWING) == []
    assert window.page.evaluate(_WIDER) == 0


def test_one_entry_is_shown_alone(windows: Windows, entries: list[Doc]) -> None:
    slug = next(one["slug"] for one in entries if one["kind"] == "modal")
    window = windows.open().opens(f"/gallery?entry={slug}&bare=1&theme=dark")

    expect(window.page.locator("[data-gallery-entry]")).to_have_count(1)
    expect(window.page.locator(f'[data-gallery-entry="{slug}"]')).to_be_visible()
    expect(window.find("banner")).to_have_count(0)


def test_a_job_is_added_seen_in_its_queue_and_aborted(windows: Windows) -> None:
    window = windows.open().opens("/cluster")
    window.find("stream").click()
    expect(window.find("stream")).to_have_attribute("aria-pressed", "true")
    queue = window.page.locator('[data-queue="vision-4gpu"]')
    option = window.find("add-queue").locator("option", has_text="vision-4gpu")
    window.find("add-queue").select_option(option.get_attribute("value"))
    before = {one.get_attribute("data-task") for one in queue.get_by_test_id("job").all()}
    window.find("add-count").fill("5")
    window.find("add-job").click()

    expect(queue.get_by_test_id("job")).not_to_have_count(len(before))
    job = queue.get_by_test_id("job").last
    task, name = job.get_attribute("data-task"), job.locator(".job-name").inner_text()
    assert task not in before
    job.get_by_role("button", name=f"Abort {name}").click()

    expect(window.page.locator(f'[data-task="{task}"]')).to_have_count(0)
    window.find("stream").click()


@pytest.mark.parametrize(("size", "theme"), [(WIDE, "light"), (NARROW, "dark")], ids=_LOOKS)
@pytest.mark.parametrize("path", ["/#/U_ADA/C_GENERAL", "/#/U_ADA/home", "/cluster", "/gallery"])
def test_no_page_is_wider_than_its_window_and_all_that_is_pressed_has_a_name(
    windows: Windows, path: str, size: tuple[int, int], theme: str
) -> None:
    window = windows.open(size, theme).opens(path)
    settled(window, path)

    assert window.page.evaluate(_WIDER) == 0
    assert window.page.evaluate(_NAMELESS) == []


def settled(window: Window, path: str) -> None:
    """There is something to be looked at."""
    if path == "/cluster":
        expect(window.find("pool")).to_have_count(2)
    elif path == "/gallery":
        expect(window.page.locator("h1")).to_be_visible()
    else:
        expect(window.find("connection-state")).to_have_text("live")
        if "home" in path:
            expect(window.find("home")).to_contain_text("GPU pools")


def test_a_window_on_a_narrow_screen_fits_and_everything_in_it_has_a_name(
    windows: Windows,
) -> None:
    window = windows.open(NARROW).enters("U_ADA")
    window.says("/pool edit vision")
    expect(window.modal).to_be_visible()
    window.presses("Edit", window.modal)
    expect(window.modal).to_contain_text("Edit policy")

    assert window.page.evaluate(_WIDER) == 0
    assert window.page.evaluate(_NAMELESS) == []
    box = window.modal.bounding_box()
    assert box is not None
    assert box["width"] <= NARROW[0]


def test_the_tours_first_steps_need_no_mouse(windows: Windows) -> None:
    window = windows.open().enters("U_BEN")
    keyboard = window.page.keyboard
    reached(window, "composer")
    keyboard.type("/pool status")
    keyboard.press("Escape")
    keyboard.press("Enter")
    expect(window.page.locator('[data-step="status"]')).to_have_attribute("data-state", "done")
    keyboard.type("/pool queue vision")
    keyboard.press("Enter")
    answer = window.messages("in the queues of vision").last
    expect(answer).to_be_visible()

    why = answer.get_by_role("button", name="Why?").first
    tabbed_to(window, why)
    keyboard.press("Enter")

    expect(window.page.locator('[data-step="why"]')).to_have_attribute("data-state", "done")
    reached(window, "composer")
    keyboard.type("/pool edit")
    keyboard.press("Enter")
    expect(window.modal).to_contain_text("Version")
    tabbed_to(window, window.modal.get_by_role("button", name=re.compile("^Policies")))
    keyboard.press("Enter")
    expect(window.modal).to_contain_text("language")
    keyboard.press("Escape")
    expect(window.modal).to_have_count(0)


def reached(window: Window, name: str) -> None:
    tabbed_to(window, window.find(name))


def tabbed_to(window: Window, wanted: Any) -> None:
    """Presses Tab, or Shift and Tab, until that has the keyboard."""
    for key in ("Tab", "Shift+Tab"):
        for _ in range(150):
            if wanted.evaluate("(one) => one === document.activeElement"):
                return
            window.page.keyboard.press(key)
    raise AssertionError(f"the keyboard does not reach {wanted}")
