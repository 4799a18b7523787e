"""What the workspace holds: people, channels, user groups, messages, views, files. In memory only.

Nothing here knows HTTP or sockets. Whatever changes is noted in the feed.
"""

from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

from sandbox.slack.clock import Clock
from sandbox.slack.errors import DoorError, SlackError
from sandbox.slack.feed import Feed

Doc = dict[str, Any]

TEAM = "T_SANDBOX"
DOMAIN = "sandbox"
APP = "A_SANDBOX"
SLACKBOT = "USLACKBOT"
SCOPES = (
    "commands", "chat:write", "chat:write.public", "app_mentions:read", "users:read",
    "users:read.email", "usergroups:read", "channels:read", "groups:read", "im:read", "im:write",
    "im:history", "channels:history", "groups:history", "files:write", "files:read",
    "reactions:write",
)  # fmt: skip
EVENTS = (
    "app_mention", "message.im", "app_home_opened", "member_joined_channel", "member_left_channel",
    "subteam_created", "subteam_updated", "subteam_members_changed", "channel_archive",
    "channel_rename",
)  # fmt: skip


def new_id(prefix: str) -> str:
    return f"{prefix}{uuid4().hex[:10].upper()}"


@dataclass(slots=True)
class Person:
    id: str
    name: str
    real_name: str = ""
    email: str = ""
    tz: str = "Etc/UTC"
    is_admin: bool = False
    is_bot: bool = False
    deleted: bool = False


@dataclass(slots=True)
class Channel:
    """`person` is whose direct message with the bot it is; "" for a real channel."""

    id: str
    name: str
    members: list[str] = field(default_factory=list)
    is_private: bool = False
    is_archived: bool = False
    person: str = ""


@dataclass(slots=True)
class UserGroup:
    id: str
    handle: str
    name: str = ""
    users: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Bot:
    """The one app of the workspace, with what it was granted and subscribed to."""

    id: str = "U_BOT"
    bot_id: str = "B_BOT"
    name: str = "poolkeeper"
    scopes: list[str] = field(default_factory=lambda: list(SCOPES))
    events: list[str] = field(default_factory=lambda: list(EVENTS))
    should_escape: bool = True


@dataclass(slots=True)
class Message:
    """`only_for` is the one who sees an ephemeral message; `n` its last change in the feed."""

    channel: str
    ts: str
    author: str
    text: str = ""
    blocks: list[Doc] = field(default_factory=list)
    attachments: list[Doc] = field(default_factory=list)
    thread_ts: str = ""
    only_for: str = ""
    files: list[str] = field(default_factory=list)
    metadata: Doc = field(default_factory=dict)
    edits: list[Doc] = field(default_factory=list)
    edited: str = ""
    reactions: dict[str, list[str]] = field(default_factory=dict)
    mentions: list[str] = field(default_factory=list)
    pings: list[str] = field(default_factory=list)
    states: dict[str, Doc] = field(default_factory=dict)
    n: int = 0


@dataclass(slots=True)
class File:
    id: str
    name: str
    size: int
    alt_text: str = ""
    title: str = ""
    owner: str = ""
    content: bytes = b""
    complete: bool = False
    shares: list[tuple[str, str]] = field(default_factory=list)


class World:
    """One workspace. Looking up what is not there raises Slack's own code for it."""

    def __init__(self, clock: Clock, feed: Feed, url: str = "") -> None:
        self.clock, self.feed, self.url = clock, feed, url
        self.bot = Bot()
        self.people: dict[str, Person] = {}
        self.channels: dict[str, Channel] = {}
        self.groups: dict[str, UserGroup] = {}
        self.has_paid_plan = True
        self.messages: dict[str, dict[str, Message]] = {}
        self.files: dict[str, File] = {}
        self.pings: list[Doc] = []

    def person(self, person_id: str) -> Person:
        if person_id not in self.people:
            raise SlackError("user_not_found")
        return self.people[person_id]

    def direct(self, person_id: str) -> Channel:
        """The direct messages of a person with the bot, made when first asked for."""
        channel_id = f"D{self.person(person_id).id[1:]}"
        if channel_id not in self.channels:
            members = [person_id, self.bot.id]
            self.channels[channel_id] = Channel(channel_id, "", members, True, person=person_id)
        return self.channels[channel_id]

    def channel(self, channel_id: str) -> Channel:
        """The channel, or the direct messages of a person id, as the bot may see it."""
        if channel_id in self.people and channel_id != self.bot.id:
            return self.direct(channel_id)
        channel = self.channels.get(channel_id)
        if channel is None or (channel.is_private and self.bot.id not in channel.members):
            raise SlackError("channel_not_found")
        return channel

    def place(self, channel_id: str, person_id: str) -> Channel:
        """The channel where a person acts: one that they are in."""
        channel = self.channels.get(channel_id)
        if channel is None and channel_id == f"D{person_id[1:]}":
            return self.direct(person_id)
        if channel is None or person_id not in channel.members:
            raise DoorError(f"{person_id} is in no channel {channel_id!r}")
        return channel

    def thread(self, channel_id: str) -> dict[str, Message]:
        """All messages of a channel by ts, replies and ephemeral ones too, oldest first."""
        return self.messages.setdefault(channel_id, {})

    def message(self, channel_id: str, ts: str) -> Message:
        found = self.thread(channel_id).get(ts)
        if found is None:
            raise SlackError("message_not_found")
        return found

    def handles(self) -> dict[str, str]:
        """What a client completes: "@name", "#channel" and "@group", with their markup."""
        people = {f"@{one.name}": f"<@{one.id}>" for one in self.people.values()}
        named = (channel for channel in self.channels.values() if channel.name)
        channels = {f"#{one.name}": f"<#{one.id}|{one.name}>" for one in named}
        groups = {
            f"@{one.handle}": f"<!subteam^{one.id}|@{one.handle}>" for one in self.groups.values()
        }
        return {**channels, **groups, **people}
