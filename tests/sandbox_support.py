"""The sandbox for tests: a process of its own, used over the wire like the real thing."""

import base64
import contextlib
import http.client
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, Self, TypeVar
from urllib.parse import urlsplit

Doc = dict[str, Any]
Found = TypeVar("Found")

ROOT = Path(__file__).parent.parent
ADMIN_ACCESS_KEY = "SANDBOXADMINKEY"
ADMIN_SECRET_KEY = "sandbox-admin-secret"
NO_SUCH_ID = "0" * 32
PATIENCE = 20.0
"""Longer than anything takes on a busy machine, in s; what comes sooner is not waited for."""


def wait_until(condition: Callable[[], Found], what: str, timeout: float = PATIENCE) -> Found:
    """Polls until the condition is true, and gives what it gave; fails at the deadline."""
    deadline = time.monotonic() + timeout
    while not (found := condition()):
        if time.monotonic() > deadline:
            raise AssertionError(f"not within {timeout} s: {what}")
        time.sleep(0.02)
    return found


class Answer(NamedTuple):
    """What the server said; `code` is also the HTTP status."""

    code: int
    subcode: int
    data: Doc
    message: str = ""


class Wire:
    """JSON over one kept-alive connection per thread. A cut connection raises ConnectionError."""

    def __init__(self, url: str) -> None:
        self.url = url
        self._host = urlsplit(url).netloc
        self._local = threading.local()

    def send(
        self, path: str, body: object, headers: dict[str, str] | None = None
    ) -> tuple[int, Doc]:
        """POSTs, and gives the HTTP status with the decoded answer."""
        return self.exchange("POST", path, json.dumps(body).encode(), headers)

    def exchange(
        self, method: str, path: str, body: bytes, headers: dict[str, str] | None = None
    ) -> tuple[int, Doc]:
        connection = getattr(self._local, "connection", None)
        if connection is None:
            connection = http.client.HTTPConnection(self._host, timeout=60)
            self._local.connection = connection
        try:
            every = {"Content-Type": "application/json", **(headers or {})}
            connection.request(method, path, body, every)
            response = connection.getresponse()
            return response.status, json.loads(response.read())
        except (OSError, http.client.HTTPException):
            connection.close()
            self._local.connection = None
            raise

    def close(self) -> None:
        """Closes this thread's connection."""
        if connection := getattr(self._local, "connection", None):
            connection.close()
            self._local.connection = None


class Person:
    """A ClearML user with keys, calling the API."""

    def __init__(self, wire: Wire, access_key: str, secret_key: str, worker: str = "") -> None:
        self.wire, self.access_key, self.secret_key = wire, access_key, secret_key
        pair = f"{access_key}:{secret_key}".encode()
        self._headers = {"Authorization": f"Basic {base64.b64encode(pair).decode()}"}
        if worker:
            self._headers["X-ClearML-Worker"] = worker

    def call(self, action: str, /, **body: Any) -> Answer:
        """One API call, whatever it answers. Dotted keys: call(..., **{"execution.queue": []})."""
        status, answer = self.wire.send(f"/{action}", body, self._headers)
        meta = answer["meta"]
        assert status == meta["result_code"], answer
        return Answer(status, meta["result_subcode"], answer["data"], meta["result_msg"])

    def ok(self, action: str, /, **body: Any) -> Doc:
        """The data of a call that must succeed."""
        answer = self.call(action, **body)
        assert answer.code == 200, f"{action} {body}: {answer}"
        return answer.data

    def create_queue(self, name: str, **fields: Any) -> str:
        return str(self.ok("queues.create", name=name, **fields)["id"])

    def create_task(self, name: str = "a task", **fields: Any) -> str:
        """A draft; fields as tasks.create takes them (hyperparams, runtime, ...)."""
        body = {"name": name, "type": "training", **fields}
        return str(self.ok("tasks.create", **body)["id"])

    def enqueue(self, task: str, queue: str, **fields: Any) -> Doc:
        return self.ok("tasks.enqueue", task=task, queue=queue, **fields)

    def queued_task(self, queue: str, name: str = "a task", **fields: Any) -> str:
        task = self.create_task(name, **fields)
        self.enqueue(task, queue)
        return task

    def dequeue(self, task: str, **fields: Any) -> Doc:
        return self.ok("tasks.dequeue", task=task, **fields)

    def stop(self, task: str, **fields: Any) -> Doc:
        """The abort of the web UI."""
        return self.ok("tasks.stop", task=task, **fields)

    def pop(self, queue: str) -> str | None:
        """The task at the head, taken by an agent that has not started it yet."""
        entry = self.ok("queues.get_next_task", queue=queue).get("entry")
        return str(entry["task"]) if entry else None

    def started(self, task: str) -> Doc:
        return self.ok("tasks.started", task=task, force=True, status_message="pulled by agent")

    def completed(self, task: str) -> Doc:
        return self.ok("tasks.completed", task=task, force=True)

    def entries(self, queue: str) -> list[str]:
        """The ids of the tasks in the queue, in order."""
        entries = self.ok("queues.get_by_id", queue=queue)["queue"]["entries"]
        return [entry["task"] for entry in entries]

    def task(self, task: str) -> Doc:
        return dict(self.ok("tasks.get_by_id", task=task)["task"])

    def status(self, task: str) -> str:
        return str(self.task(task)["status"])

    def execution_queue(self, task: str) -> str | None:
        queue = self.task(task)["execution"].get("queue")
        return None if queue is None else str(queue)


@dataclass(frozen=True)
class Fault:
    """A rule in force in the server."""

    sandbox: "Sandbox"
    id: str

    def state(self) -> Doc:
        """{seen, fired, holding, answers, ...}; `answers` are those of the calls it made."""
        rules: list[Doc] = self.sandbox.door("list_faults")["faults"]
        return next(rule for rule in rules if rule["id"] == self.id)

    def fired(self) -> int:
        return int(self.state()["fired"])

    def holding(self) -> int:
        return int(self.state()["holding"])

    def wait_until_fired(self, timeout: float = PATIENCE) -> None:
        wait_until(self.fired, f"{self.id} has fired", timeout)

    def wait_until_holding(self, timeout: float = PATIENCE) -> None:
        wait_until(self.holding, f"{self.id} holds a call", timeout)

    def release(self, outcome: str = "continue") -> None:
        """ "continue" lets the held call go on; "drop" cuts its connection instead."""
        self.sandbox.door("release_fault", id=self.id, outcome=outcome)


@dataclass(frozen=True)
class Agents:
    """Simulated agents that run inside the server's process."""

    sandbox: "Sandbox"
    id: str

    def stop(self) -> None:
        self.sandbox.door("stop_agents", id=self.id)


class Sandbox(Person):
    """A ClearML server in a process of its own; its methods call as the default admin."""

    def __init__(self, *options: str) -> None:
        command = [sys.executable, "-m", "sandbox", "clearml", "--with-parent", *options]
        self.process = subprocess.Popen(
            command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        assert self.process.stdout is not None
        ready = json.loads(self.process.stdout.readline() or b"{}")
        assert "clearml" in ready, "the sandbox did not start"
        super().__init__(Wire(ready["clearml"]), ready["access_key"], ready["secret_key"])

    @property
    def url(self) -> str:
        return self.wire.url

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        self.wire.close()
        self.process.terminate()
        self.process.communicate(timeout=10)

    def door(self, action: str, /, **body: Any) -> Doc:
        """One request at the scripting door."""
        status, answer = self.wire.send(f"/sandbox/{action}", body)
        assert status == 200, f"{action} {body}: {answer}"
        return answer

    def reset(self, server_version: str = "", api_version: str = "") -> None:
        """A fresh world with only the admin and the queue `default`; stops agents and faults."""
        self.door("reset", server_version=server_version, api_version=api_version)

    def env(self) -> dict[str, str]:
        """The variables by which ClearML's own clients find this server."""
        return {
            "CLEARML_API_HOST": self.url,
            "CLEARML_WEB_HOST": self.url,
            "CLEARML_FILES_HOST": self.url,
            "CLEARML_API_ACCESS_KEY": self.access_key,
            "CLEARML_API_SECRET_KEY": self.secret_key,
        }

    def add_user(self, user: str, name: str = "") -> Person:
        """A user whose keys are made from the id; the tasks they create carry `user`."""
        keys = {"access_key": f"{user.upper()}KEY", "secret_key": f"{user}-secret"}
        self.door("add_user", id=user, name=name or user, **keys)
        return Person(self.wire, **keys)

    def as_user(self, user: str) -> Person:
        """A user made by add_user before."""
        return Person(self.wire, f"{user.upper()}KEY", f"{user}-secret")

    def as_worker(self, worker: str) -> Person:
        """The admin, calling from an agent of this name."""
        return Person(self.wire, self.access_key, self.secret_key, worker)

    def bulk_enqueue(self, queue: str, count: int, user: str = "admin", **fields: Any) -> list[str]:
        """Creates tasks `<name>-<number>` in the queue, fast; fields as tasks.create takes them."""
        name = fields.pop("name", "bulk")
        body = {"queue": queue, "count": count, "user": user, "name": name, "fields": fields}
        return list(self.door("bulk_enqueue", **body)["ids"])

    def fault(self, action: str, call: str = "*", **rule: Any) -> Fault:
        """What shall go wrong: see sandbox/clearml/faults.py.

        action: delay (seconds), refuse, error_before, error_after, drop_response, hold, do (steps),
        answer (answer: {code, subcode, data}). Further: match (a part of the body), user, nth (0:
        every) and when: before, after, or for do also before_status and before_entry.
        """
        return Fault(self, self.door("add_fault", action=action, call=call, **rule)["id"])

    def clear_faults(self) -> None:
        self.door("clear_faults")

    def outage(self, mode: str = "refuse") -> None:
        """ "refuse" cuts every connection, "503" answers so, "" ends the outage."""
        self.door("set_outage", mode=mode)

    def expire_tokens(self) -> None:
        self.door("expire_tokens")

    def calls(self, call: str = "", user: str = "", since: int = 0) -> list[Doc]:
        """The log: {n, time, call, body, user, worker, code, subcode} in order of arrival."""
        return list(self.door("list_calls", call=call, user=user, since=since)["calls"])

    def call_counts(self) -> dict[str, int]:
        return dict(self.door("list_calls", since=sys.maxsize)["counts"])

    def last_call(self) -> int:
        """The number of the latest call, for `calls(since=...)`."""
        return int(self.door("list_calls", since=sys.maxsize)["last"])

    def reset_calls(self) -> None:
        self.door("reset_calls")

    def dump(self) -> Doc:
        """{queues: {id: {..., entries}}, tasks: {id}, lives: {id: {runs, history, aborted}}}."""
        return self.door("dump")

    def lives(self) -> Doc:
        """Per task, deleted ones too: {runs, history, aborted}."""
        return self.door("lives")

    def runs(self, task: str) -> list[Doc]:
        """Each run that an agent began: {time, worker, after_abort}."""
        return list(self.lives().get(task, {"runs": []})["runs"])

    def history(self, task: str) -> list[Doc]:
        """Each change of status: {time, call, user, worker, from, to, reason}."""
        return list(self.lives().get(task, {"history": []})["history"])

    def queues_holding(self, task: str) -> list[str]:
        """The ids of the queues with an entry of the task."""
        fields = ["id", "entries"]
        queues = self.ok("queues.get_all", search_hidden=True, only_fields=fields)["queues"]
        held = {queue["id"]: [entry["task"] for entry in queue["entries"]] for queue in queues}
        return [queue for queue, tasks in held.items() if task in tasks]

    def start_agents(self, *queues: str, **orders: Any) -> Agents:
        """Agents on these queues: style (daemon, glue), slots, run_seconds, poll_seconds, name.

        A task's own parameter Args/seconds goes before run_seconds.
        """
        return Agents(self, self.door("start_agents", queues=list(queues), **orders)["id"])

    def stop_agents(self) -> None:
        self.door("stop_agents")


def seconds(value: float) -> Doc:
    """The hyperparams of a task that a simulated agent runs for so long."""
    item = {"section": "Args", "name": "seconds", "value": str(value)}
    return {"Args": {"seconds": item}}


@contextlib.contextmanager
def stock_agent(sandbox: Sandbox, queue: str, tmp_path: Path) -> Iterator[subprocess.Popen[bytes]]:
    """The real clearml-agent, one daemon on one queue, with a home of its own; its log is
    `tmp_path/agent.log`."""
    home = tmp_path / "agent-home"
    home.mkdir()
    agent = Path(sys.executable).parent / "clearml-agent"
    options = ["--queue", queue, "--foreground", "--cpu-only", "--standalone-mode"]
    env = {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "CLEARML_AGENT_SKIP_PYTHON_ENV_INSTALL": "1",
        "CLEARML_AGENT_SKIP_PIP_VENV_INSTALL": sys.executable,
        "CLEARML_AGENT_QUEUE_POLL_FREQ_SEC": "1",
        "TMPDIR": str(tmp_path),
        **sandbox.env(),
    }
    with (tmp_path / "agent.log").open("wb") as log:
        process = subprocess.Popen(
            [agent, "daemon", *options], env=env, cwd=home, stdout=log, stderr=log,
            start_new_session=True,
        )  # fmt: skip
        try:
            yield process
        finally:
            _end_group(process)


def _end_group(process: subprocess.Popen[bytes]) -> None:
    """Ends the agent with the task that it runs: they are one process group, which we started."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, 15)
    try:
        process.wait(timeout=15)
    except subprocess.TimeoutExpired:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, 9)
        process.wait(timeout=5)


def script_task(person: Person, source: str, name: str = "a script") -> str:
    """A draft that the real agent can run: one file, no repository."""
    script = {"repository": "", "entry_point": "script.py", "working_dir": ".", "diff": source}
    return person.create_task(name, script={**script, "requirements": {"pip": ""}})
