"""The page's files, as `make setup` builds them into sandbox/web/dist; the wheel carries them."""

import mimetypes
from dataclasses import dataclass
from importlib import resources
from importlib.resources.abc import Traversable

MISSING = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Poolkeeper's playground</title></head>
<body><h1>The page is not built yet</h1>
<p>The servers of the playground are running, but the files of this page are missing.
Run <code>make setup</code> in the checkout and reload.</p></body></html>
"""


@dataclass(frozen=True, slots=True)
class Bundle:
    """Files below one directory."""

    root: Traversable

    def content(self, path: str) -> tuple[bytes, str] | None:
        """The bytes of a file and their type; None where there is no such file."""
        found = self.root
        for part in path.split("/"):
            if part in ("", ".", "..") or "\\" in part or "\0" in part:
                return None
            found = found.joinpath(part)
        if not found.is_file():
            return None
        return found.read_bytes(), mimetypes.guess_type(path)[0] or "application/octet-stream"


def shipped() -> Bundle:
    return Bundle(resources.files("sandbox").joinpath("web", "dist"))
