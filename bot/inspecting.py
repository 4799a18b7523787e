"""`poolkeeper status` and `why`: text for a terminal, from the last published round."""

from collections.abc import Iterable, Sequence
from datetime import datetime

from bot.refusing import Refusal
from controller.publishing import View
from domain.amounts import Amount, format_amount
from domain.explain import Why
from domain.explain import why as explained
from domain.snapshot import Plan, PolicyState, PoolState

_BAR = 20


def status(view: View, enabled: bool, at: datetime) -> str:
    """Pools with their use, policies with theirs, and how old this is."""
    plan = view.plan
    switch = "enabled" if enabled else "DISABLED: nothing is dispatched"
    return "\n".join(
        [
            f"Version {view.version}, seen {age(view.at, at)}; management is {switch}.",
            "",
            "POOLS",
            *_table([_pool_row(state, view) for state in plan.pools]),
            "",
            "POLICIES",
            *_table([_policy_row(state, plan) for state in plan.policies]),
        ]
    )


def why(view: View, named: str, at: datetime) -> str:
    """Why a task waits, by its id or a prefix of it that only one waiting task has."""
    known = [task.id for queue in view.snapshot.queues for task in queue.tasks]
    found = [task for task in known if task == named] or [
        task for task in known if task.startswith(named)
    ]
    if len(found) > 1:
        raise Refusal([f"{named} begins {len(found)} ids: {', '.join(found[:5])}; say more of it."])
    if not found:
        running = [use for use in view.snapshot.allocations if use.task.startswith(named)]
        if len(running) == 1:
            use = running[0]
            return f"{use.task} does not wait: it has {format_amount(use.amount)} of {use.pool}."
        raise Refusal(
            [
                f"No waiting or running task has the id {named} or begins with it "
                f"(seen {age(view.at, at)})."
            ]
        )
    answer = explained(found[0], view.snapshot, view.plan)
    assert answer is not None, "the task is of this snapshot"
    return "\n".join([*_why_lines(answer), f"Seen {age(view.at, at)}."])


def _why_lines(answer: Why) -> Iterable[str]:
    yield (
        f"{answer.task} is {answer.position} of {answer.queue_length} in the queue of "
        f"{answer.policy} for {answer.profile}."
    )
    yield answer.sentence
    for use in answer.uses:
        held = [f"{policy} {format_amount(amount)}" for policy, amount in use.policies]
        if use.elsewhere:
            held.append(f"others {format_amount(use.elsewhere)}")
        free = f"{format_amount(use.free)} of {format_amount(use.resources)} free"
        yield f"  {use.pool}: {free}; in use by {', '.join(held) or 'nobody'}."
    yield answer.unblocked_by


def age(then: datetime, now: datetime) -> str:
    """How long ago, in words."""
    seconds = max(0, int((now - then).total_seconds()))
    if seconds < 120:
        return f"{seconds} s ago"
    return f"{seconds // 60} min ago" if seconds < 7200 else f"{seconds // 3600} h ago"


def bar(used: Amount, whole: Amount) -> str:
    """Twenty cells, filled as far as `used` goes of `whole`; full when it is over."""
    filled = min(_BAR, round(_BAR * used / whole)) if whole else (_BAR if used else 0)
    return "█" * filled + "░" * (_BAR - filled)


def _pool_row(state: PoolState, view: View) -> list[str]:
    pool = view.snapshot.configuration.pool_by_name[state.name]
    foreign = view.snapshot.foreign.get(state.name)
    note = f"{format_amount(foreign)} foreign" if foreign else ""
    order = " > ".join(pool.profiles) or "no link"
    used = f"{format_amount(state.used)}/{format_amount(state.resources)}"
    return [state.name, bar(state.used, state.resources), used, order, note]


def _policy_row(state: PolicyState, plan: Plan) -> list[str]:
    waiting = sum(task.policy == state.name for task in plan.waiting)
    limit = "no limit" if state.limit is None else f"limit {format_amount(state.limit)}"
    reserved = f"reserved {format_amount(state.reservation)}"
    return [state.name, f"uses {format_amount(state.usage)}", reserved, limit, f"{waiting} waiting"]


def _table(rows: Sequence[Sequence[str]]) -> Iterable[str]:
    if not rows:
        return ["  none"]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return [
        "  "
        + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]
