"""From a request to an answer: who calls, whether they may, and what comes of it."""

import logging
from collections.abc import Callable
from dataclasses import dataclass, field

from sandbox.kubernetes import deleting, discovery, eviction, reading, reviews, writing
from sandbox.kubernetes.access import Access, Attempt, require, require_path
from sandbox.kubernetes.calls import Answer, Call, Request, attempt
from sandbox.kubernetes.errors import ApiError, PlainError
from sandbox.kubernetes.resources import REVIEWS
from sandbox.kubernetes.store import Store

logger = logging.getLogger(__name__)

Handler = Callable[[Call], Answer]
_HANDLERS: dict[str, Handler] = {
    "get": reading.get,
    "list": reading.list_all,
    "create": writing.create,
    "update": writing.update,
    "patch": writing.patch,
    "delete": deleting.delete,
}
GIT_VERSION = "v1.36.2"


@dataclass(slots=True)
class Server:
    """What a request meets: the objects, the callers, and the server's version."""

    store: Store = field(default_factory=Store)
    access: Access = field(default_factory=Access)
    git_version: str = GIT_VERSION


def admitted(server: Server, request: Request) -> Call | None:
    """The call, if its caller may make it; None for paths that are no resources.

    401 and 403 come before everything that would tell whether an object exists.
    """
    caller = server.access.caller(request.token)
    asked = attempt(request)
    if asked is None:
        require_path(caller, request.path)
        return None
    require(caller, asked)
    if asked.subresource == "exec" and asked.verb == "get":
        # A websocket arrives as GET, and has to be allowed as create too, since 1.35.
        create = Attempt("create", asked.resource, asked.namespace, asked.name, "exec")
        require(caller, create)
    return Call(server.store, request, caller, asked)


def answer(server: Server, request: Request) -> Answer:
    """Performs the call. Nothing is awaited in here: calls never interleave."""
    try:
        call = admitted(server, request)
        if call is None:
            return discovery.answer(request.path, server.git_version)
        return _handler(call)(call)
    except (ApiError, PlainError) as refusal:
        return refused(refusal)
    except Exception as err:
        logger.exception("Call failed: %s %s", request.method, request.path)
        text = f"Internal error occurred: {err!r}"
        return refused(ApiError(500, "InternalError", text))


def refused(refusal: ApiError | PlainError) -> Answer:
    if isinstance(refusal, PlainError):
        return Answer(refusal.code, refusal.text)
    return Answer(refusal.code, refusal.body())


def _handler(call: Call) -> Handler:
    asked = call.attempt
    if asked.resource in REVIEWS and asked.verb == "create":
        return reviews.review
    if asked.subresource == "eviction" and asked.verb == "create":
        return eviction.evict
    plain = asked.subresource in ("", "status") and asked.resource not in REVIEWS
    if asked.verb in _HANDLERS and plain:
        return _HANDLERS[asked.verb]
    text = "the server does not allow this method on the requested resource"
    raise ApiError(405, "MethodNotAllowed", text, {})
