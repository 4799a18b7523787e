"""Locks between processes on files beside the database; the kernel frees them at any death.

`flock` belongs to an open file description, so every holder opens the file anew: threads of one
process exclude one another like processes do. They are for one machine and a local file system.
"""

import fcntl
import os
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from storage.database import Leadership
from storage.errors import DatabaseUnavailable

_PAUSE_S = 0.002
# A look at who leads holds the lock for an instant, and must not cost anybody the leadership.
_LEADER_PATIENCE_S = 0.2
_NAME_BYTES = 200


class FileLeadership(Leadership):
    """Held as long as the file is open: the kernel takes it from nobody who lives."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor: int | None = descriptor

    def is_held(self) -> bool:
        return self._descriptor is not None

    def is_confirmed(self) -> bool:
        return self.is_held()

    def release(self) -> None:
        descriptor, self._descriptor = self._descriptor, None
        if descriptor is not None:
            os.ftruncate(descriptor, 0)
            os.close(descriptor)


def claim_leadership(path: Path, name: str) -> Leadership | None:
    """Take the lock on the file and write into it who has it; None when it is taken."""
    descriptor = _open(path)
    if not _exclusive(descriptor, _LEADER_PATIENCE_S):
        os.close(descriptor)
        return None
    os.ftruncate(descriptor, 0)
    os.pwrite(descriptor, (name or f"process {os.getpid()}").encode()[:_NAME_BYTES], 0)
    return FileLeadership(descriptor)


def leader(path: Path) -> str | None:
    """Who holds the lock, None when nobody does or it is not yet written."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise DatabaseUnavailable(path, f"its lock file: {error.strerror}") from error
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return os.pread(descriptor, _NAME_BYTES, 0).decode(errors="replace") or None
    else:
        return None
    finally:
        os.close(descriptor)


class MoveGuard:
    """Shared by all who are moving a task; draining waits for those who began before it.

    Whoever enters passes a gate first. Draining shuts the gate, so that an unbroken chain of
    later moves cannot keep it waiting; they wait at the gate meanwhile.
    """

    def __init__(self, moves: Path, gate: Path) -> None:
        self._paths = (moves, gate)
        self._idle: deque[tuple[int, int]] = deque()
        # Opened at once: that the folder is not writable is to be known before the first move.
        self._idle.append(self._open_both())

    @contextmanager
    def shared(self) -> Iterator[None]:
        """Be one of those who are moving. Do not nest: draining in between would shut you in."""
        try:
            both = self._idle.pop()
        except IndexError:
            both = self._open_both()
        moves, gate = both
        try:
            fcntl.flock(gate, fcntl.LOCK_SH)
            fcntl.flock(moves, fcntl.LOCK_SH)
            fcntl.flock(gate, fcntl.LOCK_UN)
            yield
        finally:
            fcntl.flock(gate, fcntl.LOCK_UN)
            fcntl.flock(moves, fcntl.LOCK_UN)
            self._idle.append(both)

    def drain(self, timeout_s: float) -> bool:
        """Wait until everybody who was inside has left; False when it took longer."""
        deadline = time.monotonic() + timeout_s
        moves, gate = self._open_both()
        try:
            return _exclusive(gate, timeout_s) and _exclusive(moves, deadline - time.monotonic())
        finally:
            os.close(moves)
            os.close(gate)

    def close(self) -> None:
        """Close what nobody uses."""
        while self._idle:
            for descriptor in self._idle.pop():
                os.close(descriptor)

    def _open_both(self) -> tuple[int, int]:
        moves, gate = self._paths
        return _open(moves), _open(gate)


def _exclusive(descriptor: int, patience_s: float) -> bool:
    """Take the lock alone; tried at least once, and again until the patience ends."""
    # The kernel's own waiting has no time limit, hence the polling.
    deadline = time.monotonic() + patience_s
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= deadline:
                return False
            time.sleep(_PAUSE_S)
        else:
            return True


def _open(path: Path) -> int:
    try:
        return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise DatabaseUnavailable(path, f"its lock file: {error.strerror}") from error
