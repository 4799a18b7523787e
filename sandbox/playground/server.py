"""The playground on its loopback ports: ClearML's, Kubernetes', and that of Slack and the page."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from aiohttp import web

from sandbox.clearml.door import routes as clearml_door
from sandbox.clearml.server import start as start_clearml
from sandbox.kubernetes.door import routes as kubernetes_door
from sandbox.kubernetes.server import start as start_kubernetes
from sandbox.playground import company, page
from sandbox.playground.bundle import Bundle
from sandbox.playground.guard import guard, harden
from sandbox.playground.playground import Playground
from sandbox.slack.door import routes as slack_door
from sandbox.slack.server import LARGEST_BODY, listen
from sandbox.slack.server import routes as slack_routes
from sandbox.slack.state import APP_TOKEN, BOT_TOKEN

Doc = dict[str, Any]


def application(played: Playground, files: Bundle) -> web.Application:
    app = web.Application(client_max_size=LARGEST_BODY, middlewares=[guard])
    app.on_response_prepare.append(harden)
    app.add_routes(page.routes(played, files))
    app.add_routes([*slack_routes(played.slack), *slack_door(played.slack)])
    app.add_routes([page.last_route(files)])
    return app


@asynccontextmanager
async def serving(played: Playground, port: int, files: Bundle) -> AsyncIterator[Doc]:
    """All servers while the block runs; where they are, and by which keys."""
    runners = [
        await start_clearml(played.clearml, 0, clearml_door(played.clearml), guard),
        await start_kubernetes(played.machines, 0, kubernetes_door(played.machines), guard),
        await listen(played.slack, application(played, files), port),
    ]
    await played.settle()
    try:
        # A fault in what goes on by itself ends the whole, and is not left standing still.
        async with asyncio.TaskGroup() as group:
            life = group.create_task(played.run())
            yield _where(played)
            life.cancel()
    finally:
        await played.slack.deliveries.sockets.close()
        await played.machines.end()
        await asyncio.gather(*(runner.cleanup() for runner in runners))


def _where(played: Playground) -> Doc:
    key = played.cluster.key
    return {
        "page": played.slack.url,
        "api": f"{played.slack.url}/api/",
        "bot_token": BOT_TOKEN,
        "app_token": APP_TOKEN,
        "admin_group": company.ADMIN_GROUP,
        "admin_channel": company.ADMINS_CHANNEL,
        "clearml": played.clearml.url,
        "access_key": key.access_key,
        "secret_key": key.secret_key,
        "kubernetes": played.machines.url,
        "kubeconfig": played.machines.kubeconfig(),
    }
