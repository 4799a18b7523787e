"""The server on its loopback port: every path is an API call, except the door's."""

import time
from typing import Any

from aiohttp import web
from aiohttp.typedefs import Middleware

from sandbox.agents import Crew, Orders
from sandbox.clearml import api, auth, errors
from sandbox.clearml.api import Answer, Request
from sandbox.clearml.faults import DroppedError, Faults
from sandbox.clearml.journal import Journal
from sandbox.clearml.world import World
from sandbox.dates import dated

Doc = dict[str, Any]
LARGEST_BODY = 64 * 2**20


class ClearMLServer:
    """One world behind one event loop: a call's write is never interleaved with another's."""

    def __init__(self, server_version: str = "2.3.0", api_version: str = "2.34") -> None:
        self.versions = (server_version, api_version)
        self.world = World(*self.versions)
        self.faults = Faults(self.perform)
        self.journal = Journal()
        self.crews: dict[str, Crew] = {}
        self.crews_started = 0
        self.outage = ""
        self.ahead_s = 0.0
        self.url = ""

    async def handle(self, http: web.Request) -> web.StreamResponse:
        """Answers one API call, or cuts the connection where a fault says so."""
        raw = await http.read()
        name, version = http.path, ""
        try:
            name, version = api.name_and_version(http.path)
            body = api.parsed(raw, name) or dict(http.query)
        except errors.ApiError as refusal:
            unread = self._request(http, name, version, {})
            return self._enveloped(unread, Answer(refusal.code, 0, refusal.message, {}))
        return await self._serve(http, self._request(http, name, version, body))

    def _request(self, http: web.Request, name: str, version: str, body: Doc) -> Request:
        headers = http.headers
        worker = headers.get("X-ClearML-Worker", "")
        return Request(name, version, body, headers.get("Authorization"), worker, http.remote or "")

    async def _serve(self, http: web.Request, request: Request) -> web.StreamResponse:
        entry = self.journal.arrived(request)
        try:
            answer = await self._answered(request)
        except DroppedError:
            if http.transport is not None:
                http.transport.abort()
            return web.Response()
        self.journal.answered(entry, answer)
        return self._enveloped(request, answer)

    async def _answered(self, request: Request) -> Answer:
        if self.outage == "refuse":
            raise DroppedError
        if self.outage:
            return Answer(503, 0, "Service unavailable", {})
        if not self.faults.rules:
            return api.answer(self.world, request)
        return await self.faults.serve(
            request, self._user(request), lambda gap: api.answer(self.world, request, gap)
        )

    def _user(self, request: Request) -> str:
        try:
            return auth.caller(self.world, request.authorization).id
        except errors.ApiError:
            return ""

    def _enveloped(self, request: Request, answer: Answer) -> web.Response:
        text = api.envelope(self.world, request, answer)
        return web.Response(body=text, status=answer.code, content_type="application/json")

    def perform(self, step: Doc, cause: Request, before: Doc) -> Doc:
        """One call of a fault's `do`: {call, body, user, worker}, made by somebody else.

        In its body "$task" and "$queue" stand for those of the call that the fault is about, and
        "$popped" for the task that the step before took from a queue.
        """
        known = {f"${name}": value for name, value in cause.body.items() if isinstance(value, str)}
        known["$popped"] = before.get("data", {}).get("entry", {}).get("task")
        body = {
            name: known.get(value, value) if isinstance(value, str) else value
            for name, value in step.get("body", {}).items()
        }
        caller = self.world.users[step.get("user", "admin")]
        worker = step.get("worker", "somebody-else")
        basic = auth.basic(caller.access_key, caller.secret_key)
        request = Request(step["call"], "", body, basic, worker, "127.0.0.1")
        entry = self.journal.arrived(request)
        answer = api.answer(self.world, request)
        self.journal.answered(entry, answer)
        return {"code": answer.code, "subcode": answer.subcode, "data": answer.data}

    async def reset(self, server_version: str = "", api_version: str = "") -> None:
        """A fresh world; whatever was held, started or broken for a test is undone."""
        await self.stop_agents()
        self.faults.clear()
        self.outage = ""
        self.ahead_s = 0.0
        self.journal.clear()
        self.world = World(server_version or self.versions[0], api_version or self.versions[1])

    def start_agents(self, orders: Orders) -> str:
        """Starts a crew on this server; the id by which it is stopped."""
        self.crews_started += 1
        name = f"agents-{self.crews_started}"
        self.crews[name] = Crew(self.url, orders)
        self.crews[name].start()
        return name

    async def stop_agents(self, crew_id: str = "") -> None:
        for name in [crew_id] if crew_id else list(self.crews):
            if crew := self.crews.pop(name, None):
                await crew.stop()


async def start(
    server: ClearMLServer, port: int, door: web.RouteTableDef, *around: Middleware
) -> web.AppRunner:
    """Listens on loopback; `server.url` is set when this returns. `around` sees each request."""
    app = web.Application(client_max_size=LARGEST_BODY, middlewares=around)
    app.add_routes(door)
    app.router.add_route("*", "/{path:.*}", server.handle)
    app.on_response_prepare.append(dated(lambda: time.time() + server.ahead_s))
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=1.0)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", port)
    await site.start()
    host, bound = runner.addresses[0][:2]
    server.url = f"http://{host}:{bound}"
    return runner
