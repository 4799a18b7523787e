"""Telling a failure where the person looks, under a reference that the audit knows."""

import logging
from collections import deque
from typing import Any, Final

from slack_bolt import BoltResponse, Respond

from bot.blocks import Post, Reply, section
from bot.carrying import message_view, whisper
from bot.desk import Desk
from bot.payloads import channel_of, option_of, user_of
from bot.slack_door import Slack, SlackError
from controller import references
from domain.ledger import AuditRecord
from storage import audit
from storage.database import DatabaseUnavailable, Session

log = logging.getLogger(__name__)

_KEPT: Final = 200
_DETAIL: Final = 1_000


def failed_text(reference: str) -> str:
    """What is said of a failure that is recorded."""
    return (
        f"Something went wrong, and nothing more was done. Reference {reference}: "
        f"an admin finds it with `/pool audit {reference}`."
    )


def away_text(reference: str) -> str:
    """What is said while the database cannot take anything."""
    return (
        "My database is away, so I can neither look anything up nor change it; what is running "
        f"is not touched. Try again in a minute. Reference {reference}: an admin finds it "
        f"with `/pool audit {reference}` when the database is back."
    )


class Failing:
    """Records failures and tells them. What cannot be recorded now is recorded when it can be."""

    def __init__(self, desk: Desk, slack: Slack) -> None:
        self._desk = desk
        self._slack = slack
        self._unrecorded: deque[AuditRecord] = deque(maxlen=_KEPT)

    def after_ack(self, error: Exception, body: dict[str, Any], respond: Respond | None) -> None:
        """Something failed that Slack thinks is done; the person is told by other means."""
        _, text = self._noted(error, body)
        view = body.get("view")
        reply = Reply(text=text, blocks=(section(text),))
        try:
            if (body.get("event") or {}).get("type") == "app_home_opened":
                self._slack.home(user_of(body), {"type": "home", "blocks": list(reply.blocks)})
            elif view and view["type"] == "modal":
                self._slack.update(view["id"], message_view(reply))
            elif respond is not None and respond.response_url:
                whisper(respond, reply)
            else:
                self._tell_person(text, body)
        except Exception:  # the window may be closed, the URL old
            log.warning("the failure could not be told where it happened", exc_info=True)
            self._tell_directly(text, user_of(body))

    def before_ack(self, error: Exception, body: dict[str, Any]) -> BoltResponse:
        """Something failed before Slack knew; the acknowledgement tells it where that is shown."""
        reference, text = self._noted(error, body)
        if body.get("type") == "view_submission":
            view = message_view(Reply(text=text, blocks=(section(text),)))
            return BoltResponse(status=200, body={"response_action": "update", "view": view})
        if body.get("type") == "block_suggestion":
            offered = option_of(f"I failed. Reference {reference}: say it to an admin.", "-")
            return BoltResponse(status=200, body={"options": [offered]})
        if body.get("command"):
            return BoltResponse(status=200, body=text)
        self._tell_directly(text, user_of(body))
        return BoltResponse(status=200, body="")

    def flush(self, session: Session) -> None:
        """The database is there: what it missed is recorded, in this transaction."""
        while self._unrecorded:
            audit.record(session, self._unrecorded[0])
            self._unrecorded.popleft()

    def _noted(self, error: Exception, body: dict[str, Any]) -> tuple[str, str]:
        """Records the failure; its reference, and what to say of it."""
        reference = references.current() or self._desk.reference()
        log.error("an answer failed", exc_info=error, extra={"reference": reference})
        record = AuditRecord(
            at=self._desk.clock(),
            actor=user_of(body) or "?",
            action="failed",
            subject=_what(body),
            detail=f"{type(error).__name__}: {error}"[:_DETAIL],
            reference=reference,
        )
        self._unrecorded.append(record)
        try:
            if not isinstance(error, DatabaseUnavailable):
                with self._desk.database.transaction() as session:
                    self.flush(session)
                return reference, failed_text(reference)
        except Exception:  # the database may be what failed; the log has the reference
            log.exception("the failure could not be recorded yet", extra={"reference": reference})
        return reference, away_text(reference)

    def _tell_person(self, text: str, body: dict[str, Any]) -> None:
        channel, user = channel_of(body), user_of(body)
        if channel and user:
            self._slack.whisper(Post(channel=channel, text=text), user)
        else:
            self._tell_directly(text, user)

    def _tell_directly(self, text: str, user: str) -> None:
        try:
            if user:
                self._slack.post(Post(channel=self._slack.direct(user), text=text))
        except SlackError:
            log.exception("the failure could not be told")


def _what(body: dict[str, Any]) -> str:
    """What was said or pressed, for those who search."""
    if body.get("command"):
        return f"{body['command']} {body.get('text') or ''}".strip()[:200]
    if body.get("type") == "event_callback":
        return str(body["event"].get("type"))
    if body.get("actions"):
        return f"button {body['actions'][0].get('action_id')}"[:200]
    view = body.get("view") or {}
    return f"{body.get('type')} {view.get('callback_id', '')}".strip()[:200]
