"""Who may talk to the playground's servers: this machine's own page, and programs.

A site that somebody visits while the playground runs may try to reach it through the browser: by
a name that it points to 127.0.0.1 (so the Host is looked at), or by a request across origins (so
are Origin and Sec-Fetch-Site).
"""

from collections.abc import Awaitable, Callable, Mapping

from aiohttp import web

NAMES = ("127.0.0.1", "localhost")
POLICY = (
    "default-src 'self'; script-src 'self'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data: http://127.0.0.1:*; font-src 'self' data:; connect-src 'self'; "
    "object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
}

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


def refusal(method: str, headers: Mapping[str, str]) -> str:
    """Why a request with these headers is refused, in a sentence; "" when it is not."""
    host = headers.get("Host", "")
    if host.rpartition(":")[0] not in NAMES and host not in NAMES:
        return f"The playground answers to {' and '.join(NAMES)} only, not to another name."
    origin = headers.get("Origin")
    if origin is not None and origin != f"http://{host}":
        return "Another site's page may not talk to the playground."
    fetched_from = headers.get("Sec-Fetch-Site", "none")
    follows_a_link = method == "GET" and headers.get("Sec-Fetch-Mode") == "navigate"
    if fetched_from not in ("none", "same-origin") and not follows_a_link:
        return "Another site's page may not use what the playground serves."
    return ""


@web.middleware
async def guard(request: web.Request, handler: Handler) -> web.StreamResponse:
    if refused := refusal(request.method, request.headers):
        return web.json_response({"error": refused}, status=403)
    return await handler(request)


async def harden(_http: web.Request, response: web.StreamResponse) -> None:
    """Says in every answer what the browser may do with it."""
    for name, value in HEADERS.items():
        response.headers.setdefault(name, value)
