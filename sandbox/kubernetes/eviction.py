"""The Eviction API and disruption budgets (recording 17): 201, or 429 with the budget named."""

import math

from sandbox.kubernetes import errors, storing
from sandbox.kubernetes.calls import Answer, Call
from sandbox.kubernetes.documents import Doc, at, instant, labels_of, name_of, namespace_of
from sandbox.kubernetes.resources import BUDGETS, PODS
from sandbox.kubernetes.selectors import by_selector
from sandbox.kubernetes.store import Store

_SUCCESS = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": 201}
_REFUSED = "Cannot evict pod as it would violate the pod's disruption budget."
_TWO = (
    "This pod has more than one PodDisruptionBudget, which the eviction subresource does not "
    "support."
)


def evict(call: Call) -> Answer:
    pod = call.current()
    body = call.request.body()
    dry_run = call.dry_run or "All" in (at(body, "deleteOptions", "dryRun") or [])
    budgets = budgets_of(call.store, pod)
    if at(pod, "status", "phase") == "Running" and "deletionTimestamp" not in pod["metadata"]:
        if len(budgets) > 1:
            raise errors.ApiError(500, "InternalError", f"Internal error occurred: {_TWO}")
        for budget in budgets:
            _require_room(call.store, budget, pod)
    if not dry_run:
        _end(call.store, pod, body)
    return Answer(201, dict(_SUCCESS))


def _end(store: Store, pod: Doc, body: Doc) -> None:
    said = at(body, "deleteOptions", "gracePeriodSeconds")
    grace = at(pod, "spec", "terminationGracePeriodSeconds") if said is None else said
    condition = {
        "type": "DisruptionTarget",
        "status": "True",
        "lastProbeTime": None,
        "lastTransitionTime": instant(),
        "reason": "EvictionByEvictionAPI",
        "message": "Eviction API: evicting",
    }
    ended = storing.ending(pod, int(grace), [condition])
    if ended is pod:
        return
    ended = store.put(PODS, ended)
    if not grace or not at(pod, "spec", "nodeName"):
        store.remove(PODS, ended)


def budgets_of(store: Store, pod: Doc) -> list[Doc]:
    return [
        budget
        for budget in store.all(BUDGETS)
        if namespace_of(budget) == namespace_of(pod)
        and by_selector(at(budget, "spec", "selector"))(labels_of(pod))
    ]


def counts(store: Store, budget: Doc) -> tuple[int, int, int]:
    """How many pods of a budget are healthy now, must be, and there are in all."""
    selects = by_selector(at(budget, "spec", "selector"))
    pods = [
        pod
        for pod in store.all(PODS)
        if namespace_of(pod) == namespace_of(budget) and selects(labels_of(pod))
    ]
    healthy = sum(is_ready(pod) and "deletionTimestamp" not in pod["metadata"] for pod in pods)
    spec = budget["spec"]
    if spec.get("minAvailable") is not None:
        return healthy, _amount(spec["minAvailable"], len(pods)), len(pods)
    allowed = _amount(spec.get("maxUnavailable", 0), len(pods))
    return healthy, max(0, len(pods) - allowed), len(pods)


def _amount(value: int | str, total: int) -> int:
    if isinstance(value, str) and value.endswith("%"):
        return math.ceil(total * int(value[:-1]) / 100)
    return int(value)


def is_ready(pod: Doc) -> bool:
    conditions = at(pod, "status", "conditions") or []
    return any(one["type"] == "Ready" and one["status"] == "True" for one in conditions)


def _require_room(store: Store, budget: Doc, pod: Doc) -> None:
    """A pod that is not ready may go while enough others are: the policy IfHealthyBudget."""
    healthy, needed, _ = counts(store, budget)
    if healthy > needed or (not is_ready(pod) and healthy >= needed > 0):
        return
    text = (
        f"The disruption budget {name_of(budget)} needs {needed} healthy pods "
        f"and has {healthy} currently"
    )
    causes = [{"reason": "DisruptionBudget", "message": text}]
    raise errors.ApiError(429, "TooManyRequests", _REFUSED, {"causes": causes})


def kept_status(store: Store, budget: Doc) -> Doc:
    """The status that the disruption controller keeps."""
    healthy, needed, expected = counts(store, budget)
    allowed = max(0, healthy - needed)
    condition = {
        "type": "DisruptionAllowed",
        "status": "True" if allowed else "False",
        "observedGeneration": budget["metadata"]["generation"],
        "lastTransitionTime": budget["metadata"]["creationTimestamp"],
        "reason": "SufficientPods" if allowed else "InsufficientPods",
        "message": "",
    }
    return {
        "observedGeneration": budget["metadata"]["generation"],
        "disruptionsAllowed": allowed,
        "currentHealthy": healthy,
        "desiredHealthy": needed,
        "expectedPods": expected,
        "conditions": [condition],
    }
