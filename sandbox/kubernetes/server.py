"""The server on its loopback port: every path is the API's, except the door's."""

import asyncio
import contextlib
import json
from typing import Any

import yaml
from aiohttp import web

from sandbox.kubernetes import api, control, executing, scene, watching
from sandbox.kubernetes.access import ADMIN_TOKEN
from sandbox.kubernetes.calls import Answer, Call, Request, attempt
from sandbox.kubernetes.deeds import DEEDS
from sandbox.kubernetes.documents import Doc, at
from sandbox.kubernetes.errors import ApiError, PlainError
from sandbox.kubernetes.faults import DroppedError, Faults
from sandbox.kubernetes.journal import Journal
from sandbox.kubernetes.machines import files

LARGEST_BODY = 64 * 2**20


class KubernetesServer:
    """One world behind one event loop: a call's write is never interleaved with another's."""

    def __init__(self) -> None:
        self.world = scene.build(scene.STANDARD)
        self.faults = Faults(self.perform)
        self.journal = Journal()
        self.outage = ""
        self.url = ""
        self.controllers: asyncio.Task[None] | None = None

    def begin(self) -> None:
        """Starts the controllers of the present world."""
        self.controllers = asyncio.get_running_loop().create_task(control.run(self.world))

    async def end(self) -> None:
        self.world.store.close()
        if self.controllers is not None:
            self.controllers.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self.controllers

    async def reset(self, description: Doc | None) -> None:
        """Another world; whatever was held or broken for a test is undone."""
        fresh = scene.build(scene.STANDARD if description is None else description)
        await self.end()
        self.faults.clear()
        self.outage = ""
        self.journal.clear()
        self.world = fresh
        self.begin()

    async def handle(self, http: web.Request) -> web.StreamResponse:
        """Answers one call, or cuts the connection where a fault says so."""
        request = await _request(http)
        entry = self.journal.arrived(request, _shown(request))
        try:
            return await self._served(http, request, entry)
        except DroppedError:
            if http.transport is not None:
                http.transport.abort()
            return web.Response()

    async def _served(self, http: web.Request, request: Request, entry: Doc) -> web.StreamResponse:
        if self.outage == "refuse":
            raise DroppedError
        if self.outage:
            return _response(Answer(503, "service unavailable\n"))
        due, answer = await self.faults.before(request)
        with contextlib.suppress(ApiError):
            entry["user"] = self.world.api.access.caller(request.token).user
        if answer is None:
            try:
                call = self._stream(request)
            except (ApiError, PlainError) as refusal:
                call, answer = None, api.refused(refusal)
            if call is not None:
                entry["code"] = 200
                return await (self._watch if call.attempt.verb == "watch" else self._exec)(
                    http, call
                )
        if answer is None:
            answer = api.answer(self.world.api, request)
        answer = await self.faults.after(due, request, answer)
        entry["code"] = answer.code
        return _response(answer)

    def _stream(self, request: Request) -> Call | None:
        """The call, when it is one that is answered piece by piece."""
        asked = attempt(request)
        if asked is None or (asked.verb != "watch" and asked.subresource != "exec"):
            return None
        call = api.admitted(self.world.api, request)
        if call is not None and asked.subresource == "exec":
            self._check_exec(call)
        elif call is not None:
            watching.check(call)
        return call

    async def _watch(self, http: web.Request, call: Call) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "application/json"})
        await response.prepare(http)
        with contextlib.suppress(ConnectionError):
            async for event in watching.events(call):
                await response.write(json.dumps(event, separators=(",", ":")).encode() + b"\n")
            await response.write_eof()
        return response

    def _check_exec(self, call: Call) -> None:
        pod = call.current()
        node = str(at(pod, "spec", "nodeName") or "")
        machine = self.world.machines.get(node)
        if at(pod, "status", "phase") != "Running" or machine is None:
            text = f"pod {call.name} does not have a host assigned"
            raise ApiError(400, "BadRequest", text)
        if not machine.up:
            text = f"error dialing backend: dial tcp {node}:10250: connect: no route to host"
            raise ApiError(500, "", text)

    async def _exec(self, http: web.Request, call: Call) -> web.StreamResponse:
        """The command's output on its channels, then the Status, then the end."""
        if "upgrade" not in http.headers.get("Connection", "").lower():
            return _response(api.refused(ApiError(400, "BadRequest", "Upgrade request required")))
        node = str(at(call.current(), "spec", "nodeName"))
        machine = self.world.machines[node]
        found = files(machine, self.world.pods_on(node))
        outcome = executing.run(http.query.getall("command", []), found)
        socket = web.WebSocketResponse(protocols=executing.CHANNELS)
        await socket.prepare(http)
        for frame in outcome.frames(http.query):
            await socket.send_bytes(frame)
        await socket.close()
        return socket

    def perform(self, step: Doc, cause: Request) -> Doc:
        """One step of a fault's `do`: {deed, ...} of the door, or a call {method, path, body, type}
        by the admin; "$path" stands for the path of the call that the fault is about."""
        if "deed" in step:
            rest = {name: value for name, value in step.items() if name != "deed"}
            return DEEDS[step["deed"]](self.world, **rest)
        request = Request(
            method=step["method"],
            path=step["path"].replace("$path", cause.path),
            query=step.get("query", {}),
            raw=json.dumps(step["body"]).encode() if "body" in step else b"",
            content_type=step.get("type", "application/json"),
            token=ADMIN_TOKEN,
            agent=step.get("manager", "somebody-else"),
        )
        answer = api.answer(self.world.api, request)
        return {"code": answer.code, "body": answer.body}

    def kubeconfig(self, token: str = ADMIN_TOKEN) -> str:
        """YAML by which clients find this server."""
        return yaml.safe_dump(
            {
                "apiVersion": "v1",
                "kind": "Config",
                "clusters": [{"name": "sandbox", "cluster": {"server": self.url}}],
                "users": [{"name": "sandbox", "user": {"token": token}}],
                "contexts": [
                    {"name": "sandbox", "context": {"cluster": "sandbox", "user": "sandbox"}}
                ],
                "current-context": "sandbox",
            }
        )


async def _request(http: web.Request) -> Request:
    header = http.headers.get("Authorization", "")
    return Request(
        method=http.method,
        path=http.path,
        query=dict(http.query),
        raw=await http.read(),
        content_type=http.headers.get("Content-Type", "").partition(";")[0],
        token=header.removeprefix("Bearer ") if header else None,
        agent=http.headers.get("User-Agent", ""),
    )


def _shown(request: Request) -> Any:
    try:
        return request.body()
    except ApiError:
        return request.raw.decode(errors="replace")


def _response(answer: Answer) -> web.Response:
    body, kind = answer.encoded()
    return web.Response(body=body, status=answer.code, content_type=kind, headers=answer.headers)


async def start(server: KubernetesServer, port: int, door: web.RouteTableDef) -> web.AppRunner:
    """Listens on loopback; `server.url` is set when this returns."""
    app = web.Application(client_max_size=LARGEST_BODY)
    app.add_routes(door)
    app.router.add_route("*", "/{path:.*}", server.handle)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=1.0)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", port)
    await site.start()
    host, bound = runner.addresses[0][:2]
    server.url = f"http://{host}:{bound}"
    server.begin()
    return runner
