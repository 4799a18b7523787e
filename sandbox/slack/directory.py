"""users.*, usergroups.* and conversations.*: who is there, and where."""

from typing import Any

from sandbox.slack.calls import Call, Method
from sandbox.slack.documents import channel_doc, group_doc, message_doc, person_doc
from sandbox.slack.errors import SlackError
from sandbox.slack.world import Channel, Message

Doc = dict[str, Any]


def user_info(call: Call) -> Doc:
    return {"user": person_doc(call.world, call.world.person(call.text("user")))}


def user_list(call: Call) -> Doc:
    people = [person_doc(call.world, person) for person in call.world.people.values()]
    return call.page(people, "members")


def lookup_by_email(call: Call) -> Doc:
    wanted = call.text("email").lower()
    for person in call.world.people.values():
        if person.email.lower() == wanted and not person.deleted:
            return {"user": person_doc(call.world, person)}
    raise SlackError("users_not_found")


def user_conversations(call: Call) -> Doc:
    """The channels of a person, of the bot when nobody is named; only those the bot may see."""
    wanted = call.text("user", call.world.bot.id)
    found = [channel for channel in _listed(call) if wanted in channel.members]
    return call.page([channel_doc(call.world, channel) for channel in found], "channels")


def group_list(call: Call) -> Doc:
    _paid(call)
    with_users = call.flag("include_users")
    return {"usergroups": [group_doc(one, with_users) for one in call.world.groups.values()]}


def group_users(call: Call) -> Doc:
    _paid(call)
    group = call.world.groups.get(call.text("usergroup"))
    if group is None:
        raise SlackError("no_such_subteam")
    return {"users": list(group.users)}


def _paid(call: Call) -> None:
    if not call.world.has_paid_plan:
        raise SlackError("paid_teams_only")


def _listed(call: Call) -> list[Channel]:
    types = call.text("types", "public_channel").split(",")
    bot = call.world.bot.id
    return [
        channel
        for channel in call.world.channels.values()
        if _kind(channel) in types and (not channel.is_private or bot in channel.members)
        if not (channel.is_archived and call.flag("exclude_archived"))
    ]


def _kind(channel: Channel) -> str:
    if channel.person:
        return "im"
    return "private_channel" if channel.is_private else "public_channel"


_SCOPES = {"im": "im", "private_channel": "groups", "public_channel": "channels"}


def _readable(call: Call, right: str = "read") -> Channel:
    channel = call.world.channel(call.text("channel"))
    call.needs(f"{_SCOPES[_kind(channel)]}:{right}")
    return channel


def channel_list(call: Call) -> Doc:
    for kind in call.text("types", "public_channel").split(","):
        call.needs(f"{_SCOPES.get(kind, 'im')}:read")
    return call.page([channel_doc(call.world, channel) for channel in _listed(call)], "channels")


def channel_info(call: Call) -> Doc:
    return {"channel": channel_doc(call.world, _readable(call))}


def channel_members(call: Call) -> Doc:
    channel = _readable(call)
    found = call.page([{"id": member} for member in channel.members], "members")
    return {**found, "members": [member["id"] for member in found["members"]]}


def channel_open(call: Call) -> Doc:
    """Direct messages with one person."""
    people = call.text("users").split(",")
    if len(people) != 1 or people[0] == call.world.bot.id:
        raise SlackError("user_not_found")
    channel = call.world.direct(people[0])
    return {"channel": {"id": channel.id}, "no_op": False, "already_open": False}


def channel_join(call: Call) -> Doc:
    channel = call.world.channel(call.text("channel"))
    if channel.is_archived:
        raise SlackError("is_archived")
    if call.world.bot.id not in channel.members:
        channel.members.append(call.world.bot.id)
        call.world.feed.note("members", channel=channel.id)
    return {"channel": channel_doc(call.world, channel)}


def channel_history(call: Call) -> Doc:
    """Newest first; replies and ephemeral messages are not part of it."""
    channel = _joined(call)
    messages = [
        one
        for one in call.world.thread(channel.id).values()
        if not one.only_for and not one.thread_ts
    ]
    return _messages(call, list(reversed(messages)))


def channel_replies(call: Call) -> Doc:
    channel, parent = _joined(call), call.text("ts")
    if parent not in call.world.thread(channel.id):
        raise SlackError("thread_not_found")
    messages = [
        one
        for one in call.world.thread(channel.id).values()
        if parent in (one.ts, one.thread_ts) and not one.only_for
    ]
    return _messages(call, messages)


def _joined(call: Call) -> Channel:
    channel = _readable(call, "history")
    if call.world.bot.id not in channel.members:
        raise SlackError("not_in_channel")
    return channel


def _messages(call: Call, messages: list[Message]) -> Doc:
    oldest, latest = call.text("oldest", "0"), call.text("latest", "9999999999")
    inclusive = call.flag("inclusive")
    kept = [
        message_doc(call.world, one)
        for one in messages
        if float(oldest) < float(one.ts) < float(latest)
        or (inclusive and one.ts in (oldest, latest))
    ]
    found = call.page(kept, "messages")
    return {**found, "has_more": bool(found["response_metadata"]["next_cursor"])}


METHODS = {
    "users.info": Method(user_info, "users:read"),
    "users.list": Method(user_list, "users:read"),
    "users.lookupByEmail": Method(lookup_by_email, "users:read.email"),
    "users.conversations": Method(user_conversations, "channels:read"),
    "usergroups.list": Method(group_list, "usergroups:read"),
    "usergroups.users.list": Method(group_users, "usergroups:read"),
    "conversations.list": Method(channel_list),
    "conversations.info": Method(channel_info),
    "conversations.members": Method(channel_members),
    "conversations.open": Method(channel_open, "im:write"),
    "conversations.join": Method(channel_join, "channels:join"),
    "conversations.history": Method(channel_history),
    "conversations.replies": Method(channel_replies),
}
