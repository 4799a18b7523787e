"""The processes that a command starts and ends with itself."""

import ctypes
import select
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from bot.refusing import Refusal

_LOOK_S = 0.05
_PATIENCE_S = 10.0
_TAIL_LINES = 15
_PR_SET_PDEATHSIG = 1


class Ended(Exception):
    """Somebody asked for the end while something was waited for."""


@dataclass(frozen=True)
class Child:
    """`name` is what people are told; its complaints go to `log`. One on an `errand` may end."""

    name: str
    process: subprocess.Popen[bytes]
    log: Path
    errand: bool

    def last_words(self) -> str:
        return "\n".join(self.log.read_text(errors="replace").splitlines()[-_TAIL_LINES:])


@dataclass
class Children:
    """Each in a session of its own, so that Ctrl-C reaches this process alone, which ends them.

    Their temporary files are in `directory`, too: what one that is killed leaves goes with it.
    """

    directory: Path
    over: threading.Event
    _started: list[Child] = field(default_factory=list)

    def start(
        self, name: str, command: Sequence[str], env: Mapping[str, str], *, errand: bool = False
    ) -> Child:
        log = self.directory / f"{name.replace(' ', '-')}.log"
        with log.open("wb") as file:
            process = subprocess.Popen(  # noqa: S603
                command,
                env={**env, "TMPDIR": str(self.directory)},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=file,
                start_new_session=True,
                preexec_fn=_die_with_parent if sys.platform == "linux" else None,  # noqa: PLW1509
            )
        child = Child(name, process, log, errand)
        self._started.append(child)
        return child

    def check(self) -> None:
        """Raises `Refusal` when one has ended, `Ended` when all are to end."""
        if self.over.is_set():
            raise Ended
        for child in list(self._started):
            if (code := child.process.poll()) is None:
                continue
            if not child.errand:
                said = f"The {child.name} ended by itself (code {code}), so the demo ends, too."
                raise Refusal([said, child.last_words()], code=1)
            self._started.remove(child)
            _close(child)
            if code != 0:
                print(f"The {child.name} failed (code {code}): {child.last_words()}")

    def wait_until(self, condition: Callable[[], bool], what: str, seconds: float) -> None:
        deadline = time.monotonic() + seconds
        while not condition():
            self.check()
            if time.monotonic() > deadline:
                raise Refusal([f"{what} did not happen within {seconds:g} s."], code=1)
            self.over.wait(_LOOK_S)

    def first_line(self, child: Child, seconds: float) -> bytes:
        """What it says first on its standard output."""
        output = child.process.stdout
        assert output is not None
        what = f"The first word of the {child.name}"
        self.wait_until(lambda: bool(select.select([output], [], [], 0)[0]), what, seconds)
        return output.readline()

    def watch(self, every_s: float, do: Callable[[], None]) -> None:
        """Until the end is asked for, which raises `Ended`."""
        while True:
            self.check()
            do()
            self.over.wait(every_s)

    def end(self) -> None:
        """All of them, the last one first."""
        for child in reversed(self._started):
            child.process.terminate()
            try:
                child.process.wait(_PATIENCE_S)
            except subprocess.TimeoutExpired:
                child.process.kill()
                child.process.wait()
            _close(child)


def _close(child: Child) -> None:
    for pipe in (child.process.stdin, child.process.stdout):
        if pipe is not None:
            pipe.close()


def _die_with_parent() -> None:
    """Also where this process is killed without a chance to end its children."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
