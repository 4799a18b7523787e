"""The scripting door, /sandbox/...: acts as people, sets scenes, shows what is seen, makes faults.

It is not part of Slack: tests, the demo and its page come in here.
"""

import asyncio
import contextlib
import json
from collections.abc import Awaitable, Callable
from typing import Any

from aiohttp import web

from sandbox.slack import deeds, scene, seen
from sandbox.slack.errors import DoorError, SlackError
from sandbox.slack.state import Slack

Doc = dict[str, Any]
Action = Callable[[Slack, Doc], Awaitable[Doc]]
HEARTBEAT = 15.0


async def workspace(slack: Slack, _body: Doc) -> Doc:
    """Who and what there is: people, channels and user groups."""
    world = slack.world
    people = [
        {"id": one.id, "name": one.name, "real_name": one.real_name, "is_admin": one.is_admin,
         "is_bot": one.is_bot, "tz": one.tz}
        for one in world.people.values()
    ]  # fmt: skip
    channels = [
        {"id": one.id, "name": one.name, "is_private": one.is_private, "members": one.members,
         "is_archived": one.is_archived, "person": one.person}
        for one in world.channels.values()
    ]  # fmt: skip
    groups = [
        {"id": one.id, "handle": one.handle, "users": one.users} for one in world.groups.values()
    ]
    return {"people": people, "channels": channels, "groups": groups, "bot": world.bot.id}


async def messages(slack: Slack, body: Doc) -> Doc:
    channel = scene.channel(slack, body["channel"])
    person, thread = body.get("person") or "", body.get("thread") or ""
    return {"messages": seen.messages(slack, channel.id, person, thread)}


async def changed(slack: Slack, body: Doc) -> Doc:
    """{person, after}: messages that are new or edited for a person, and the feed's number."""
    found = seen.changed(slack, body["person"], body.get("after", 0))
    return {"messages": found, "last": slack.feed.last}


async def views(slack: Slack, body: Doc) -> Doc:
    """The person's open modals, the one on top last."""
    return {"views": [seen.view(slack, one) for one in slack.views.stack(body["person"])]}


async def home(slack: Slack, body: Doc) -> Doc:
    found = slack.views.homes.get(body["person"])
    return {"home": seen.view(slack, found) if found else None}


async def notices(slack: Slack, body: Doc) -> Doc:
    """What Slack itself told people: timeouts and answers that it could not show."""
    kept = [
        one
        for one in slack.notices
        if one["person"] == body.get("person", one["person"])
        and _number(one) > body.get("after", 0)
    ]
    return {"notices": kept}


def _number(one: Doc) -> int:
    return int(one["n"])


async def pings(slack: Slack, _body: Doc) -> Doc:
    return {"pings": slack.world.pings}


async def calls(slack: Slack, body: Doc) -> Doc:
    """{call, since}: the log of API calls, with the count of each."""
    name, since = body.get("call", ""), body.get("since", 0)
    found = [one for one in slack.journal.calls if one["n"] > since and name in ("", one["call"])]
    return {"calls": found, "counts": dict(slack.journal.counts), "last": slack.journal.last}


async def deliveries(slack: Slack, body: Doc) -> Doc:
    """{kind, since}: what was sent to the app, and when it was acknowledged."""
    kind, since = body.get("kind", ""), body.get("since", 0)
    log = slack.journal.deliveries
    found = [one for one in log if one["n"] > since and kind in ("", one["kind"])]
    return {"deliveries": found, "last": slack.journal.last}


async def wait(slack: Slack, body: Doc) -> Doc:
    """{after, seconds}: returns when something newer has happened, or when the time is over."""
    await slack.feed.wait(body["after"], body.get("seconds", 1.0))
    return {"last": slack.feed.last}


async def advance(slack: Slack, body: Doc) -> Doc:
    """Moves the clock: trigger ids and response URLs expire, redeliveries come."""
    slack.clock.advance(body["seconds"])
    return {"now": slack.clock.now()}


async def add_fault(slack: Slack, body: Doc) -> Doc:
    return slack.faults.add(body).shown()


async def list_faults(slack: Slack, _body: Doc) -> Doc:
    return {"faults": [fault.shown() for fault in slack.faults.rules.values()]}


async def release_fault(slack: Slack, body: Doc) -> Doc:
    fault = slack.faults.rules[body["id"]]
    fault.release(body.get("outcome", "continue"))
    return fault.shown()


async def clear_faults(slack: Slack, _body: Doc) -> Doc:
    slack.faults.clear()
    return {}


async def connections(slack: Slack, _body: Doc) -> Doc:
    """How many sockets are open, and how many were ever made."""
    sockets = slack.deliveries.sockets
    fresh = [one for one in sockets.connections if not one.leaving]
    return {"open": len(sockets.connections), "ready": len(fresh), "made": sockets.made}


async def disconnect(slack: Slack, body: Doc) -> Doc:
    """{reason}: warning, refresh_requested or another; clients connect anew by themselves."""
    await slack.deliveries.sockets.disconnect(body.get("reason", "refresh_requested"))
    return {}


async def drop(slack: Slack, body: Doc) -> Doc:
    """{how}: close, reset, hang_up or silent; see Sockets.drop."""
    await slack.deliveries.sockets.drop(body.get("how", "reset"))
    return {}


async def refuse_connections(slack: Slack, body: Doc) -> Doc:
    slack.deliveries.sockets.refusing = bool(body.get("refuse", True))
    return {}


ACTIONS: dict[str, Action] = {
    action.__name__: action
    for action in (
        *deeds.ACTIONS, *scene.ACTIONS, workspace, messages, changed, views, home, notices, pings,
        calls, deliveries, wait, advance, add_fault, list_faults, release_fault, clear_faults,
        connections, disconnect, drop, refuse_connections,
    )
}  # fmt: skip


def routes(slack: Slack) -> web.RouteTableDef:
    """POST /sandbox/<action> with a JSON body; errors are {"error": text} with 400 or 404."""
    table = web.RouteTableDef()

    @table.post("/sandbox/{action}")
    async def act(http: web.Request) -> web.Response:
        action = ACTIONS.get(http.match_info["action"])
        if action is None:
            return web.json_response({"error": f"no such door: {http.path}"}, status=404)
        body = await http.json() if http.can_read_body else {}
        try:
            return web.json_response(await action(slack, body))
        except (DoorError, SlackError, KeyError, TypeError) as err:
            return web.json_response({"error": f"{type(err).__name__}: {err}"}, status=400)

    @table.get("/sandbox/feed")
    async def feed(http: web.Request) -> web.StreamResponse:
        """Server-sent events of all changes after `?after=`; the present ones by default."""
        after = int(http.query.get("after", slack.feed.last))
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(http)
        with contextlib.suppress(ConnectionError, asyncio.CancelledError):
            while True:
                for change in slack.feed.since(after):
                    after = change["n"]
                    line = f"id: {after}\ndata: {json.dumps(change)}\n\n"
                    await response.write(line.encode())
                if not await slack.feed.wait(after, HEARTBEAT):
                    await response.write(b": still here\n\n")
        return response

    return table
