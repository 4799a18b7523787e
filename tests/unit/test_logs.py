"""The log: constant sentences with fields, a line each, in text and as JSON, without secrets."""

import json
import logging
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import wait
from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.logs import AsJson, AsText, log_to_stderr, redacting, secrets_of
from bot.settings import load_settings
from controller import references
from controller.references import CarryingThreads

SECRET = "s3cret/0123 456=\"789'é"


def record(sentence: str, *arguments: object, **fields: Any) -> logging.LogRecord:
    made = logging.getLogger("bot.x").makeRecord(
        "bot.x", logging.INFO, __file__, 1, sentence, arguments, None, extra=fields
    )
    made.created = 1_700_000_000.25
    return made


def failed(message: str) -> logging.LogRecord:
    """A record with the traceback of an error, and of one that caused it."""
    made = record("it failed")
    try:
        _raise(message)
    except RuntimeError as error:
        made.exc_info = (RuntimeError, error, error.__traceback__)
    return made


def _raise(message: str) -> None:
    try:
        int(message + "x")
    except ValueError as error:
        raise RuntimeError(f"because of {message}") from error


def text(made: logging.LogRecord, secret: str = "") -> str:
    return AsText(redacting([secret] if secret else [])).format(made)


def document(made: logging.LogRecord, secret: str = "") -> dict[str, Any]:
    line = AsJson(redacting([secret] if secret else [])).format(made)
    assert len(line.splitlines()) == 1
    found: dict[str, Any] = json.loads(line)
    return found


def test_a_sentence_has_its_fields_behind_it() -> None:
    made = record("a message waits", key="card:7", error=ValueError("not now"), tries=3)

    assert text(made) == (
        '2023-11-14T22:13:20.250Z INFO bot.x a message waits: key=card:7 error="not now" tries=3'
    )
    assert document(made) == {
        "time": "2023-11-14T22:13:20.250Z",
        "level": "INFO",
        "logger": "bot.x",
        "message": "a message waits",
        "key": "card:7",
        "error": "not now",
        "tries": 3,
    }


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("", '""'),
        ("a b", '"a b"'),
        ("a=b", '"a=b"'),
        ('say "x"', r'"say \"x\""'),
        ("one\ntwo", r'"one\\ntwo"'),
        ("\x1b[2J", r'"\\x1b[2J"'),
        ("safe\u202egnp.exe", r'"safe\\u202egnp.exe"'),
        ("Größe", "Größe"),
        (None, "None"),
    ],
)
def test_a_value_is_shown_so_that_it_cannot_be_taken_for_more(value: object, shown: str) -> None:
    assert text(record("x", value=value)).endswith(f" x: value={shown}")


@given(st.text(), st.text(), st.text())
def test_whatever_is_logged_no_line_of_it_looks_like_another_record(
    said: str, value: str, raised: str
) -> None:
    made = failed(raised)
    made.msg, made.args, made.value = "library says %s", (said,), value

    first, *below = text(made).split("\n")

    assert first.startswith("2023-11-14T22:13:20.250Z INFO bot.x library says ")
    assert all(line.startswith("    ") for line in below)
    assert all(line.isprintable() for line in (first, *below))
    assert document(made)["value"] == value


def test_a_reference_is_carried_into_the_threads_that_work_for_it() -> None:
    threads = CarryingThreads(2)

    def both() -> tuple[str, str]:
        here = references.current()
        return here, threads.submit(references.current).result(5)

    def under(reference: str) -> tuple[str, str]:
        with references.under(reference):
            return both()

    with CarryingThreads(4) as others:
        found = [others.submit(under, str(number)) for number in range(50)]
        wait(found, 10)
    threads.shutdown()

    assert [one.result() for one in found] == [(str(n), str(n)) for n in range(50)]
    assert references.current() == ""


def test_what_is_logged_under_a_reference_says_it() -> None:
    with references.under("ab12"):
        assert text(record("x")).endswith("x: reference=ab12")
        assert document(record("x"))["reference"] == "ab12"
        assert document(record("x", reference="its own"))["reference"] == "its own"
    assert "reference" not in document(record("x"))


def test_a_secret_is_in_no_line_whatever_brings_it() -> None:
    brought = [
        record(f"said {SECRET}"),
        record("said %s", SECRET),
        record("x", value=SECRET, other=ValueError(SECRET), more=[SECRET]),
        failed(SECRET),
        failed(f"https://x/?token={quote(SECRET, safe='')}"),
    ]

    for made in brought:
        for line in (text(made, SECRET), json.dumps(document(made, SECRET))):
            assert "***" in line
            assert "0123" not in line


def test_all_secrets_among_the_settings_are_known() -> None:
    settings = load_settings(
        {
            "CLEARML_API_HOST": "https://me:host-password@api.x.org",
            "CLEARML_API_ACCESS_KEY": "key",
            "CLEARML_API_SECRET_KEY": "clearml-secret",
            "SLACK_BOT_TOKEN": "xoxb-1",
            "SLACK_APP_TOKEN": "xapp-1",
            "SLACK_SIGNING_SECRET": "signing",
            "POOLKEEPER_DATABASE": "postgresql://me:p%40ss@db/x?sslpassword=key-password",
        }
    )

    given_away = secrets_of(settings)

    clean = redacting(given_away)
    for secret in (
        "host-password",
        "clearml-secret",
        "xoxb-1",
        "xapp-1",
        "signing",
        "p%40ss",
        "p@ss",
    ):
        assert clean(f"<{secret}>") == "<***>"
    assert clean("Basic a2V5OmNsZWFybWwtc2VjcmV0") == "Basic ***"
    assert clean("sslpassword=key-password&") == "sslpassword=***&"
    assert clean("nothing of that") == "nothing of that"


def test_where_the_database_is_may_be_said() -> None:
    secrets = secrets_of(load_settings({"POOLKEEPER_DATABASE": "sqlite:////var/lib/x.sqlite3"}))

    assert redacting(secrets)("sqlite:////var/lib/x.sqlite3") == "sqlite:////var/lib/x.sqlite3"


def test_an_error_that_nobody_caught_is_a_record_like_any_other(
    capsys: pytest.CaptureFixture[str], restored: Callable[[], None]
) -> None:
    settings = load_settings({"SLACK_BOT_TOKEN": "xoxb-0123", "POOLKEEPER_LOG_FORMAT": "json"})
    log_to_stderr(settings)

    def fails() -> None:
        raise ValueError("it is xoxb-0123")

    thread = threading.Thread(target=fails, name="worker-1")
    thread.start()
    thread.join(5)
    logging.getLogger("other").warning("%d", "no number but xoxb-0123")
    restored()

    first, second = capsys.readouterr().err.splitlines()
    said = json.loads(first)
    assert (said["message"], said["thread_name"]) == ("an error ended a thread", "worker-1")
    assert "ValueError: it is ***" in said["traceback"]
    assert second == "a record of other could not be written"


@pytest.fixture
def restored() -> Iterator[Callable[[], None]]:
    """Puts back what belongs to the whole process."""
    root = logging.getLogger()
    hooks = (sys.excepthook, threading.excepthook, sys.unraisablehook)
    handlers, level = list(root.handlers), root.level
    levels = {name: logging.getLogger(name).level for name in ("bot", "controller", "storage")}

    def restore() -> None:
        sys.excepthook, threading.excepthook, sys.unraisablehook = hooks
        root.handlers[:] = handlers
        root.setLevel(level)
        logging.captureWarnings(False)
        for name, before in levels.items():
            logging.getLogger(name).setLevel(before)

    yield restore
    restore()
