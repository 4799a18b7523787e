"""The playground for tests: the real `poolkeeper demo`, as somebody starts it in a terminal.

`playground()` waits for the address that it prints, and ends it as Ctrl-C does.
"""

import os
import re
import signal
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import requests

from tests.poolkeeper_support import POOLKEEPER
from tests.sandbox_support import ROOT, wait_until

Doc = dict[str, Any]

_ADDRESS = re.compile(r"playground is at (http://127\.0\.0\.1:\d+)")
_KEPT = ("PATH", "HOME", "LANG")
START_S = 90.0


@dataclass
class Playground:
    """`url` is the page's address; `said` what the command has printed so far."""

    popen: subprocess.Popen[bytes]
    directory: Path
    url: str = ""

    @property
    def said(self) -> str:
        return (self.directory / "said").read_text()

    def log(self, child: str) -> str:
        """What a child has complained of."""
        return "".join(log.read_text() for log in self.directory.glob(f"*/{child}.log"))

    def is_tidy(self) -> bool:
        """Whether nothing but what it has printed is left of it."""
        return [path.name for path in self.directory.iterdir()] == ["said"]

    def wait_for_address(self) -> None:
        def address() -> str:
            assert self.popen.poll() is None, self.said
            found = _ADDRESS.search(self.said)
            return found[1] if found else ""

        self.url = wait_until(address, "it prints its address", START_S)

    def get(self, path: str, **headers: str) -> requests.Response:
        return requests.get(f"{self.url}{path}", headers=headers, timeout=10)

    def post(self, path: str, **body: Any) -> Doc:
        """The answer to what is no refusal."""
        answer = requests.post(f"{self.url}{path}", json=body, timeout=30)
        assert answer.status_code == 200, answer.text
        found: Doc = answer.json()
        return found

    def state(self) -> Doc:
        found: Doc = self.get("/cluster/state").json()
        return found

    def wait_for_state(self, is_so: Callable[[Doc], bool], what: str) -> Doc:
        """The first state of the cluster of which this is so."""

        def looked() -> Doc:
            state = self.state()
            return state if is_so(state) else {}

        return wait_until(looked, what, START_S)

    def says(self, person: str, channel: str, line: str) -> str:
        """What the person reads in answer to a command there."""
        told = self.post("/sandbox/command", person=person, channel=channel, text=line)
        assert not told["error"], told

        def answer() -> str:
            body = {"person": person, "after": told["after"]}
            found = self.post("/sandbox/changed", **body)["messages"]
            answers = [one["plain"] for one in found if one["by_bot"] and one["channel"] == channel]
            return str(answers[-1]) if answers else ""

        return wait_until(answer, f"{line} is answered", 30.0)

    def presses(self, person: str, channel: str, what: str) -> None:
        """The newest button of this name that the person sees there, once there is one."""

        def pressed() -> bool:
            body = {"person": person, "channel": channel}
            for message in reversed(self.post("/sandbox/messages", **body)["messages"]):
                where = {"channel": channel, "ts": message["ts"]}
                press = {"person": person, "where": where, "what": what}
                if requests.post(f"{self.url}/sandbox/press", json=press, timeout=30).ok:
                    return True
            return False

        wait_until(pressed, f"{person} presses {what!r}", 30.0)

    def gallery(self) -> list[Doc]:
        """Its entries, once they are there: what makes them lets everything else go first."""

        def entries() -> list[Doc]:
            found: list[Doc] = self.get("/playground/gallery").json()["entries"]
            return found

        return wait_until(entries, "the gallery is there", 3 * START_S)

    def wait_until_typed(self, person: str, text: str) -> None:
        """The person's window holds this text, as far as the workspace knows."""

        def is_there() -> bool:
            return text in str(self.post("/sandbox/views", person=person)["views"])

        wait_until(is_there, f"{text!r} is typed", 30.0)

    def children(self) -> list[psutil.Process]:
        return psutil.Process(self.popen.pid).children(recursive=True)

    def end(self, number: signal.Signals = signal.SIGINT) -> int:
        self.popen.send_signal(number)
        return self.popen.wait(timeout=30)


def environment(**more: str) -> dict[str, str]:
    kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
    return {**kept, "PYTHONPATH": str(ROOT), **more}


@contextmanager
def playground(*arguments: str) -> Iterator[Playground]:
    """`poolkeeper demo --port 0` while the block runs."""
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        with (directory / "said").open("wb") as file:
            popen = subprocess.Popen(
                [POOLKEEPER, "demo", "--port", "0", *arguments],
                cwd=directory, env=environment(TMPDIR=name), stdin=subprocess.DEVNULL,
                stdout=file, stderr=file, start_new_session=True,
            )  # fmt: skip
        played = Playground(popen, directory)
        try:
            played.wait_for_address()
            yield played
        finally:
            if popen.poll() is None:
                played.end()
