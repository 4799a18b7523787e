"""Who calls, and what they may do: tokens, and RBAC rules per token.

A rule is {verbs, apiGroups, resources, resourceNames?, namespaces?}; "*" matches everything.
"""

from dataclasses import dataclass, field

from sandbox.kubernetes import errors
from sandbox.kubernetes.documents import Doc
from sandbox.kubernetes.resources import REVIEWS, Resource

ADMIN_TOKEN = "sandbox-admin-token"
EVERYTHING = [{"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]}]
# What system:public-info-viewer and system:discovery let everybody read.
PUBLIC_PATHS = ("/healthz", "/livez", "/readyz", "/version", "/version/")
DISCOVERY_PATHS = ("/api", "/apis", "/.well-known", "/openid")


@dataclass(frozen=True, slots=True)
class Caller:
    """The bearer of a token; without one, nobody in particular."""

    user: str
    rules: list[Doc] = field(default_factory=list)
    anonymous: bool = False


ANONYMOUS = Caller("system:anonymous", anonymous=True)


@dataclass(frozen=True, slots=True)
class Attempt:
    """What is asked for: a verb on a resource or one of its subresources, somewhere."""

    verb: str
    resource: Resource
    namespace: str = ""
    name: str = ""
    subresource: str = ""

    @property
    def spoken(self) -> str:
        """The resource as rules name it: "pods/eviction"."""
        plural = self.resource.plural
        return f"{plural}/{self.subresource}" if self.subresource else plural


@dataclass(slots=True)
class Access:
    callers: dict[str, Caller] = field(
        default_factory=lambda: {ADMIN_TOKEN: Caller("kubernetes-admin", list(EVERYTHING))}
    )

    def caller(self, token: str | None) -> Caller:
        if token is None:
            return ANONYMOUS
        if token not in self.callers:
            raise errors.unauthorized()
        return self.callers[token]

    def grant(self, token: str, user: str, rules: list[Doc]) -> None:
        self.callers[token] = Caller(user, rules)


def allows(caller: Caller, attempt: Attempt) -> bool:
    """Everybody who is somebody may ask what they may do."""
    if attempt.resource in REVIEWS:
        return not caller.anonymous
    return any(_covers(rule, attempt) for rule in caller.rules)


def _covers(rule: Doc, attempt: Attempt) -> bool:
    asked = {
        "verbs": attempt.verb,
        "apiGroups": attempt.resource.group,
        "resources": attempt.spoken,
    }
    if any(not {"*", value} & set(rule.get(name, [])) for name, value in asked.items()):
        return False
    names, namespaces = rule.get("resourceNames") or [], rule.get("namespaces") or []
    if names and attempt.name not in names:
        return False
    return not namespaces or attempt.namespace in namespaces


def require(caller: Caller, attempt: Attempt) -> None:
    """403 in the words of recording 21; before it is known whether the object exists."""
    if allows(caller, attempt):
        return
    resource, name = attempt.resource, attempt.name
    what = f'{resource.qualified} "{name}"' if name else resource.qualified
    where = f'in the namespace "{attempt.namespace}"' if attempt.namespace else _NOWHERE
    text = (
        f'{what} is forbidden: User "{caller.user}" cannot {attempt.verb} resource '
        f'"{attempt.spoken}" in API group "{resource.group}" {where}'
    )
    raise errors.ApiError(403, "Forbidden", text, errors.named(resource, name))


_NOWHERE = "at the cluster scope"


def require_path(caller: Caller, path: str) -> None:
    if path in PUBLIC_PATHS or (not caller.anonymous and path.startswith(DISCOVERY_PATHS)):
        return
    if any("*" in rule.get("resources", []) for rule in caller.rules):
        return
    text = f'forbidden: User "{caller.user}" cannot get path "{path}"'
    raise errors.ApiError(403, "Forbidden", text, {})


def because(caller: Caller) -> str:
    """The reason that a granted review gives (recording 22)."""
    role = caller.user.rpartition(":")[2]
    if caller.user.startswith("system:serviceaccount:"):
        namespace = caller.user.split(":")[2]
        subject = f'ServiceAccount "{role}/{namespace}"'
    else:
        subject = f'User "{caller.user}"'
    return f'RBAC: allowed by ClusterRoleBinding "{role}" of ClusterRole "{role}" to {subject}'
