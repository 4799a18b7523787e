"""Where the door's contract is tested: the sandbox always, a real server where one is named."""

import http.client
import json
import os
import ssl
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit
from uuid import uuid4

import pytest
from pydantic import SecretStr

from controller.clearml_queues import ClearMLQueues
from controller.clearml_session import ClearMLSession, Credentials
from tests.sandbox_support import Doc, Person, Sandbox, Wire

REAL = (
    "POOLKEEPER_CONTRACT_CLEARML_HOST",
    "POOLKEEPER_CONTRACT_CLEARML_ACCESS_KEY",
    "POOLKEEPER_CONTRACT_CLEARML_SECRET_KEY",
)
PLACES = ("sandbox", *(["real server"] if any(map(os.environ.get, REAL)) else []))


class AnyWire(Wire):
    """The test's own wire to a server that may speak TLS or live under a path; slow but plain."""

    def exchange(
        self, method: str, path: str, body: bytes, headers: dict[str, str] | None = None
    ) -> tuple[int, Doc]:
        at = urlsplit(self.url)
        connection = (
            http.client.HTTPSConnection(at.netloc, timeout=60, context=ssl.create_default_context())
            if at.scheme == "https"
            else http.client.HTTPConnection(at.netloc, timeout=60)
        )
        try:
            every = {"Content-Type": "application/json", **(headers or {})}
            connection.request(method, f"{at.path.rstrip('/')}{path}", body, every)
            response = connection.getresponse()
            return response.status, json.loads(response.read())
        finally:
            connection.close()


@dataclass
class Place:
    """A ClearML server, somebody who uses it, and doors to it.

    Everything made there has `prefix` in its name, and `tidy` removes it again.
    """

    person: Person
    host: str
    sandbox: Sandbox | None = None
    prefix: str = field(default_factory=lambda: f"poolkeeper contract {uuid4().hex[:10]} ")

    def door(self) -> ClearMLQueues:
        return door_to(self.host, self.person.access_key, self.person.secret_key)

    def name(self, name: str) -> str:
        return f"{self.prefix}{name}"

    def create_queue(self, name: str = "queue", **fields: Any) -> str:
        return self.person.create_queue(self.name(name), **fields)

    def draft(self, **fields: Any) -> str:
        return self.person.create_task(self.name("task"), **fields)

    def queued(self, queue: str, **fields: Any) -> str:
        return self.person.queued_task(queue, self.name("task"), **fields)

    def halfway(self, intake: str, target: str) -> str:
        """A task that was claimed out of `intake` and pointed to `target`."""
        task = self.queued(intake)
        self.person.ok("queues.remove_task", queue=intake, task=task)
        self.person.ok("tasks.edit", task=task, force=True, execution={"queue": target})
        return task

    def delete_task(self, task: str) -> None:
        self.person.ok("tasks.delete", task=task, force=True)

    def shown(self, task: str, *fields: str) -> Doc:
        """The task with these fields, those too that are shown only when they are named."""
        found = self.person.ok("tasks.get_all", id=[task], only_fields=list(fields))["tasks"]
        return dict(found[0])

    def tidy(self) -> None:
        """Removes all that carries the prefix, and what these tests' worker registered."""
        for queue in self._listed("queues"):
            self.person.ok("queues.delete", queue=queue, force=True)
        for task in self._listed("tasks"):
            self.delete_task(task)
        self.person.ok("workers.unregister", worker=self.name("worker"))

    def left(self) -> Sequence[str]:
        return (*self._listed("queues"), *self._listed("tasks"))

    def _listed(self, kind: str) -> list[str]:
        # The name filter is an expression; a prefix holds letters, digits and blanks only.
        asked = {"name": f"^{self.prefix}", "search_hidden": True, "only_fields": ["id"]}
        ids: list[str] = []
        while found := self.person.ok(
            f"{kind}.get_all", order_by=["id"], page=len(ids) // 500, page_size=500, **asked
        )[kind]:
            ids += [item["id"] for item in found]
            if len(found) < 500:
                break
        return ids


def door_to(host: str, access_key: str, secret_key: str) -> ClearMLQueues:
    """A door that does not pause between its attempts."""
    credentials = Credentials(
        host=host, access_key=access_key, secret_key=SecretStr(secret_key), verify=True
    )
    return ClearMLQueues(ClearMLSession(credentials, lambda _seconds: None))


def real_place() -> Place:
    """The server that the environment names."""
    given = [os.environ.get(name, "") for name in REAL]
    if not all(given):
        pytest.fail(f"for a real server set all of {', '.join(REAL)}")
    host, access_key, secret_key = given
    return Place(Person(AnyWire(host), access_key, secret_key), host)
