"""`python -m sandbox clearml`, `... slack`, `... kubernetes`, `... agents`: a process each;
`... playground`: all of them in one, with a company and its page.

When ready, one JSON line on stdout says where it is; SIGTERM and SIGINT end it, and with
--with-parent so does the end of its standard input.
"""

import argparse
import asyncio
import json
import signal
import sys
from contextlib import AsyncExitStack
from pathlib import Path

from sandbox.agents import Crew, Orders
from sandbox.clearml.door import routes
from sandbox.clearml.server import ClearMLServer, start
from sandbox.clearml.world import ADMIN_ACCESS_KEY, ADMIN_SECRET_KEY
from sandbox.kubernetes.access import ADMIN_TOKEN
from sandbox.kubernetes.door import routes as kubernetes_door
from sandbox.kubernetes.server import KubernetesServer
from sandbox.kubernetes.server import start as start_kubernetes
from sandbox.playground.bundle import Bundle, shipped
from sandbox.playground.playground import Playground
from sandbox.playground.server import serving
from sandbox.slack.door import routes as slack_door
from sandbox.slack.server import start as start_slack
from sandbox.slack.state import APP_TOKEN, BOT_TOKEN, SIGNING_SECRET, Slack


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m sandbox")
    commands = parser.add_subparsers(dest="command", required=True)
    _clearml_options(commands.add_parser("clearml", help="a stand-in ClearML server"))
    _agents_options(commands.add_parser("agents", help="simulated agents"))
    _slack_options(commands.add_parser("slack", help="a loopback Slack"))
    _kubernetes_options(commands.add_parser("kubernetes", help="a stand-in Kubernetes API server"))
    _playground_options(commands.add_parser("playground", help="all of them, and a company"))
    options = parser.parse_args()
    runs = {
        "clearml": serve_clearml,
        "slack": serve_slack,
        "kubernetes": serve_kubernetes,
        "agents": run_agents,
        "playground": serve_playground,
    }
    asyncio.run(runs[options.command](options))


def _clearml_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--server-version", default="2.3.0")
    parser.add_argument("--api-version", default="2.34")
    parser.add_argument("--with-parent", action="store_true")


def _agents_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--host", required=True)
    parser.add_argument("--queue", required=True, help="queue ids, comma separated")
    parser.add_argument("--style", choices=("daemon", "glue"), default="daemon")
    parser.add_argument("--slots", type=int, default=1)
    parser.add_argument("--run-seconds", type=float, default=1.0)
    parser.add_argument("--poll-seconds", type=float, default=0.2)
    parser.add_argument("--name", default="sandbox")
    parser.add_argument("--access-key", default=ADMIN_ACCESS_KEY)
    parser.add_argument("--secret-key", default=ADMIN_SECRET_KEY)
    parser.add_argument("--with-parent", action="store_true")


def _slack_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--with-parent", action="store_true")


def _kubernetes_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--with-parent", action="store_true")


def _playground_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--port", type=int, default=0, help="of the page and of Slack")
    parser.add_argument("--gallery", type=Path, help="a file with the gallery's document")
    parser.add_argument("--bundle", type=Path, help="the directory of the page's built files")
    parser.add_argument("--with-parent", action="store_true")


async def serve_clearml(options: argparse.Namespace) -> None:
    over = await _ending(options.with_parent)
    server = ClearMLServer(options.server_version, options.api_version)
    runner = await start(server, options.port, routes(server))
    keys = {"access_key": ADMIN_ACCESS_KEY, "secret_key": ADMIN_SECRET_KEY}
    _ready({"clearml": server.url, **keys})
    await over.wait()
    await server.reset()
    await runner.cleanup()


async def serve_slack(options: argparse.Namespace) -> None:
    over = await _ending(options.with_parent)
    slack = Slack()
    runner = await start_slack(slack, options.port, slack_door(slack))
    tokens = {"bot_token": BOT_TOKEN, "app_token": APP_TOKEN, "signing_secret": SIGNING_SECRET}
    _ready({"slack": slack.url, "api": f"{slack.url}/api/", **tokens})
    await over.wait()
    slack.empty()
    await slack.deliveries.sockets.close()
    await runner.cleanup()


async def serve_kubernetes(options: argparse.Namespace) -> None:
    over = await _ending(options.with_parent)
    server = KubernetesServer()
    runner = await start_kubernetes(server, options.port, kubernetes_door(server))
    _ready({"kubernetes": server.url, "token": ADMIN_TOKEN, "kubeconfig": server.kubeconfig()})
    await over.wait()
    await server.end()
    await runner.cleanup()


async def serve_playground(options: argparse.Namespace) -> None:
    over = await _ending(options.with_parent)
    gallery = json.loads(options.gallery.read_text()) if options.gallery else None
    files = Bundle(options.bundle) if options.bundle else shipped()
    async with AsyncExitStack() as stack:
        servers = serving(Playground(gallery), options.port, files)
        try:
            where = await stack.enter_async_context(servers)
        except OSError as error:
            sys.exit(f"Port {options.port} cannot be listened on: {error.strerror}.")
        _ready(where)
        await over.wait()


async def run_agents(options: argparse.Namespace) -> None:
    over = await _ending(options.with_parent)
    orders = Orders(
        queues=options.queue.split(","),
        style=options.style,
        slots=options.slots,
        run_seconds=options.run_seconds,
        poll_seconds=options.poll_seconds,
        name=options.name,
        access_key=options.access_key,
        secret_key=options.secret_key,
    )
    crew = Crew(options.host, orders)
    crew.start()
    _ready({"agents": options.host, "queues": orders.queues})
    await over.wait()
    await crew.stop()


def _ready(where: dict[str, object]) -> None:
    sys.stdout.write(json.dumps(where) + "\n")
    sys.stdout.flush()


async def _ending(with_parent: bool) -> asyncio.Event:
    """The event of a signal, or of the parent's end; asked for before anybody can send one."""
    over = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, over.set)
    if with_parent:
        await loop.connect_read_pipe(lambda: _ParentWatch(over), sys.stdin)
    return over


class _ParentWatch(asyncio.Protocol):
    """Sets the event at the end of standard input; what is written there does not matter."""

    def __init__(self, over: asyncio.Event) -> None:
        self.over = over

    def eof_received(self) -> None:
        self.over.set()


if __name__ == "__main__":
    main()
