"""The Date of every answer, by which others see a server's clock."""

from collections.abc import Awaitable, Callable
from email.utils import formatdate

from aiohttp import web


def dated(
    now: Callable[[], float],
) -> Callable[[web.Request, web.StreamResponse], Awaitable[None]]:
    """A signal of aiohttp's that dates answers by this clock."""

    async def date(_request: web.Request, response: web.StreamResponse) -> None:
        response.headers["Date"] = formatdate(now(), usegmt=True)

    return date
