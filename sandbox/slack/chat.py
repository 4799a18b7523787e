"""chat.*, reactions.* and blocks.validate."""

from collections.abc import Callable
from typing import Any

from sandbox.slack import limits, posting
from sandbox.slack.calls import Call, Method
from sandbox.slack.documents import message_doc
from sandbox.slack.errors import SlackError
from sandbox.slack.posting import drafted
from sandbox.slack.shape import Problem
from sandbox.slack.world import Channel, Message, World

Doc = dict[str, Any]


def post_message(call: Call) -> Doc:
    channel = writable(call)
    draft = drafted(call.body, call.world.bot.id)
    check_files(call.world, draft.blocks)
    call.slack.rates.count(call.name, channel.id)
    message = posting.post(call.world, channel, draft)
    return {"channel": channel.id, "ts": message.ts, "message": message_doc(call.world, message)}


def post_ephemeral(call: Call) -> Doc:
    channel, person = writable(call), call.text("user")
    if person not in call.world.people or person not in channel.members:
        raise SlackError("user_not_in_channel")
    draft = drafted(call.body, call.world.bot.id, person)
    return {"message_ts": posting.post(call.world, channel, draft).ts}


def update(call: Call) -> Doc:
    """Blocks that are not given are kept; an empty list removes them."""
    message = _own(call, "cant_update_message")
    channel = call.world.channels[message.channel]
    if channel.is_archived:
        raise SlackError("is_archived")
    body = {"text": message.text, **call.body}
    if "blocks" not in call.body and "attachments" not in call.body:
        body["blocks"] = message.blocks
    if len(body.get("text") or "") > limits.EDITED_TEXT:
        raise SlackError("msg_too_long")
    draft = drafted(body, message.author)
    check_files(call.world, draft.blocks)
    posting.edit(call.world, message, draft)
    doc = message_doc(call.world, message)
    return {"channel": message.channel, "ts": message.ts, "text": message.text, "message": doc}


def delete(call: Call) -> Doc:
    message = _own(call, "cant_delete_message")
    posting.delete(call.world, message)
    return {"channel": message.channel, "ts": message.ts}


def get_permalink(call: Call) -> Doc:
    channel = call.world.channel(call.text("channel"))
    message = call.world.message(channel.id, call.text("message_ts"))
    link = f"{call.world.url}/archives/{channel.id}/p{message.ts.replace('.', '')}"
    thread = f"?thread_ts={message.thread_ts}&cid={channel.id}" if message.thread_ts else ""
    return {"channel": channel.id, "permalink": link + thread}


def writable(call: Call, field: str = "channel") -> Channel:
    """The channel to post in: one's own, or a public one with the scope for it."""
    channel = call.world.channel(call.text(field))
    if channel.is_archived:
        raise SlackError("is_archived")
    may_anywhere = "chat:write.public" in call.world.bot.scopes
    if call.world.bot.id not in channel.members and not may_anywhere:
        raise SlackError("not_in_channel")
    return channel


def _own(call: Call, otherwise: str) -> Message:
    channel_id = call.text("channel")
    if channel_id not in call.world.channels:
        raise SlackError("channel_not_found")
    message = call.world.message(channel_id, call.text("ts"))
    if message.only_for:
        raise SlackError("message_not_found")
    if message.author != call.world.bot.id:
        raise SlackError(otherwise)
    return message


def check_files(world: World, blocks: list[Doc]) -> None:
    """Image blocks may show only files that were uploaded and shared (facts/slack.md 2.5)."""
    for index, block in enumerate(blocks):
        wanted = block.get("slack_file", {}).get("id")
        known = world.files.get(wanted or "")
        if wanted and (known is None or not known.shares):
            at = f"/blocks/{index}/slack_file"
            posting.refuse([Problem(at, "invalid slack file")])


def add_reaction(call: Call) -> Doc:
    people = _reactions(call)
    if call.world.bot.id in people:
        raise SlackError("already_reacted")
    people.append(call.world.bot.id)
    return {}


def remove_reaction(call: Call) -> Doc:
    people = _reactions(call)
    if call.world.bot.id not in people:
        raise SlackError("no_reaction")
    people.remove(call.world.bot.id)
    return {}


def _reactions(call: Call) -> list[str]:
    channel = call.world.channel(call.text("channel"))
    message = call.world.message(channel.id, call.text("timestamp"))
    posting.touch(call.world, message)
    return message.reactions.setdefault(call.text("name"), [])


def validate(call: Call) -> Doc:
    """One of blocks, view and message, checked without any effect (facts/slack.md 2.2 (c))."""
    given = [name for name in ("blocks", "view", "message") if name in call.body]
    if len(given) != 1:
        raise SlackError("invalid_arguments")
    value = call.body[given[0]]
    checks: dict[str, Callable[[Any], list[Problem]]] = {
        "blocks": limits.check_blocks,
        "view": limits.check_view,
        "message": limits.check_message,
    }
    problems = checks[given[0]](value)
    if problems:
        errors = [{"pointer": one.pointer, "message": one.message} for one in problems]
        messages = [str(problem) for problem in problems]
        raise SlackError("invalid_blocks", errors=errors, response_metadata={"messages": messages})
    return {}


METHODS = {
    "chat.postMessage": Method(post_message, "chat:write"),
    "chat.postEphemeral": Method(post_ephemeral, "chat:write"),
    "chat.update": Method(update, "chat:write"),
    "chat.delete": Method(delete, "chat:write"),
    "chat.getPermalink": Method(get_permalink),
    "reactions.add": Method(add_reaction, "reactions:write"),
    "reactions.remove": Method(remove_reaction, "reactions:write"),
    "blocks.validate": Method(validate),
}
