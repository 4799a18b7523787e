"""The routes of the page: its files, who is there, the cluster's state, and what one can do to it.

What a person does in Slack goes through the Slack sandbox's own door, /sandbox/..., beside these.
"""

import asyncio
import contextlib
import json
import mimetypes
from collections.abc import Callable
from functools import partial
from typing import Any

from aiohttp import web

from sandbox.playground import company, configured, deeds, wishes
from sandbox.playground.bundle import MISSING, Bundle
from sandbox.playground.playground import Playground
from sandbox.playground.wishes import Refused
from sandbox.slack import server as slack_server

Doc = dict[str, Any]

LARGEST_GALLERY = 5 * 2**20
LARGEST_WISH = 2**20
HEARTBEAT_S = 15.0
AT_MOST_EVERY_S = 0.25
_SHOWN_INLINE = ("image/png", "image/jpeg", "image/gif", "image/webp")


async def index(files: Bundle, _http: web.Request) -> web.Response:
    found = files.content("index.html")
    if found is None:
        return web.Response(text=MISSING, content_type="text/html", status=503)
    headers = {"Cache-Control": "no-cache"}
    return web.Response(body=found[0], content_type="text/html", charset="utf-8", headers=headers)


async def asset(files: Bundle, http: web.Request) -> web.Response:
    """Their names carry a hash of what they hold."""
    headers = {"Cache-Control": "public, max-age=31536000, immutable"}
    return _file(files, f"assets/{http.match_info['path']}", headers)


async def elsewhere(files: Bundle, http: web.Request) -> web.Response:
    """The bundle's other files; any path that names no file is the page's own to route."""
    path = http.match_info["path"]
    if "." in path.rpartition("/")[2]:
        return _file(files, path, {})
    return await index(files, http)


def _file(files: Bundle, path: str, headers: dict[str, str]) -> web.Response:
    found = files.content(path)
    if found is None:
        return web.Response(text="There is no such file.", status=404)
    body, kind = found
    return web.Response(body=body, content_type=kind, headers=headers)


async def people(_http: web.Request) -> web.Response:
    return web.json_response(company.shown())


async def shared_file(played: Playground, http: web.Request) -> web.StreamResponse:
    """What the bot uploaded: to the page as well as, by the token, to Slack's clients."""
    if "Authorization" in http.headers:
        return await slack_server.download(played.slack, http)
    file = played.slack.world.files.get(http.match_info["file"])
    if file is None or not file.complete:
        return web.Response(text="There is no such file.", status=404)
    kind = mimetypes.guess_type(file.name)[0] or ""
    if kind in _SHOWN_INLINE:
        return web.Response(body=file.content, content_type=kind)
    headers = {"Content-Disposition": "attachment"}
    return web.Response(body=file.content, content_type="application/octet-stream", headers=headers)


async def state(played: Playground, _http: web.Request) -> web.Response:
    return web.json_response(played.look())


async def feed(played: Playground, http: web.Request) -> web.StreamResponse:
    """Server-sent events: the state now, and whenever it has changed."""
    headers = {"Content-Type": "text/event-stream", "Cache-Control": "no-store"}
    response = web.StreamResponse(headers=headers)
    await response.prepare(http)
    document = played.look()
    with contextlib.suppress(ConnectionError, asyncio.CancelledError):
        while True:
            text = f"id: {document['n']}\ndata: {json.dumps(document)}\n\n"
            await response.write(text.encode())
            await asyncio.sleep(AT_MOST_EVERY_S)
            while not await played.changed(document["n"], HEARTBEAT_S):
                await response.write(b": still here\n\n")
            document = played.document
    return response


def add(played: Playground, body: Doc) -> Doc:
    """{policy or queue, profile, size, name, user, count}: the tasks that were enqueued."""
    return {"tasks": deeds.add(played.cluster, wishes.addition(body))}


def abort(played: Playground, body: Doc) -> Doc:
    deeds.abort(played.cluster, wishes.task(body))
    return {}


def speed(played: Playground, body: Doc) -> Doc:
    cluster = played.cluster
    deeds.set_tempo(cluster, wishes.tempo(body))
    return {"speed": cluster.speed, "paused": cluster.paused}


def stream(played: Playground, body: Doc) -> Doc:
    played.cluster.streaming = wishes.switch(body)
    return {"on": played.cluster.streaming}


def view(played: Playground, body: Doc) -> Doc:
    """The configuration in force, from the demo."""
    played.cluster.configured = configured.configured(body)
    return {}


def keep_gallery(played: Playground, body: Doc) -> Doc:
    if not isinstance(body.get("entries"), list):
        raise Refused("A gallery has a list of `entries`.")
    played.gallery = body
    return {"entries": len(body["entries"])}


async def gallery(played: Playground, _http: web.Request) -> web.Response:
    return web.json_response(played.gallery)


Wish = Callable[[Playground, Doc], Doc]
WISHES: dict[str, Wish] = {
    "/cluster/add": add,
    "/cluster/abort": abort,
    "/cluster/speed": speed,
    "/cluster/stream": stream,
    "/cluster/view": view,
    "/playground/gallery": keep_gallery,
}


async def do(played: Playground, wish: Wish, http: web.Request) -> web.Response:
    """Answers {"error": sentence} with 400 for what cannot be done, with 413 for too much."""
    largest = LARGEST_GALLERY if wish is keep_gallery else LARGEST_WISH
    raw = b""
    async for chunk in http.content.iter_any():
        raw += chunk
        if len(raw) > largest:
            error = f"That is larger than {largest // 2**20} MB."
            return web.json_response({"error": error}, status=413)
    try:
        answer = wish(played, wishes.body(raw))
    except Refused as refused:
        return web.json_response({"error": str(refused)}, status=400)
    played.look()
    return web.json_response(answer)


def routes(played: Playground, files: Bundle) -> list[web.RouteDef]:
    """Before those of Slack: the first that fits answers."""
    return [
        web.get("/", partial(index, files)),
        web.get("/assets/{path:.+}", partial(asset, files)),
        web.get("/files/{file}/{name}", partial(shared_file, played)),
        web.get("/playground/people", people),
        web.get("/playground/gallery", partial(gallery, played)),
        web.get("/cluster/state", partial(state, played)),
        web.get("/cluster/feed", partial(feed, played)),
        *(web.post(path, partial(do, played, wish)) for path, wish in WISHES.items()),
    ]


def last_route(files: Bundle) -> web.RouteDef:
    """After all others."""
    return web.get("/{path:.*}", partial(elsewhere, files))
