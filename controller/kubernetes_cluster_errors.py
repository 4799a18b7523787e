"""Kubernetes' refusals as values: who may not do what, what is in the way, what is just away."""

import json
import re
from typing import Any, Final

from controller.kubernetes_ports import (
    Declined,
    Forbidden,
    KubernetesAway,
    KubernetesError,
    Misconfigured,
    Rule,
)

_CANNOT: Final = re.compile(
    r'cannot (?P<verb>\S+) resource "(?P<resource>[^"]+)" in API group "(?P<group>[^"]*)"'
    r'(?: in the namespace "(?P<namespace>[^"]+)")?'
)
_BUDGET: Final = "DisruptionBudget"
_LONGEST: Final = 300


class Blocked(Declined):
    """A disruption budget does not allow an eviction now; `why` is its own sentence."""

    def __init__(self, call: str, why: str) -> None:
        super().__init__(call, 429, why)
        self.why = why


def refusal(call: str, status: int, text: str) -> KubernetesError:
    """The error for an answer that is not 2xx; `text` may be a Status, plain text, or nothing."""
    body = _status(text)
    message = str(body.get("message") or text.strip() or "no reason was given")[:_LONGEST]
    if status == 401:
        return Misconfigured(f"Kubernetes does not accept these credentials: {message}")
    if status == 403:
        return _forbidden(call, message)
    if status == 429 and (why := _budget(body)) is not None:
        return Blocked(call, why)
    if status == 429 or status >= 500 or status == 0:
        return KubernetesAway(f"Kubernetes cannot answer {call} now ({status}): {message}")
    return Declined(call, status, message)


def _status(text: str) -> dict[str, Any]:
    try:
        body = json.loads(text)
    except ValueError:
        return {}
    return body if isinstance(body, dict) else {}


def _forbidden(call: str, message: str) -> KubernetesError:
    match = _CANNOT.search(message)
    if match is None:
        # Not a role's refusal: an admission controller's, or a proxy's.
        return Declined(call, 403, message)
    return Forbidden(
        Rule(
            verb=match["verb"],
            resource=match["resource"],
            group=match["group"],
            namespace=match["namespace"] or "",
        )
    )


def _budget(body: dict[str, Any]) -> str | None:
    causes = (body.get("details") or {}).get("causes") or []
    for cause in causes:
        if cause.get("reason") == _BUDGET:
            return str(cause.get("message") or body.get("message") or "a disruption budget")
    return None
