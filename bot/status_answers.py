"""`status`: pools with their use, in words, numbers and bars."""

from collections.abc import Collection
from dataclasses import replace

from bot.access import Actor
from bot.bars import BORROWED, FOREIGN, LEGEND, RESERVED, bar
from bot.blocks import (
    Block,
    Reply,
    button,
    buttons,
    counted,
    escape,
    name,
    names,
    page_in,
    page_of,
    plain,
    section,
    sections,
)
from bot.commands import Command, Role, Verb
from bot.desk import Desk
from bot.indexing import Shares
from bot.naming import Unclear, ask_which, command, resolve
from bot.reading import Look, look, nothing_yet
from controller.cgpu_view import last_view
from domain.amounts import ZERO, format_amount
from domain.cgpu_pools import size_notes
from domain.names import listing
from domain.snapshot import PoolState

_A_PAGE = 8
_NAMED = 4


def status(desk: Desk, actor: Actor, asked: Command) -> Reply:
    """All pools, or the one that is named."""
    words, number = page_in(asked.words)
    seen = look(desk)
    if seen is None:
        return nothing_yet()
    if not words:
        answer = overview(seen, number)
        return replace(answer, blocks=(*answer.blocks, *_size_notes(desk, seen.index.pools)))
    pool = resolve(" ".join(words), seen.index.pools)
    if isinstance(pool, Unclear):
        return ask_which("pool", pool, lambda one: command("status", one))
    answer = one_pool(seen, actor, pool, number)
    return replace(answer, blocks=(*answer.blocks, *_size_notes(desk, (pool,))))


def _size_notes(desk: Desk, pools: Collection[str]) -> list[Block]:
    """Where these pools have not what their Kubernetes nodes have."""
    if not desk.settings.has_kubernetes:
        return []
    with desk.database.reading() as session:
        view = last_view(session)
    if view is None:
        return []
    notes = size_notes(view.configuration, [one for one in view.pools if one.pool in pools])
    return sections([f":warning: {escape(plain(note, 300))}" for note in notes])


def overview(seen: Look, number: int = 1) -> Reply:
    """Every pool in two lines, paged."""
    page = page_of(seen.view.plan.pools, number, _A_PAGE)
    blocks: list[Block] = [*seen.notice(), section(f"*{_summary(seen)}*")]
    for pool in page.items:
        blocks += [section("\n".join(pool_lines(seen, pool)))]
    blocks += [*page.footer("status"), seen.footer(LEGEND)]
    return Reply(text=seen.warned(f"{_summary(seen)}."), blocks=tuple(blocks), share=True)


def _summary(seen: Look) -> str:
    plan = seen.view.plan
    if not plan.pools:
        return "There are no pools yet"
    used = sum((pool.used for pool in plan.pools), ZERO)
    whole = sum((pool.resources for pool in plan.pools), ZERO)
    tasks = f"{counted(len(seen.index.uses), 'task')} running, {len(plan.waiting)} waiting"
    pools = counted(len(plan.pools), "pool")
    return f"{pools}: {format_amount(used)} of {format_amount(whole)} in use; {tasks}"


def pool_lines(seen: Look, pool: PoolState) -> list[str]:
    """A pool's name, use, bar, and what runs there first."""
    shares = seen.index.shares[pool.name]
    order = seen.configuration.pool_by_name[pool.name].profiles
    first = names(order, _NAMED) if order else "no profile is linked"
    used = f"*{format_amount(pool.used)} of {format_amount(pool.resources)}* in use"
    return [
        f"{name(pool.name)}  {used}, {_free(pool)}",
        f"`{pool_bar(pool, shares)}`  {_shares(shares)}",
        f"Execution priority: {first}",
    ]


def pool_bar(pool: PoolState, shares: Shares) -> str:
    parts = ((RESERVED, shares.reserved), (BORROWED, shares.borrowed), (FOREIGN, shares.foreign))
    return bar(parts, pool.resources)


def _free(pool: PoolState) -> str:
    if pool.used > pool.resources:
        return f"{format_amount(pool.used - pool.resources)} more than it has"
    return f"{format_amount(pool.free)} free"


def _shares(shares: Shares) -> str:
    parts = [
        f"{format_amount(amount)} {what}"
        for amount, what in (
            (shares.reserved, "reserved"),
            (shares.borrowed, "borrowed"),
            (shares.foreign, "foreign"),
        )
        if amount
    ]
    return ", ".join(parts) or "idle"


def one_pool(seen: Look, actor: Actor, name_: str, number: int) -> Reply:
    """A pool with its links in execution priority and who uses it."""
    pool, own = seen.index.pools[name_], seen.configuration.pool_by_name[name_]
    lines = [_link_line(seen, name_, profile) for profile in own.profiles]
    page = page_of(lines or ["No profile is linked to this pool."], number, 12)
    about = [f"_{escape(plain(own.description, 300))}_"] if own.description else []
    blocks: list[Block] = [
        *seen.notice(),
        section("\n".join([*pool_lines(seen, pool)[:2], *about])),
        section(_users(seen, pool)),
        *sections(["*Links in execution priority*", *page.items]),
        *page.footer(command("status", name_)),
        _pool_buttons(actor),
        seen.footer(LEGEND),
    ]
    text = (
        f"{name(name_)}: {format_amount(pool.used)} of {format_amount(pool.resources)} in use, "
        f"{_free(pool)}."
    )
    return Reply(text=seen.warned(text), blocks=tuple(blocks), share=True)


def _link_line(seen: Look, pool: str, profile: str) -> str:
    links = seen.configuration.profile_by_name[profile].pools
    link = next((link.name for link in links if link.pool == pool), "")
    uses = [u for u in seen.index.uses.values() if u.pool == pool and u.profile == profile]
    taken = sum((use.amount for use in uses), ZERO)
    return (
        f"• {name(profile)} by link {name(link)}: {len(uses)} running with {format_amount(taken)}"
    )


def _users(seen: Look, pool: PoolState) -> str:
    used = sorted(seen.index.use_in[pool.name].items(), key=lambda use: (-use[1], use[0]))
    users = [f"{name(policy)} {format_amount(amount)}" for policy, amount in used]
    foreign = seen.index.shares[pool.name].foreign
    if foreign:
        users.append(f"tasks from no intake queue {format_amount(foreign)}")
    return f"*In use by* {listing(users, 15)}" if users else "*In use by* nobody"


def _pool_buttons(actor: Actor) -> Block:
    row = [button("All pools", "status"), button("Profiles", "profiles")]
    if actor.is_admin:
        row.append(button("Policies", "policies"))
    return buttons(*row)


VERBS = (
    Verb(
        words=("status",),
        role=Role.EVERYBODY,
        help="shows pools with their use and execution priority.",
        usage="[pool]",
        takes=(0, None),
        example="status",
        answer=status,
    ),
)
