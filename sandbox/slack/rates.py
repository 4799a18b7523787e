"""Rate limits, counted as Slack counts them, when they are switched on (facts/slack.md 2.3)."""

from collections import defaultdict, deque
from math import ceil

from sandbox.slack.clock import Clock
from sandbox.slack.errors import SlackError

TIERS = {1: 1, 2: 20, 3: 50, 4: 100}  # calls per minute
METHOD_TIERS = {
    "chat.update": 3, "chat.delete": 3, "chat.postEphemeral": 4,
    "views.open": 4, "views.push": 4, "views.update": 4, "views.publish": 4,
    "users.info": 4, "users.list": 2, "users.lookupByEmail": 3, "users.conversations": 3,
    "conversations.list": 2, "conversations.info": 3, "conversations.open": 3,
    "conversations.join": 3, "conversations.history": 3, "conversations.replies": 3,
    "conversations.members": 4, "usergroups.list": 2, "usergroups.users.list": 2,
    "files.getUploadURLExternal": 4, "files.completeUploadExternal": 4, "files.info": 4,
    "reactions.add": 3, "reactions.remove": 2, "apps.connections.open": 1,
}  # fmt: skip
BURST = 5


class Rates:
    """One message per second and channel after a burst; the tiers per minute and method."""

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self.counting = False
        self.burst = BURST
        self._tokens: dict[str, tuple[float, float]] = {}
        self._calls: defaultdict[str, deque[float]] = defaultdict(deque)

    def count(self, method: str, channel: str) -> None:
        """Counts a call, or refuses it with the seconds after which it would be taken."""
        if not self.counting:
            return
        if method == "chat.postMessage":
            self._count_message(channel)
        elif method in METHOD_TIERS:
            self._count_call(method, TIERS[METHOD_TIERS[method]])

    def _count_message(self, channel: str) -> None:
        now = self.clock.now()
        left, then = self._tokens.get(channel, (float(self.burst), now))
        left = min(self.burst, left + now - then)
        if left < 1:
            self._tokens[channel] = (left, now)
            raise SlackError("ratelimited", 429, ceil(1 - left))
        self._tokens[channel] = (left - 1, now)

    def _count_call(self, method: str, most: int) -> None:
        now, calls = self.clock.now(), self._calls[method]
        while calls and now - calls[0] >= 60:
            calls.popleft()
        if len(calls) >= most:
            raise SlackError("ratelimited", 429, ceil(60 - (now - calls[0])))
        calls.append(now)
