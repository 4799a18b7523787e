"""Slack for the gallery: it takes everything, and knows one workspace by heart."""

from bot.access import Groups
from bot.blocks import Block, Post
from bot.manifest import BOT_SCOPES
from bot.slack_door import File, Impossible, Place, Slack, SlackError

_ABSENT = frozenset({"groups:read", "files:write"})


class StagedSlack(Slack):
    """The door with nothing behind it: only what a handler asks of Slack by itself."""

    def __init__(self) -> None:
        self.ailing = False
        """Whether what it says gives the doctor something to find."""
        self.fails: dict[str, SlackError] = {}
        """What is refused, by the method's name."""
        self.homes: dict[str, Block] = {}
        """What was published last for each person."""

    def groups(self) -> Groups:
        self._may("groups")
        return {"S_VISION": frozenset({"U_DANA"})}

    def scopes(self) -> frozenset[str]:
        self._may("scopes")
        every = frozenset(scope.name for scope in BOT_SCOPES)
        return every - _ABSENT if self.ailing else every

    def place(self, channel: str) -> Place:
        self._may(channel)
        return Place(name=channel, archived=False, joined=not self.ailing)

    def direct(self, user: str) -> str:
        return f"D{user[1:]}"

    def home(self, user: str, view: Block) -> None:
        self.homes[user] = view

    def upload(self, post: Post, file: File) -> None:
        """It is taken, and shown to nobody."""

    def download(self, file: str, most: int) -> bytes:  # noqa: ARG002
        raise Impossible("file_not_found")

    def _may(self, what: str) -> None:
        if what in self.fails:
            raise self.fails[what]
