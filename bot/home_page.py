"""What a person's App Home shows, by role. Pure.

What it says of time are moments, not ages, so that it changes only when something did.
"""

from collections.abc import Sequence
from dataclasses import dataclass

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
from bot.naming import Named, command
from bot.policy_answers import policy_lines, visible, waiting_of
from bot.reading import Look
from bot.status_answers import pool_lines
from domain.ledger import Draft
from domain.requests import Request
from storage.working_copies import WorkingCopy

_POOLS, _POLICIES, TASKS, _REQUESTS = 6, 4, 4, 5
"""How many of each are shown; what is left out is counted, and has a button."""


@dataclass(frozen=True, kw_only=True)
class Desktop:
    """What one person's Home is made from."""

    actor: Actor
    seen: Look | None
    known: Named | None
    open_requests: Sequence[Request] = ()
    draft: Draft | None = None
    copy: WorkingCopy | None = None
    has_cluster: bool = False


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
    blocks += [divider(), _footer_buttons(desktop)]
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
    for waiting in seen.waiting_of(policy)[:TASKS]:
        since = moment(seen.index.first_seen[waiting.task])
        line = section(f"{known.label(waiting.task)} waits since {since}")
        blocks.append(with_button(line, button("Why?", command("why", waiting.task))))
        blocks.append(prose(known.sentence(seen.index.explainer.detail(waiting))))
    more = waiting_of(seen, policy) - TASKS
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


def _footer_buttons(desktop: Desktop) -> Block:
    actor = desktop.actor
    row = [button("Pools", "status"), button("Profiles", "profiles")]
    if actor.policies or actor.is_admin:
        row += [button("Policies", "policies"), button("What waits", "queue")]
    if actor.is_admin:
        has_button = desktop.draft is not None or desktop.copy is not None  # under Draft
        row += [] if has_button else [button("Edit", "edit")]
        row += [button("Doctor", "doctor"), button("Audit", "audit")]
    if actor.is_admin and desktop.has_cluster:
        row.append(button("cGPU", "cgpu status"))
    return buttons(*row, button("Help", "help"))
