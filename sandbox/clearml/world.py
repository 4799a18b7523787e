"""What the server remembers: users, queues, tasks, workers, and who ran what. In memory only.

Tasks are kept as the documents that answers show. Times are ISO 8601 text: milliseconds where the
database stores them, microseconds where a write echoes them.
"""

from collections import OrderedDict
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

from sandbox.clearml import errors

Doc = dict[str, Any]

COMPANY = "d1bd92a3b039400cbafc60a7a5b1e52b"
COMPANY_NAME = "clearml"
ADMIN_ACCESS_KEY = "SANDBOXADMINKEY"
ADMIN_SECRET_KEY = "sandbox-admin-secret"
HIDDEN_QUEUE_TAG = "k8s-glue"


def new_id() -> str:
    return uuid4().hex


def instant() -> str:
    """The present, as a write echoes it."""
    return datetime.now(UTC).isoformat(timespec="microseconds")


def stored(echoed: str) -> str:
    """The same instant as the database keeps it: cut to milliseconds."""
    return f"{echoed[:23]}000+00:00"


@dataclass(frozen=True, slots=True)
class User:
    id: str
    name: str
    access_key: str
    secret_key: str
    created: str = field(default_factory=lambda: stored(instant()))


@dataclass(slots=True)
class Queue:
    """A queue's document without its entries, and the entries in order of service."""

    doc: Doc
    entries: OrderedDict[str, Doc] = field(default_factory=OrderedDict)

    def shown(self) -> Doc:
        return {**self.doc, "entries": list(self.entries.values())}

    def touch(self) -> None:
        self.doc["last_update"] = stored(instant())


@dataclass(slots=True)
class Life:
    """What happened to a task, kept even when the task is deleted."""

    runs: list[Doc] = field(default_factory=list)
    history: list[Doc] = field(default_factory=list)
    popped_by: list[str] = field(default_factory=list)
    aborted: bool = False


@dataclass(slots=True)
class World:
    server_version: str = "2.3.0"
    api_version: str = "2.34"
    users: dict[str, User] = field(default_factory=dict)
    user_by_key: dict[str, User] = field(default_factory=dict)
    queues: dict[str, Queue] = field(default_factory=dict)
    tasks: dict[str, Doc] = field(default_factory=dict)
    projects: dict[str, Doc] = field(default_factory=dict)
    workers: dict[str, Doc] = field(default_factory=dict)
    lives: dict[str, Life] = field(default_factory=dict)
    scrolls: dict[str, int] = field(default_factory=dict)
    tokens_valid_from: float = 0.0
    _queues_of: dict[str, set[str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.add_user(User("admin", "Admin", ADMIN_ACCESS_KEY, ADMIN_SECRET_KEY))
        self.add_queue("default", {"system_tags": ["default"]})

    @property
    def knows_update_execution_queue(self) -> bool:
        """Servers before API 2.31 ignore the flag silently."""
        return tuple(int(part) for part in self.api_version.split(".")) >= (2, 31)

    def add_user(self, user: User) -> None:
        self.users[user.id] = user
        self.user_by_key[user.access_key] = user

    def add_queue(self, name: str, given: Doc) -> Queue:
        now = stored(instant())
        doc: Doc = {"id": new_id(), "name": name, "company": COMPANY, "created": now}
        doc |= {"tags": [], "system_tags": [], "metadata": {}, "last_update": now, **given}
        queue = self.queues[doc["id"]] = Queue(doc)
        return queue

    def queue(self, queue_id: str) -> Queue:
        try:
            return self.queues[queue_id]
        except KeyError:
            raise errors.invalid_queue(queue_id, COMPANY) from None

    def queue_named(self, name: str) -> Queue | None:
        return next((queue for queue in self.queues.values() if queue.doc["name"] == name), None)

    def task(self, task_id: str) -> Doc:
        try:
            return self.tasks[task_id]
        except KeyError:
            raise errors.invalid_task(task_id, COMPANY) from None

    def life(self, task_id: str) -> Life:
        return self.lives.setdefault(task_id, Life())

    def live_workers(self) -> list[Doc]:
        """Forgets the workers that have been silent for longer than their timeout."""
        now = datetime.now(UTC)
        for name, worker in list(self.workers.items()):
            silent = now - datetime.fromisoformat(worker["last_activity_time"])
            if silent.total_seconds() > worker["register_timeout"]:
                del self.workers[name]
        return list(self.workers.values())

    def push(self, queue: Queue, task_id: str) -> None:
        """Appends an entry; refuses a second entry of the task in this queue (400/706)."""
        if task_id in queue.entries:
            raise errors.already_queued(task_id)
        queue.touch()
        queue.entries[task_id] = {"task": task_id, "added": queue.doc["last_update"]}
        self._queues_of.setdefault(task_id, set()).add(queue.doc["id"])

    def pull(self, queue: Queue, task_id: str) -> bool:
        """Takes the entry out, if it is there."""
        if queue.entries.pop(task_id, None) is None:
            return False
        self._queues_of[task_id].discard(queue.doc["id"])
        queue.touch()
        return True

    def pull_from_all(self, task_id: str, but: str = "") -> int:
        """Takes the task out of every queue except `but`; how many held it."""
        holders = [held for held in self._queues_of.get(task_id, ()) if held != but]
        return sum(self.pull(self.queues[held], task_id) for held in holders)
