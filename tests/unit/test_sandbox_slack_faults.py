"""Socket Mode's rules, faults on demand, the feed, and the process itself."""

import asyncio
import json
import signal
import subprocess
import sys
import threading
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

import aiohttp
import pytest
import requests

from tests.sandbox_support import ROOT
from tests.slack_support import Exchange, Reply, Workspace

Doc = dict[str, Any]
Socket = aiohttp.ClientWebSocketResponse
Connect = Callable[[], Awaitable[Socket]]


def with_sockets(slack: Workspace, play: Callable[[Connect], Awaitable[None]]) -> None:
    """Plays with a way to connect; a socket has its hello still to read."""

    async def run() -> None:
        async with aiohttp.ClientSession() as session:

            async def connect() -> Socket:
                opened = slack.call("apps.connections.open", slack.app_token)
                return await session.ws_connect(opened.body["url"])

            await play(connect)

    asyncio.run(run())
    slack.wait_for(lambda: not slack.connections()["open"], "all sockets are gone", step=0.02)


async def heard(socket: Socket) -> Doc:
    return dict(json.loads(await socket.receive_str(timeout=5)))


async def acting(deed: Callable[[], Exchange]) -> "asyncio.Future[Exchange]":
    """A person's deed, which waits for the acknowledgement, in a thread."""
    return asyncio.ensure_future(asyncio.to_thread(deed))


def test_an_envelope_is_acknowledged_by_its_id(slack: Workspace) -> None:
    async def play(connect: Connect) -> None:
        socket = await connect()
        hello = await heard(socket)
        doing = await acting(lambda: slack.person("U_ADA").command("/pool status"))
        envelope = await heard(socket)
        await socket.send_json({"envelope_id": "another", "payload": {"text": "wrong"}})
        answer = {"envelope_id": envelope["envelope_id"], "payload": {"text": "right"}}
        await socket.send_json(answer)
        said = await doing

        assert (hello["type"], hello["num_connections"]) == ("hello", 1)
        assert (envelope["type"], envelope["accepts_response_payload"]) == ("slash_commands", True)
        assert envelope["payload"]["text"] == "status"
        assert (said.error, said.plain) == ("", "right")

    with_sockets(slack, play)


def test_what_is_not_acknowledged_in_time_is_a_timeout(slack: Workspace) -> None:
    slack.configure(ack_seconds=0.1)

    async def play(connect: Connect) -> None:
        socket = await connect()
        said = await (await acting(lambda: slack.person("U_ADA").command("/pool status")))
        await socket.close()

        assert said.error == "operation_timeout"

    with_sockets(slack, play)
    assert slack.deliveries()[-1]["acked"] is False


def test_each_payload_goes_to_one_of_the_sockets(slack: Workspace) -> None:
    slack.configure(ack_seconds=0.05)

    async def play(connect: Connect) -> None:
        sockets = [await connect() for _ in range(2)]
        for socket in sockets:
            await heard(socket)
        for number in range(4):
            await (await acting(partial(slack.person("U_ADA").command, f"/pool {number}")))
        texts = [[(await heard(one))["payload"]["text"] for _ in range(2)] for one in sockets]

        assert sorted(text for two in texts for text in two) == ["0", "1", "2", "3"]

    with_sockets(slack, play)


def test_an_eleventh_socket_is_turned_away(slack: Workspace) -> None:
    async def play(connect: Connect) -> None:
        sockets = [await connect() for _ in range(11)]
        first = [await heard(socket) for socket in sockets]

        assert [one["type"] for one in first] == ["hello"] * 10 + ["disconnect"]
        assert first[-1]["reason"] == "too_many_websockets"

    with_sockets(slack, play)


def test_a_leaving_socket_gets_nothing_new_once_there_is_another(slack: Workspace) -> None:
    slack.configure(ack_seconds=0.05)
    ada = slack.person("U_ADA")

    async def play(connect: Connect) -> None:
        old = await connect()
        await heard(old)
        await asyncio.to_thread(slack.disconnect, "warning")
        goodbye = await heard(old)
        await (await acting(lambda: ada.command("/pool still")))
        still = await heard(old)
        new = await connect()
        await heard(new)
        for name in ("one", "two", "three"):
            await (await acting(partial(ada.command, f"/pool {name}")))
        texts = [(await heard(new))["payload"]["text"] for _ in range(3)]

        assert (goodbye["type"], goodbye["reason"]) == ("disconnect", "warning")
        assert still["payload"]["text"] == "still"
        assert texts == ["one", "two", "three"]

    with_sockets(slack, play)


def test_without_a_socket_a_command_fails_at_once(slack: Workspace) -> None:
    assert slack.person("U_ADA").command("/pool status").error == "dispatch_failed"


def test_who_presses_in_vain_is_told(slack: Workspace) -> None:
    button = {"type": "button", "text": {"type": "plain_text", "text": "Go"}, "action_id": "go"}
    blocks = [{"type": "actions", "elements": [button]}]
    slack.ok("chat.postMessage", channel="C_VISION", text="x", blocks=blocks)
    cleo = slack.person("U_CLEO")

    pressed = cleo.press("Go", in_=slack.channel("C_VISION").messages()[0])

    assert pressed.error == "dispatch_failed"
    assert [(one["error"], one["about"]) for one in cleo.notices()] == [("dispatch_failed", "go")]


def test_refused_connections_come_back(slack: Workspace) -> None:
    slack.refuse_connections()
    refused = slack.call("apps.connections.open", slack.app_token)
    slack.refuse_connections(False)

    assert refused.error == "internal_error"
    assert slack.call("apps.connections.open", slack.app_token).body["url"].startswith("ws://127.")


def test_an_unacknowledged_event_comes_again_when_its_time_has_come(slack: Workspace) -> None:
    slack.configure(ack_seconds=0.05)

    async def play(connect: Connect) -> None:
        socket = await connect()
        await heard(socket)
        await (await acting(lambda: slack.person("U_CLEO").mention("x", channel="C_VISION")))
        first, second = await heard(socket), await heard(socket)
        await asyncio.to_thread(unacknowledged, slack, 2)
        await asyncio.to_thread(slack.advance, 60)
        third = await heard(socket)

        attempts = [one["retry_attempt"] for one in (first, second, third)]
        assert attempts == [0, 1, 2]
        assert third["retry_reason"] == "timeout"
        assert first["payload"]["event_id"] == third["payload"]["event_id"]

    with_sockets(slack, play)


def unacknowledged(slack: Workspace, count: int) -> None:
    """Waits until so many deliveries have timed out."""
    slack.wait_for(
        lambda: [one["acked"] for one in slack.deliveries()] == [False] * count,
        "timeouts",
        step=0.02,
    )


def in_background(call: Callable[[], object]) -> Callable[[], object]:
    """Runs the call in a thread; the function given back waits for what came of it."""
    results: list[object] = []

    def run() -> None:
        try:
            results.append(call())
        except requests.ConnectionError as err:
            results.append(err)

    thread = threading.Thread(target=run)
    thread.start()

    def wait() -> object:
        thread.join(timeout=10)
        assert results, "the call has not come back"
        return results[0]

    return wait


def posting(slack: Workspace, text: str = "x") -> Reply:
    return slack.call("chat.postMessage", channel="C_VISION", text=text)


@pytest.mark.parametrize(("when", "posted"), [("before", 0), ("after", 1)])
@pytest.mark.parametrize("outcome", ["continue", "drop"])
def test_a_call_is_held_on_either_side_of_its_effect(
    slack: Workspace, when: str, posted: int, outcome: str
) -> None:
    fault = slack.fault("hold", "chat.postMessage", when=when)
    wait = in_background(lambda: posting(slack))
    fault.wait_until_holding()
    seen_meanwhile = len(slack.channel("C_VISION").messages())

    fault.release(outcome)
    result = wait()

    assert seen_meanwhile == posted
    if outcome == "continue":
        assert isinstance(result, Reply)
        assert result.error == ""
    else:
        assert isinstance(result, requests.ConnectionError)
    expected = 1 if outcome == "continue" else posted
    assert len(slack.channel("C_VISION").messages()) == expected


@pytest.mark.parametrize(("action", "posted"), [("refuse", 0), ("drop_response", 1)])
def test_a_connection_is_cut_before_or_after_the_effect(
    slack: Workspace, action: str, posted: int
) -> None:
    slack.fault(action, "chat.postMessage")

    with pytest.raises(requests.ConnectionError):
        posting(slack)

    assert len(slack.channel("C_VISION").messages()) == posted


@pytest.mark.parametrize(("when", "posted"), [("before", 0), ("after", 1)])
def test_an_error_comes_instead_of_the_effect_or_after_it(
    slack: Workspace, when: str, posted: int
) -> None:
    slack.fault("error", "chat.postMessage", error="fatal_error", when=when)

    assert posting(slack).error == "fatal_error"
    assert len(slack.channel("C_VISION").messages()) == posted


def test_a_method_is_limited_so_many_times_from_the_nth_call_on(slack: Workspace) -> None:
    slack.fault("rate_limit", "chat.postMessage", nth=2, times=2, retry_after=7)

    replies = [posting(slack) for _ in range(4)]

    assert [reply.status for reply in replies] == [200, 429, 429, 200]
    assert replies[1].headers["Retry-After"] == "7"


def test_a_fault_can_be_about_one_text_only(slack: Workspace) -> None:
    fault = slack.fault("status", "chat.*", match={"text": "bad"}, nth=0, status=503)

    statuses = [posting(slack, text).status for text in ("good", "bad", "bad")]

    assert statuses == [200, 503, 503]
    assert fault.fired() == 2


def test_a_message_can_vanish_behind_the_bots_back(slack: Workspace) -> None:
    ts = posting(slack).body["ts"]
    message = slack.channel("C_VISION").messages()[0]

    slack.channel("C_VISION").delete(message)

    late = slack.call("chat.update", channel="C_VISION", ts=ts, text="new")
    assert late.error == "message_not_found"


def test_the_log_tells_who_called_what_how_often(slack: Workspace) -> None:
    posting(slack, "one")
    posting(slack, "")

    log = slack.calls("chat.postMessage")
    assert [(one["body"]["text"], one["ok"], one["error"]) for one in log] == [
        ("one", True, ""),
        ("", False, "no_text"),
    ]
    assert slack.door("calls")["counts"] == {"chat.postMessage": 2}


def test_a_reset_leaves_nothing_behind(slack: Workspace) -> None:
    posting(slack)
    slack.fault("refuse", "chat.postMessage")
    slack.advance(3600)

    slack.reset()

    assert slack.channel("C_VISION").messages() == []
    assert posting(slack).error == ""
    assert slack.door("list_faults") == {"faults": []}


def test_the_feed_tells_of_every_change(slack: Workspace) -> None:
    after = slack.door("wait", after=-1)["last"]
    ts = posting(slack).body["ts"]
    slack.ok("reactions.add", channel="C_VISION", timestamp=ts, name="eyes")
    home = {"type": "home", "blocks": [{"type": "divider"}]}
    slack.ok("views.publish", user_id="U_ADA", view=home)
    slack.ok("chat.delete", channel="C_VISION", ts=ts)

    with requests.get(f"{slack.url}/sandbox/feed?after={after}", stream=True, timeout=5) as feed:
        lines = (line for line in feed.iter_lines() if line.startswith(b"data: "))
        changes = [json.loads(next(lines).removeprefix(b"data: ")) for _ in range(4)]

    kinds = [change["type"] for change in changes]
    assert kinds == ["message", "message_changed", "home", "message_deleted"]
    assert changes[0]["ts"] == ts


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, None])
def test_the_process_says_where_it_is_and_ends_when_told(number: signal.Signals | None) -> None:
    command = [sys.executable, "-m", "sandbox", "slack", "--with-parent"]
    with subprocess.Popen(
        command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stdin is not None
        ready = json.loads(process.stdout.readline())
        if number is None:
            process.stdin.close()
        else:
            process.send_signal(number)
        code = process.wait(timeout=10)

    assert ready["slack"].startswith("http://127.0.0.1:")
    assert ready["api"] == f"{ready['slack']}/api/"
    assert {"bot_token", "app_token", "signing_secret"} < ready.keys()
    assert code == 0
