"""Messages: posting, editing and deleting them, whom they notify, and who sees them."""

import re
from dataclasses import dataclass, field
from typing import Any

from sandbox.slack import limits
from sandbox.slack.errors import SlackError
from sandbox.slack.mentions import mentions
from sandbox.slack.shape import Problem
from sandbox.slack.world import Channel, Message, World

Doc = dict[str, Any]
_HANDLE = re.compile(r"(?<![\w@])@([\w.-]*\w)")


@dataclass(frozen=True, slots=True)
class Draft:
    """What an author wants to say; `only_for` makes it ephemeral."""

    author: str
    text: str = ""
    blocks: list[Doc] = field(default_factory=list)
    attachments: list[Doc] = field(default_factory=list)
    thread_ts: str = ""
    only_for: str = ""
    files: list[str] = field(default_factory=list)
    metadata: Doc = field(default_factory=dict)
    links_names: bool = False


def drafted(body: Doc, author: str, only_for: str = "") -> Draft:
    """The draft in an API call's body or in an answer, refused where Slack would refuse it."""
    refuse(limits.check_message(body))
    return Draft(
        author,
        body.get("text") or body.get("markdown_text") or "",
        numbered(body.get("blocks") or []),
        body.get("attachments") or [],
        body.get("thread_ts") or "",
        only_for,
        metadata=body.get("metadata") or {},
        links_names=body.get("link_names") in (True, 1, "1", "true") or body.get("parse") == "full",
    )


def refuse(problems: list[Problem], code: str = "") -> None:
    """Raises the first problem's code, or the one given, with all of them in the metadata."""
    if problems:
        messages = [str(problem) for problem in problems]
        raise SlackError(code or problems[0].code, response_metadata={"messages": messages})


def numbered(blocks: list[Doc]) -> list[Doc]:
    """Blocks with an id each, and an action id for each element, as Slack gives them."""
    named = [{"block_id": f"b{index}", **block} for index, block in enumerate(blocks)]
    for block in named:
        for key in ("elements", "accessory", "element"):
            if key in block and block["type"] not in ("context", "rich_text"):
                block[key] = _with_action_ids(block[key])
    return named


def _with_action_ids(part: Any) -> Any:
    if isinstance(part, list):
        return [
            {"action_id": f"a{index}", **element} if element.get("type") != "image" else element
            for index, element in enumerate(part)
        ]
    return part if part.get("type") == "image" else {"action_id": "a0", **part}


def post(world: World, channel: Channel, draft: Draft) -> Message:
    """Adds a message, and notes whom it notifies."""
    message = Message(
        channel.id, world.clock.ts(), draft.author, draft.text, draft.blocks, draft.attachments,
        draft.thread_ts, draft.only_for, draft.files, draft.metadata,
    )  # fmt: skip
    world.thread(channel.id)[message.ts] = message
    _notify(world, channel, message, draft.links_names)
    _note(world, "message", message)
    return message


def edit(world: World, message: Message, draft: Draft) -> None:
    """Replaces what a message says. New mentions are taken to notify, to be on the safe side."""
    before = {"text": message.text, "blocks": message.blocks, "at": world.clock.now()}
    message.edits.append(before)
    message.text, message.blocks = draft.text, draft.blocks
    message.attachments = draft.attachments
    message.edited = world.clock.ts()
    _notify(world, world.channels[message.channel], message, draft.links_names)
    _note(world, "message_changed", message)


def delete(world: World, message: Message) -> None:
    del world.thread(message.channel)[message.ts]
    _note(world, "message_deleted", message)


def touch(world: World, message: Message) -> None:
    """Notes a change that is no edit: a reaction, or a choice made in it."""
    _note(world, "message_changed", message)


def _note(world: World, kind: str, message: Message) -> None:
    message.n = world.feed.note(
        kind, channel=message.channel, ts=message.ts, only_for=message.only_for
    )


def _notify(world: World, channel: Channel, message: Message, links_names: bool) -> None:
    message.mentions = mentions(message.text, message.blocks)
    if links_names:
        known = world.handles()
        named = (known.get(f"@{name}", "") for name in _HANDLE.findall(message.text))
        message.mentions += [markup.strip("<>").partition("|")[0] for markup in named if markup]
    if message.only_for:
        return
    audience = {name for mention in message.mentions for name in _meant(world, channel, mention)}
    for person in sorted(audience - {message.author, *message.pings}):
        message.pings.append(person)
        ping = {"person": person, "channel": channel.id, "ts": message.ts, "text": message.text}
        world.pings.append(ping)


def _meant(world: World, channel: Channel, mention: str) -> set[str]:
    """The people whom a mention reaches: in a private channel only its members."""
    if mention.startswith("@"):
        named = {mention[1:]} & set(world.people)
    elif mention.startswith("!subteam^"):
        group = world.groups.get(mention.removeprefix("!subteam^"))
        named = set(group.users) if group else set()
    else:
        named = set(channel.members)
    return named & set(channel.members) if channel.is_private else named


def sees(channel: Channel, message: Message, person: str) -> bool:
    """Whether a person may read a message: ephemeral ones only their addressee."""
    member = person in channel.members or (person == message.only_for)
    return (member or not channel.is_private) and message.only_for in ("", person)
