"""Calls that are answered piece by piece: watches, and exec over a websocket."""

import contextlib
import json

from aiohttp import web

from sandbox.kubernetes import api, executing, watching
from sandbox.kubernetes.calls import Answer, Call, Request, attempt
from sandbox.kubernetes.documents import at
from sandbox.kubernetes.errors import ApiError, PlainError
from sandbox.kubernetes.machines import files
from sandbox.kubernetes.world import World


def opened(world: World, request: Request) -> Call | Answer | None:
    """The call, when it is a stream that may begin; its refusal; None for any other call."""
    asked = attempt(request)
    if asked is None or (asked.verb != "watch" and asked.subresource != "exec"):
        return None
    try:
        call = api.admitted(world.api, request)
        assert call is not None
        if asked.verb == "watch":
            watching.check(call)
        else:
            _check_exec(world, call)
    except (ApiError, PlainError) as refusal:
        return api.refused(refusal)
    return call


async def stream(world: World, http: web.Request, call: Call) -> web.StreamResponse:
    if call.attempt.verb == "watch":
        return await _watch(http, call)
    return await _exec(world, http, call)


async def _watch(http: web.Request, call: Call) -> web.StreamResponse:
    response = web.StreamResponse(headers={"Content-Type": "application/json"})
    await response.prepare(http)
    with contextlib.suppress(ConnectionError):
        async for event in watching.events(call):
            await response.write(json.dumps(event, separators=(",", ":")).encode() + b"\n")
        await response.write_eof()
    return response


def _check_exec(world: World, call: Call) -> None:
    if not call.request.upgrades:
        raise ApiError(400, "BadRequest", "Upgrade request required")
    pod = call.current()
    node = str(at(pod, "spec", "nodeName") or "")
    machine = world.machines.get(node)
    if at(pod, "status", "phase") != "Running" or machine is None:
        raise ApiError(400, "BadRequest", f"pod {call.name} does not have a host assigned")
    if not machine.up:
        text = f"error dialing backend: dial tcp {node}:10250: connect: no route to host"
        raise ApiError(500, "", text)


async def _exec(world: World, http: web.Request, call: Call) -> web.StreamResponse:
    """The command's output on its channels, then the Status, then the end."""
    node = str(at(call.current(), "spec", "nodeName"))
    found = files(world.machines[node], world.pods_on(node))
    outcome = executing.run(http.query.getall("command", []), found)
    socket = web.WebSocketResponse(protocols=executing.CHANNELS)
    await socket.prepare(http)
    for frame in outcome.frames(http.query):
        await socket.send_bytes(frame)
    await socket.close()
    return socket
