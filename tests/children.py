"""Python processes of a test's own, to be talked to by lines and killed with -9."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class Child:
    """A Python process that runs a script, to be talked to by lines."""

    def __init__(self, script: str, *arguments: object) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", script, *map(str, arguments)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])},
        )
        self.pid = self.process.pid

    def says(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.readline().strip()

    def go(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write("\n")
        self.process.stdin.flush()

    def kill_9(self) -> None:
        self.process.kill()
        self.process.wait()

    def ends(self) -> int:
        return self.process.wait(timeout=60)


@contextmanager
def children(script: str, *arguments: tuple[object, ...]) -> Iterator[list[Child]]:
    """One process for each tuple of arguments; none of them outlives the block."""
    started = [Child(script, *each) for each in arguments]
    try:
        yield started
    finally:
        for child in started:
            child.kill_9()
            for stream in (child.process.stdin, child.process.stdout):
                assert stream is not None
                stream.close()
