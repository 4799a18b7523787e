"""The Web API: reads a call, says who may make it, runs the method, and answers as Slack does."""

import json
from typing import Any

from aiohttp import web

from sandbox.slack import chat, directory, files, view_methods
from sandbox.slack.calls import Call, Method
from sandbox.slack.errors import SlackError
from sandbox.slack.state import APP_TOKEN, BOT_TOKEN, Slack
from sandbox.slack.world import APP, DOMAIN, TEAM

Doc = dict[str, Any]
# Fields that a form carries as JSON text.
_NESTED = ("blocks", "attachments", "view", "files", "metadata", "message")


def auth_test(call: Call) -> Doc:
    bot = call.world.bot
    return {
        "url": f"{call.world.url}/", "team": DOMAIN, "team_id": TEAM, "user": bot.name,
        "user_id": bot.id, "bot_id": bot.bot_id, "app_id": APP, "is_enterprise_install": False,
    }  # fmt: skip


def open_connection(call: Call) -> Doc:
    sockets = call.slack.deliveries.sockets
    if sockets.refusing:
        raise SlackError("internal_error")
    address = call.slack.url.replace("http://", "ws://")
    return {"url": f"{address}/link/?ticket={sockets.ticket()}&app_id={APP}"}


METHODS: dict[str, Method] = {
    "auth.test": Method(auth_test),
    "apps.connections.open": Method(open_connection, app_level=True),
    **chat.METHODS,
    **view_methods.METHODS,
    **directory.METHODS,
    **files.METHODS,
}


async def answer(slack: Slack, http: web.Request) -> web.Response:
    """One call with its faults; may raise DroppedError."""
    name = http.match_info["method"]
    try:
        body = await read(http)
    except (ValueError, UnicodeDecodeError):
        return _response(slack, SlackError("invalid_json"))
    entry = slack.journal.called(name, body, slack.clock.now())
    entry["retry"] = http.headers.get("X-Slack-Retry-Num", "")
    try:
        found = await _served(slack, name, body, _token(http, body))
    except SlackError as refusal:
        entry |= {"ok": False, "error": refusal.code}
        return _response(slack, refusal)
    entry["ok"] = True
    return web.json_response({"ok": True, **found}, headers=_headers(slack))


async def _served(slack: Slack, name: str, body: Doc, token: str) -> Doc:
    due = slack.faults.due(name, body)
    await slack.faults.before(due)
    method = METHODS.get(name)
    if method is None:
        raise SlackError("unknown_method", req_method=name)
    _authorise(method, token)
    call = Call(name, slack, body)
    if method.scope:
        call.needs(method.scope)
    if name != "chat.postMessage":  # counted per channel, once the channel is known
        slack.rates.count(name, "")
    found = method.run(call)
    await slack.faults.after(due)
    return found


async def read(http: web.Request) -> Doc:
    """The fields of a call: JSON or a form, and the query."""
    body: Doc = dict(http.query)
    if http.content_type == "application/json":
        raw = await http.text()
        body |= dict(json.loads(raw)) if raw.strip() else {}
    else:
        body |= dict((await http.post()).items())
    for name in _NESTED:
        if isinstance(body.get(name), str) and body[name]:
            body[name] = json.loads(body[name])
    return body


def _token(http: web.Request, body: Doc) -> str:
    given = http.headers.get("Authorization", "").removeprefix("Bearer ").strip()
    return given or str(body.get("token") or "")


def _authorise(method: Method, token: str) -> None:
    """Only the sandbox's own two tokens are known; a real one has no business here."""
    if not token:
        raise SlackError("not_authed")
    if token not in (BOT_TOKEN, APP_TOKEN):
        raise SlackError("invalid_auth")
    if (token == APP_TOKEN) != method.app_level:
        raise SlackError("not_allowed_token_type")


def _response(slack: Slack, refusal: SlackError) -> web.Response:
    headers = _headers(slack)
    if refusal.status == 429:
        headers["Retry-After"] = str(refusal.retry_after)
    return web.json_response(refusal.answer(), status=refusal.status, headers=headers)


def _headers(slack: Slack) -> dict[str, str]:
    return {"X-OAuth-Scopes": ",".join(slack.world.bot.scopes)}
