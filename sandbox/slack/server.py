"""The server on its loopback port: the Web API, sockets, response URLs, files, and the door."""

from collections.abc import Iterable
from functools import partial

from aiohttp import web

from sandbox.dates import dated
from sandbox.slack import api, files
from sandbox.slack.errors import SlackError
from sandbox.slack.faults import DroppedError
from sandbox.slack.state import BOT_TOKEN, Slack

LARGEST_BODY = 64 * 2**20


async def call(slack: Slack, http: web.Request) -> web.StreamResponse:
    """One API call, or a cut connection where a fault says so."""
    try:
        return await api.answer(slack, http)
    except DroppedError:
        if http.transport is not None:
            http.transport.abort()
        return web.Response()


async def link(slack: Slack, http: web.Request) -> web.StreamResponse:
    return await slack.deliveries.sockets.serve(http)


async def respond(slack: Slack, http: web.Request) -> web.StreamResponse:
    """An answer to a command or a press; what is not shown is refused like Slack does."""
    try:
        slack.tickets.respond(http.match_info["name"], await http.json())
    except SlackError as refusal:
        status = refusal.status if refusal.status != 200 else 400
        return web.json_response(refusal.answer(), status=status)
    except ValueError:
        return web.Response(text="invalid_payload", status=400)
    return web.Response(text="ok")


async def upload(slack: Slack, http: web.Request) -> web.StreamResponse:
    try:
        files.receive(slack.world, http.match_info["file"], await http.read())
    except SlackError as refusal:
        return web.json_response(refusal.answer(), status=refusal.status)
    return web.Response(text="OK")


async def download(slack: Slack, http: web.Request) -> web.StreamResponse:
    """The bytes, for who has the bot's token."""
    file = slack.world.files.get(http.match_info["file"])
    if http.headers.get("Authorization") != f"Bearer {BOT_TOKEN}":
        return web.Response(status=403)
    if file is None or not file.complete:
        return web.Response(status=404)
    return web.Response(body=file.content, content_type="application/octet-stream")


def routes(slack: Slack) -> list[web.RouteDef]:
    return [
        web.route("*", "/api/{method}", partial(call, slack)),
        web.get("/link/", partial(link, slack)),
        web.post("/response/{name}", partial(respond, slack)),
        web.post("/upload/{file}", partial(upload, slack)),
        web.get("/files/{file}/{name}", partial(download, slack)),
    ]


async def start(slack: Slack, port: int, door: Iterable[web.AbstractRouteDef]) -> web.AppRunner:
    """Listens on loopback; `slack.url` is set when this returns."""
    app = web.Application(client_max_size=LARGEST_BODY)
    app.add_routes([*routes(slack), *door])
    return await listen(slack, app, port)


async def listen(slack: Slack, app: web.Application, port: int) -> web.AppRunner:
    """The same for an application that has more than Slack's routes."""
    app.on_response_prepare.append(dated(slack.world.clock.now))
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=1.0)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", port).start()
    host, bound = runner.addresses[0][:2]
    slack.url = slack.world.url = f"http://{host}:{bound}"
    return runner
