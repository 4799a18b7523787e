"""The outbox against a real Slack's faults: nothing is lost, nothing is said twice."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from bot import posts
from bot.blocks import Post, section
from bot.charts import draw
from bot.outbox_worker import Worker
from bot.sending import Sender
from bot.slack_door import Slack, web_client
from storage import audit, cards, outbox
from storage.database import Database, open_database
from tests.poolkeeper_support import Clock, Installation, installed
from tests.sandbox_support import Sandbox, wait_until
from tests.slack_support import Message, Workspace

CARD = "request:1"
SECOND = timedelta(seconds=1)


@dataclass
class Out:
    """An outbox with workers on it; time passes when a test says so."""

    slack: Workspace
    database: Database
    clock: Clock = field(default_factory=Clock)

    def worker(self) -> Worker:
        """A new one, as after a restart: it knows what is in the database."""
        door = Slack(web_client(self.slack.bot_token, self.slack.api))
        return Worker(self.database, Sender(door, self.database, draw), self.clock)

    def announce(self, key: str, text: str = "", channel: str = "C_VISION") -> bool:
        with self.database.transaction() as session:
            post = Post(channel=channel, text=text or key, blocks=(section(text or key),))
            return posts.announce(session, key, post, self.clock())

    def show(self, text: str, within: timedelta = timedelta(), channel: str = "C_VISION") -> None:
        """A channel has one card: that of C_VISION is `CARD`."""
        card = CARD if channel == "C_VISION" else channel
        with self.database.transaction() as session:
            post = Post(channel=channel, text=text, blocks=(section(text),))
            posts.show_card(session, card, post, self.clock(), within)

    def tell(self, key: str) -> None:
        with self.database.transaction() as session:
            posts.tell_in_thread(
                session, CARD, key, Post(channel="C_VISION", text=key), self.clock()
            )

    def said(self, channel: str = "C_VISION") -> list[str]:
        return [message.text for message in self.slack.messages(channel)]

    def message(self) -> Message:
        (only,) = self.slack.messages("C_VISION")
        return only

    def unsent(self) -> list[str]:
        with self.database.reading() as session:
            return [one.key for one in outbox.due(session, self.clock() + timedelta(days=9), 99)]

    def dropped(self) -> list[str]:
        with self.database.reading() as session:
            return [one.detail for one in audit.records(session, 99, "message dropped")]

    def turns(self, worker: Worker, count: int, apart: timedelta = SECOND) -> None:
        for _ in range(count):
            worker.turn()
            self.clock.advance(apart)


@pytest.fixture
def out(slack: Workspace, tmp_path: Path) -> Iterator[Out]:
    database = open_database(str(tmp_path / "outbox.sqlite3"))
    yield Out(slack, database)
    database.close()


def test_messages_of_a_channel_go_one_a_second_in_their_order_and_channels_at_once(
    out: Out,
) -> None:
    for key in ("first", "second", "third"):
        out.announce(key)
    out.announce("elsewhere", channel="C_GENERAL")
    worker = out.worker()

    worker.turn()
    worker.turn()

    assert out.said() == ["first"]
    assert out.said("C_GENERAL") == ["elsewhere"]
    out.clock.advance(SECOND)
    out.turns(worker, 2)
    assert out.said() == ["first", "second", "third"]


def test_a_key_is_said_once_however_often_it_is_put_in(out: Out) -> None:
    worker = out.worker()
    assert out.announce("once")
    out.turns(worker, 2)

    assert not out.announce("once")
    out.turns(worker, 2)

    assert out.said() == ["once"]


def test_a_limit_holds_for_its_channel_as_long_as_slack_says_and_for_no_other(out: Out) -> None:
    out.slack.fault("rate_limit", "chat.postMessage", match={"channel": "C_VISION"}, retry_after=30)
    out.announce("limited")
    out.announce("after it")
    worker = out.worker()

    worker.turn()
    out.announce("elsewhere", channel="C_GENERAL")
    out.turns(worker, 28)

    assert out.said() == []
    assert out.said("C_GENERAL") == ["elsewhere"]
    assert len([c for c in out.slack.calls("chat.postMessage") if not c["ok"]]) == 1
    out.turns(worker, 4)
    assert out.said() == ["limited", "after it"]
    assert out.slack.calls("conversations.history") == [], "a refusal leaves nothing to look for"


def test_a_lost_answer_is_looked_up_and_not_said_again(out: Out) -> None:
    out.slack.fault("drop_response", "chat.postMessage")
    out.announce("heard, but not confirmed")
    worker = out.worker()

    out.turns(worker, 5)

    assert out.said() == ["heard, but not confirmed"]
    assert out.unsent() == []
    assert len(out.slack.calls("chat.postMessage")) == 1


def test_a_call_that_never_arrived_is_made_again(out: Out) -> None:
    out.slack.fault("refuse", "chat.postMessage")
    out.announce("arrives at last")
    worker = out.worker()

    out.turns(worker, 5)

    assert out.said() == ["arrives at last"]


@pytest.mark.parametrize("fault", ["error", "status"])
def test_an_error_of_slacks_is_waited_out_with_longer_and_longer_pauses(
    out: Out, fault: str
) -> None:
    out.slack.fault(fault, "chat.postMessage", times=3)
    out.announce("patient")
    worker = out.worker()

    out.turns(worker, 12)

    assert out.said() == ["patient"]
    # 1 s, 2 s and 4 s after the failures before.
    assert len(out.slack.calls("chat.postMessage")) == 4


def test_without_the_right_to_look_a_message_is_rather_said_twice_than_never(out: Out) -> None:
    out.slack.configure(scopes=["chat:write", "chat:write.public", "files:write", "im:write"])
    out.slack.fault("drop_response", "chat.postMessage")
    out.announce("at least once")

    out.turns(out.worker(), 5)

    assert out.said() == ["at least once", "at least once"]


def test_a_card_is_edited_in_place_and_the_same_content_costs_no_call(out: Out) -> None:
    worker = out.worker()
    out.show("waits for a second admin")
    out.turns(worker, 2)
    out.show("approved")
    out.turns(worker, 2)
    out.show("approved")

    out.turns(worker, 2)

    card = out.message()
    assert card.text == "approved"
    assert [edit["text"] for edit in card.edits] == ["waits for a second admin"]
    assert len(out.slack.calls("chat.update")) == 1


def test_edits_that_follow_one_another_are_made_as_one_and_not_put_off_for_ever(out: Out) -> None:
    worker = out.worker()
    out.show("0 moved")
    out.turns(worker, 2)

    for count in range(1, 9):
        out.show(f"{count} moved", posts.DEBOUNCE)
        out.turns(worker, 1, SECOND / 2)

    assert 1 <= len(out.slack.calls("chat.update")) <= 2
    out.turns(worker, 4)
    assert out.message().text == "8 moved"


def test_a_card_that_somebody_deleted_is_posted_anew(out: Out) -> None:
    worker = out.worker()
    out.show("first")
    out.turns(worker, 2)
    out.slack.channel("C_VISION").delete(out.message())

    out.show("second")
    out.turns(worker, 2)

    assert out.message().text == "second"
    with out.database.reading() as session:
        card = cards.card(session, CARD)
    assert card is not None
    assert card.ts == out.message().ts


def test_an_entry_waits_for_its_card_even_if_it_was_put_in_before(out: Out) -> None:
    worker = out.worker()
    out.tell("it began")
    out.show("the card", posts.DEBOUNCE)

    out.turns(worker, 1)
    assert out.said() == []

    out.turns(worker, 5)
    assert out.said() == ["the card"]
    assert [entry.text for entry in out.message().thread()] == ["it began"]


def test_a_direct_message_reaches_its_person(out: Out) -> None:
    with out.database.transaction() as session:
        posts.direct(session, "dm", "U_CLEO", Post(channel="", text="for you"), out.clock())

    out.turns(out.worker(), 2)

    assert [message.text for message in out.slack.person("U_CLEO").dms()] == ["for you"]


def test_a_message_is_given_up_after_an_hour_where_its_channel_is_gone_and_others_go_on(
    out: Out,
) -> None:
    out.slack.channel("C_VISION").archive()
    out.announce("into the void")
    out.announce("elsewhere", channel="C_GENERAL")
    worker = out.worker()

    out.turns(worker, 100, timedelta(minutes=1))

    assert out.unsent() == []
    (detail,) = out.dropped()
    assert "is_archived" in detail
    assert "into the void" in detail
    assert out.said("C_GENERAL") == ["elsewhere"]
    assert len(out.slack.calls("chat.postMessage")) == 5


def test_a_channel_that_comes_back_in_time_gets_what_was_said(out: Out) -> None:
    out.slack.fault("error", "chat.postMessage", error="not_in_channel", times=2)
    out.announce("worth waiting for")

    out.turns(out.worker(), 15, timedelta(minutes=1))

    assert out.said() == ["worth waiting for"]
    assert out.dropped() == []


def test_nothing_is_given_up_for_a_token_that_is_refused(out: Out) -> None:
    out.slack.fault("error", "chat.postMessage", error="token_revoked", times=40)
    out.announce("when the operator has mended it")
    worker = out.worker()
    out.turns(worker, 60, timedelta(minutes=5))

    out.slack.clear_faults()
    out.turns(worker, 2, timedelta(minutes=5))

    assert out.said() == ["when the operator has mended it"]


def test_blocks_that_slack_refuses_leave_the_sentence(out: Out) -> None:
    with out.database.transaction() as session:
        post = Post(channel="C_VISION", text="A sentence.", blocks=({"type": "no such block"},))
        posts.announce(session, "odd", post, out.clock())

    out.turns(out.worker(), 2)

    assert out.said() == ["A sentence."]


def test_what_cannot_be_drawn_is_given_up_and_does_not_stop_what_follows(out: Out) -> None:
    with out.database.transaction() as session:
        shown = posts.Picture(document={"series": "none"}, title="t", alt="a")
        posts.picture(session, "bad", Post(channel="C_VISION", text=""), shown, out.clock())
    out.announce("and after it")

    out.turns(out.worker(), 3)

    assert out.said() == ["and after it"]
    assert "broken" in out.dropped()[0]


@pytest.mark.parametrize("outcome", ["said before the death", "not said before the death"])
def test_a_worker_that_died_of_a_sending_leaves_it_to_the_next(out: Out, outcome: str) -> None:
    out.announce("exactly once")
    with out.database.transaction() as session:
        (message,) = outbox.heads(session, out.clock())
        assert outbox.begin(session, message, out.clock() + timedelta(seconds=60))
    if outcome == "said before the death":
        metadata = {"event_type": "poolkeeper", "event_payload": {"key": "exactly once"}}
        Slack(web_client(out.slack.bot_token, out.slack.api)).post(
            Post(channel="C_VISION", text="exactly once"), metadata
        )
    worker = out.worker()

    out.turns(worker, 59)
    assert out.unsent() == ["exactly once"], "another one may still be sending it"
    out.turns(worker, 3)

    assert out.said() == ["exactly once"]
    assert out.unsent() == []


def test_of_two_who_found_the_same_message_one_may_send_it(out: Out) -> None:
    out.announce("once")
    with out.database.transaction() as session:
        (found,) = outbox.heads(session, out.clock())
        until = out.clock() + timedelta(seconds=60)

        assert outbox.begin(session, found, until)
        assert not outbox.begin(session, found, until)


def test_a_limit_on_edits_holds_for_the_edits_of_all_channels_and_for_no_post(out: Out) -> None:
    worker = out.worker()
    for channel in ("C_VISION", "C_GENERAL"):
        out.show("first", channel=channel)
    out.turns(worker, 2)
    out.slack.fault("rate_limit", "chat.update", retry_after=30)

    for channel in ("C_VISION", "C_GENERAL"):
        out.show("second", channel=channel)
    out.announce("a post", channel="C_ADMINS")
    out.turns(worker, 25)

    assert out.said("C_ADMINS") == ["a post"]
    assert len(out.slack.calls("chat.update")) == 1
    out.turns(worker, 10)
    assert out.said("C_VISION") == out.said("C_GENERAL") == ["second"]


def test_two_workers_on_one_database_say_everything_once(out: Out) -> None:
    keys = [f"m{number}" for number in range(12)]
    for key in keys:
        out.announce(key)
    one, two = out.worker(), out.worker()

    for _ in range(12):
        one.turn()
        two.turn()
        out.clock.advance(SECOND)

    assert sorted(out.said()) == sorted(keys)
    assert len(out.slack.calls("chat.postMessage")) == 12


# With a real process ---------------------------------------------------------------------------


@pytest.fixture
def there(clearml: Sandbox, tmp_path: Path) -> Iterator[Installation]:
    with installed(clearml, tmp_path) as installation:
        yield installation


def _tokens(slack: Workspace) -> dict[str, str]:
    return {
        "SLACK_BOT_TOKEN": slack.bot_token,
        "SLACK_APP_TOKEN": slack.app_token,
        "POOLKEEPER_SLACK_API": slack.api,
    }


@pytest.mark.parametrize(
    ("kind", "when"),
    [
        ("announcement", "before"),
        ("announcement", "after"),
        ("card", "after"),
        ("picture", "after"),
    ],
)
def test_kill_9_while_slack_holds_the_call_neither_loses_nor_repeats(
    there: Installation, slack: Workspace, kind: str, when: str
) -> None:
    method = "files.completeUploadExternal" if kind == "picture" else "chat.postMessage"
    _put(there, kind)
    fault = slack.fault("hold", method, when=when)
    process = there.start("run", **_tokens(slack))
    fault.wait_until_holding(timeout=30.0)

    process.kill()
    fault.release("drop")
    slack.clear_faults()
    there.start("run", **_tokens(slack))

    wait_until(lambda: _is_sent(there), "the message is marked as sent", timeout=30.0)
    (message,) = slack.messages("C_VISION")
    assert message.author == slack.bot_id
    assert len(message.files) == (kind == "picture")


def _put(there: Installation, kind: str) -> None:
    post = Post(channel="C_VISION", text="" if kind == "picture" else "once")
    with there.database.transaction() as session:
        if kind == "announcement":
            posts.announce(session, "once", post, there.clock())
        elif kind == "card":
            posts.show_card(session, "once", post, there.clock())
        else:
            shown = posts.Picture(document=_chart(), title="A picture", alt="What it shows.")
            posts.picture(session, "once", post, shown, there.clock())


def _chart() -> dict[str, Any]:
    return {
        "name": "dev", "instead": "Team", "shown": "GPUs in use", "subtitle": "", "zone": "UTC",
        "start": "2026-12-01T00:00:00+00:00", "step": 3600.0, "lines": [], "waiting": [None, None],
        "series": [{"name": "dev", "note": "", "values": [1.0, 2.0]}],
    }  # fmt: skip


def _is_sent(there: Installation) -> bool:
    with there.database.reading() as session:
        found = outbox.find(session, "once") or outbox.find(session, "card:once")
    return found is not None and found.sent_at is not None
