"""Socket Mode: up to ten connections, each payload to one of them, acknowledged by envelope id."""

import asyncio
import contextlib
import json
import socket as sockets
import struct
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

from aiohttp import WSMsgType, web

from sandbox.slack.errors import SlackError
from sandbox.slack.world import APP

Doc = dict[str, Any]
MOST_CONNECTIONS = 10
HOST = "applink-sandbox"
# The stock client notices that it was closed only when something arrives or after 3 s; Slack's own
# pings are rarer. A ping without content would make its reader wait for more.
PING_SECONDS = 0.25
PING = b"Ping from applink-sandbox"
DEBUG = {"host": HOST, "build_number": 1, "approximate_connection_time": 18060}


@dataclass(eq=False, slots=True)
class Connection:
    """`leaving` gets nothing new; `silent` is half-open: neither payloads nor pongs pass."""

    socket: web.WebSocketResponse
    transport: asyncio.BaseTransport | None
    name: str = field(default_factory=lambda: uuid4().hex[:8])
    leaving: bool = False
    silent: bool = False

    async def send(self, message: Doc) -> None:
        if not self.silent:
            with contextlib.suppress(ConnectionError, RuntimeError):
                await self.socket.send_str(json.dumps(message))

    async def keep_pinging(self) -> None:
        with contextlib.suppress(ConnectionError, RuntimeError):
            while not self.silent:
                await asyncio.sleep(PING_SECONDS)
                await self.socket.ping(PING)

    async def end(self, how: str) -> None:
        """See Sockets.drop."""
        if how == "silent":
            self.silent = self.leaving = True
        elif how == "close":
            await self.socket.close()
        elif isinstance(self.transport, asyncio.WriteTransport):
            if how == "reset":
                held = self.transport.get_extra_info("socket")
                held.setsockopt(sockets.SOL_SOCKET, sockets.SO_LINGER, struct.pack("ii", 1, 0))
            self.transport.abort()


class Sockets:
    def __init__(self) -> None:
        self.connections: list[Connection] = []
        self.tickets: set[str] = set()
        self.waiting: dict[str, asyncio.Future[Doc]] = {}
        self.refusing = False
        self.made = 0
        self._turn = 0

    def ticket(self) -> str:
        """What the next connection shows; good for one."""
        name = uuid4().hex
        self.tickets.add(name)
        return name

    async def serve(self, http: web.Request) -> web.StreamResponse:
        """One connection, from hello to its end."""
        if self.refusing or http.query.get("ticket") not in self.tickets:
            return web.Response(status=503 if self.refusing else 401)
        self.tickets.remove(http.query["ticket"])
        socket = web.WebSocketResponse(autoping=False)
        await socket.prepare(http)
        connection = Connection(socket, http.transport)
        if len(self.connections) >= MOST_CONNECTIONS:
            await connection.send(_farewell("too_many_websockets"))
            await socket.close()
            return socket
        self.connections.append(connection)
        self.made += 1
        await connection.send(self._hello())
        pinging = asyncio.ensure_future(connection.keep_pinging())
        try:
            await self._listen(connection)
        finally:
            pinging.cancel()
            self.connections.remove(connection)
        return socket

    def _hello(self) -> Doc:
        count = len(self.connections)
        about = {"connection_info": {"app_id": APP}, "num_connections": count}
        return {"type": "hello", "debug_info": DEBUG, **about}

    async def _listen(self, connection: Connection) -> None:
        async for message in connection.socket:
            if connection.silent:
                continue
            if message.type == WSMsgType.PING:
                await connection.socket.pong(message.data)
            elif message.type == WSMsgType.TEXT:
                answer = json.loads(message.data)
                waiting = self.waiting.pop(answer.get("envelope_id", ""), None)
                if waiting is not None and not waiting.done():
                    waiting.set_result(answer.get("payload") or {})

    def next_connection(self) -> Connection:
        """Takes turns among those that are not leaving, or else among all."""
        ready = [one for one in self.connections if not one.leaving] or self.connections
        if not ready:
            raise SlackError("no_connection")
        self._turn += 1
        return ready[self._turn % len(ready)]

    async def deliver(self, envelope: Doc, seconds: float) -> Doc:
        """The payload of the acknowledgement; TimeoutError when none comes in time."""
        answer = asyncio.get_running_loop().create_future()
        self.waiting[envelope["envelope_id"]] = answer
        try:
            async with asyncio.timeout(seconds):
                await self.next_connection().send(envelope)
                return dict(await answer)
        finally:
            self.waiting.pop(envelope["envelope_id"], None)

    async def disconnect(self, reason: str) -> None:
        """Asks every client to connect anew, as Slack does before it closes a connection."""
        for connection in list(self.connections):
            connection.leaving = True
            await connection.send(_farewell(reason))

    async def drop(self, how: str) -> None:
        """Ends all connections, in ways that the stock client notices at different times.

        "close" says goodbye, "reset" is an error at once: it connects anew when it looks next,
        every `ping_interval` (10 s). "hang_up" ends without a word: noticed at the ping after
        that. "silent" is half-open: noticed after four intervals without a pong.
        """
        for connection in list(self.connections):
            await connection.end(how)

    async def close(self) -> None:
        for connection in list(self.connections):
            await connection.socket.close()


def _farewell(reason: str) -> Doc:
    return {"type": "disconnect", "reason": reason, "debug_info": {"host": HOST}}
