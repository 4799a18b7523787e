"""App Home: the pools, what is theirs and what waits for them, by role; kept fresh while looked at.

What it says of time are moments, not ages, so that it changes only when something did.
"""

import hashlib
import json
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from bot.access import Actor
from bot.audit_answers import moment
from bot.bars import LEGEND
from bot.blocks import (
    MOST_CHARACTERS,
    Block,
    button,
    buttons,
    characters,
    context,
    divider,
    header,
    name,
    prose,
    section,
    user,
    with_button,
)
from bot.desk import Desk
from bot.naming import Named, command, named
from bot.policy_answers import policy_lines, visible, waiting_of
from bot.reading import Look, look
from bot.slack_door import Later, Slack, SlackError
from bot.status_answers import pool_lines
from domain.ledger import Draft
from domain.requests import Request
from storage import cards, configurations, people, requests, working_copies
from storage.cards import Card
from storage.working_copies import WorkingCopy

log = logging.getLogger(__name__)

WATCHED: Final = timedelta(minutes=15)
"""How long after it was opened a Home is kept fresh."""

_EVERY: Final = timedelta(seconds=5)
_AT_ONCE: Final = 6
"""Slack lets about 100 views be published in a minute."""

_POOLS, _POLICIES, _TASKS, _REQUESTS = 6, 4, 4, 5


@dataclass(frozen=True, kw_only=True)
class Desktop:
    """What one person's Home is made from."""

    actor: Actor
    seen: Look | None
    known: Named | None
    open_requests: Sequence[Request] = ()
    draft: Draft | None = None
    copy: WorkingCopy | None = None


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
            log.warning("a Home could not be published: user=%s", person, exc_info=True)
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
    )


def _first_waiting(seen: Look, actor: Actor) -> list[str]:
    mine = actor.policies
    return [w.task for policy in sorted(mine) for w in seen.waiting_of(policy)[:_TASKS]]


def home_blocks(desktop: Desktop) -> list[Block]:
    """Everything that a person's Home shows; the last block says when it was made."""
    blocks: list[Block] = [header("GPU pools")]
    seen = desktop.seen
    if seen is None:
        blocks.append(
            section("No round has ended yet: nothing is provisioned, or ClearML is away.")
        )
    else:
        blocks += [*seen.notice(moment(seen.view.at)), *_pools(seen)]
        blocks += _mine(desktop, seen)
    blocks += _requests(desktop)
    blocks += _drafts(desktop)
    blocks += [divider(), _footer_buttons(desktop.actor)]
    at = "" if seen is None else f"Made at {moment(seen.at)} · version {seen.view.version} · "
    return [*_within(blocks), context(f"{at}{LEGEND}")]


def _within(blocks: list[Block]) -> list[Block]:
    """What fits; the commands show what does not."""
    while len(blocks) > 95 or sum(map(characters, blocks)) > 3 * MOST_CHARACTERS:
        blocks.pop(-3)
    return blocks


def _pools(seen: Look) -> list[Block]:
    pools = seen.view.plan.pools
    blocks = [section("\n".join(pool_lines(seen, pool))) for pool in pools[:_POOLS]]
    if len(pools) > _POOLS:
        more = section(f"and {len(pools) - _POOLS} more pools")
        blocks.append(with_button(more, button("All pools", "status")))
    return blocks or [section("There are no pools yet.")]


def _mine(desktop: Desktop, seen: Look) -> list[Block]:
    mine = [one for one in visible(seen, desktop.actor) if one in desktop.actor.policies]
    if not mine:
        return []
    blocks: list[Block] = [divider(), header("Your policies")]
    for policy in mine[:_POLICIES]:
        show = button("Waiting tasks", command("queue", policy))
        blocks.append(with_button(section("\n".join(policy_lines(seen, policy))), show))
        blocks += _tasks(desktop, seen, policy)
    if len(mine) > _POLICIES:
        more = section(f"and {len(mine) - _POLICIES} more policies")
        blocks.append(with_button(more, button("All of yours", "policies")))
    return blocks


def _tasks(desktop: Desktop, seen: Look, policy: str) -> list[Block]:
    assert desktop.known is not None, "there is a view"
    known, blocks = desktop.known, list[Block]()
    for waiting in seen.waiting_of(policy)[:_TASKS]:
        since = moment(seen.index.first_seen[waiting.task])
        line = section(f"{known.label(waiting.task)} waits since {since}")
        blocks.append(with_button(line, button("Why?", command("why", waiting.task))))
        blocks.append(prose(known.sentence(seen.index.explainer.detail(waiting))))
    more = waiting_of(seen, policy) - _TASKS
    return [*blocks, context(f"and {more} more tasks that wait")] if more > 0 else blocks


def _requests(desktop: Desktop) -> list[Block]:
    if not desktop.open_requests:
        return []
    blocks: list[Block] = [divider(), header("Open requests")]
    for one in desktop.open_requests[:_REQUESTS]:
        what = f"{one.kind.value} {name(one.subject)}" if one.subject else one.kind.value
        line = f"*{one.name}* {what}, asked for by {user(one.by)} at {moment(one.at)}"
        blocks.append(section(f"{line}; expires at {moment(one.expires_at)}"))
    more = len(desktop.open_requests) - _REQUESTS
    blocks += [context(f"and {more} more")] if more > 0 else []
    return [*blocks, buttons(button("Requests", "requests"))] if desktop.actor.is_admin else blocks


def _drafts(desktop: Desktop) -> list[Block]:
    if desktop.draft is None and desktop.copy is None:
        return []
    lines = []
    if desktop.copy is not None:
        lines.append(f"You have unsaved changes, the last at {moment(desktop.copy.changed_at)}.")
    if desktop.draft is not None:
        saved = f"{user(desktop.draft.by)} at {moment(desktop.draft.at)}"
        lines.append(
            f"The shared draft was saved last by {saved}, revision {desktop.draft.revision}."
        )
    row = buttons(button("Edit", "edit"), button("Show the draft", "draft show"))
    return [divider(), header("Draft"), section("\n".join(lines)), row]


def _footer_buttons(actor: Actor) -> Block:
    row = [button("Pools", "status"), button("Profiles", "profiles")]
    if actor.policies or actor.is_admin:
        row += [button("Policies", "policies"), button("What waits", "queue")]
    if actor.is_admin:
        row += [button("Doctor", "doctor"), button("Audit", "audit")]
    return buttons(*row, button("Help", "help"))
