"""Everything that changes in the workspace, numbered, for a page to show and tests to wait for."""

import asyncio
from collections import deque
from typing import Any

Doc = dict[str, Any]
KEPT = 10_000


class Feed:
    """Numbers never fall back, not even at a reset: who has seen n has seen all before."""

    def __init__(self) -> None:
        self.last = 0
        self.changes: deque[Doc] = deque(maxlen=KEPT)
        self._changed = asyncio.Event()

    def note(self, kind: str, **what: Any) -> int:
        """Adds a change {n, type, ...} and wakes all who wait; its number."""
        self.last += 1
        self.changes.append({"n": self.last, "type": kind, **what})
        self._changed.set()
        self._changed = asyncio.Event()
        return self.last

    def since(self, after: int) -> list[Doc]:
        return [change for change in self.changes if change["n"] > after]

    async def wait(self, after: int, seconds: float) -> bool:
        """Whether there is something newer than `after`, within so many seconds."""
        if self.last > after:
            return True
        try:
            await asyncio.wait_for(self._changed.wait(), seconds)
        except TimeoutError:
            return False
        return True
