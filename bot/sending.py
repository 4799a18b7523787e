"""How each kind of message reaches Slack, and how one that may have been sent is found there.

A message carries its outbox key as metadata; a picture carries it as its file's name. So whoever
does not know whether a sending happened (a crash, a lost answer) can look before sending again.
"""

import hashlib
import json
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from bot.blocks import Post
from bot.posts import post_of
from bot.slack_door import File, Impossible, Slack
from storage import cards
from storage.cards import Card
from storage.database import Database
from storage.outbox import Message

log = logging.getLogger(__name__)

_NO_BLOCKS = frozenset({"invalid_blocks", "invalid_blocks_format", "msg_blocks_too_long"})
_GONE = frozenset({"message_not_found", "cant_update_message", "edit_window_closed"})
_NO_THREAD = frozenset({"thread_not_found", "cannot_reply_to_message"})

Draw = Callable[[Mapping[str, Any]], bytes]


@dataclass(frozen=True, kw_only=True)
class Sent:
    """Where the message is now; `card` is to be remembered with it."""

    channel: str
    ts: str = ""
    card: Card | None = None


class Sender:
    """Sends one message at a time. `draw` makes the PNG of a picture's document.

    `check` is asked right before each call that shows something, and raises where that may not be
    done (any more).
    """

    def __init__(
        self,
        slack: Slack,
        database: Database,
        draw: Draw,
        check: Callable[[], None] = lambda: None,
    ) -> None:
        self._slack = slack
        self._database = database
        self._draw = draw
        self._check = check
        self._direct: dict[str, str] = {}
        self._said_blind = False

    def send(self, message: Message, at: datetime, *, maybe_sent: bool) -> Sent:
        """Raises `Later` or `Impossible`; with `maybe_sent` it looks for it first."""
        payload: Any = message.payload
        post = post_of(message)
        if "card" in payload:
            return self._card(payload["card"], message, at, maybe_sent)
        if "user" in payload:
            post = replace(post, channel=self._channel_of(payload["user"]))
        if "thread_of" in payload:
            card = self._known(payload["thread_of"])
            post = replace(post, thread=card.ts) if card else post
        if "picture" in payload:
            return self._picture(message, post, maybe_sent)
        found = self._found(post, message.key) if maybe_sent else ""
        return Sent(channel=post.channel, ts=found or self._post(post, message.key))

    def _card(self, key: str, message: Message, at: datetime, maybe_sent: bool) -> Sent:
        """Edited in place where it is; posted where it is not, or not any more."""
        post = post_of(message)
        shown = Card(key=key, channel=post.channel, ts="", hash=content_hash(post), updated_at=at)
        card = self._known(key)
        ts = card.ts if card and card.channel == post.channel else ""
        if card and ts and card.hash == shown.hash:
            return Sent(channel=post.channel, ts=ts)
        # An edition before this one may have been posted by a process that died of it.
        if not ts and (maybe_sent or message.edition > 1):
            ts = self._found(post, message.key)
        if not ts or not self._edit(post, ts):
            ts = self._post(post, message.key)
        return Sent(channel=post.channel, ts=ts, card=replace(shown, ts=ts))

    def _edit(self, post: Post, ts: str) -> bool:
        """False where the message is gone."""
        self._check()
        try:
            self._slack.edit(post, ts)
        except Impossible as error:
            if error.code in _GONE:
                return False
            if error.code not in _NO_BLOCKS or not post.blocks:
                raise
            log.warning("blocks were refused, the text is shown alone", extra={"error": error})
            self._slack.edit(replace(post, blocks=()), ts)
        return True

    def _post(self, post: Post, key: str) -> str:
        metadata = {"event_type": "poolkeeper", "event_payload": {"key": key}}
        self._check()
        try:
            return self._slack.post(post, metadata)
        except Impossible as error:
            if error.code in _NO_THREAD and post.thread:
                return self._post(replace(post, thread=""), key)
            if error.code not in _NO_BLOCKS or not post.blocks:
                raise
            log.warning("blocks were refused, the text is posted alone", extra={"error": error})
            return self._slack.post(replace(post, blocks=()), metadata)

    def _picture(self, message: Message, post: Post, maybe_sent: bool) -> Sent:
        payload: Any = message.payload
        name = file_name(message.key)
        if maybe_sent and (ts := self._found(post, message.key)):
            return Sent(channel=post.channel, ts=ts)
        content = self._draw(payload["picture"])
        file = File(name=name, title=payload["title"], alt=payload["alt"], content=content)
        self._check()
        self._slack.upload(post, file)
        return Sent(channel=post.channel)

    def _found(self, post: Post, key: str) -> str:
        """The ts of what was sent under the key; "" where it is not there, or nobody may look."""
        try:
            return self._slack.find(post, key, file_name(key))
        except Impossible as error:
            if not self._said_blind:
                self._said_blind = True
                log.warning(
                    "what was sent before a crash cannot be looked for, so it may be sent twice; "
                    "give the app channels:history, groups:history and im:history, and invite it",
                    extra={"channel": post.channel, "error": error},
                )
            return ""

    def _known(self, card: str) -> Card | None:
        with self._database.reading() as session:
            return cards.card(session, card)

    def _channel_of(self, user: str) -> str:
        if user not in self._direct:
            self._direct[user] = self._slack.direct(user)
        return self._direct[user]


def content_hash(post: Post) -> str:
    """What tells whether a card shows this already."""
    shown = json.dumps([post.text, list(post.blocks)], sort_keys=True)
    return hashlib.sha256(shown.encode(errors="surrogatepass")).hexdigest()[:32]


def file_name(key: str) -> str:
    """The name of a picture's file, by which it is found again."""
    return f"poolkeeper-{hashlib.sha256(key.encode()).hexdigest()[:16]}.png"
