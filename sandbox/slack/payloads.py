"""The payloads that Slack sends to an app, by kind."""

from typing import Any
from uuid import uuid4

from sandbox.slack.documents import message_doc
from sandbox.slack.state import Slack
from sandbox.slack.views import View, shown
from sandbox.slack.world import APP, DOMAIN, TEAM, Channel, Message, Person, new_id

Doc = dict[str, Any]
TOKEN = "sandbox-verification-token"


def interaction(slack: Slack, kind: str, person: Person, **more: Any) -> Doc:
    """What all interactive payloads have in common, with a fresh trigger id."""
    who = {"id": person.id, "username": person.name, "name": person.name, "team_id": TEAM}
    return {
        "type": kind, "user": who, "api_app_id": APP, "token": TOKEN,
        "team": {"id": TEAM, "domain": DOMAIN}, "enterprise": None, "is_enterprise_install": False,
        "trigger_id": slack.tickets.trigger(person.id), **more,
    }  # fmt: skip


def command(slack: Slack, person: Person, channel: Channel, line: str) -> Doc:
    """A slash command; `line` is all of it as the client sends it."""
    name, _, text = line.partition(" ")
    hidden = "directmessage" if channel.person else "privategroup"
    return {
        "token": TOKEN, "team_id": TEAM, "team_domain": DOMAIN,
        "channel_id": channel.id, "channel_name": hidden if channel.is_private else channel.name,
        "user_id": person.id, "user_name": person.name, "command": name, "text": text.strip(),
        "api_app_id": APP, "is_enterprise_install": "false",
        "response_url": slack.tickets.response_url(person.id, channel.id),
        "trigger_id": slack.tickets.trigger(person.id),
    }  # fmt: skip


def in_message(slack: Slack, person: Person, message: Message) -> Doc:
    """Where a press happened: an ephemeral message's content is not sent back."""
    channel = slack.world.channels[message.channel]
    container: Doc = {
        "type": "message", "message_ts": message.ts, "channel_id": channel.id,
        "is_ephemeral": bool(message.only_for),
    }  # fmt: skip
    if message.thread_ts:
        container["thread_ts"] = message.thread_ts
    place: Doc = {
        "container": container,
        "channel": {"id": channel.id, "name": channel.name or "directmessage"},
        "state": {"values": message.states.get(person.id, {})},
        "response_url": slack.tickets.response_url(person.id, channel.id, message),
    }
    if not message.only_for:
        place["message"] = message_doc(slack.world, message)
    return place


def in_view(view: View) -> Doc:
    return {"container": {"type": "view", "view_id": view.id}, "view": shown(view)}


def event(slack: Slack, about: Doc) -> Doc:
    """An event in its wrapper, with the id by which apps tell a redelivery."""
    now = slack.clock.now()
    bot = {"user_id": slack.world.bot.id, "is_bot": True, "is_enterprise_install": False}
    return {
        "token": TOKEN, "team_id": TEAM, "api_app_id": APP, "type": "event_callback",
        "event": {"event_ts": slack.clock.ts(), **about}, "event_id": new_id("Ev"),
        "event_time": int(now), "is_ext_shared_channel": False,
        "authorizations": [{"enterprise_id": None, "team_id": TEAM, **bot}],
        "event_context": uuid4().hex,
    }  # fmt: skip


def message_event(slack: Slack, message: Message, kind: str, channel_type: str = "") -> Doc:
    """A person's message, as `message` or as `app_mention`."""
    doc = message_doc(slack.world, message)
    about: Doc = {**doc, "type": kind, "channel": message.channel, "event_ts": message.ts}
    if channel_type:
        about["channel_type"] = channel_type
    if message.files:
        about["subtype"] = "file_share"
    return about | {"client_msg_id": str(uuid4())}


def kind_of(channel: Channel) -> str:
    """The channel type of message events."""
    if channel.person:
        return "im"
    return "group" if channel.is_private else "channel"


def membership_event(kind: str, channel: Channel, person: str) -> Doc:
    letter = "G" if channel.is_private else "C"
    about = {"user": person, "channel": channel.id, "channel_type": letter, "team": TEAM}
    return {"type": kind, **about}
