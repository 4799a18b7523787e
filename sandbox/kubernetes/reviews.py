"""What may I do: SelfSubjectAccessReview and SelfSubjectRulesReview (recording 22)."""

from sandbox.kubernetes import errors
from sandbox.kubernetes.access import Attempt, Caller, allows, because
from sandbox.kubernetes.calls import Answer, Call
from sandbox.kubernetes.documents import Doc
from sandbox.kubernetes.resources import ACCESS_REVIEWS, BY_PATH, Resource

# What every authenticated user may, by system:basic-user and the roles of discovery.
_BASIC = [
    {
        "verbs": ["create"],
        "apiGroups": ["authorization.k8s.io"],
        "resources": ["selfsubjectaccessreviews", "selfsubjectrulesreviews"],
    },
    {
        "verbs": ["create"],
        "apiGroups": ["authentication.k8s.io"],
        "resources": ["selfsubjectreviews"],
    },
]
_PATHS = (
    ["/.well-known", "/.well-known/*"],
    ["/api", "/api/*", "/apis", "/apis/*", "/healthz", "/livez"],
    [
        "/.well-known/openid-configuration",
        "/.well-known/openid-configuration/",
        "/openid/v1/jwks",
        "/openid/v1/jwks/",
    ],
    ["/healthz", "/livez", "/readyz", "/version", "/version/"],
)


def review(call: Call) -> Answer:
    spec = call.request.body().get("spec") or {}
    status = _access(call.caller, spec) if call.resource == ACCESS_REVIEWS else _rules(call.caller)
    kind, api_version = call.resource.kind, call.resource.api_version
    shown = spec if call.resource == ACCESS_REVIEWS else {}
    doc: Doc = {"kind": kind, "apiVersion": api_version, "metadata": {}, "spec": shown}
    return Answer(201, {**doc, "status": status})


def _access(caller: Caller, spec: Doc) -> Doc:
    asked = spec.get("resourceAttributes")
    if asked is None:
        text = "Invalid value: null: exactly one of nonResourceAttributes or resourceAttributes"
        why = errors.cause("spec.resourceAttributes", text)
        raise errors.invalid(ACCESS_REVIEWS, "", [why])
    plural, _, inside = asked.get("resource", "").partition("/")
    group = asked.get("group", "")
    resource = BY_PATH.get((group, "v1", plural)) or Resource(group, plural, plural)
    attempt = Attempt(
        verb=asked.get("verb", ""),
        resource=resource,
        namespace=asked.get("namespace", ""),
        name=asked.get("name", ""),
        subresource=asked.get("subresource", "") or inside,
    )
    if not allows(caller, attempt):
        return {"allowed": False}
    return {"allowed": True, "reason": because(caller)}


def _rules(caller: Caller) -> Doc:
    shown = ("verbs", "apiGroups", "resources", "resourceNames")
    own = [{name: rule[name] for name in shown if name in rule} for rule in caller.rules]
    paths = [{"verbs": ["get"], "nonResourceURLs": one} for one in _PATHS]
    return {"resourceRules": [*own, *_BASIC], "nonResourceRules": paths, "incomplete": False}
