"""What is to be posted: written with what causes it, carried to Slack by the outbox's worker.

Five kinds. An announcement is posted once under its key. A card is one message that is edited in
place; edits of it are debounced, and it is posted anew where it was deleted. An entry is a reply in
a card's thread: its history.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from bot.blocks import Post
from storage import outbox
from storage.database import Session
from storage.outbox import Message

DEBOUNCE = timedelta(seconds=2)


@dataclass(frozen=True, kw_only=True)
class Picture:
    """What is to be drawn, as a JSON object, with its title and what it shows in words."""

    document: Mapping[str, Any]
    title: str
    alt: str


def announce(session: Session, key: str, post: Post, at: datetime) -> bool:
    """Posted once; False where the key was used before."""
    return outbox.put(
        session, Message(key=key, channel=post.channel, payload=_payload(post), not_before=at)
    )


def show_card(
    session: Session, card: str, post: Post, at: datetime, within: timedelta = timedelta()
) -> None:
    """The card is to show this from now on, at once or `within` some time, for what may follow."""
    payload = {**_payload(post), "card": card}
    key, not_before = card_key(card), at + within
    waiting = outbox.find(session, key)
    if within and waiting is not None and waiting.sent_at is None:
        # What waits already is not put off for ever by what keeps coming.
        not_before = min(not_before, waiting.not_before)
    message = Message(key=key, channel=post.channel, payload=payload, not_before=not_before)
    outbox.supersede(session, message)


def tell_in_thread(session: Session, card: str, key: str, post: Post, at: datetime) -> bool:
    """A line of the card's history; False where the key was used before."""
    payload = {**_payload(post), "thread_of": card}
    return outbox.put(
        session, Message(key=key, channel=post.channel, payload=payload, not_before=at)
    )


def direct(session: Session, key: str, user: str, post: Post, at: datetime) -> bool:
    """A direct message to a person, by Slack user id."""
    payload = {**_payload(post), "user": user}
    return outbox.put(session, Message(key=key, channel=user, payload=payload, not_before=at))


def picture(session: Session, key: str, post: Post, shown: Picture, at: datetime) -> bool:
    """A picture, drawn from its document when it is sent; False where the key was used before."""
    payload = {
        **_payload(post),
        "picture": dict(shown.document),
        "title": shown.title,
        "alt": shown.alt,
    }
    return outbox.put(
        session, Message(key=key, channel=post.channel, payload=payload, not_before=at)
    )


def card_key(card: str) -> str:
    """The key under which a card's messages are in the outbox."""
    return f"card:{card}"


def post_of(message: Message) -> Post:
    """The post that a message of the outbox carries."""
    payload: Any = message.payload
    return Post(
        channel=message.channel,
        text=payload["text"],
        blocks=tuple(payload.get("blocks") or ()),
        thread=payload.get("thread", ""),
    )


def _payload(post: Post) -> dict[str, object]:
    return {"text": post.text, "blocks": list(post.blocks), "thread": post.thread}
