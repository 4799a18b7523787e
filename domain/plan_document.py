"""A plan as the JSON document of ALLOCATION.md ("The files of `poolkeeper plan`")."""

from typing import Any

from domain.amounts import Amount, format_amount
from domain.explain import Explainer
from domain.snapshot import Plan, Snapshot


def plan_document(snapshot: Snapshot, plan: Plan) -> dict[str, Any]:
    """Ready for `json.dumps`: amounts as strings, a limit null where there is none."""
    explainer = Explainer(snapshot, plan)
    printed = _Printed()
    return {
        "dispatch": [
            {
                "task": dispatch.task,
                "policy": dispatch.policy,
                "profile": dispatch.profile,
                "pool": dispatch.pool,
                "link": dispatch.link,
                "tier": dispatch.tier.value,
                "amount": printed(dispatch.amount),
            }
            for dispatch in plan.dispatch
        ],
        "waiting": [
            {
                "task": waiting.task,
                "policy": waiting.policy,
                "profile": waiting.profile,
                "amount": printed(waiting.amount),
                "reason": waiting.reason.value,
                "detail": explainer.detail(waiting),
            }
            for waiting in plan.waiting
        ],
        "pools": [
            {
                "name": pool.name,
                "resources": format_amount(pool.resources),
                "used": format_amount(pool.used),
                "free": format_amount(pool.free),
            }
            for pool in plan.pools
        ],
        "policies": [
            {
                "name": policy.name,
                "reservation": format_amount(policy.reservation),
                "limit": None if policy.limit is None else format_amount(policy.limit),
                "usage": format_amount(policy.usage),
            }
            for policy in plan.policies
        ],
    }


class _Printed:
    """Tasks share their amounts, and printing one takes longer than finding it again."""

    def __init__(self) -> None:
        # By identity, the amount kept beside its text so that the identity stays its own.
        self._texts: dict[int, tuple[Amount, str]] = {}

    def __call__(self, amount: Amount) -> str:
        known = self._texts.get(id(amount))
        if known is None:
            known = self._texts[id(amount)] = amount, format_amount(amount)
        return known[1]
