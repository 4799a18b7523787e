"""workers.*: who listens on which queues, and runs which task. A silent worker is forgotten."""

from datetime import UTC, datetime
from fnmatch import fnmatchcase

from sandbox.clearml import body as given
from sandbox.clearml import errors
from sandbox.clearml.calls import Call, Doc, Endpoint
from sandbox.clearml.world import COMPANY, COMPANY_NAME, instant, stored

DEFAULT_TIMEOUT = 600


def register(call: Call, body: Doc) -> Doc:
    _register(call, given.text(body, "worker"), body)
    return {}


def _register(call: Call, name: str, body: Doc) -> Doc:
    queues = _checked_queues(call, body) or []
    now = instant()
    known = call.world.workers.get(name, {})
    worker = {
        "id": name, "ip": call.ip, "key": f"worker_{COMPANY}_{call.user.id}_{name}",
        "company": {"id": COMPANY, "name": COMPANY_NAME},
        "user": {"id": call.user.id, "name": call.user.name},
        "register_time": now, "last_activity_time": now,
        "register_timeout": given.optional(body, "timeout", int) or DEFAULT_TIMEOUT,
        "queues": queues, "tags": body.get("tags") or [],
        "system_tags": body.get("system_tags") or [],
        # The real server's index of tags forgets none, and the tag filter reads the index.
        "indexed_tags": [*known.get("indexed_tags", []), *(body.get("tags") or [])],
    }  # fmt: skip
    call.world.workers[name] = worker
    return worker


def _checked_queues(call: Call, body: Doc) -> list[str] | None:
    queues: list[str] | None = given.optional(body, "queues", list)
    missing = [queue for queue in queues or () if queue not in call.world.queues]
    if missing:
        raise errors.ApiError(400, 701, f"Invalid queue id: ids=({', '.join(missing)})")
    return queues


def unregister(call: Call, body: Doc) -> Doc:
    call.world.workers.pop(given.text(body, "worker"), None)
    return {}


def status_report(call: Call, body: Doc) -> Doc:
    """Registers an unknown worker; with a task it also marks the task as alive."""
    name = given.text(body, "worker")
    given.required(body, "timestamp", int)
    worker = call.world.workers.get(name) or _register(call, name, {})
    task_id = given.optional(body, "task", str)
    task = call.world.task(task_id) if task_id else None
    now = instant()
    queues = _checked_queues(call, body)
    worker |= {"last_activity_time": now, "last_report_time": now, "task": None}
    worker |= (
        {"queue": body.get("queue")}
        if queues is None
        else {"queue": body.get("queue"), "queues": queues}
    )
    if task:
        worker["task"] = {"id": task["id"], "name": task["name"]}
        at = stored(now)
        task |= {
            "last_worker": name,
            "last_worker_report": at,
            "last_update": at,
            "last_change": at,
        }
    return {}


def get_all(call: Call, body: Doc) -> Doc:
    return {"workers": [_shown(call, worker) for worker in _listed(call, body)]}


def get_count(call: Call, body: Doc) -> Doc:
    return {"count": len(_listed(call, body))}


def _listed(call: Call, body: Doc) -> list[Doc]:
    last_seen = given.optional(body, "last_seen", int)
    age = 3600 if last_seen is None else last_seen
    tags = set(body.get("tags") or ())
    wanted = given.optional(body, "worker_pattern", str) or "*"
    now = datetime.now(UTC)
    chosen = []
    for worker in call.world.live_workers():
        silent = now - datetime.fromisoformat(worker["last_activity_time"])
        seen = not age or silent.total_seconds() <= age
        if seen and fnmatchcase(worker["id"], wanted) and tags <= set(worker["indexed_tags"]):
            chosen.append(worker)
    return chosen


def _shown(call: Call, worker: Doc) -> Doc:
    inner = ("indexed_tags", "queue", "queues", "task")
    result = {name: value for name, value in worker.items() if name not in inner}
    result["queues"] = [_queue(call, key) for key in worker["queues"] if key in call.world.queues]
    if worker.get("queue") in worker["queues"]:
        result["queue"] = _queue(call, worker["queue"])
    task = call.world.tasks.get((worker.get("task") or {}).get("id", ""))
    if task:
        started = datetime.fromisoformat(task.get("started", instant()))
        running = int((datetime.now(UTC) - started).total_seconds())
        result["task"] = {"id": task["id"], "name": task["name"], "running_time": running}
        result["task"]["last_iteration"] = task["last_iteration"]
    return result


def _queue(call: Call, queue_id: str) -> Doc:
    queue = call.world.queues[queue_id]
    answer: Doc = {"id": queue_id, "name": queue.doc["name"], "num_tasks": len(queue.entries)}
    head = next(iter(queue.entries), None)
    if head:
        task = call.world.tasks.get(head)
        answer["next_task"] = {"id": head, **({"name": task["name"]} if task else {})}
    return answer


def get_stats(_call: Call, _body: Doc) -> Doc:
    """Always empty: the real server keeps this history in Elasticsearch."""
    return {"workers": []}


def get_activity_report(_call: Call, _body: Doc) -> Doc:
    nothing: Doc = {"counts": [], "dates": []}
    return {"active": nothing, "total": nothing}


def get_metric_keys(_call: Call, body: Doc) -> Doc:
    names = body.get("worker_ids")
    text = f"No statistic metrics found for the company {COMPANY} and workers {names}"
    raise errors.ApiError(400, 1005, f"Worker stats not found ({text})")


ENDPOINTS: dict[str, Endpoint] = {
    f"workers.{endpoint.__name__}": endpoint
    for endpoint in (
        register, unregister, status_report, get_all, get_count, get_stats, get_activity_report,
        get_metric_keys,
    )
}  # fmt: skip
