"""A stock Bolt app, unmodified, cannot tell the sandbox from Slack: over sockets and over HTTP."""

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from string import ascii_lowercase
from typing import Any

import pytest
from slack_bolt import Ack, App, BoltRequest, Respond, Say
from slack_bolt.adapter.socket_mode import SocketModeHandler
from slack_sdk import WebClient

from tests.slack_support import Workspace

Doc = dict[str, Any]
QUEUES = ("vision-large", "vision-small", "speech")
PICTURE = b"\x89PNG pretended"


def text(said: str) -> Doc:
    return {"type": "plain_text", "text": said}


def section(said: str) -> Doc:
    return {"type": "section", "text": {"type": "mrkdwn", "text": said}}


def card(said: str, *buttons: str) -> list[Doc]:
    elements = [
        {"type": "button", "text": text(name), "action_id": name.lower(), "value": "7"}
        for name in buttons
    ]
    return (
        [section(said), {"type": "actions", "elements": elements}] if buttons else [section(said)]
    )


PROFILE: Doc = {
    "type": "modal",
    "callback_id": "profile",
    "title": text("New profile"),
    "submit": text("Save"),
    "notify_on_close": True,
    "blocks": [
        {
            "type": "input",
            "block_id": "gpus",
            "label": text("GPUs"),
            "element": {"type": "plain_text_input", "action_id": "count"},
        },
        {
            "type": "input",
            "block_id": "queue",
            "optional": True,
            "label": text("Queue"),
            "element": {
                "type": "external_select",
                "action_id": "queues",
                "min_query_length": 0,
                "placeholder": text("Pick a queue"),
            },
        },
    ],
}


class Bot:
    """A small app with one of everything; `heard` is what came to its listeners."""

    def __init__(self, slack: Workspace) -> None:
        self.heard: list[Doc] = []
        client = WebClient(token=slack.bot_token, base_url=slack.api)
        self.app = App(client=client, signing_secret=slack.signing_secret)
        self.app.command("/pool")(self.pool)
        self.app.view("profile")(self.profile)
        self.app.view_closed("profile")(self.profile_closed)
        self.app.options("queues")(self.queues)
        self.app.action("approve")(self.approve)
        self.app.event("app_home_opened")(self.home)
        self.app.event("app_mention")(self.mention)

    def pool(self, ack: Ack, body: Doc, respond: Respond, client: WebClient) -> None:
        self.heard.append(body)
        if body["text"] == "broken":
            raise RuntimeError("before ack")
        ack()
        if body["text"] == "new":
            client.views_open(trigger_id=body["trigger_id"], view=PROFILE)
        elif body["text"] == "request":
            blocks = card("Ada asks for 8 GPUs", "Approve", "Reject")
            client.chat_postMessage(channel="C_ADMINS", text="A request.", blocks=blocks)
        elif body["text"] == "picture":
            client.files_upload_v2(
                channel=body["channel_id"], content=PICTURE, filename="use.png", title="Use",
                alt_txt="Use over the last day", initial_comment="The digest.",
            )  # fmt: skip
        else:
            respond(f"You said {body['text']}")

    def profile(self, ack: Ack, body: Doc) -> None:
        self.heard.append(body)
        count = body["view"]["state"]["values"]["gpus"]["count"]["value"]
        if not count.isdigit():
            ack(response_action="errors", errors={"gpus": "A whole number, please."})
        else:
            ack()

    def profile_closed(self, ack: Ack, body: Doc) -> None:
        ack()
        self.heard.append(body)

    def queues(self, ack: Ack, body: Doc) -> None:
        found = [name for name in QUEUES if body["value"] in name]
        ack(options=[{"text": text(name), "value": name} for name in found])

    def approve(self, ack: Ack, body: Doc, client: WebClient, say: Say) -> None:
        ack()
        self.heard.append(body)
        message, who = body["message"], body["user"]["id"]
        channel = body["channel"]["id"]
        client.chat_update(
            channel=channel, ts=message["ts"], text="Done.", blocks=card(f"Approved by <@{who}>")
        )
        say(text=f"<@{who}> approved {body['actions'][0]['value']}.", thread_ts=message["ts"])

    def home(self, event: Doc, client: WebClient) -> None:
        view = {"type": "home", "blocks": card("Your pools", "Refresh")}
        client.views_publish(user_id=event["user"], view=view)

    def mention(self, event: Doc, say: Say, body: Doc) -> None:
        self.heard.append(body)
        say(text=f"Heard: {event['text']}", thread_ts=event["ts"])


@pytest.fixture(scope="module")
def _connected_bot(_slack_process: Workspace) -> Iterator[Bot]:
    slack = _slack_process
    bot = Bot(slack)
    handler = SocketModeHandler(bot.app, slack.app_token, ping_interval=0.5)
    handler.connect()  # type: ignore[no-untyped-call]
    yield bot
    handler.close()  # type: ignore[no-untyped-call]
    slack.wait_for(lambda: not slack.connections()["open"], "the bot is gone", step=0.02)


@pytest.fixture
def bot(slack: Workspace, _connected_bot: Bot) -> Bot:
    """The app on stock Socket Mode, connected."""
    slack.wait_for_bot()
    _connected_bot.heard.clear()
    return _connected_bot


def test_a_command_is_answered_to_who_gave_it_alone(slack: Workspace, bot: Bot) -> None:
    ada, ben = slack.person("U_ADA"), slack.person("U_BEN")

    said = ada.command("/pool status of @ben & <co>", channel="C_ADMINS")
    reply = said.reply("You said")

    assert bot.heard[0]["text"] == "status of <@U_BEN> &amp; &lt;co&gt;"
    assert reply.plain == "You said status of @ben & <co>"
    assert reply.only_for == "U_ADA"
    assert ben.messages("C_ADMINS") == []


def test_a_modal_shows_field_errors_and_closes_when_it_is_taken(slack: Workspace, bot: Bot) -> None:
    modal = slack.person("U_ADA").command("/pool new").view("New profile")

    missing = modal.submit()
    modal.fill("GPUs", "many")
    refused = modal.submit()
    shown = modal.now()
    modal.fill("GPUs", "8")
    taken = modal.submit()

    assert missing == {"gpus": "Please complete this required field."}
    assert refused == {"gpus": "A whole number, please."}
    assert "! A whole number, please." in shown.plain
    assert taken is None
    assert slack.person("U_ADA").views() == []
    assert len([one for one in bot.heard if one.get("type") == "view_submission"]) == 2


def test_an_external_select_offers_what_fits_the_typed_text(slack: Workspace, bot: Bot) -> None:
    modal = slack.person("U_ADA").command("/pool new").view()

    offered = modal.options("Queue", typed="vision")
    modal.choose("Queue", "vision-small", typed="small")
    modal.fill("GPUs", "1")
    modal.submit()

    assert offered == ["vision-large", "vision-small"]
    chosen = bot.heard[-1]["view"]["state"]["values"]["queue"]["queues"]["selected_option"]
    assert chosen["value"] == "vision-small"


def test_closing_a_modal_tells_the_app(slack: Workspace, bot: Bot) -> None:
    slack.person("U_ADA").command("/pool new").view().close()

    def last_heard() -> bool:
        return bool(bot.heard[-1].get("type") == "view_closed")

    slack.wait_for(last_heard, "view_closed was heard", step=0.02)


def test_a_button_edits_its_message_and_goes_on_in_the_thread(slack: Workspace, bot: Bot) -> None:
    ben = slack.person("U_BEN")
    slack.person("U_ADA").command("/pool request")
    card = slack.wait_for_message("C_ADMINS", "[Approve] [Reject]")

    ben.press("Approve", in_=card)
    reply = slack.wait_for_message("C_ADMINS", "approved", thread=card.ts)

    edited = card.now()
    assert edited.plain == "Approved by @ben"
    assert edited.edits[0]["text"] == "A request."
    assert reply.plain == "@ben approved 7."
    assert [one.ts for one in card.thread()] == [reply.ts]
    assert reply.pings == ["U_BEN"]


def test_two_people_press_the_same_button_at_the_same_time(slack: Workspace, bot: Bot) -> None:
    slack.person("U_ADA").command("/pool request")
    card = slack.wait_for_message("C_ADMINS", "[Approve]")

    slack.person("U_BEN").press("Approve", in_=card)
    slack.wait_for_message("C_ADMINS", "Approved by @ben")
    slack.person("U_ADA").press("Approve", in_=card, stale=True)

    slack.wait_for_message("C_ADMINS", "Approved by @ada")


def test_home_is_published_to_who_opens_it(slack: Workspace, bot: Bot) -> None:
    cleo = slack.person("U_CLEO")

    home = cleo.open_home().home("Your pools")

    assert home.plain == "Your pools\n[Refresh]"
    assert slack.person("U_DAN").homes() == []


def test_a_mention_is_an_event_with_an_id(slack: Workspace, bot: Bot) -> None:
    asked = slack.person("U_CLEO").mention("status", channel="C_VISION")

    reply = slack.wait_for_message("C_VISION", "Heard", thread=asked.ts)

    assert reply.plain == "Heard: @poolkeeper status"
    assert bot.heard[0]["event_id"].startswith("Ev")


def test_a_picture_is_uploaded_with_a_text_for_screen_readers(slack: Workspace, bot: Bot) -> None:
    slack.person("U_CLEO").command("/pool picture", channel="C_VISION")

    message = slack.wait_for_message("C_VISION", "The digest.")

    assert message.plain == "The digest.\n(file: Use; Use over the last day)"
    assert slack.download(message.files[0]) == PICTURE


def test_an_error_before_the_acknowledgement_is_a_timeout_to_the_person(
    slack: Workspace, bot: Bot
) -> None:
    said = slack.person("U_ADA").command("/pool broken")

    assert said.error == "operation_timeout"
    assert said.plain == '/pool failed with the error "operation_timeout"'


def connected_anew(slack: Workspace, made: int) -> None:
    """Waits until there is a socket that was not there before."""
    slack.wait_for(lambda: slack.connections()["made"] > made, "it reconnects", 15.0, step=0.02)
    slack.wait_for_bot()


def test_no_command_is_lost_while_slack_asks_for_a_new_socket(slack: Workspace, bot: Bot) -> None:
    ada, made = slack.person("U_ADA"), slack.connections()["made"]

    slack.disconnect("refresh_requested")
    said = {name: ada.command(f"/pool {name}") for name in ascii_lowercase}
    connected_anew(slack, made)

    for name, one in said.items():
        assert one.reply(f"said {name}").plain == f"You said {name}"


@pytest.mark.parametrize("how", ["close", "reset", "hang_up", "silent"])
def test_the_app_comes_back_after_its_socket_is_dropped(
    slack: Workspace, bot: Bot, how: str
) -> None:
    ada, made = slack.person("U_ADA"), slack.connections()["made"]

    slack.drop(how)
    connected_anew(slack, made)
    said = ada.command("/pool after")

    assert said.reply().plain == "You said after"


def test_a_payload_can_come_twice(slack: Workspace, bot: Bot) -> None:
    slack.delivery_fault("twice", "events_api")

    slack.person("U_CLEO").mention("status", channel="C_VISION")

    slack.wait_for(lambda: len(bot.heard) == 2, "it came twice", step=0.02)
    assert len({body["event_id"] for body in bot.heard}) == 1


def test_a_lost_event_is_delivered_again_with_the_reason(slack: Workspace, bot: Bot) -> None:
    slack.configure(ack_seconds=0.2, redeliveries=[0.0])
    slack.delivery_fault("lose", "events_api")

    slack.person("U_CLEO").mention("status", channel="C_VISION")

    slack.wait_for(lambda: len(bot.heard) == 1, "it came in the end", step=0.02)
    assert slack.deliveries("events_api")[-1]["attempt"] == 1


@contextmanager
def listening(bot: Bot) -> Iterator[str]:
    """The app behind an HTTP server, with Bolt's own check of signatures."""

    class Listener(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            raw = self.rfile.read(int(self.headers["Content-Length"])).decode()
            headers: dict[str, str | Sequence[str]] = dict(self.headers.items())
            answer = bot.app.dispatch(BoltRequest(body=raw, headers=headers))
            self.send_response(answer.status)
            for name, value in answer.first_headers().items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(answer.body.encode())

        def log_message(self, *_arguments: object) -> None:
            """Says nothing; the tests look at the answers."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Listener)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}/slack/events"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def web_bot(slack: Workspace) -> Iterator[Bot]:
    """The app in HTTP mode."""
    bot = Bot(slack)
    with listening(bot) as url:
        slack.deliver_to(url)
        yield bot
        slack.deliver_to("")


def test_the_endpoint_proves_itself(slack: Workspace, web_bot: Bot) -> None:
    assert slack.verify_url()


def test_commands_modals_buttons_and_events_come_by_http(slack: Workspace, web_bot: Bot) -> None:
    ada, cleo = slack.person("U_ADA"), slack.person("U_CLEO")

    said = ada.command("/pool status").reply()
    modal = ada.command("/pool new").view()
    modal.fill("GPUs", "many")
    refused = modal.submit()
    ada.command("/pool request")
    ada.press("Approve", in_=slack.wait_for_message("C_ADMINS", "[Approve]"))
    asked = cleo.mention("status", channel="C_VISION")

    assert said.plain == "You said status"
    assert refused == {"gpus": "A whole number, please."}
    slack.wait_for_message("C_ADMINS", "Approved by @ada")
    slack.wait_for_message("C_VISION", "Heard", thread=asked.ts)


@pytest.mark.parametrize("flaw", ["wrong_signature", "old_timestamp"])
def test_bolt_refuses_what_slack_has_not_signed_now(
    slack: Workspace, web_bot: Bot, flaw: str
) -> None:
    slack.delivery_fault(flaw, "slash_commands")

    refused = slack.person("U_ADA").command("/pool status")
    taken = slack.person("U_ADA").command("/pool again")

    assert (refused.status, refused.error) == (401, "dispatch_failed")
    assert taken.reply().plain == "You said again"
    assert [body["text"] for body in web_bot.heard] == ["again"]


def statuses(slack: Workspace) -> list[int]:
    """What the endpoint answered to events, one by one."""
    return [int(one.get("status") or 0) for one in slack.deliveries("events_api")]


def test_an_unanswered_event_comes_again_by_http_with_its_number(
    slack: Workspace, web_bot: Bot
) -> None:
    slack.configure(redeliveries=[0.0, 60.0])
    slack.delivery_fault("wrong_signature", "events_api", times=2)

    slack.person("U_CLEO").mention("status", channel="C_VISION")
    slack.wait_for(lambda: statuses(slack) == [401, 401], "both were refused", step=0.02)
    slack.advance(60)

    slack.wait_for(lambda: web_bot.heard, "it came in the end", step=0.02)
    slack.wait_for(lambda: statuses(slack) == [401, 401, 200], "it was taken", step=0.02)
    assert [one["attempt"] for one in slack.deliveries("events_api")] == [0, 1, 2]
    assert web_bot.heard[0]["event"]["text"] == "<@U_BOT> status"
