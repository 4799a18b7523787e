"""When a channel may be posted in again: Slack's rate limits, and pauses after failures.

facts/slack.md 2.3: one post per second and channel; edits and uploads are counted for the whole
workspace. A limit that Slack names holds for what it was named for, and for nothing else.
"""

from datetime import datetime, timedelta

from storage.outbox import Message

BETWEEN_POSTS = timedelta(seconds=1)
_LONGEST = timedelta(minutes=5)
_LONGEST_EXPONENT = 12


class Pace:
    """Who has to wait until when; known to one worker, and lost with it."""

    def __init__(self) -> None:
        self._until: dict[str, datetime] = {}

    def is_free(self, message: Message, now: datetime) -> bool:
        return all(self._until.get(lane, now) <= now for lane in lanes(message))

    def used(self, message: Message, now: datetime) -> None:
        self._until[message.channel] = now + BETWEEN_POSTS

    def wait(self, message: Message, until: datetime) -> None:
        """The channel waits, so that its messages keep their order."""
        self._until[message.channel] = until

    def limited(self, message: Message, until: datetime) -> None:
        """Slack said how long: that holds for all calls that it counts together."""
        for lane in lanes(message):
            self._until[lane] = max(until, self._until.get(lane, until))

    def next(self, now: datetime) -> datetime | None:
        """When the first of those that wait may go; what is over is forgotten."""
        self._until = {lane: until for lane, until in self._until.items() if until > now}
        return min(self._until.values(), default=None)


def lanes(message: Message) -> tuple[str, ...]:
    """What a message's calls are counted by: its channel, and its method where that is shared."""
    if "picture" in message.payload:
        return (message.channel, "files")
    if "card" in message.payload and message.edition > 1:
        return (message.channel, "chat.update")
    return (message.channel,)


def backoff(attempts: int) -> timedelta:
    """Longer after every failure: 1 s, 2 s, 4 s, up to five minutes."""
    return min(timedelta(seconds=2 ** min(attempts, _LONGEST_EXPONENT)), _LONGEST)
