"""What handlers answer, carried to where the person looks: a whisper, a window, the channel."""

import logging
from typing import Any, Final

from slack_bolt import Respond

from bot.blocks import (
    MOST_BLOCKS,
    Block,
    Post,
    Reply,
    action,
    button,
    buttons,
    context,
    escape,
    fits,
    plain,
    section,
)
from bot.slack_door import Impossible, Slack
from bot.surfaces import Press, Show

log = logging.getLogger(__name__)

_TOO_LATE: Final = frozenset({"expired_trigger_id", "exchanged_trigger_id", "invalid_trigger_id"})
_TOO_DEEP: Final = frozenset({"push_limit_reached"})
_SAID: Final = 1_900
"""What a button carries at most of what was typed."""

MESSAGE: Final = "message"
"""The callback id of a window that only shows an answer; the next answer takes its place."""


def bounded(reply: Reply, most: int = MOST_BLOCKS) -> list[Block]:
    """The reply's blocks, as many as Slack takes; where some are left out, that is said."""
    blocks = list(reply.blocks)
    if fits(blocks) and len(blocks) <= most:
        return blocks
    log.error(
        "an answer is too long for Slack", extra={"blocks": len(blocks), "text": reply.text[:100]}
    )
    more = context("There is more than fits here; ask for a part of it.")
    while blocks and not (fits([*blocks, more]) and len(blocks) < most):
        blocks.pop()
    return [*blocks, more]


def whisper(respond: Respond, reply: Reply, *, replace: bool = False) -> None:
    """Answers what was said or pressed, for the one who did; raises where Slack refuses."""
    said = respond(
        text=reply.text,
        blocks=bounded(reply) or None,
        response_type="ephemeral",
        replace_original=replace,
    )
    _check(said)


def publish(respond: Respond, reply: Reply) -> None:
    """The same for everybody in the channel, also where the bot is no member."""
    said = respond(
        text=reply.text,
        blocks=bounded(reply) or None,
        response_type="in_channel",
        replace_original=False,
    )
    _check(said)


def _check(said: Any) -> None:
    # The SDK's webhook client raises for no answer at all, but not for a refusal.
    if said.status_code != 200:
        raise Impossible("response_url", f"{said.status_code} {said.body}")


def open_window(slack: Slack, respond: Respond, window: tuple[str, Block], text: str) -> None:
    """Opens a modal; one that comes too late for Slack is offered once more by a button."""
    trigger, view = window
    try:
        slack.open(trigger, view)
    except Impossible as error:
        if error.code not in _TOO_LATE:
            raise
        whisper(respond, too_late(text))


def too_late(text: str) -> Reply:
    """What is said where Slack opens no window any more for what was typed."""
    late = "That took too long, so Slack does not let me open the window any more."
    again = buttons(button("Try again", text[:_SAID]))
    return Reply(text=late, blocks=(section(late), again))


def show_in_view(slack: Slack, body: dict[str, Any], press: Press, reply: Reply) -> None:
    """An answer to a press in a modal or Home. A window that only shows something is reused."""
    view = reply.view or message_view(reply)
    current = body["view"]
    if current["type"] != "modal":
        slack.open(press.origin.trigger, view)
    elif current.get("callback_id") == MESSAGE:
        slack.update(current["id"], view)
    else:
        push(slack, press.origin.trigger, view, current["id"])


def push(slack: Slack, trigger: str, view: Block, current: str) -> None:
    """On top of the window that is open; in its place where Slack allows no more of them."""
    try:
        slack.push(trigger, view)
    except Impossible as error:
        if error.code not in _TOO_DEEP:
            raise
        slack.update(current, view)


def carry(
    slack: Slack, result: Reply | Show | None, body: dict[str, Any], respond: Respond
) -> None:
    """What a button with a handler of its own has led to."""
    if result is None:
        return
    view: dict[str, Any] = body.get("view") or {}
    trigger = body.get("trigger_id", "")
    in_modal = view.get("type") == "modal"
    shown = result.view if isinstance(result, Show) else message_view(result)
    if isinstance(result, Reply) and result.view is not None:
        shown = result.view
    elif isinstance(result, Reply) and not view:
        whisper(respond, result)
        return
    if in_modal and isinstance(result, Show) and not result.push:
        slack.update(view["id"], shown)
    elif in_modal:
        push(slack, trigger, shown, view["id"])
    else:
        slack.open(trigger, shown)


def message_view(reply: Reply) -> Block:
    """A reply as a modal, where there is no channel to say it in."""
    return {
        "type": "modal",
        "callback_id": MESSAGE,
        "title": {"type": "plain_text", "text": "Poolkeeper"},
        "close": {"type": "plain_text", "text": "Close"},
        "blocks": bounded(reply) or [section(reply.text)],
    }


def posted(reply: Reply, post: Post) -> Post:
    return Post(
        channel=post.channel, text=reply.text, blocks=tuple(bounded(reply)), thread=post.thread
    )


def shareable(reply: Reply, text: str) -> Reply:
    """With a button that says the same in the channel, where that makes sense."""
    if not reply.share or not reply.blocks or len(text) > _SAID:
        return reply
    share = buttons(action("Share in this channel", "share", text or "help"))
    return Reply(text=reply.text, blocks=(*reply.blocks, share), view=reply.view)


def without_window(reply: Reply, text: str) -> Reply:
    """Where a message was typed that Slack lets nobody open a window for: a button does."""
    if reply.view is None:
        return reply
    said = (
        f"I need a window for `/pool {escape(plain(text))}`, and Slack opens one for a button only."
    )
    return Reply(text=said, blocks=(section(said), buttons(button("Open", text[:_SAID]))))
