"""The one door to ClearML's queues and tasks (controller.ports.Queues), over its HTTP API.

Every call and every code here is one of facts/clearml.md; the module knows nothing of rounds.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final

from controller.clearml_session import ClearMLSession
from controller.ports import Admission, QueueEntry, QueueState, Refused, Status, TaskState
from domain.tasks import TaskFacts

PAGE: Final = 500
"""Lists are cut here silently (decision 5)."""

HIDDEN: Final = "k8s-glue"
"""The system tag that keeps a queue out of users' pickers (decision 6)."""

WATCH_S: Final = 600

_NO_QUEUE, _NOT_EMPTY, _NOT_IN_QUEUE, _ALREADY_THERE, _NAME_TAKEN = 701, 702, 703, 706, 801
_NO_TASK, _NOT_QUEUED, _BAD_STATUS = 101, 12, 110
_ADMISSIONS: Final = {
    _NOT_QUEUED: Admission.NOT_QUEUED,
    # The status changed under the server's own compare-and-swap, or the task runs already.
    121: Admission.NOT_QUEUED,
    _BAD_STATUS: Admission.NOT_QUEUED,
    _ALREADY_THERE: Admission.ALREADY_THERE,
    _NO_QUEUE: Admission.QUEUE_GONE,
    _NO_TASK: Admission.TASK_GONE,
}


class ClearMLQueues:
    """ClearML's queues and tasks, for one thread."""

    def __init__(self, session: ClearMLSession) -> None:
        self._session = session

    def server_version(self) -> str:
        return self._session.server_version

    def queues(self, *, marks: bool = False) -> tuple[QueueState, ...]:
        fields = ["id", "name", "system_tags", "entries", *(["metadata"] if marks else [])]
        body = {"search_hidden": True, "only_fields": fields}
        return tuple(_queue_state(queue) for queue in self._pages("queues.get_all", "queues", body))

    def queue(self, queue: str) -> QueueState | None:
        try:
            return _queue_state(self._session.read("queues.get_by_id", {"queue": queue})["queue"])
        except Refused as refusal:
            if refusal.subcode == _NO_QUEUE:
                return None
            raise

    def task_states(self, tasks: Iterable[str]) -> dict[str, TaskState]:
        fields = ["id", "status", "status_reason", "execution.queue", "enqueue_status"]
        found = self._by_id(sorted(set(tasks)), fields)
        return {task["id"]: _task_state(task) for task in found}

    def exists(self, task: str) -> bool:
        try:
            self._session.read("tasks.get_by_id", {"task": task})
        except Refused as refusal:
            if refusal.subcode == _NO_TASK:
                return False
            raise
        return True

    def tasks_in(
        self, queues: Iterable[str], statuses: Iterable[Status], *, page: int | None = None
    ) -> tuple[TaskState, ...]:
        ids, wanted = sorted(set(queues)), [str(status) for status in statuses]
        if not ids or not wanted:  # an empty filter would be none at all
            return ()
        body = {
            "execution.queue": ids,
            "status": wanted,
            "only_fields": ["id", "status", "execution.queue"],
            "search_hidden": True,
        }
        found = (
            self._pages("tasks.get_all", "tasks", body)
            if page is None
            else self._page("tasks.get_all", "tasks", body, page)
        )
        return tuple(map(_task_state, found))

    def parameters(self, tasks: Sequence[str], path: str) -> dict[str, object]:
        place = _Place.of(path)
        found = self._by_id(sorted(set(tasks)), ["id", place.field])
        values = ((task["id"], place.value(task)) for task in found)
        return {task: value for task, value in values if value is not None}

    def details(self, tasks: Iterable[str]) -> dict[str, TaskFacts]:
        found = self._by_id(sorted(set(tasks)), ["id", "name", "user"])
        return {task["id"]: _facts(task) for task in found}

    def claim(self, queue: str, task: str) -> bool:
        try:
            data = self._session.write("queues.remove_task", {"queue": queue, "task": task})
        except Refused as refusal:
            if refusal.subcode in (_NOT_IN_QUEUE, _NO_QUEUE):
                return False
            raise
        return data.get("removed") == 1

    def point(self, task: str, queue: str) -> None:
        body = {"task": task, "force": True, "execution": {"queue": queue}}
        self._session.write("tasks.edit", body)

    def admit(self, task: str, queue: str, status_reason: str) -> Admission:
        body = {
            "task": task,
            "queue": queue,
            # With this the server itself refuses a task that is no longer queued (decision 1).
            "update_execution_queue": False,
            "status_reason": status_reason,
        }
        try:
            self._session.write("tasks.enqueue", body)
        except Refused as refusal:
            if refusal.subcode in _ADMISSIONS:
                return _ADMISSIONS[refusal.subcode]
            raise
        return Admission.ADMITTED

    def to_front(self, queue: str, task: str) -> bool:
        try:
            self._session.write("queues.move_task_to_front", {"queue": queue, "task": task})
        except Refused as refusal:
            if refusal.subcode in (_NOT_IN_QUEUE, _NO_QUEUE):
                return False
            raise
        return True

    def draft(self, task: str, status_reason: str) -> bool:
        # The call would turn a running task into a draft as well.
        state = self.task_states([task]).get(task)
        if state is None or state.status is not Status.QUEUED:
            return False
        body = {"task": task, "new_status": str(Status.CREATED), "status_reason": status_reason}
        return self._session.write("tasks.dequeue", body).get("updated") == 1

    def enqueue(self, task: str, queue: str, status_reason: str) -> bool:
        body = {"task": task, "queue": queue, "status_reason": status_reason}
        try:
            self._session.write("tasks.enqueue", body)
        except Refused as refusal:
            if refusal.subcode in _ADMISSIONS:
                return False
            raise
        return True

    def create_queue(self, name: str, marks: Mapping[str, str], *, hidden: bool) -> str | None:
        body: dict[str, object] = {"name": name, "metadata": _metadata(marks)}
        if hidden:
            body["system_tags"] = [HIDDEN]
        try:
            return str(self._session.write("queues.create", body)["id"])
        except Refused as refusal:
            if refusal.subcode == _NAME_TAKEN:
                return None
            raise

    def rename_queue(self, queue: str, name: str) -> bool:
        try:
            self._session.write("queues.update", {"queue": queue, "name": name})
        except Refused as refusal:
            if refusal.subcode == _NAME_TAKEN:
                return False
            raise
        return True

    def mark_queue(self, queue: str, marks: Mapping[str, str]) -> None:
        body = {"queue": queue, "metadata": list(_metadata(marks).values())}
        self._session.write("queues.add_or_update_metadata", body)

    def delete_queue(self, queue: str) -> bool:
        try:
            self._session.write("queues.delete", {"queue": queue, "force": False})
        except Refused as refusal:
            if refusal.subcode == _NOT_EMPTY:
                return False
            if refusal.subcode != _NO_QUEUE:
                raise
        return True

    def watched(self, queues: Iterable[str]) -> frozenset[str]:
        return frozenset(queue for queue, workers in self.workers(queues).items() if workers)

    def workers(self, queues: Iterable[str]) -> dict[str, frozenset[str]]:
        found: dict[str, set[str]] = {queue: set() for queue in queues}
        for worker in self._session.read("workers.get_all", {"last_seen": WATCH_S})["workers"]:
            for queue in worker.get("queues") or ():
                if queue["id"] in found:
                    found[queue["id"]].add(str(worker["id"]))
        return {queue: frozenset(workers) for queue, workers in found.items()}

    def watch(self, worker: str, queues: Sequence[str]) -> None:
        body = {"worker": worker, "queues": list(queues), "timeout": WATCH_S}
        self._session.write("workers.register", body)

    def _by_id(self, ids: Sequence[str], fields: Sequence[str]) -> Iterator[dict[str, Any]]:
        for start in range(0, len(ids), PAGE):
            body = {"id": ids[start : start + PAGE], "only_fields": fields, "search_hidden": True}
            yield from self._session.read("tasks.get_all", body)["tasks"]

    def _pages(self, call: str, key: str, body: Mapping[str, object]) -> Iterator[dict[str, Any]]:
        """Pages in the order of ids, so that what leaves meanwhile shifts as little as it can."""
        seen: set[str] = set()
        page = 0
        while True:
            found = self._page(call, key, body, page)
            for item in found:
                if item["id"] not in seen:
                    seen.add(item["id"])
                    yield item
            if len(found) < PAGE:
                return
            page += 1

    def _page(
        self, call: str, key: str, body: Mapping[str, object], page: int
    ) -> list[dict[str, Any]]:
        paging = {"page": page, "page_size": PAGE, "order_by": ["id"]}
        found: list[dict[str, Any]] = self._session.read(call, {**body, **paging})[key]
        return found


class _Place:
    """Where a dynamic profile's parameter stands in a task (facts/clearml.md, chapter 3)."""

    def __init__(self, field: str, path: Sequence[str]) -> None:
        self.field = field
        self._path = tuple(path)

    @classmethod
    def of(cls, parameter: str) -> "_Place":
        root, _, rest = parameter.partition(".")
        if root == "runtime":
            return cls(root, [root, rest])
        if root == "configuration":
            return cls(f"{root}.{_named(rest)}", [root, rest, "value"])
        section, _, name = rest.partition(".")
        path = ["hyperparams", section, name, "value"]
        return cls(f"hyperparams.{_named(section)}.{_named(name)}", path)

    def value(self, task: Mapping[str, Any]) -> object:
        if self._path[0] == "runtime":
            return _runtime_value(task.get("runtime"), self._path[1])
        found: object = task
        for step in self._path:
            if not isinstance(found, Mapping):
                return None
            found = found.get(step)
        return found


def _runtime_value(runtime: object, key: str) -> object:
    """The value under a key as it is, as `edit_runtime` stores it (M11), or of nested keys."""
    if not isinstance(runtime, Mapping):
        return None
    for name in (key, _stored(key)):
        if name in runtime:
            return runtime[name]
    first, dot, rest = key.partition(".")
    return _runtime_value(runtime.get(first), rest) if dot else None


def _named(name: str) -> str:
    """A section's or a parameter's name in `only_fields`, which splits at dots.

    The server undoes this and escapes the rest by itself.
    """
    return name.replace("%", "%%").replace(".", "%2E")


def _stored(key: str) -> str:
    """A key as the server stores it."""
    stored = _named(key).replace("$", "%24").replace("__", "%_%_")
    return f"%_{stored[1:]}" if stored.startswith("_") else stored


def _queue_state(queue: Mapping[str, Any]) -> QueueState:
    metadata = queue.get("metadata") or {}
    return QueueState(
        id=queue["id"],
        name=queue.get("name") or "",
        hidden=HIDDEN in (queue.get("system_tags") or ()),
        entries=tuple(
            QueueEntry(entry["task"], _time(entry.get("added")))
            for entry in queue.get("entries") or ()
            if entry.get("task")
        ),
        marks={key: str(mark.get("value") or "") for key, mark in metadata.items()},
    )


def _task_state(task: Mapping[str, Any]) -> TaskState:
    queue = (task.get("execution") or {}).get("queue") or ""
    return TaskState(
        id=task["id"],
        status=Status(str(task.get("status"))),
        queue=queue,
        reason=task.get("status_reason") or "",
        before=task.get("enqueue_status") or "",
    )


def _facts(task: Mapping[str, Any]) -> TaskFacts:
    return TaskFacts(
        task=task["id"], name=str(task.get("name") or ""), user=str(task.get("user") or "")
    )


def _time(text: object) -> datetime | None:
    if not isinstance(text, str):
        return None
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        return None
    return time if time.tzinfo else time.replace(tzinfo=UTC)


def _metadata(marks: Mapping[str, str]) -> dict[str, dict[str, str]]:
    return {key: {"key": key, "type": "str", "value": value} for key, value in marks.items()}
