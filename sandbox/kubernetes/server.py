"""The server on its loopback port: every path is the API's, except the door's."""

import asyncio
import contextlib
import json
from typing import Any

import yaml
from aiohttp import web
from aiohttp.typedefs import Middleware

from sandbox.kubernetes import api, control, scene, streaming
from sandbox.kubernetes.access import ADMIN_TOKEN
from sandbox.kubernetes.calls import Answer, Call, Request
from sandbox.kubernetes.deeds import DEEDS
from sandbox.kubernetes.documents import Doc
from sandbox.kubernetes.errors import ApiError
from sandbox.kubernetes.faults import DroppedError, Faults
from sandbox.kubernetes.journal import Journal

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
        due, instead = await self.faults.before(request)
        with contextlib.suppress(ApiError):
            entry["user"] = self.world.api.access.caller(request.token).user
        answer = instead or streaming.opened(self.world, request)
        if isinstance(answer, Call):
            entry["code"] = 200
            return await streaming.stream(self.world, http, answer)
        if answer is None:
            answer = api.answer(self.world.api, request)
        answer = await self.faults.after(due, request, answer)
        entry["code"] = answer.code
        return _response(answer)

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
        upgrades="upgrade" in http.headers.get("Connection", "").lower(),
    )


def _shown(request: Request) -> Any:
    try:
        return request.body()
    except ApiError:
        return request.raw.decode(errors="replace")


def _response(answer: Answer) -> web.Response:
    body, kind = answer.encoded()
    return web.Response(body=body, status=answer.code, content_type=kind, headers=answer.headers)


async def start(
    server: KubernetesServer, port: int, door: web.RouteTableDef, *around: Middleware
) -> web.AppRunner:
    """Listens on loopback; `server.url` is set when this returns. `around` sees each request."""
    app = web.Application(client_max_size=LARGEST_BODY, middlewares=around)
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
