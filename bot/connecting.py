"""The bot's connection to Slack: Socket Mode, or HTTP with verified signatures.

Connecting is tried in a thread of its own until it succeeds: Slack may be away at the start and at
any time later, and the rounds do not wait for it.
"""

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from slack_bolt import App
from slack_bolt.adapter.socket_mode import SocketModeHandler
from slack_bolt.adapter.wsgi import SlackRequestHandler
from slack_sdk.errors import SlackApiError
from slack_sdk.socket_mode.builtin import SocketModeClient
from slack_sdk.socket_mode.request import SocketModeRequest
from waitress.server import create_server

from bot.access import Admins, Membership
from bot.app import Connection, build_app
from bot.charts import draw
from bot.desk import Desk
from bot.outbox_worker import Worker
from bot.sending import Sender
from bot.settings import Settings
from bot.slack_door import Slack, web_client
from controller.publishing import Viewer
from controller.signalling import Signal
from storage import signals
from storage.database import Database

log = logging.getLogger(__name__)

_PING_S = 3.0
_LOOK_S = 1.0
_CLOSE_LOOKS = 15
_ACK_LOOK_S = 0.02
_ACK_LOOKS = 150
"""Three seconds: Slack waits no longer for an acknowledgement."""

_QUIET_LOOKS = 3
"""What was taken from the queue is not in hand yet for an instant."""

_FIRST_WAIT_S = 1.0
_LONGEST_WAIT_S = 60.0
_WRONG_TOKEN = ("invalid_auth", "not_authed", "not_allowed_token_type", "missing_scope")
_HTTP_THREADS = 8
_LARGEST_BODY = 4 * 1024 * 1024
_PATH = "/slack/events"
_LINGER_S = 3.0
"""A balancer hears only after a replica that it is to send nothing more to that one."""


class Link(Protocol):
    """What brings Slack's payloads to the app; stopping it again does nothing."""

    def start(self) -> None: ...

    def stop(self) -> None: ...

    def is_connected(self) -> bool: ...


@dataclass(frozen=True, kw_only=True)
class Surroundings:
    """What the bot shares with the rest of this process, whether that leads or not."""

    database: Database
    viewer: Viewer
    nudge: Callable[[], None]
    deliver: Callable[[], None]
    clock: Callable[[], datetime]
    reference: Callable[[], str]


@dataclass(frozen=True, kw_only=True)
class Bot:
    """The desk, what brings Slack's payloads to it, and what makes who carries its messages."""

    desk: Desk
    app: App
    link: Link
    slack: Slack

    def start(self) -> None:
        self.link.start()

    def stop(self) -> None:
        """Nothing comes in any more, and what was begun is answered."""
        self.link.stop()
        self.app.listener_runner.listener_executor.shutdown(wait=True)

    def worker(self, database: Database, check: Callable[[], None] = lambda: None) -> Worker:
        """Who carries the outbox of that database, until `check` says that it may not any more."""
        return Worker(database, Sender(self.slack, database, draw, check), self.desk.clock)


def build_bot(settings: Settings, around: Surroundings) -> Bot:
    """Everything between the desk and Slack; nothing is called before `start`."""
    token = settings.slack_bot_token.get_secret_value()
    client = web_client(token, settings.slack_api)
    slack = Slack(client)
    admins = Admins(group=settings.admin_group, users=settings.admin_users)
    news = Signal(
        database=around.database,
        name=signals.GROUPS,
        clock=around.clock,
        reference=around.reference,
    )
    desk = Desk(
        database=around.database,
        viewer=around.viewer,
        membership=Membership(slack.groups, around.clock, admins, news),
        settings=settings,
        clock=around.clock,
        nudge=around.nudge,
        deliver=around.deliver,
        reference=around.reference,
        slack=slack,
    )
    app_token = settings.slack_app_token.get_secret_value()
    secret = "" if app_token else settings.slack_signing_secret.get_secret_value()
    app = build_app(desk, Connection(client=client, token=token, signing_secret=secret))
    linger_s = _LINGER_S if around.database.is_shared else 0.0
    link = SocketLink(app, app_token) if app_token else HttpLink(app, settings, linger_s)
    return Bot(desk=desk, app=app, link=link, slack=slack)


class _Handler(SocketModeHandler):
    """Bolt's own, which knows whether everything that came in is acknowledged."""

    def __init__(self, app: App, token: str) -> None:
        self._turn = threading.Lock()
        self._in_hand = 0
        super().__init__(app, token, ping_interval=_PING_S)

    def handle(self, client: SocketModeClient, req: SocketModeRequest) -> None:  # type: ignore[override]
        with self._turn:
            self._in_hand += 1
        try:
            super().handle(client, req)
        finally:
            with self._turn:
                self._in_hand -= 1

    def has_acknowledged_all(self) -> bool:
        return self.client.message_queue.empty() and not self._in_hand


class SocketLink:
    """Socket Mode by Bolt's own handler, watched.

    The handler reconnects by itself where Slack says goodbye. Where the connection just ends, it
    takes five failed pings for a loss (a minute, by its own interval); here one is enough.
    """

    def __init__(self, app: App, token: str) -> None:
        self._handler = _Handler(app, token)
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="slack-watch", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Ends within some seconds, also while a connection is being made.

        Slack is not told beforehand, and sends until it sees the end; what it has sent by then is
        acknowledged first, or people would read that nobody did.
        """
        if self._ended.is_set():
            return
        self._ended.set()
        self._acknowledge_all()
        client = self._handler.client
        # A connection that is just being made would turn it on again, and come back by itself.
        client.default_auto_reconnect_enabled = False
        closing = threading.Thread(target=client.close, name="slack-close", daemon=True)
        closing.start()
        for _ in range(_CLOSE_LOOKS):
            closing.join(_LOOK_S)
            if not closing.is_alive():
                break
            # A connection that was just being made has put a state of its own in the place of the
            # one that was closed, and the client would wait for its end for ever.
            client.current_session_state.terminated = True
            client.disconnect()
        if self._thread.is_alive():
            self._thread.join(_CLOSE_LOOKS * _LOOK_S)
        client.disconnect()

    def is_connected(self) -> bool:
        session = self._handler.client.current_session
        return session is not None and session.is_active() and not self._is_lost()

    def has_acknowledged_all(self) -> bool:
        """Whether nothing that came in waits for its acknowledgement."""
        return self._handler.has_acknowledged_all()

    def _acknowledge_all(self) -> None:
        quiet = 0
        for _ in range(_ACK_LOOKS):
            quiet = quiet + 1 if self.has_acknowledged_all() else 0
            if quiet == _QUIET_LOOKS:
                return
            time.sleep(_ACK_LOOK_S)

    def _watch(self) -> None:
        wait_s = 0.0
        while not self._ended.wait(wait_s):
            try:
                self._handler.client.connect_to_new_endpoint(force=True)
            except Exception as error:  # the boundary: urllib, sockets and Slack have many
                _tell(error)
                wait_s = min(max(2 * wait_s, _FIRST_WAIT_S), _LONGEST_WAIT_S)
                continue
            log.info("Slack is connected by Socket Mode")
            wait_s = 0.0
            while not self._ended.wait(_LOOK_S) and not self._is_lost():
                pass

    def _is_lost(self) -> bool:
        session = self._handler.client.current_session
        return session is not None and session.consecutive_check_state_error_count > 0


def _tell(error: Exception) -> None:
    if isinstance(error, SlackApiError) and error.response.get("error") in _WRONG_TOKEN:
        log.error(
            "Slack refuses SLACK_APP_TOKEN, nobody is answered before it is mended",
            extra={"error": error},
        )
    else:
        log.warning("Slack is away, connecting is tried again", extra={"error": error})


class HttpLink:
    """An HTTP server for Slack's requests; Bolt verifies each one's signature and age."""

    def __init__(self, app: App, settings: Settings, linger_s: float = 0.0) -> None:
        """`linger_s` is how long it still listens at its end."""
        self._linger_s = linger_s
        # It is bound here: a port that is taken ends the start, with its number.
        self._server = create_server(
            SlackRequestHandler(app, path=_PATH),
            host=settings.slack_host,
            port=settings.slack_port,
            threads=_HTTP_THREADS,
            max_request_body_size=_LARGEST_BODY,
            clear_untrusted_proxy_headers=True,
        )
        self._ended = False
        self._thread = threading.Thread(target=self._serve, name="slack-http", daemon=True)

    @property
    def port(self) -> int:
        return int(self._server.effective_port)

    def start(self) -> None:
        self._thread.start()
        log.info("listening for Slack", extra={"port": self.port, "path": _PATH})

    def stop(self) -> None:
        if not self._ended:
            self._ended = True
            time.sleep(self._linger_s)
            self._server.close()
            self._server.task_dispatcher.shutdown()

    def is_connected(self) -> bool:
        """Whether Slack's requests are listened for; that they arrive is not known here."""
        return self._thread.is_alive()

    def _serve(self) -> None:
        try:
            self._server.run()
        except OSError as error:
            log.debug("the server's socket was closed", extra={"error": error})
