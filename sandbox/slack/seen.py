"""What people see, as documents: for tests, and for a page."""

from typing import Any

from sandbox.slack.documents import file_doc
from sandbox.slack.plain import read_message, read_view
from sandbox.slack.posting import sees
from sandbox.slack.state import Slack
from sandbox.slack.views import View
from sandbox.slack.world import SLACKBOT, Message

Doc = dict[str, Any]


def message(slack: Slack, one: Message, person: str = "") -> Doc:
    world = slack.world
    author = world.people.get(one.author)
    return {
        "channel": one.channel, "ts": one.ts, "thread_ts": one.thread_ts, "n": one.n,
        "author": one.author, "author_name": author.name if author else one.author,
        "by_bot": one.author in (world.bot.id, SLACKBOT), "only_for": one.only_for,
        "text": one.text, "blocks": one.blocks, "attachments": one.attachments,
        "edits": one.edits, "edited": one.edited, "reactions": one.reactions,
        "files": [file_doc(world, world.files[file_id]) for file_id in one.files],
        "values": one.states.get(person) or {}, "mentions": one.mentions, "pings": one.pings,
        "metadata": one.metadata,
        "plain": read_message(world, one, person),
    }  # fmt: skip


def messages(slack: Slack, channel_id: str, person: str = "", thread: str = "") -> list[Doc]:
    """Of a channel without its replies, or of one thread's replies; oldest first.

    Without a person only what everybody in the channel sees.
    """
    channel = slack.world.channels[channel_id]
    return [
        message(slack, one, person)
        for one in slack.world.thread(channel_id).values()
        if one.thread_ts == thread
        if (sees(channel, one, person) if person else not one.only_for)
    ]


def changed(slack: Slack, person: str, after: int) -> list[Doc]:
    """Messages anywhere that a person sees and that are newer than this number of the feed."""
    found = [
        one
        for channel_id, thread in slack.world.messages.items()
        for one in thread.values()
        if one.n > after and sees(slack.world.channels[channel_id], one, person)
    ]
    return [message(slack, one, person) for one in sorted(found, key=lambda one: one.n)]


def view(slack: Slack, one: View) -> Doc:
    reader = ("title", "submit", "close")
    texts = {name: (one.doc.get(name) or {}).get("text", "") for name in reader}
    return {
        "id": one.id, "person": one.person, "n": one.n, "type": one.doc["type"], **texts,
        "blocks": one.doc["blocks"], "values": one.values, "errors": one.errors,
        "hash": one.hash, "private_metadata": one.doc.get("private_metadata") or "",
        "callback_id": one.doc.get("callback_id") or "", "plain": read_view(slack.world, one),
    }  # fmt: skip
