"""The README's pictures, taken of the running playground: `python -m tests.pictures`.

Light and dark, each of few colours, so that all of them together are small.
"""

import io
import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

from PIL import Image
from playwright.sync_api import FloatRect, Locator, expect

from tests.browser_missing import browser_missing
from tests.browser_support import Window, Windows, chromium
from tests.playground_support import Playground, playground
from tests.sandbox_support import ROOT

WHERE = ROOT / "docs" / "pictures"
_SIZE, _TALL = (1200, 760), (1000, 1100)
_CARD = "requests-card-provision-the-draft"
_COLOURS = 128
_MOST_BYTES = 200_000
_DIGEST_MS = 150_000


def chat(window: Window) -> list[Locator]:
    """An answer in the chat, with the tour beside it."""
    window.enters("U_ADA", "C_GENERAL")
    window.asks("/pool status", "2 pools:")
    return [window.page.locator("body")]


def request(window: Window) -> list[Locator]:
    """A change that waits for a second admin: the gallery's, which shows all that a card may."""
    window.opens(f"/gallery?entry={_CARD}&bare=1")
    shown = window.page.locator(f'[data-gallery-entry="{_CARD}"] .message')
    expect(shown).to_be_visible()
    return [shown]


def cluster(window: Window) -> list[Locator]:
    """Pools and queues, with what runs and waits."""
    window.opens("/cluster")
    expect(window.find("job").first).to_be_visible()
    return [window.page.locator("body")]


def digest(window: Window) -> list[Locator]:
    """A team's day, as its channel reads it, with its chart."""
    window.enters("U_DANA", "C_VISION")
    chart = window.find("message").filter(has=window.page.locator("img")).last
    expect(chart).to_be_visible()
    return [window.messages("Digest for vision").last, chart]


SCENES: dict[str, Callable[[Window], list[Locator]]] = {
    "chat": chat,
    "request": request,
    "cluster": cluster,
    "digest": digest,
}


def prepare(played: Playground) -> None:
    """Jobs have ended, and a digest is about to come."""
    played.wait_for_state(lambda state: len(state["done"]) > 5, "jobs have ended")
    soon = datetime.now(UTC) + timedelta(minutes=1)
    played.says("U_ADA", "C_VISION", f"/pool digest at {soon:%H:%M} daily UTC")


def take(windows: Windows) -> None:
    for theme in ("light", "dark"):
        for name, scene in SCENES.items():
            window = windows.open(_SIZE if name in ("chat", "cluster") else _TALL, theme)
            clip = around(scene(window))
            keep(WHERE / f"{name}-{theme}.png", window.page.screenshot(clip=clip))


def around(shown: list[Locator]) -> FloatRect:
    """What holds all of it."""
    boxes = [box for one in shown if (box := one.bounding_box())]
    left, top = min(box["x"] for box in boxes), min(box["y"] for box in boxes)
    right = max(box["x"] + box["width"] for box in boxes)
    bottom = max(box["y"] + box["height"] for box in boxes)
    return {"x": left, "y": top, "width": right - left, "height": bottom - top}


def keep(path: Path, picture: bytes) -> None:
    """With few colours: a page has not many more, and a tenth of the bytes."""
    image = Image.open(io.BytesIO(picture)).convert("RGB")
    small = image.quantize(_COLOURS, dither=Image.Dither.NONE)
    small.save(path, optimize=True)
    size = path.stat().st_size
    sys.stdout.write(
        f"{path.relative_to(ROOT)}: {image.width} × {image.height}, {size / 1000:.0f} kB\n"
    )
    assert size < _MOST_BYTES, "a README's picture is small"


def main() -> None:
    if reason := browser_missing():
        sys.exit(reason)
    WHERE.mkdir(parents=True, exist_ok=True)
    with playground() as played, chromium() as browser:
        prepare(played)
        played.gallery()
        windows = Windows(browser, played.url)
        waiting = windows.open(_SIZE).enters("U_DANA", "C_VISION")
        expect(waiting.messages("Digest for vision").last).to_be_visible(timeout=_DIGEST_MS)
        expect(waiting.page.locator("img").last).to_be_visible(timeout=_DIGEST_MS)
        take(windows)
        windows.close()


if __name__ == "__main__":
    main()
