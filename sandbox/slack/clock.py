"""The workspace's time: real time plus an offset that tests move, so that nothing has to wait."""

import asyncio
import time


class Clock:
    """Gives unique message timestamps, and wakes its sleepers when it is moved."""

    def __init__(self) -> None:
        self.offset = 0.0
        self._moved = asyncio.Event()
        self._last = 0

    def now(self) -> float:
        return time.time() + self.offset

    def ts(self) -> str:
        """A timestamp that no other message has: seconds and microseconds."""
        self._last = max(self._last + 1, int(self.now() * 1e6))
        return f"{self._last // 1_000_000}.{self._last % 1_000_000:06d}"

    def advance(self, seconds: float) -> None:
        self.offset += seconds
        self._moved.set()
        self._moved = asyncio.Event()

    async def sleep(self, seconds: float) -> None:
        """Returns when the clock has moved that far, by itself or by `advance`."""
        end = self.now() + seconds
        while (left := end - self.now()) > 0:
            try:
                await asyncio.wait_for(self._moved.wait(), left)
            except TimeoutError:
                return
