"""The outbox, the audit log and the published views."""

import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone

import pytest

from domain.ledger import AuditRecord
from storage import audit, outbox, switch, views
from storage.database import Session
from storage.outbox import Message
from storage.switch import SwitchState
from tests.conftest import Opener

NOW = datetime(2026, 12, 1, 10, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
HELLO = Message(key="hello", channel="C1", payload={"text": "hi", "blocks": []}, not_before=NOW)
RECORD = AuditRecord(
    at=NOW, actor="U1", action="save", subject="draft", detail="100% of Größe_1", reference="r-1"
)


@pytest.fixture
def session(open_: Opener) -> Iterator[Session]:
    with open_().transaction() as session:
        yield session


def test_a_key_is_put_in_once_even_after_it_was_sent(session: Session) -> None:
    assert outbox.put(session, HELLO)
    assert not outbox.put(session, replace(HELLO, payload={"text": "again"}))
    outbox.mark_sent(session, HELLO, NOW)

    assert not outbox.put(session, HELLO)
    assert outbox.due(session, NOW, 10) == ()


def test_messages_are_due_in_the_order_they_were_put_in_and_not_before_their_time(
    session: Session,
) -> None:
    later = replace(HELLO, key="later", not_before=NOW + MINUTE)
    second = replace(HELLO, key="a", not_before=NOW - MINUTE)
    for message in (HELLO, later, second):
        outbox.put(session, message)

    assert outbox.due(session, NOW, 10) == (HELLO, second)
    assert outbox.due(session, NOW, 1) == (HELLO,)
    assert outbox.due(session, NOW + MINUTE, 10) == (HELLO, later, second)


def test_what_sending_gave_is_kept(session: Session) -> None:
    outbox.put(session, HELLO)

    assert outbox.mark_sent(session, HELLO, NOW + MINUTE, {"ts": "1.2"})

    sent = replace(HELLO, attempts=1, sent_at=NOW + MINUTE, result={"ts": "1.2"})
    assert outbox.find(session, "hello") == sent
    assert outbox.find(session, "other") is None


def test_a_postponed_message_counts_its_attempts(session: Session) -> None:
    outbox.put(session, HELLO)

    assert outbox.postpone(session, HELLO, NOW + MINUTE)

    assert outbox.due(session, NOW, 10) == ()
    assert outbox.due(session, NOW + MINUTE, 10) == (
        replace(HELLO, attempts=1, not_before=NOW + MINUTE),
    )


def test_a_later_edit_takes_the_place_of_an_earlier_one(session: Session) -> None:
    outbox.supersede(session, HELLO)
    newer = replace(HELLO, payload={"text": "newer"})

    outbox.supersede(session, newer)

    assert outbox.due(session, NOW, 10) == (replace(newer, edition=2),)


def test_an_edit_that_was_superseded_while_it_was_being_sent_does_not_swallow_the_newer(
    session: Session,
) -> None:
    outbox.put(session, HELLO)
    (going_out,) = outbox.due(session, NOW, 10)
    newer = replace(HELLO, payload={"text": "newer"})
    outbox.supersede(session, newer)

    assert not outbox.mark_sent(session, going_out, NOW)
    assert not outbox.postpone(session, going_out, NOW + MINUTE)

    assert outbox.due(session, NOW, 10) == (replace(newer, edition=2),)


def test_an_edit_after_the_message_was_sent_is_sent_again(session: Session) -> None:
    outbox.put(session, HELLO)
    outbox.mark_sent(session, HELLO, NOW, {"ts": "1.2"})

    outbox.supersede(session, replace(HELLO, payload={"text": "newer"}))

    (due,) = outbox.due(session, NOW, 10)
    assert (due.payload, due.attempts, due.result) == ({"text": "newer"}, 0, {"ts": "1.2"})


def test_sent_messages_are_pruned_and_unsent_ones_kept(session: Session) -> None:
    for key in ("old", "new", "unsent"):
        outbox.put(session, replace(HELLO, key=key))
    outbox.mark_sent(session, replace(HELLO, key="old"), NOW)
    outbox.mark_sent(session, replace(HELLO, key="new"), NOW + MINUTE)

    assert outbox.prune(session, NOW + MINUTE) == 1

    assert outbox.find(session, "old") is None
    assert outbox.find(session, "new") is not None
    assert outbox.find(session, "unsent") is not None


def test_of_what_was_sent_the_key_outlives_the_text(session: Session) -> None:
    for key in ("old", "new", "unsent"):
        outbox.put(session, replace(HELLO, key=key))
    outbox.mark_sent(session, replace(HELLO, key="old"), NOW, {"ts": "1.2"})
    outbox.mark_sent(session, replace(HELLO, key="new"), NOW + MINUTE)

    assert outbox.empty(session, NOW + MINUTE) == 1
    assert outbox.empty(session, NOW + MINUTE) == 0

    old = outbox.find(session, "old")
    assert old is not None
    assert (old.payload, old.result) == ({}, {"ts": "1.2"})
    assert not outbox.put(session, replace(HELLO, key="old"))
    assert [one.payload for one in outbox.due(session, NOW, 9)] == [HELLO.payload]
    new = outbox.find(session, "new")
    assert new is not None
    assert new.payload == HELLO.payload


def test_the_newest_records_come_first(session: Session) -> None:
    times = [NOW, NOW + MINUTE, NOW + MINUTE, NOW - MINUTE]
    written = [replace(RECORD, at=at, reference=str(n)) for n, at in enumerate(times)]
    for one in written:
        audit.record(session, one)

    assert [one.reference for one in audit.records(session, 10)] == ["2", "1", "0", "3"]
    assert audit.records(session, 1) == (written[2],)
    assert [one.reference for one in audit.records(session, 10, before=NOW)] == ["3"]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("GRÖSSE_1", True),
        ("größe", True),
        ("100%", True),
        ("r-1", True),
        ("U1", True),
        ("save", True),
        ("draft", True),
        ("1_0", False),
        ("%Größe", False),
        ("U1 save", False),
        ("/", False),
    ],
)
def test_records_are_found_by_any_of_their_words_as_they_stand(
    session: Session, text: str, found: bool
) -> None:
    audit.record(session, RECORD)

    assert audit.records(session, 10, text) == ((RECORD,) if found else ())


def test_management_is_on_until_somebody_turns_it(session: Session) -> None:
    assert switch.switch_state(session) == SwitchState(enabled=True)
    zone = timezone(timedelta(hours=8))

    switch.set_enabled(session, False, "U1", NOW.astimezone(zone))

    assert switch.switch_state(session) == SwitchState(enabled=False, by="U1", at=NOW)
    assert not switch.is_enabled(session)

    switch.set_enabled(session, True, "U2", NOW + MINUTE)

    assert switch.switch_state(session) == SwitchState(enabled=True, by="U2", at=NOW + MINUTE)


def test_the_last_published_document_of_a_key_is_shown(session: Session) -> None:
    assert views.published(session, "plan") is None
    document = json.dumps({"name": "汉字 \ud800"}, ensure_ascii=False)

    views.publish(session, "plan", "{}", NOW)
    views.publish(session, "plan", document, NOW + MINUTE)
    views.publish(session, "snapshot", "[]", NOW)

    assert views.published(session, "plan") == (document, NOW + MINUTE)
    assert views.published(session, "snapshot") == ("[]", NOW)
