"""App Home: published for whoever opens it, and kept fresh while they are likely to look at it."""

import hashlib
import json
import logging
from datetime import datetime, timedelta
from typing import Final

from bot.access import Actor
from bot.blocks import Block
from bot.desk import Desk
from bot.home_page import TASKS, Desktop, home_blocks
from bot.naming import named
from bot.reading import Look, look
from bot.slack_door import Later, Slack, SlackError
from storage import cards, configurations, people, requests, working_copies
from storage.cards import Card

log = logging.getLogger(__name__)

WATCHED: Final = timedelta(minutes=15)
"""How long after it was opened a Home is kept fresh."""

_EVERY: Final = timedelta(seconds=5)
_AT_ONCE: Final = 6
"""Slack lets about 100 views be published in a minute."""


def open_home(desk: Desk, slack: Slack, person: str) -> None:
    """Publishes App Home for one person, who looks at it now."""
    with desk.database.transaction() as session:
        people.seen(session, person, desk.clock())
    _publish(desk, slack, person, home_blocks(_desktop(desk, person)))


def refresh(desk: Desk) -> None:
    """What recurs: see `refresh_homes`."""
    if desk.slack is not None:
        refresh_homes(desk, desk.slack)


def refresh_homes(desk: Desk, slack: Slack) -> int:
    """Publishes anew for those who opened it lately, where it would show something else.

    Those come first who have waited longest, and not more at a time than Slack takes; how many
    were published.
    """
    now = desk.clock()
    with desk.database.reading() as session:
        viewers = people.viewers(session, now - WATCHED)
        shown = {one.user: cards.card(session, _key(one.user)) for one in viewers}
    due = [one for one in shown if _may_go(shown[one], now)]
    due.sort(key=lambda one: _shown_at(shown[one], now))
    published = 0
    for person in due:
        blocks = home_blocks(_desktop(desk, person))
        last = shown[person]
        if last is not None and last.hash == _hash(blocks):
            continue
        try:
            _publish(desk, slack, person, blocks)
        except Later:
            break
        except SlackError:
            log.warning("a Home could not be published", exc_info=True, extra={"user": person})
            _remember(desk, person, blocks)
        published += 1
        if published == _AT_ONCE:
            break
    return published


def _may_go(card: Card | None, now: datetime) -> bool:
    return card is None or now - card.updated_at >= _EVERY


def _shown_at(card: Card | None, now: datetime) -> datetime:
    return now if card is None else card.updated_at


def _publish(desk: Desk, slack: Slack, person: str, blocks: list[Block]) -> None:
    slack.home(person, {"type": "home", "blocks": blocks})
    _remember(desk, person, blocks)


def _remember(desk: Desk, person: str, blocks: list[Block]) -> None:
    card = Card(
        key=_key(person), channel=person, ts="", hash=_hash(blocks), updated_at=desk.clock()
    )
    with desk.database.transaction() as session:
        cards.put(session, card)


def _key(person: str) -> str:
    return f"home:{person}"


def _hash(blocks: list[Block]) -> str:
    """Of all but the last line, which says when it was made."""
    return hashlib.sha256(json.dumps(blocks[:-1], sort_keys=True).encode()).hexdigest()


def _desktop(desk: Desk, person: str) -> Desktop:
    actor = desk.membership.actor(person, desk.configuration())
    seen = look(desk)
    with desk.database.reading() as session:
        open_ = requests.open_requests(session)
        draft, copy = configurations.draft(session), working_copies.get(session, person)
    return Desktop(
        actor=actor,
        seen=seen,
        known=None if seen is None else named(desk, seen.index, actor, _first_waiting(seen, actor)),
        open_requests=[one for one in open_ if actor.is_admin or one.by == person],
        draft=draft if actor.is_admin else None,
        copy=copy,
        has_cluster=desk.settings.has_kubernetes,
    )


def _first_waiting(seen: Look, actor: Actor) -> list[str]:
    mine = actor.policies
    return [w.task for policy in sorted(mine) for w in seen.waiting_of(policy)[:TASKS]]
