"""From a path and a body to an envelope: which endpoint, who calls, and what came of it."""

import json
import logging
import re
from collections.abc import Callable
from dataclasses import dataclass, replace

from sandbox.clearml import (
    auth,
    company,
    errors,
    queue_listing,
    queues,
    task_lifecycle,
    task_listing,
    task_parameters,
    task_queueing,
    tasks,
    workers,
)
from sandbox.clearml.calls import Call, Doc, Endpoint
from sandbox.clearml.world import World, new_id

logger = logging.getLogger(__name__)

ENDPOINTS: dict[str, Endpoint] = {
    **auth.ENDPOINTS,
    **company.ENDPOINTS,
    **queue_listing.ENDPOINTS,
    **queues.ENDPOINTS,
    **task_lifecycle.ENDPOINTS,
    **task_listing.ENDPOINTS,
    **task_parameters.ENDPOINTS,
    **task_queueing.ENDPOINTS,
    **tasks.ENDPOINTS,
    **workers.ENDPOINTS,
}
WITHOUT_LOGIN = frozenset(("debug.ping",))
OLDEST = (2, 0)
_VERSION = re.compile(r"v(\d+)\.(\d+)")


@dataclass(frozen=True, slots=True)
class Request:
    """What arrived over the wire, taken apart; `version` is "" when the path has none."""

    name: str
    version: str
    body: Doc
    authorization: str | None
    worker: str
    ip: str


@dataclass(frozen=True, slots=True)
class Answer:
    """`user` is the caller's id, "" when unknown."""

    code: int
    subcode: int
    message: str
    data: Doc
    user: str = ""


def name_and_version(path: str) -> tuple[str, str]:
    """Takes "/v2.23/tasks.stop" as ("tasks.stop", "2.23"); other paths are 400/0."""
    parts = path.strip("/").split("/")
    if len(parts) == 2 and (version := _VERSION.fullmatch(parts[0])):
        return parts[1], f"{version[1]}.{version[2]}"
    if len(parts) == 1 and "." in parts[0]:
        return parts[0], ""
    raise errors.ApiError(400, 0, f"Invalid request path {path}")


def parsed(raw: bytes, name: str) -> Doc:
    """The body as a document; batches are lines of JSON."""
    if not raw.strip():
        return {}
    try:
        if name == "events.add_batch":
            return {"requests": [json.loads(line) for line in raw.splitlines() if line.strip()]}
        body = json.loads(raw)
    except ValueError:
        text = "The browser (or proxy) sent a request that this server could not understand."
        raise errors.ApiError(400, 0, text) from None
    return body if isinstance(body, dict) else {}


def answer(world: World, request: Request, gap: Callable[[str], None] | None = None) -> Answer:
    """Performs the call. Nothing is awaited in here: only `gap` can come between its writes."""
    user = ""
    try:
        endpoint = _endpoint(world, request)
        if request.name in WITHOUT_LOGIN:
            caller = next(iter(world.users.values()))
        else:
            caller = auth.caller(world, request.authorization)
            user = caller.id
        call = Call(request.name, world, caller, request.worker, request.ip)
        if gap:
            call = replace(call, gap=gap)
        return Answer(200, 0, "OK", endpoint(call, request.body), user)
    except errors.ApiError as refusal:
        return Answer(refusal.code, refusal.subcode, refusal.message, {}, user)
    except Exception as err:
        logger.exception("Call failed: %s %s", request.name, request.body)
        return Answer(500, 1, f"Internal server error: err={err!r}", {}, user)


def _endpoint(world: World, request: Request) -> Endpoint:
    version = request.version or world.api_version
    endpoint = ENDPOINTS.get(request.name)
    if endpoint is None or tuple(int(part) for part in version.split(".")) < OLDEST:
        text = f"Unable to find endpoint for name {request.name} and version {version}"
        raise errors.ApiError(404, 0, text)
    return endpoint


def envelope(world: World, request: Request, answer: Answer) -> bytes:
    version = request.version or world.api_version
    actual = min(version, world.api_version, key=lambda text: [int(n) for n in text.split(".")])
    trx = new_id()
    endpoint = {"name": request.name, "requested_version": version, "actual_version": actual}
    meta: Doc = {"id": trx, "trx": trx, "endpoint": endpoint}
    meta |= {"result_code": answer.code, "result_subcode": answer.subcode}
    meta |= {"result_msg": answer.message, "error_stack": "", "error_data": {}}
    return json.dumps({"meta": meta, "data": answer.data}).encode()
