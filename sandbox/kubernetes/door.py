"""The scripting door, /sandbox/...: another world, deeds of others, faults, the log.

It is not part of Kubernetes: tests and the demo set their scenes through it.
"""

from collections.abc import Awaitable, Callable
from typing import Any

from aiohttp import web

from sandbox.kubernetes.deeds import DEEDS
from sandbox.kubernetes.errors import ApiError
from sandbox.kubernetes.server import KubernetesServer

Doc = dict[str, Any]
Action = Callable[[KubernetesServer, Doc], Awaitable[Doc]]


async def reset(server: KubernetesServer, body: Doc) -> Doc:
    """`world` as sandbox/kubernetes/scene.py reads it; null: the standard one."""
    await server.reset(body.get("world"))
    return {}


async def add_fault(server: KubernetesServer, body: Doc) -> Doc:
    return server.faults.add(body).shown()


async def list_faults(server: KubernetesServer, _body: Doc) -> Doc:
    return {"faults": [fault.shown() for fault in server.faults.rules.values()]}


async def release_fault(server: KubernetesServer, body: Doc) -> Doc:
    fault = server.faults.rules[body["id"]]
    fault.release(body.get("outcome", "continue"))
    return fault.shown()


async def clear_faults(server: KubernetesServer, _body: Doc) -> Doc:
    server.faults.clear()
    return {}


async def list_calls(server: KubernetesServer, body: Doc) -> Doc:
    journal = server.journal
    found = journal.since(body.get("since", 0), body.get("call", ""), body.get("name", ""))
    return {"calls": found, "counts": dict(journal.counts), "last": journal.last}


async def reset_calls(server: KubernetesServer, _body: Doc) -> Doc:
    server.journal.clear()
    return {}


async def set_outage(server: KubernetesServer, body: Doc) -> Doc:
    """`mode`: "refuse" cuts every connection, "503" answers so, "" ends the outage."""
    server.outage = body.get("mode", "")
    return {}


async def kubeconfig(server: KubernetesServer, body: Doc) -> Doc:
    return {"kubeconfig": server.kubeconfig(**body)}


ACTIONS: dict[str, Action] = {
    action.__name__: action
    for action in (
        reset, add_fault, list_faults, release_fault, clear_faults, list_calls, reset_calls,
        set_outage, kubeconfig,
    )
}  # fmt: skip


def routes(server: KubernetesServer) -> web.RouteTableDef:
    """POST /sandbox/<action> with a JSON body; errors are {"error": text} with 400 or 404."""
    table = web.RouteTableDef()

    @table.post("/sandbox/{action}")
    async def act(http: web.Request) -> web.Response:
        name = http.match_info["action"]
        if name not in ACTIONS and name not in DEEDS:
            return web.json_response({"error": f"no such door: {http.path}"}, status=404)
        body = await http.json() if http.can_read_body else {}
        try:
            if name in DEEDS:
                return web.json_response(DEEDS[name](server.world, **body))
            return web.json_response(await ACTIONS[name](server, body))
        except (ApiError, LookupError, TypeError, ValueError) as err:
            return web.json_response({"error": f"{type(err).__name__}: {err}"}, status=400)

    return table
