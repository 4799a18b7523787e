"""Why a task waits: its sentence, and all else there is to say of it (DESIGN.md, rule 3; `why`)."""

from dataclasses import dataclass

from domain.amounts import ZERO, Amount, format_amount
from domain.sentences import Explainer, listed
from domain.snapshot import Dispatch, Plan, Reason, Snapshot, Tier, Waiting

__all__ = ["Explainer", "PoolUse", "Why", "detail", "why", "why_by"]


@dataclass(frozen=True, kw_only=True, slots=True)
class PoolUse:
    """Who has what of one pool, after the plan: amounts by policy name, the largest first.

    `elsewhere` is used by what came through no intake queue, or by policies that are gone.
    """

    pool: str
    resources: Amount
    free: Amount
    policies: tuple[tuple[str, Amount], ...]
    elsewhere: Amount


@dataclass(frozen=True, kw_only=True, slots=True)
class Why:
    """All there is to say of one task of the snapshot.

    `position` counts from 1 in its intake queue of `queue_length` tasks, as the snapshot has it.
    `reason` is None for a task that the plan dispatches. `uses` are its linked pools in
    precedence; `unblocked_by` names, in a sentence, what would let it start first.
    """

    task: str
    policy: str
    profile: str
    position: int
    queue_length: int
    amount: Amount
    reason: Reason | None
    sentence: str
    uses: tuple[PoolUse, ...]
    unblocked_by: str


def detail(waiting: Waiting, snapshot: Snapshot, plan: Plan) -> str:
    """The sentence of one waiting task; for many of them, keep one Explainer."""
    return Explainer(snapshot, plan).detail(waiting)


def why(task_id: str, snapshot: Snapshot, plan: Plan) -> Why | None:
    """Everything about one task, or None where the snapshot or its plan has no such task."""
    return why_by(Explainer(snapshot, plan), task_id)


def why_by(explainer: Explainer, task_id: str) -> Why | None:
    """The same for whoever asks about many tasks and keeps one Explainer."""
    for queue in explainer.snapshot.queues:
        for place, task in enumerate(queue.tasks):
            if task.id == task_id:
                return _why(explainer, task_id, (place + 1, len(queue.tasks)))
    return None


def _why(explainer: Explainer, task_id: str, place: tuple[int, int]) -> Why | None:
    answer: Dispatch | Waiting | None = explainer.waiting_by_task.get(task_id)
    if isinstance(answer, Waiting):
        reason, sentence = answer.reason, explainer.detail(answer)
        unblocked_by = _remedy(explainer, answer)
    else:
        answer = next((d for d in explainer.plan.dispatch if d.task == task_id), None)
        if answer is None:
            return None
        reason, sentence, unblocked_by = None, _starts(answer), "Nothing holds it up."
    return Why(
        task=task_id,
        policy=answer.policy,
        profile=answer.profile,
        position=place[0],
        queue_length=place[1],
        amount=answer.amount,
        reason=reason,
        sentence=sentence,
        uses=_uses(explainer, answer.profile),
        unblocked_by=unblocked_by,
    )


def _starts(dispatch: Dispatch) -> str:
    share = (
        f"inside the reservation of {dispatch.policy}"
        if dispatch.tier is Tier.RESERVED
        else "from what is shared"
    )
    return f"Starts now with {format_amount(dispatch.amount)} of {dispatch.pool}, {share}."


def _uses(explainer: Explainer, profile: str) -> tuple[PoolUse, ...]:
    return tuple(_use(explainer, link.pool) for link in explainer.profile(profile).pools)


def _use(explainer: Explainer, pool: str) -> PoolUse:
    used = explainer.use_by_pool.get(pool, {})
    state = explainer.pools[pool]
    return PoolUse(
        pool=pool,
        resources=state.resources,
        free=state.free,
        policies=tuple(sorted(used.items(), key=lambda use: (-use[1], use[0]))),
        elsewhere=state.used - sum(used.values(), ZERO),
    )


def _remedy(explainer: Explainer, waiting: Waiting) -> str:
    """What would let the task start first; where that is a person's to do, what they would do."""
    if waiting.reason is Reason.BEHIND:
        first = explainer.waiting_by_task[str(waiting.holder)]
        return f"{first.task} has to start first. {explainer.detail(first)}"
    if waiting.reason is Reason.HELD:
        return f"{waiting.holder} starts, or leaves the queue; then {waiting.pool} is free for all."
    return _REMEDIES[waiting.reason](explainer, waiting)


def _change(_: Explainer, waiting: Waiting) -> str:
    return {
        Reason.DISABLED: "An admin enables management.",
        Reason.UNLINKED: f"An admin links {waiting.profile} to a pool.",
        Reason.TOO_LARGE: "The task asks for less, or an admin enlarges a pool of its profile.",
        Reason.OVER_LIMIT_ALONE: (
            f"The task asks for less, or the limit of {waiting.policy} becomes at least "
            f"{format_amount(waiting.amount)}."
        ),
    }[waiting.reason]


def _below_limit(explainer: Explainer, waiting: Waiting) -> str:
    policy = explainer.policies[waiting.policy]
    needed = policy.usage + waiting.amount
    over = needed - (needed if policy.limit is None else policy.limit)
    return (
        f"Running tasks of {policy.name} that use {format_amount(over)} end, or its limit becomes "
        f"at least {format_amount(needed)}."
    )


def _more_room(explainer: Explainer, waiting: Waiting) -> str:
    """The pool that lacks the least, the earlier in precedence where two lack the same."""
    uses = [u for u in _uses(explainer, waiting.profile) if u.resources >= waiting.amount]
    nearest = min(uses, key=lambda use: waiting.amount - use.free)
    users = [f"{policy} ({format_amount(amount)})" for policy, amount in nearest.policies]
    if nearest.elsewhere > 0:
        users.append(f"tasks from no intake queue ({format_amount(nearest.elsewhere)})")
    by = f"; it is used by {listed(users)}" if users else ""
    lacking = format_amount(waiting.amount - nearest.free)
    return f"{lacking} more in {nearest.pool} becomes free{by}."


def _not_kept(explainer: Explainer, waiting: Waiting) -> str:
    keepers = listed(list(explainer.keepers(waiting)))
    return (
        f"More becomes free in its pools, or {keepers} uses or lends what is reserved and unused."
    )


_REMEDIES = {
    Reason.DISABLED: _change,
    Reason.UNLINKED: _change,
    Reason.TOO_LARGE: _change,
    Reason.OVER_LIMIT_ALONE: _change,
    Reason.LIMIT_REACHED: _below_limit,
    Reason.NO_CAPACITY: _more_room,
    Reason.KEPT: _not_kept,
}
