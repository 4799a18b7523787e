"""Telling a failure where the person looks, under a reference that the audit knows."""

import logging
from typing import Any

from slack_bolt import BoltResponse

from bot.blocks import Block, Post, Reply, section
from bot.desk import Desk
from bot.slack_door import Slack, SlackError

log = logging.getLogger(__name__)


def tell_failure(
    desk: Desk, slack: Slack, error: Exception, what: tuple[dict[str, Any], BoltResponse | None]
) -> BoltResponse | None:
    """Records the failure and tells it where the person looks."""
    body, response = what
    reference = desk.reference()
    log.error("an answer failed: reference=%s", reference, exc_info=error)
    user = (body.get("user") or {}).get("id") if isinstance(body.get("user"), dict) else None
    user = user or body.get("user_id") or (body.get("event") or {}).get("user") or "?"
    text = (
        f"Something went wrong, and nothing more was done. Reference {reference}: an admin finds "
        f"it with `/pool audit {reference}`."
    )
    try:
        with desk.database.transaction() as session:
            detail = f"{type(error).__name__}: {error}"
            desk.record(session, user, "failed", reference, detail)
    except Exception:  # the database may be what failed; the log has the reference
        log.exception("the failure could not be recorded: reference=%s", reference)
        text = f"My database is away, so I can answer nothing now. Reference {reference}."
    if response is not None:  # not acknowledged yet: only this reaches the person
        if body.get("type") == "view_submission":
            return BoltResponse(
                status=200,
                body={"response_action": "update", "view": message_view(Reply(text=text))},
            )
        return BoltResponse(status=200, body=text)
    _whisper_failure(slack, body, (user, text))
    return None


def _whisper_failure(slack: Slack, body: dict[str, Any], told: tuple[str, str]) -> None:
    user, text = told
    channel = (
        body.get("channel_id")
        or (body.get("channel") or {}).get("id")
        or (body.get("event") or {}).get("channel")
    )
    try:
        if channel:
            slack.whisper(Post(channel=channel, text=text), user)
        elif user != "?":
            slack.post(Post(channel=slack.direct(user), text=text))
    except SlackError:
        log.exception("the failure could not be told")


def message_view(reply: Reply) -> Block:
    """A reply as a modal, where there is no channel to say it in."""
    blocks = list(reply.blocks) or [section(reply.text)]
    return {
        "type": "modal",
        "callback_id": "message",
        "title": {"type": "plain_text", "text": "Poolkeeper"},
        "close": {"type": "plain_text", "text": "Close"},
        "blocks": blocks,
    }
