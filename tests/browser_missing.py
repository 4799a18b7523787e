"""Whether there is a browser for tests of the page, without importing what drives one."""

import os
import shutil

from tests.sandbox_support import ROOT

PAGE = ROOT / "sandbox" / "web" / "dist" / "index.html"
_NAMES = ("chromium", "chromium-browser", "google-chrome")


def browser_path() -> str | None:
    return next(filter(None, map(shutil.which, _NAMES)), None)


def browser_missing() -> str:
    """What keeps the browser's tests from being run, in a sentence; "" where nothing does."""
    if browser_path() is None:
        return "There is no Chromium here; on Debian: apt-get install chromium."
    if not PAGE.exists():
        return "Its files are not built; `make setup` builds them with Node.js."
    return ""


def is_required() -> bool:
    """Whether it is a failure that there is none."""
    return os.environ.get("POOLKEEPER_CONTRACT_BROWSER") == "required"
