"""What the door does when the wire to ClearML fails, or ends at something else than ClearML."""

import base64
import json
import logging
import os
import subprocess
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from socket import socket
from threading import Thread
from typing import ClassVar

import pytest

from controller.clearml_queues import ClearMLQueues
from controller.ports import (
    Admission,
    ClearMLError,
    OutcomeUnknown,
    Refused,
    Status,
    Unavailable,
    Unsuitable,
)
from tests.contract.clearml_places import door_to
from tests.sandbox_support import ROOT, Sandbox

Use = Callable[[ClearMLQueues, str, str], object]
SECRET = "not-the-secret-0123456789"

READS: dict[str, tuple[str, Use]] = {
    "queues": ("queues.get_all", lambda door, _queue, _task: door.queues()),
    "queue": ("queues.get_by_id", lambda door, queue, _task: door.queue(queue)),
    "task_states": ("tasks.get_all", lambda door, _queue, task: door.task_states([task])),
    "exists": ("tasks.get_by_id", lambda door, _queue, task: door.exists(task)),
    "tasks_in": (
        "tasks.get_all",
        lambda door, queue, _task: door.tasks_in([queue], [Status.QUEUED]),
    ),
    "parameters": (
        "tasks.get_all",
        lambda door, _queue, task: door.parameters([task], "runtime.x"),
    ),
    "details": ("tasks.get_all", lambda door, _queue, task: door.details([task])),
    "watched": ("workers.get_all", lambda door, queue, _task: door.watched([queue])),
}
WRITES: dict[str, tuple[str, Use]] = {
    "claim": ("queues.remove_task", lambda door, queue, task: door.claim(queue, task)),
    "point": ("tasks.edit", lambda door, queue, task: door.point(task, queue)),
    "admit": ("tasks.enqueue", lambda door, queue, task: door.admit(task, queue, "why")),
    "to_front": ("queues.move_task_to_front", lambda door, queue, task: door.to_front(queue, task)),
    "draft": ("tasks.dequeue", lambda door, _queue, task: door.draft(task, "why")),
    "enqueue": ("tasks.enqueue", lambda door, queue, task: door.enqueue(task, queue, "why")),
    "create_queue": (
        "queues.create",
        lambda door, _queue, _task: door.create_queue("a new one", {}, hidden=True),
    ),
    "rename_queue": ("queues.update", lambda door, queue, _task: door.rename_queue(queue, "other")),
    "mark_queue": (
        "queues.add_or_update_metadata",
        lambda door, queue, _task: door.mark_queue(queue, {"mark": "1"}),
    ),
    "delete_queue": ("queues.delete", lambda door, queue, _task: door.delete_queue(queue)),
    "watch": ("workers.register", lambda door, queue, _task: door.watch("me", [queue])),
}


def door_of(sandbox: Sandbox) -> ClearMLQueues:
    return door_to(sandbox.url, sandbox.access_key, sandbox.secret_key)


@pytest.fixture
def door(clearml: Sandbox) -> ClearMLQueues:
    """A door that is logged in."""
    door = door_of(clearml)
    door.server_version()
    return door


@pytest.fixture
def queue(clearml: Sandbox) -> str:
    return clearml.create_queue("intake")


@pytest.fixture
def task(clearml: Sandbox, queue: str) -> str:
    return clearml.queued_task(queue)


def sent(clearml: Sandbox, call: str, since: int) -> int:
    return len(clearml.calls(call, since=since))


@pytest.mark.parametrize("action", ["refuse", "drop_response", "error_before", "error_after"])
@pytest.mark.parametrize("read", READS)
def test_a_read_that_fails_once_is_repeated(
    clearml: Sandbox, door: ClearMLQueues, queue: str, task: str, read: str, action: str
) -> None:
    call, use = READS[read]
    expected = use(door, queue, task)
    before = clearml.last_call()
    clearml.fault(action, call)

    assert use(door, queue, task) == expected

    assert sent(clearml, call, before) == 2


@pytest.mark.parametrize("action", ["refuse", "error_after"])
@pytest.mark.parametrize("read", READS)
def test_a_read_that_goes_on_failing_is_given_up_after_three_attempts(
    clearml: Sandbox, door: ClearMLQueues, queue: str, task: str, read: str, action: str
) -> None:
    call, use = READS[read]
    clearml.fault(action, call, nth=0)
    before = clearml.last_call()

    with pytest.raises(Unavailable) as caught:
        use(door, queue, task)

    assert not isinstance(caught.value, OutcomeUnknown)
    assert sent(clearml, call, before) == 3


@pytest.mark.parametrize("action", ["refuse", "drop_response", "error_before", "error_after"])
@pytest.mark.parametrize("write", WRITES)
def test_a_write_without_an_answer_is_in_doubt_and_is_not_sent_again(
    clearml: Sandbox, door: ClearMLQueues, queue: str, task: str, write: str, action: str
) -> None:
    call, use = WRITES[write]
    clearml.fault(action, call, nth=0)
    before = clearml.last_call()

    with pytest.raises(OutcomeUnknown):
        use(door, queue, task)

    assert sent(clearml, call, before) == 1


def test_a_write_that_could_not_be_sent_for_want_of_a_login_is_not_in_doubt(
    clearml: Sandbox, queue: str, task: str
) -> None:
    clearml.outage("503")

    with pytest.raises(Unavailable) as caught:
        door_of(clearml).claim(queue, task)

    assert not isinstance(caught.value, OutcomeUnknown)
    assert sent(clearml, "queues.remove_task", 0) == 0


@pytest.mark.parametrize("mode", ["503", "refuse"])
def test_an_outage_is_said_at_once_and_over_when_it_is_over(
    clearml: Sandbox, door: ClearMLQueues, queue: str, mode: str
) -> None:
    clearml.outage(mode)
    start = time.monotonic()
    for use in (door.queues, lambda: door.mark_queue(queue, {"mark": "1"})):
        with pytest.raises(Unavailable):
            use()
    with pytest.raises(Unavailable):
        door_of(clearml).queues()
    assert time.monotonic() - start < 5

    clearml.outage("")

    assert door.queues()


def test_nobody_listening_is_said_at_once() -> None:
    with socket() as free:
        free.bind(("127.0.0.1", 0))
        door = door_to(f"http://127.0.0.1:{free.getsockname()[1]}", "key", SECRET)
        start = time.monotonic()

        with pytest.raises(Unavailable):
            door.queues()

        assert time.monotonic() - start < 5


@pytest.mark.parametrize("use", [*READS.values(), *WRITES.values()], ids=[*READS, *WRITES])
def test_a_token_that_has_expired_is_renewed_once_and_the_call_goes_through(
    clearml: Sandbox, door: ClearMLQueues, queue: str, task: str, use: tuple[str, Use]
) -> None:
    clearml.expire_tokens()
    before = clearml.last_call()

    if use[0] == "queues.delete":
        assert not door.delete_queue(queue)  # it holds a task
    else:
        use[1](door, queue, task)

    assert sent(clearml, "auth.login", before) == 1
    codes = [answer["code"] for answer in clearml.calls(since=before)]
    assert codes.count(401) == 1


def test_a_server_that_takes_no_token_is_asked_twice_and_not_for_ever(
    clearml: Sandbox, door: ClearMLQueues, queue: str, task: str
) -> None:
    clearml.fault("answer", "queues.remove_task", nth=0, answer={"code": 401, "subcode": 30})
    before = clearml.last_call()

    with pytest.raises(Unsuitable):
        door.claim(queue, task)

    assert sent(clearml, "queues.remove_task", before) == 2


def test_keys_that_are_revoked_meanwhile_are_said(clearml: Sandbox, door: ClearMLQueues) -> None:
    clearml.expire_tokens()
    clearml.fault("answer", "auth.login", nth=0, answer={"code": 401, "subcode": 22})

    with pytest.raises(Unsuitable, match="CLEARML_API_ACCESS_KEY"):
        door.queues()


def test_what_is_refused_for_another_reason_says_call_and_code(
    clearml: Sandbox, door: ClearMLQueues, queue: str, task: str
) -> None:
    answer = {"code": 400, "subcode": 705, "message": "somebody was faster"}
    clearml.fault("answer", "queues.move_task_to_front", answer=answer)

    with pytest.raises(Refused, match=r"move_task_to_front with 400/705: somebody") as caught:
        door.to_front(queue, task)

    assert (caught.value.code, caught.value.subcode) == (400, 705)


class Answering(BaseHTTPRequestHandler):
    """An HTTP server that is no ClearML, or stands before one; `script` answers each request."""

    script: ClassVar[Callable[["Answering", bytes], None]]
    paths: ClassVar[list[str]]

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.paths.append(self.path)
        self.script(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  the base's name
        """Nothing on standard error."""

    def answer(self, status: int, text: str, **headers: str) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(text.encode())))
        self.end_headers()
        self.wfile.write(text.encode())


@contextmanager
def server(script: Callable[[Answering, bytes], None]) -> Iterator[tuple[str, list[str]]]:
    """Its address, and the paths that it was asked for so far."""
    paths: list[str] = []
    handler = type("Handler", (Answering,), {"script": script, "paths": paths})
    serving = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = Thread(target=serving.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{serving.server_address[1]}", paths
    finally:
        serving.shutdown()
        serving.server_close()
        thread.join()


def no_token(at: Answering, _body: bytes) -> None:
    at.answer(200, json.dumps({"meta": {"result_code": 200}, "data": {}}))


def odd_token(at: Answering, _body: bytes) -> None:
    at.answer(200, json.dumps({"meta": {"result_code": 200}, "data": {"token": "odd"}}))


@pytest.mark.parametrize(
    "script",
    [
        lambda at, _body: at.answer(200, "<html>ClearML's web server, perhaps</html>"),
        lambda at, _body: at.answer(404, "not found"),
        lambda at, _body: at.answer(405, ""),
        lambda at, _body: at.answer(200, "[]"),
        lambda at, _body: at.answer(200, '{"meta": null}'),
        no_token,
        odd_token,
    ],
    ids=["page", "not found", "not allowed", "a list", "no meta", "no token", "odd token"],
)
def test_what_is_no_clearml_api_server_is_said_in_a_sentence(
    script: Callable[[Answering, bytes], None],
) -> None:
    with (
        server(script) as (host, paths),
        pytest.raises(Unsuitable, match=r"is no ClearML API server; check that CLEARML_API_HOST"),
    ):
        door_to(host, "key", SECRET).queues()

    assert paths == ["/auth.login"]


def token(seconds: float, **more: str) -> str:
    """One that is valid for so long; nobody here checks its signature."""
    versions = {"server_version": "2.3.0", "api_version": "2.34"}
    claims = {"exp": time.time() + seconds, **versions, **more}
    parts: tuple[dict[str, object], ...] = ({"alg": "HS256", "typ": "JWT"}, claims, {})
    return ".".join(
        base64.urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=") for part in parts
    )


def test_a_write_waits_for_the_renewal_of_a_token_that_is_about_to_expire() -> None:
    """The renewal fails here; the write was not sent, so it is not in doubt."""
    available = True

    def script(at: Answering, _body: bytes) -> None:
        if available:
            login = {"meta": {"result_code": 200}, "data": {"token": token(seconds=30)}}
            at.answer(200, json.dumps(login))
        else:
            at.answer(503, "")

    with server(script) as (host, paths):
        door = door_to(host, "key", SECRET)
        assert door.server_version() == "2.3.0"
        available = False
        with pytest.raises(Unavailable) as caught:
            door.claim("a queue", "a task")

    assert not isinstance(caught.value, OutcomeUnknown)
    assert set(paths) == {"/auth.login"}


def test_a_server_that_keeps_settings_for_scripts_is_not_asked_for_them() -> None:
    login = {"token": token(seconds=9_999, feature_set="enterprise")}
    answer = json.dumps({"meta": {"result_code": 200}, "data": login})

    with server(lambda at, _body: at.answer(200, answer)) as (host, paths):
        door_to(host, "key", SECRET).server_version()

    assert paths == ["/auth.login"]


@pytest.mark.parametrize("status", [429, 500, 502, 503, 504])
def test_a_gateway_without_its_server_is_waited_for(status: int) -> None:
    with (
        server(lambda at, _body: at.answer(status, "<html>later</html>")) as (host, paths),
        pytest.raises(Unavailable),
    ):
        door_to(host, "key", SECRET).queues()

    assert paths == ["/auth.login"] * 3


def test_a_redirect_is_not_followed_but_said(clearml: Sandbox) -> None:
    target = f"{clearml.url}/login?token=abc"
    before = clearml.last_call()

    with (
        server(lambda at, _body: at.answer(301, "", Location=target)) as (host, _),
        pytest.raises(Unsuitable, match="redirects to") as caught,
    ):
        door_to(host, "key", SECRET).queues()

    assert clearml.url in str(caught.value)
    assert "abc" not in str(caught.value)
    assert clearml.last_call() == before


def cut(clearml: Sandbox, call: str, *, chunked: bool) -> Callable[[Answering, bytes], None]:
    """A gateway that passes everything on, and breaks off in the middle of that call's answer."""

    def script(at: Answering, body: bytes) -> None:
        headers = {"Authorization": at.headers["Authorization"]}
        status, answer = clearml.wire.exchange("POST", at.path, body, headers)
        text = json.dumps(answer)
        if not at.path.endswith(call):
            at.answer(status, text)
            return
        at.send_response(status)
        if chunked:
            at.send_header("Transfer-Encoding", "chunked")
            at.end_headers()
            at.wfile.write(f"{len(text):x}\r\n{text[:20]}".encode())
        else:
            at.send_header("Content-Length", str(len(text)))
            at.end_headers()
            at.wfile.write(text[:20].encode())
        at.close_connection = True

    return script


@pytest.mark.parametrize("chunked", [True, False], ids=["chunked", "by length"])
@pytest.mark.parametrize("write", WRITES)
def test_an_answer_that_breaks_off_leaves_a_write_in_doubt_and_is_not_resent(
    clearml: Sandbox, queue: str, task: str, write: str, chunked: bool
) -> None:
    call, use = WRITES[write]

    with server(cut(clearml, call, chunked=chunked)) as (host, paths):
        door = door_to(host, clearml.access_key, clearml.secret_key)
        with pytest.raises(OutcomeUnknown):
            use(door, queue, task)

    assert [path for path in paths if path.endswith(call)] == [f"/v2.31/{call}"]
    assert sent(clearml, call, 0) >= 1


def test_an_answer_that_breaks_off_is_read_again(clearml: Sandbox) -> None:
    with (
        server(cut(clearml, "queues.get_all", chunked=True)) as (host, paths),
        pytest.raises(Unavailable),
    ):
        door_to(host, clearml.access_key, clearml.secret_key).queues()

    assert paths == ["/auth.login", *["/v2.31/queues.get_all"] * 3]


@pytest.mark.parametrize("version", ["1.16.0", "1.16.2-504", "1.9", "0.17.0"])
def test_an_old_server_is_refused_with_what_to_do(clearml: Sandbox, version: str) -> None:
    clearml.reset(server_version=version, api_version="2.30")

    with pytest.raises(Unsuitable, match=f"{version} is too old: 1.17 is the first"):
        door_of(clearml).queues()


@pytest.mark.parametrize("version", ["1.17.0", "1.17.1-554", "2.0", "2.3.0", "10.1"])
def test_a_server_that_knows_the_admit_is_accepted(clearml: Sandbox, version: str) -> None:
    clearml.reset(server_version=version)

    assert door_of(clearml).server_version() == version


def test_two_servers_in_one_process_are_told_apart(clearml: Sandbox) -> None:
    new = door_of(clearml)
    new.server_version()
    with Sandbox("--server-version", "1.18.0") as other:
        second = door_of(other)

        assert second.server_version() == "1.18.0"
        assert new.server_version() == "2.3.0"


@pytest.mark.parametrize(
    ("host", "access_key", "secret", "named"),
    [
        ("", "key", SECRET, "CLEARML_API_HOST"),
        ("http://127.0.0.1:1", "", SECRET, "CLEARML_API_ACCESS_KEY"),
        ("http://127.0.0.1:1", "key", " ", "CLEARML_API_SECRET_KEY"),
        ("", "", "", "CLEARML_API_HOST and CLEARML_API_ACCESS_KEY and CLEARML_API_SECRET_KEY"),
        ("api.clearml.example.org", "key", SECRET, "CLEARML_API_HOST"),
        ("http://", "key", SECRET, "CLEARML_API_HOST"),
        ("ftp://127.0.0.1", "key", SECRET, "CLEARML_API_HOST"),
        ("http://[::1", "key", SECRET, "CLEARML_API_HOST"),
    ],
)
def test_what_is_not_set_or_no_address_is_named(
    host: str, access_key: str, secret: str, named: str
) -> None:
    with pytest.raises(Unsuitable, match=named):
        door_to(host, access_key, secret).queues()


@pytest.mark.parametrize("secret", [SECRET, "sécret-0123456789", "密钥-0123456789"])
def test_wrong_keys_are_said_without_the_secret(
    clearml: Sandbox,
    secret: str,
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
) -> None:
    door = door_to(clearml.url, clearml.access_key, secret)

    with (
        caplog.at_level(logging.DEBUG),
        pytest.raises(
            Unsuitable, match=r"did not let Poolkeeper in .* check CLEARML_API_ACCESS_KEY"
        ) as caught,
    ):
        door.queues()

    trace = "".join(traceback.TracebackException.from_exception(caught.value).format())
    output = capfd.readouterr()
    said = [trace, repr(caught.value), repr(door), caplog.text, output.out, output.err]
    assert not [text for text in said if secret in text or secret[:6] in text]


def test_the_right_secret_is_in_no_text_about_the_door(clearml: Sandbox) -> None:
    door = door_of(clearml)
    door.queues()
    clearml.outage("refuse")

    with pytest.raises(ClearMLError) as caught:
        door.queues()

    stack = traceback.TracebackException.from_exception(caught.value, capture_locals=True)
    assert clearml.secret_key not in "".join(stack.format())
    assert clearml.secret_key[:8] not in "".join(stack.format())


LIST_QUEUES = """
import sys
from pydantic import SecretStr
from controller.clearml_queues import ClearMLQueues
from controller.clearml_session import ClearMLSession, Credentials
host, key, secret = sys.stdin.read().split()
credentials = Credentials(host=host, access_key=key, secret_key=SecretStr(secret))
door = ClearMLQueues(ClearMLSession(credentials, lambda _: None))
print([queue.name for queue in door.queues()], door.server_version())
"""

CLEARML_CONF = """
api {
    api_server: http://127.0.0.1:9
    credentials { "access_key" = "somebody", "secret_key" = "else" }
    http { default_method: get }
    verbose: true
}
sdk.apply_environment: true
environment { POOLKEEPER: no }
"""

ENVIRONMENTS: dict[str, dict[str, str]] = {
    "files in the home": {},
    "variables of the SDK": {
        "CLEARML_API_HOST": "http://127.0.0.1:9",
        "CLEARML_API_ACCESS_KEY": "somebody",
        "CLEARML_API_SECRET_KEY": "else",
        "CLEARML_AUTH_TOKEN": "a.b.c",
        "CLEARML_OFFLINE_MODE": "1",
        "CLEARML_API_DEFAULT_REQ_METHOD": "GET",
        "CLEARML_API_VERBOSE": "DEBUG",
    },
}


@pytest.mark.parametrize("environment", ENVIRONMENTS)
def test_neither_files_in_the_home_nor_variables_of_the_sdk_matter(
    clearml: Sandbox, tmp_path: Path, environment: str
) -> None:
    (tmp_path / ".netrc").write_text("default login somebody password else\n")
    (tmp_path / ".netrc").chmod(0o600)
    (tmp_path / "clearml.conf").write_text(CLEARML_CONF)
    env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "PYTHONPATH": str(ROOT)}

    done = subprocess.run(
        [sys.executable, "-c", LIST_QUEUES],
        input=f"{clearml.url} {clearml.access_key} {clearml.secret_key}",
        env={**env, **ENVIRONMENTS[environment]},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
    )

    assert done.stdout == "['default'] 2.3.0\n", done.stderr
    assert clearml.secret_key not in done.stderr


def test_a_claim_that_loses_inside_the_server_is_lost(
    clearml: Sandbox, door: ClearMLQueues, queue: str, task: str
) -> None:
    agent = {"call": "queues.get_next_task", "body": {"queue": "$queue"}}
    clearml.fault("do", "queues.remove_task", when="before_entry", steps=[agent])

    assert not door.claim(queue, task)

    [call] = clearml.calls("queues.remove_task")
    assert call["code"] == 200  # the server says {"removed": 0}


def test_a_task_that_ends_just_before_it_is_made_a_draft_is_none(
    clearml: Sandbox, door: ClearMLQueues, queue: str, task: str
) -> None:
    door.claim(queue, task)
    ends = [
        {"call": f"tasks.{call}", "body": {"task": "$task", "force": True}}
        for call in ("started", "completed")
    ]
    clearml.fault("do", "tasks.dequeue", steps=ends)

    assert not door.draft(task, "why")

    assert clearml.status(task) == "completed"


@pytest.mark.parametrize(
    ("subcode", "answer"),
    [
        (12, Admission.NOT_QUEUED),
        (110, Admission.NOT_QUEUED),
        (121, Admission.NOT_QUEUED),
        (701, Admission.QUEUE_GONE),
        (706, Admission.ALREADY_THERE),
        (101, Admission.TASK_GONE),
    ],
)
def test_every_refusal_that_an_admit_may_meet_is_an_answer(
    clearml: Sandbox,
    door: ClearMLQueues,
    queue: str,
    task: str,
    subcode: int,
    answer: Admission,
) -> None:
    clearml.fault("answer", "tasks.enqueue", answer={"code": 400, "subcode": subcode})

    assert door.admit(task, queue, "why") is answer


def test_admission_is_asked_with_the_flag_that_makes_the_server_refuse(
    clearml: Sandbox, door: ClearMLQueues, queue: str, task: str
) -> None:
    target = clearml.create_queue("target")
    door.claim(queue, task)

    assert door.admit(task, target, "allocated by policy manager: x") is Admission.ADMITTED

    [call] = clearml.calls("tasks.enqueue")[-1:]
    assert call["body"]["update_execution_queue"] is False
