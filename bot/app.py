"""Slack's side of the bot: what Bolt brings is acknowledged, read, answered and carried back.

Nothing is decided here. Every payload becomes a value of `bot.commands` or `bot.surfaces`, the
handler's answer becomes a response; what fails is told with a reference, never with a silence.
"""

import re
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from slack_bolt import Ack, App, BoltResponse, Respond
from slack_bolt.authorization import AuthorizeResult
from slack_sdk import WebClient

from bot import helping
from bot.access import Actor, refusal
from bot.blocks import Block, Post, Reply, button, buttons, section
from bot.commands import Misreading, Origin, read
from bot.desk import Desk
from bot.failing import message_view, tell_failure
from bot.payloads import delivery_key, kind_of, option_of, press_of, unescaped
from bot.registry import SURFACES, TABLE
from bot.slack_door import Slack
from bot.surfaces import Done, Errors, Press, Show, Submission, Typed, fields_of
from storage import deliveries

_LISTENERS = 24
"""Threads for what comes from Slack; Bolt's five are all taken by five slow answers."""


@dataclass(frozen=True, kw_only=True)
class Connection:
    """How the bot is connected: the client, who it is, and the secret of HTTP mode, if that."""

    client: WebClient
    token: str
    signing_secret: str = ""


def build_app(desk: Desk, connection: Connection) -> App:
    """The Bolt app, with everything registered; it makes no call until something arrives."""
    app = App(
        client=connection.client,
        signing_secret=connection.signing_secret or None,
        request_verification_enabled=bool(connection.signing_secret),
        ssl_check_enabled=bool(connection.signing_secret),
        token_verification_enabled=False,
        listener_executor=ThreadPoolExecutor(_LISTENERS, thread_name_prefix="slack"),
        authorize=lambda **_: AuthorizeResult(
            enterprise_id=None, team_id=None, bot_token=connection.token, bot_user_id=None
        ),
    )
    handlers = _Handlers(desk, Slack(connection.client))
    app.use(handlers.only_once)
    app.command("/pool")(handlers.command)
    app.event("app_mention")(handlers.mention)
    app.event("message")(handlers.message)
    app.event("app_home_opened")(handlers.home)
    app.event(re.compile("^subteam_"))(handlers.groups_changed)
    app.action(re.compile(r"^say(:|$)"))(handlers.said)
    app.action(re.compile(r"^share(:|$)"))(handlers.share)
    app.action(re.compile(".*"))(handlers.action)
    app.options(re.compile(".*"))(handlers.options)
    app.view(re.compile(".*"))(handlers.submitted)
    app.view_closed(re.compile(".*"))(handlers.closed)
    app.error(handlers.failed)
    return app


class _Handlers:
    """One method for each kind of payload; each acknowledges before it does anything slow."""

    def __init__(self, desk: Desk, slack: Slack) -> None:
        self._desk = desk
        self._slack = slack

    def only_once(self, body: dict[str, Any], next_: Any) -> BoltResponse | None:
        """Slack delivers at least once; what came before is acknowledged and left."""
        key = delivery_key(body)
        if key:
            with self._desk.database.transaction() as session:
                if not deliveries.first_time(session, key, self._desk.clock()):
                    return BoltResponse(status=200)
        next_()
        return None

    def command(self, ack: Ack, body: dict[str, Any], respond: Respond) -> None:
        ack()
        origin = Origin(channel=body["channel_id"], trigger=body.get("trigger_id", ""))
        self._respond(respond, body["user_id"], body.get("text") or "", origin)

    def mention(self, ack: Ack, event: dict[str, Any]) -> None:
        ack()
        text = re.sub(r"^\s*<@[^>]+>\s*", "", event.get("text") or "")
        post = Post(channel=event["channel"], text="", thread=event.get("thread_ts") or "")
        reply = self._answer(event["user"], unescaped(text), Origin(channel=event["channel"]))
        self._slack.whisper(_posted(reply, post), event["user"])

    def message(self, ack: Ack, event: dict[str, Any]) -> None:
        """A direct message; what other channels say is not meant for the bot."""
        ack()
        if event.get("channel_type") != "im" or event.get("bot_id") or event.get("subtype"):
            return
        origin = Origin(channel=event["channel"])
        reply = self._answer(event["user"], unescaped(event.get("text") or ""), origin)
        self._slack.post(_posted(reply, Post(channel=event["channel"], text="")))

    def home(self, ack: Ack, event: dict[str, Any]) -> None:
        ack()
        if event.get("tab", "home") == "home":
            show_home(self._desk, self._slack, event["user"])

    def groups_changed(self, ack: Ack) -> None:
        ack()
        self._desk.membership.forget()

    def said(self, ack: Ack, body: dict[str, Any], respond: Respond) -> None:
        """A button that says a command."""
        ack()
        press = press_of(body)
        if body.get("view") and not body.get("response_url"):
            self._say_in_view(body, press)
        else:
            self._respond(respond, body["user"]["id"], press.value, press.origin)

    def share(self, ack: Ack, body: dict[str, Any]) -> None:
        """The same answer, to everybody in the channel, on its reader's word."""
        ack()
        press = press_of(body)
        reply = self._answer(body["user"]["id"], press.value, press.origin)
        said = section(f"<@{body['user']['id']}> shared `/pool {press.value}`")
        shared = Reply(text=reply.text, blocks=(said, *reply.blocks))
        self._slack.post(_posted(shared, Post(channel=press.origin.channel, text="")))

    def action(self, ack: Ack, body: dict[str, Any], respond: Respond) -> None:
        ack()
        press = press_of(body)
        act = SURFACES.acts.get(press.action)
        if act is None:
            outdated = "This button is from an older version of me. Say `/pool help`."
            self._carry(Reply(text=outdated), body, respond)
            return
        self._carry(act(self._desk, self._actor(body["user"]["id"]), press), body, respond)

    def options(self, ack: Ack, body: dict[str, Any]) -> None:
        suggest = SURFACES.suggests.get(kind_of(body["action_id"]))
        typed = Typed(
            action=kind_of(body["action_id"]), text=body.get("value") or "", view=body.get("view")
        )
        actor = self._actor(body["user"]["id"])
        choices = suggest(self._desk, actor, typed) if suggest else []
        ack(options=[option_of(choice.text, choice.value) for choice in choices[:100]])

    def submitted(self, ack: Ack, body: dict[str, Any], view: Block) -> None:
        submit = SURFACES.submits.get(view["callback_id"])
        if submit is None:
            ack(response_action="clear")
            return
        submission = Submission(
            callback=view["callback_id"],
            fields=fields_of(view.get("state")),
            view=view,
            origin=Origin(trigger=body.get("trigger_id", "")),
        )
        user = body["user"]["id"]
        self._finish(ack, submit(self._desk, self._actor(user), submission), (user, submission))

    def closed(self, ack: Ack) -> None:
        ack()

    def failed(
        self, error: Exception, body: dict[str, Any], response: BoltResponse | None
    ) -> BoltResponse | None:
        """The boundary: whatever went wrong is recorded, and told under its reference."""
        return tell_failure(self._desk, self._slack, error, (body, response))

    def _respond(self, respond: Respond, user: str, text: str, origin: Origin) -> None:
        reply = self._answer(user, text, origin)
        if reply.view is not None and origin.trigger:
            self._slack.open(origin.trigger, reply.view)
            return
        blocks = _shareable(reply, text)
        respond(text=reply.text, blocks=list(blocks) or None, response_type="ephemeral",
                replace_original=False)  # fmt: skip

    def _say_in_view(self, body: dict[str, Any], press: Press) -> None:
        reply = self._answer(body["user"]["id"], press.value, press.origin)
        view = reply.view or message_view(reply)
        in_modal = body["view"]["type"] == "modal"
        (self._slack.push if in_modal else self._slack.open)(press.origin.trigger, view)

    def _answer(self, user: str, text: str, origin: Origin) -> Reply:
        actor = self._actor(user)
        command = read(TABLE, text, origin)
        if isinstance(command, Misreading):
            return helping.misread(command)
        refused = refusal(actor, command.verb)
        if refused:
            return Reply(text=refused)
        return command.verb.answer(self._desk, actor, command)

    def _actor(self, user: str) -> Actor:
        return self._desk.membership.actor(user, self._desk.configuration())

    def _carry(self, result: Reply | Show | None, body: dict[str, Any], respond: Respond) -> None:
        if result is None:
            return
        view = body.get("view")
        if isinstance(result, Show):
            if result.push:
                self._slack.push(body.get("trigger_id", ""), result.view)
            elif view and view["type"] == "modal":
                self._slack.update(view["id"], result.view)
            else:
                self._slack.open(body.get("trigger_id", ""), result.view)
        elif view:
            self._slack.push(body.get("trigger_id", ""), message_view(result))
        else:
            blocks = list(result.blocks) or None
            respond(text=result.text, blocks=blocks, response_type="ephemeral",
                    replace_original=False)  # fmt: skip

    def _finish(self, ack: Ack, result: Errors | Show | Done, who: tuple[str, Submission]) -> None:
        if isinstance(result, Errors):
            ack(response_action="errors", errors=dict(result.by_block))
        elif isinstance(result, Show):
            ack(response_action="push" if result.push else "update", view=result.view)
        else:
            ack(response_action="clear") if result.all_ else ack()
            channel = who[1].private.get("channel")
            if result.reply is not None and channel:
                self._slack.whisper(_posted(result.reply, Post(channel=channel, text="")), who[0])


def show_home(desk: Desk, slack: Slack, user: str) -> None:
    """Publishes App Home for one person."""
    slack.home(user, {"type": "home", "blocks": [section("Say `/pool help`.")]})


def _posted(reply: Reply, post: Post) -> Post:
    return Post(channel=post.channel, text=reply.text, blocks=reply.blocks, thread=post.thread)


def _shareable(reply: Reply, text: str) -> tuple[Block, ...]:
    if not reply.share or not reply.blocks:
        return reply.blocks
    share = {**button("Share in this channel", text[:1900]), "action_id": "share"}
    return (*reply.blocks, buttons(share))
