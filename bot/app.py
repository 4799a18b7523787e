"""Slack's side of the bot: what Bolt brings is acknowledged, read, answered and carried back.

Nothing is decided here. Every payload becomes a value of `bot.commands` or `bot.surfaces`, the
handler's answer becomes a response; what fails is told with a reference, never with a silence.
"""

import logging
import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from slack_bolt import Ack, App, BoltRequest, BoltResponse, Respond
from slack_bolt.authorization import AuthorizeResult
from slack_bolt.middleware.request_verification import RequestVerification
from slack_sdk import WebClient
from slack_sdk.signature import Clock

from bot import carrying, helping
from bot.access import Actor
from bot.answering import answer
from bot.blocks import Block, Post, Reply, section
from bot.commands import Origin
from bot.desk import Desk
from bot.failing import Failing
from bot.home import open_home
from bot.payloads import delivery_key, kind_of, option_of, press_of, unescaped
from bot.registry import SURFACES
from bot.slack_door import Slack
from bot.submitting import PATIENCE_S, Submitting, outdated
from bot.surfaces import Choice, Show, Typed
from controller import references
from controller.references import CarryingThreads
from storage import deliveries

_LISTENERS: Final = 24
"""Threads that acknowledge; Bolt's five are all taken by five windows that are slow to close."""

_WORKERS: Final = 16
"""Threads that answer. However long they take, what comes in is acknowledged."""


@dataclass(frozen=True, kw_only=True)
class Connection:
    """How the bot is connected: the client, who it is, and the secret of HTTP mode, if that."""

    client: WebClient
    token: str
    signing_secret: str = ""


class _Expected(logging.Filter):
    """Bolt remarks at every start that the token is not used, which is on purpose."""

    def filter(self, record: logging.LogRecord) -> bool:
        return not any(words in str(record.msg) for words in ("will be ignored", "will be unused"))


def build_app(desk: Desk, connection: Connection) -> App:
    """The Bolt app, with everything registered; it makes no call until something arrives."""
    handlers = _Handlers(desk, Slack(connection.client))
    logging.getLogger("slack_bolt.App").addFilter(_Expected())
    app = _App(
        desk.reference,
        client=connection.client,
        # Bolt's own would tell a request's age by this machine's clock.
        request_verification_enabled=False,
        before_authorize=_verification(connection.signing_secret, desk.clock),
        ssl_check_enabled=bool(connection.signing_secret),
        token_verification_enabled=False,
        listener_executor=_Listeners(handlers.workers),
        authorize=lambda **_: AuthorizeResult(
            enterprise_id=None, team_id=None, bot_token=connection.token, bot_user_id=None
        ),
    )
    app.command("/pool")(handlers.command)
    app.event("app_mention")(handlers.mention)
    app.event("message")(handlers.message)
    app.event("app_home_opened")(handlers.home)
    app.event(re.compile("^subteam_"))(handlers.groups_changed)
    app.event(re.compile(".*"))(handlers.ignored)
    app.action(re.compile(r"^(say|turn)(:|$)"))(handlers.said)
    app.action(re.compile(r"^share(:|$)"))(handlers.share)
    app.action(re.compile(".*"))(handlers.action)
    app.options(re.compile(".*"))(handlers.options)
    app.view(re.compile(".*"))(handlers.submitted)
    app.view_closed(re.compile(".*"))(handlers.closed)
    app.error(handlers.failed)
    return app


class _Seconds(Clock):
    """The desk's time, as Slack counts it."""

    def __init__(self, clock: Callable[[], datetime]) -> None:
        self._clock = clock

    def now(self) -> float:
        return self._clock().timestamp()


def _verification(secret: str, clock: Callable[[], datetime]) -> RequestVerification | None:
    """What refuses HTTP requests that Slack did not sign just now; Socket Mode has none."""
    if not secret:
        return None
    verification = RequestVerification(secret)
    verification.verifier.clock = _Seconds(clock)
    return verification


class _App(App):
    """Bolt's, with a reference for each payload from its arrival to the last of its answer."""

    def __init__(self, reference: Callable[[], str], **given: Any) -> None:
        super().__init__(**given)
        self._reference = reference

    def dispatch(self, req: BoltRequest) -> BoltResponse:
        with references.under(self._reference()):
            return super().dispatch(req)


class _Listeners(CarryingThreads):
    """The threads that acknowledge; when they end, those that answer have ended as well."""

    def __init__(self, workers: CarryingThreads) -> None:
        super().__init__(_LISTENERS, thread_name_prefix="slack")
        self._answers = workers

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        super().shutdown(wait=wait, cancel_futures=cancel_futures)
        self._answers.shutdown(wait=wait, cancel_futures=False)


class _Handlers:
    """One method for each kind of payload; each acknowledges, and leaves the rest to a worker."""

    def __init__(self, desk: Desk, slack: Slack) -> None:
        self._desk = desk
        self._slack = slack
        self._failing = Failing(desk, slack)
        self.workers = CarryingThreads(_WORKERS, thread_name_prefix="answers")
        self._submitting = Submitting(
            desk=desk,
            slack=slack,
            failing=self._failing,
            workers=self.workers,
            is_first=self._is_first,
            actor=self._actor,
        )

    def command(self, ack: Ack, body: dict[str, Any], respond: Respond) -> None:
        ack()
        text = unescaped(body.get("text") or "")
        origin = Origin(channel=body["channel_id"], trigger=body.get("trigger_id", ""))
        self._later(body, respond, lambda: self._respond(respond, body["user_id"], text, origin))

    def mention(self, ack: Ack, body: dict[str, Any], event: dict[str, Any]) -> None:
        ack()
        text = unescaped(re.sub(r"^\s*<@[^>]+>\s*", "", event.get("text") or ""))
        place = Post(channel=event["channel"], text="", thread=event.get("thread_ts") or "")

        def whisper() -> None:
            reply = self._answer(event["user"], text, Origin(channel=place.channel))
            reply = carrying.without_window(reply, text)
            self._slack.whisper(carrying.posted(reply, place), event["user"])

        self._later(body, None, whisper)

    def message(self, ack: Ack, body: dict[str, Any], event: dict[str, Any]) -> None:
        """A direct message; what other channels say is not meant for the bot."""
        ack()
        if event.get("channel_type") != "im" or event.get("bot_id") or event.get("subtype"):
            return
        text, place = unescaped(event.get("text") or ""), Post(channel=event["channel"], text="")

        def post() -> None:
            reply = self._answer(event["user"], text, Origin(channel=place.channel))
            self._slack.post(carrying.posted(carrying.without_window(reply, text), place))

        self._later(body, None, post)

    def home(self, ack: Ack, body: dict[str, Any], event: dict[str, Any]) -> None:
        ack()
        if event.get("tab", "home") == "home":
            show = lambda: open_home(self._desk, self._slack, event["user"])  # noqa: E731
            self._later(body, None, show)

    def groups_changed(self, ack: Ack, body: dict[str, Any]) -> None:
        ack()
        self._later(body, None, self._desk.membership.forget)

    def ignored(self, ack: Ack) -> None:
        ack()

    def said(self, ack: Ack, body: dict[str, Any], respond: Respond) -> None:
        """A button that says a command."""
        ack()
        self._later(body, respond, lambda: self._say(body, respond))

    def share(self, ack: Ack, body: dict[str, Any], respond: Respond) -> None:
        """The same answer, to everybody in the channel, on its reader's word."""
        ack()
        press, user = press_of(body), body["user"]["id"]

        def publish() -> None:
            reply = self._answer(user, press.value, press.origin)
            said = section(helping.shared(user, press.value))
            carrying.publish(respond, Reply(text=reply.text, blocks=(said, *reply.blocks)))

        self._later(body, respond, publish)

    def action(self, ack: Ack, body: dict[str, Any], respond: Respond) -> None:
        ack()
        press = press_of(body)
        act = SURFACES.acts.get(press.action)

        def carry() -> None:
            result: Reply | Show | None = outdated()
            if act is not None:
                result = act(self._desk, self._actor(body["user"]["id"]), press)
            carrying.carry(self._slack, result, body, respond)

        self._later(body, respond, carry)

    def options(self, ack: Ack, body: dict[str, Any]) -> None:
        suggest = SURFACES.suggests.get(kind_of(body["action_id"]))
        typed = Typed(
            action=kind_of(body["action_id"]), text=body.get("value") or "", view=body.get("view")
        )

        def suggested() -> list[Choice]:
            return suggest(self._desk, self._actor(body["user"]["id"]), typed) if suggest else []

        choices = self.workers.submit(suggested).result(PATIENCE_S)
        ack(options=[option_of(choice.text, choice.value) for choice in choices[:100]])

    def submitted(self, ack: Ack, body: dict[str, Any], view: Block) -> None:
        self._submitting.submitted(ack, body, view)

    def closed(self, ack: Ack, body: dict[str, Any], view: Block) -> None:
        ack()
        self._later(body, None, lambda: self._submitting.closed(body, view))

    def failed(
        self,
        error: Exception,
        body: dict[str, Any],
        response: BoltResponse | None,
        respond: Respond,
    ) -> BoltResponse | None:
        """The boundary: whatever went wrong is recorded, and told under its reference."""
        if response is None or body.get("type") == "event_callback":
            self._failing.after_ack(error, body, respond)
            return None
        return self._failing.before_ack(error, body)

    def _later(
        self, body: dict[str, Any], respond: Respond | None, work: Callable[[], None]
    ) -> None:
        self.workers.submit(self._guarded, body, respond, work)

    def _guarded(
        self, body: dict[str, Any], respond: Respond | None, work: Callable[[], None]
    ) -> None:
        try:
            if self._is_first(body):
                work()
        except Exception as error:  # the boundary of what comes after the acknowledgement
            self._failing.after_ack(error, body, respond)

    def _is_first(self, body: dict[str, Any]) -> bool:
        """Slack delivers at least once; what came before is left."""
        key = delivery_key(body)
        if not key:
            return True
        with self._desk.database.transaction() as session:
            self._failing.flush(session)
            return deliveries.first_time(session, key, self._desk.clock())

    def _respond(self, respond: Respond, user: str, text: str, origin: Origin) -> None:
        reply = self._answer(user, text, origin)
        if reply.view is not None and origin.trigger:
            carrying.open_window(self._slack, respond, (origin.trigger, reply.view), text)
        else:
            carrying.whisper(respond, carrying.shareable(reply, text))

    def _say(self, body: dict[str, Any], respond: Respond) -> None:
        press, user = press_of(body), body["user"]["id"]
        if body.get("view"):
            reply = self._answer(user, press.value, press.origin)
            carrying.show_in_view(self._slack, body, press, reply)
        elif press.action == "turn" and (body.get("container") or {}).get("is_ephemeral"):
            reply = self._answer(user, press.value, press.origin)
            carrying.whisper(respond, carrying.shareable(reply, press.value), replace=True)
        else:
            self._respond(respond, user, press.value, press.origin)

    def _answer(self, user: str, text: str, origin: Origin) -> Reply:
        return answer(self._desk, self._actor(user), text, origin)

    def _actor(self, user: str) -> Actor:
        return self._desk.membership.actor(user, self._desk.configuration())
