"""tasks.*: reading. Some fields appear only when named, and lists give 500 tasks at most."""

from collections.abc import Iterable

from sandbox.clearml import body as given
from sandbox.clearml import errors
from sandbox.clearml.calls import Call, Doc, Endpoint
from sandbox.clearml.filters import TASK_LISTS, found
from sandbox.clearml.listing import ordered, paged
from sandbox.clearml.projection import TASK_FIELDS, check, shown

_JOINED = ("execution.queue", "project", "user", "parent", "company")
_HIDDEN_BY_ID = ("enqueue_status",)
_HIDDEN_IN_LISTS = ("enqueue_status", "unique_metrics")


def get_by_id(call: Call, body: Doc) -> Doc:
    task_id = given.text(body, "task")
    if task_id not in call.world.tasks:
        raise errors.ApiError(400, 101, f"Invalid task id: ids=({task_id})")
    fields = body.get("only_fields")
    return {"task": shown(call.world.tasks[task_id], fields, TASK_FIELDS, _HIDDEN_BY_ID)}


def get_all(call: Call, body: Doc) -> Doc:
    fields = body.get("only_fields") or body.get("projection")
    check(fields, TASK_FIELDS)
    docs, more = _listed(call, body)
    return {"tasks": [shown(doc, fields, TASK_FIELDS, _HIDDEN_IN_LISTS) for doc in docs], **more}


def get_all_ex(call: Call, body: Doc) -> Doc:
    """As get_all, but always with ids, and with the documents that a task refers to."""
    fields = _with_ids(body.get("only_fields") or ())
    check(fields, TASK_FIELDS)
    docs, more = _listed(call, body)
    joined = [_joined(call, doc) for doc in docs]
    return {"tasks": [shown(doc, fields, TASK_FIELDS, _HIDDEN_IN_LISTS) for doc in joined], **more}


def get_by_id_ex(call: Call, body: Doc) -> Doc:
    if not body.get("id"):
        raise errors.ApiError(400, 11, "Missing required fields: missing=(id)")
    return get_all_ex(call, body)


def _listed(call: Call, body: Doc) -> tuple[list[Doc], Doc]:
    chosen = found(call.world.tasks, body, TASK_LISTS)
    if not (body.get("search_hidden") or body.get("id")):
        chosen = [doc for doc in chosen if "hidden" not in doc["system_tags"]]
    return paged(call.world, ordered(chosen, body, TASK_FIELDS), body)


def _with_ids(fields: Iterable[str]) -> list[str]:
    """The fields asked for, with "id", and the id of each joined document."""
    if not fields:
        return []
    wanted = {"id": None}
    for field in fields:
        joined = next(
            (name for name in _JOINED if field == name or field.startswith(f"{name}.")), ""
        )
        if joined:
            wanted[f"{joined}.id"] = None
        if field != joined:
            wanted[field] = None
    return list(wanted)


def _joined(call: Call, task: Doc) -> Doc:
    joined = {**task, "company": {"id": task["company"]}}
    user = call.world.users.get(task["user"])
    joined["user"] = {"id": task["user"], **({"name": user.name} if user else {})}
    if project := call.world.projects.get(task.get("project", "")):
        joined["project"] = {"id": project["id"], "name": project["name"]}
    if parent := call.world.tasks.get(task.get("parent", "")):
        joined["parent"] = {"id": parent["id"], "name": parent["name"]}
    if queue_id := task["execution"].get("queue"):
        queue = call.world.queues.get(queue_id)
        name = {"name": queue.doc["name"]} if queue else {}
        joined["execution"] = {**task["execution"], "queue": {"id": queue_id, **name}}
    return joined


def get_types(call: Call, body: Doc) -> Doc:
    projects = body.get("projects") or []
    tasks = call.world.tasks.values()
    types = {task["type"] for task in tasks if not projects or task.get("project") in projects}
    return {"types": sorted(types)}


ENDPOINTS: dict[str, Endpoint] = {
    f"tasks.{endpoint.__name__}": endpoint
    for endpoint in (get_by_id, get_all, get_all_ex, get_by_id_ex, get_types)
}
