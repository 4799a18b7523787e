"""A request taken apart: whose it is, what it is about, and what its options say."""

import base64
import json
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote

import yaml

from sandbox.kubernetes import errors
from sandbox.kubernetes.access import Attempt, Caller
from sandbox.kubernetes.documents import Doc
from sandbox.kubernetes.ownership import Writer
from sandbox.kubernetes.resources import BY_PATH, Resource
from sandbox.kubernetes.store import Store

JSON_PATCH = "application/json-patch+json"
MERGE_PATCH = "application/merge-patch+json"
STRATEGIC_MERGE = "application/strategic-merge-patch+json"
APPLY = "application/apply-patch+yaml"
_VERBS = {"POST": "create", "PUT": "update", "PATCH": "patch"}


@dataclass(frozen=True, slots=True)
class Request:
    """What arrived over the wire; `token` is None without an Authorization header.

    `upgrades`: the connection is to become a websocket.
    """

    method: str
    path: str
    query: dict[str, str] = field(default_factory=dict)
    raw: bytes = b""
    content_type: str = ""
    token: str | None = None
    agent: str = ""
    upgrades: bool = False

    def body(self) -> Any:
        """The decoded body, {} when empty; 400 when it cannot be decoded."""
        if not self.raw.strip():
            return {}
        try:
            if self.content_type == APPLY:
                return yaml.safe_load(self.raw)
            return json.loads(self.raw)
        except (ValueError, yaml.YAMLError) as err:
            raise errors.bad_request(f"the object provided is unrecognized: {err}") from None


@dataclass(frozen=True, slots=True)
class Answer:
    code: int
    body: Doc | str
    headers: dict[str, str] = field(default_factory=dict)

    def encoded(self) -> tuple[bytes, str]:
        """The bytes with their content type; text stays text."""
        if isinstance(self.body, str):
            return self.body.encode(), "text/plain"
        return json.dumps(self.body, separators=(",", ":")).encode(), "application/json"


@dataclass(frozen=True, slots=True)
class Call:
    """One call on a resource, allowed already."""

    store: Store
    request: Request
    caller: Caller
    attempt: Attempt

    @property
    def resource(self) -> Resource:
        return self.attempt.resource

    @property
    def namespace(self) -> str:
        return self.attempt.namespace

    @property
    def name(self) -> str:
        return self.attempt.name

    @property
    def dry_run(self) -> bool:
        return "dryRun" in self.request.query

    @property
    def writer(self) -> Writer:
        """The field manager as named, or as the client calls itself: "OpenAPI-Generator"."""
        named = self.request.query.get("fieldManager") or self.request.agent.split("/")[0]
        operation = "Apply" if self.request.content_type == APPLY else "Update"
        return Writer(named or "unknown", operation, self.attempt.subresource)

    def current(self) -> Doc:
        found = self.store.find(self.resource, self.namespace, self.name)
        if found is None:
            raise errors.not_found(self.resource, self.name)
        return found


def attempt(request: Request) -> Attempt | None:
    """What a path and method ask for; None when the path names no resource that is served."""
    steps = [unquote(step) for step in request.path.strip("/").split("/")]
    if steps[0] == "api" and len(steps) > 2:
        group, version, rest = "", steps[1], steps[2:]
    elif steps[0] == "apis" and len(steps) > 3:
        group, version, rest = steps[1], steps[2], steps[3:]
    else:
        return None
    namespace = ""
    if rest[0] == "namespaces" and len(rest) > 2 and rest[2] != "status":
        namespace, rest = rest[1], rest[2:]
    resource = BY_PATH.get((group, version, rest[0]))
    if resource is None or len(rest) > 3:
        return None
    name, sub = (*rest[1:], "", "")[:2]
    if sub and sub not in resource.subresources:
        return None
    return Attempt(_verb(request, name), resource, namespace, name, sub)


def _verb(request: Request, name: str) -> str:
    if request.method == "DELETE":
        return "delete" if name else "deletecollection"
    if request.method in _VERBS:
        return _VERBS[request.method]
    if request.query.get("watch") in ("true", "1"):
        return "watch"
    return "get" if name else "list"


def call_name(request: Request) -> str:
    """As the log and the faults name calls: "patch daemonsets", "create pods/eviction"."""
    if found := attempt(request):
        return f"{found.verb} {found.spoken}"
    return f"{request.method.lower()} {request.path.rstrip('/')}"


def token_text(value: Doc) -> str:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).decode()


def token_value(text: str) -> Doc:
    try:
        value = json.loads(base64.urlsafe_b64decode(text))
    except ValueError:
        raise errors.bad_request("continue key is not valid: illegal base64 data") from None
    return dict(value)
