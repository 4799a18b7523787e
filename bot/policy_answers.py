"""`policies`: what teams are guaranteed, may use and do use, with their running tasks."""

from collections.abc import Sequence

from bot.access import Actor
from bot.bars import BORROWED, RESERVED, bar
from bot.blocks import (
    Block,
    Reply,
    button,
    buttons,
    counted,
    name,
    names,
    page_in,
    page_of,
    section,
    sections,
)
from bot.commands import Command, Role, Verb
from bot.desk import Desk
from bot.naming import Named, Unclear, ask_which, command, named, resolve
from bot.reading import Look, look, nothing_yet
from domain.amounts import format_amount
from domain.configuration import Policy
from domain.snapshot import PolicyState

_A_PAGE = 10
_TASKS = 15
_NAMED = 6


def policies(desk: Desk, actor: Actor, asked: Command) -> Reply:
    """The policies that the actor may see, or the one that is named."""
    words, number = page_in(asked.words)
    seen = look(desk)
    if seen is None:
        return nothing_yet()
    mine = visible(seen, actor)
    if not words and len(mine) != 1:
        return overview(seen, mine, number)
    policy = resolve(" ".join(words), mine) if words else mine[0]
    if isinstance(policy, Unclear):
        return ask_which("policy of yours", policy, lambda one: command("policies", one))
    tasks = [use.task for use in seen.index.uses.values() if use.policy == policy]
    page = page_of(tasks, number, _TASKS)
    return one_policy(seen, policy, tasks, named(desk, seen.index, actor, page.items), number)


def visible(seen: Look, actor: Actor) -> list[str]:
    """The policies whose tasks the actor may see, in the configuration's order."""
    return [one.name for one in seen.configuration.policies if actor.sees(one.name)]


def overview(seen: Look, mine: Sequence[str], number: int) -> Reply:
    """Several policies in three lines each, paged."""
    page = page_of(mine, number, _A_PAGE)
    count = counted(len(mine), "policy", "policies")
    blocks: list[Block] = [*seen.notice(), section(f"*{count}*")]
    blocks += [section("\n".join(policy_lines(seen, one))) for one in page.items]
    blocks += [*page.footer("policies"), seen.footer(f"{RESERVED} reserved  {BORROWED} borrowed")]
    waiting = sum(waiting_of(seen, one) for one in mine)
    text = f"{count} with {counted(waiting, 'waiting task')}."
    return Reply(text=seen.warned(text), blocks=tuple(blocks), share=True)


def policy_lines(seen: Look, policy: str) -> list[str]:
    """A policy's name and use, its bar, and what runs and waits."""
    state = seen.index.policies[policy]
    own = seen.configuration.policy_by_name[policy]
    queues = names([one.profile for one in own.queues], _NAMED)
    running = seen.index.running_by_policy[policy]
    return [
        f"{name(policy)}  *{format_amount(state.usage)}* in use · {terms(state)}",
        f"`{policy_bar(state)}`  {covered(state)}",
        f"{running} running, {waiting_of(seen, policy)} waiting · profiles: {queues or 'none'}",
    ]


def terms(state: PolicyState) -> str:
    limit = "no limit" if state.limit is None else f"limit {format_amount(state.limit)}"
    return f"reserved {format_amount(state.reservation)} · {limit}"


def covered(state: PolicyState) -> str:
    """How the use stands against the reservation."""
    over = state.usage - state.reservation
    if over > 0:
        return f"{format_amount(over)} beyond its reservation"
    idle = format_amount(-over)
    return f"{idle} of its reservation unused" if over else "its whole reservation is used"


def policy_bar(state: PolicyState) -> str:
    reserved = min(state.usage, state.reservation)
    whole = max(state.reservation, state.usage) if state.limit is None else state.limit
    return bar(((RESERVED, reserved), (BORROWED, state.usage - reserved)), whole)


def waiting_of(seen: Look, policy: str) -> int:
    return len(seen.waiting_of(policy))


def one_policy(seen: Look, policy: str, tasks: Sequence[str], known: Named, number: int) -> Reply:
    """A policy with its intake queues and its running tasks with their amounts, paged."""
    state, own = seen.index.policies[policy], seen.configuration.policy_by_name[policy]
    page = page_of(tasks, number, _TASKS)
    running = [_running_line(seen, known, task) for task in page.items]
    blocks: list[Block] = [
        *seen.notice(),
        section("\n".join(policy_lines(seen, policy)[:2])),
        *sections(["*Intake queues*", *_queue_lines(seen, own)]),
        *sections([f"*{len(tasks)} running*", *(running or ["none"])]),
        *page.footer(command("policies", policy)),
        buttons(button("Waiting tasks", command("queue", policy)), button("Pools", "status")),
        seen.footer(f"{RESERVED} reserved  {BORROWED} borrowed"),
    ]
    text = (
        f"Policy {name(policy)}: {format_amount(state.usage)} in use, {terms(state)}; "
        f"{len(tasks)} running and {waiting_of(seen, policy)} waiting tasks."
    )
    return Reply(text=seen.warned(text), blocks=tuple(blocks), share=True)


def _queue_lines(seen: Look, policy: Policy) -> list[str]:
    lines = [
        f"• {name(one.queue)} for {name(one.profile)}: "
        f"{seen.index.waiting[policy.name, one.profile]} waiting"
        for one in policy.queues[:20]
    ]
    more = len(policy.queues) - len(lines)
    return [*lines, *([f"and {more} more queues"] if more else [])] or ["none"]


def _running_line(seen: Look, known: Named, task: str) -> str:
    use = seen.index.uses[task]
    amount = format_amount(use.amount)
    return f"• {known.label(task)}: *{amount}* of {name(use.pool)} as {name(use.profile)}"


VERBS = (
    Verb(
        words=("policies",),
        role=Role.MEMBER,
        help="shows what a team is guaranteed, may use and uses, and its running tasks.",
        usage="[policy]",
        takes=(0, None),
        example="policies",
        answer=policies,
    ),
)
