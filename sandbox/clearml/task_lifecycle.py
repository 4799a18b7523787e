"""tasks.*: from started to published, reset and deleted."""

from datetime import UTC, datetime, timedelta

from sandbox.clearml import body as given
from sandbox.clearml import errors, lives
from sandbox.clearml.calls import Call, Doc, Endpoint
from sandbox.clearml.statuses import change
from sandbox.clearml.task_queueing import leave_own_queue, many
from sandbox.clearml.world import instant, stored

LIVE_WORKER = timedelta(seconds=600)
_RESET = (
    "started",
    "completed",
    "published",
    "last_worker",
    "last_worker_report",
    "enqueue_status",
)


def _task(call: Call, body: Doc) -> Doc:
    return call.world.task(given.text(body, "task"))


def started(call: Call, body: Doc) -> Doc:
    task = _task(call, body)
    new = {} if task["status"] == "in_progress" else {"started": instant()}
    fields = change(call, task, "in_progress", body, **new)
    lives.started(call, task["id"])
    return {"fields": fields, "started": 1, "updated": 1}


def stopped(call: Call, body: Doc) -> Doc:
    """The caller says that it has stopped; an entry in a queue is left there."""
    task = _task(call, body)
    fields = change(call, task, "stopped", body, completed=instant())
    lives.aborted(call, task["id"], fields["status_reason"])
    return {"fields": fields, "updated": 1}


def stop(call: Call, body: Doc) -> Doc:
    """Asks for a stop: a live worker is told by the message, anything else stops at once."""
    task = _task(call, body)
    if task["status"] == "in_progress" and _has_live_worker(task):
        fields = change(call, task, "in_progress", {**body, "status_message": "stopping"})
    else:
        if task["status"] == "queued":
            leave_own_queue(call, task)
        words = {**body, "status_message": f"Stopped by {call.user.name}"}
        fields = change(call, task, "stopped", words)
    lives.aborted(call, task["id"], fields["status_reason"])
    return {"fields": fields, "updated": 1}


def _has_live_worker(task: Doc) -> bool:
    if not task.get("last_worker") or "development" in task["system_tags"]:
        return False
    return datetime.now(UTC) - datetime.fromisoformat(task["last_update"]) < LIVE_WORKER


def completed(call: Call, body: Doc) -> Doc:
    fields = change(call, _task(call, body), "completed", body, completed=instant())
    return {"fields": fields, "published": 0, "updated": 1}


def failed(call: Call, body: Doc) -> Doc:
    fields = change(call, _task(call, body), "failed", body, completed=instant())
    return {"fields": fields, "updated": 1}


def publish(call: Call, body: Doc) -> Doc:
    task = _task(call, body)
    fields = change(call, task, "published", body, published=instant(), output=task["output"])
    return {"fields": fields, "updated": 1}


def reset(call: Call, body: Doc) -> Doc:
    """Back to a draft: out of every queue, and without what its runs left."""
    task = _task(call, body)
    was_queued = task["status"] == "queued"
    words = {"force": body.get("force"), "status_reason": "reset", "status_message": "reset"}
    fields = change(call, task, "created", words)
    removed = call.world.pull_from_all(task["id"])
    for name in _RESET:
        task.pop(name, None)
    task["execution"].pop("queue", None)
    task |= {"runtime": {}, "last_iteration": 0, "last_metrics": {}}
    lives.aborted(call, task["id"])
    dequeued = {"removed": removed} if was_queued else {}
    left: Doc = {"deleted_models": 0, "events": {}, "urls": {}}
    return {**left, "dequeued": dequeued, "fields": fields, "updated": 1}


def delete(call: Call, body: Doc) -> Doc:
    task = _task(call, body)
    if task["status"] != "created" and not given.flag(body, "force"):
        text = "Task cannot be deleted (due to status, use force=True)"
        status = task["status"]
        raise errors.ApiError(400, 123, text, task=task["id"], expected="created", current=status)
    call.world.pull_from_all(task["id"])
    del call.world.tasks[task["id"]]
    lives.aborted(call, task["id"])
    counts = {"updated_children": 0, "updated_models": 0, "deleted_models": 0}
    return {"deleted": True, **counts, "urls": None}


def archive(call: Call, body: Doc) -> Doc:
    tasks = [call.world.task(task_id) for task_id in given.ids(body, "tasks")]
    for task in tasks:
        if task["status"] == "queued":
            leave_own_queue(call, task)
            status = task.get("enqueue_status") or "created"
            change(call, task, status, {**body, "force": True}, enqueue_status=None)
            lives.aborted(call, task["id"])
        task["system_tags"] = sorted({*task["system_tags"], "archived"})
        task["last_change"] = stored(instant())
    return {"archived": len(tasks)}


def unarchive(call: Call, body: Doc) -> Doc:
    tasks = [call.world.task(task_id) for task_id in given.ids(body, "tasks")]
    for task in tasks:
        task["system_tags"] = [tag for tag in task["system_tags"] if tag != "archived"]
        task["last_change"] = stored(instant())
    return {"unarchived": len(tasks)}


def ping(call: Call, body: Doc) -> Doc:
    task = _task(call, body)
    task["last_update"] = task["last_change"] = stored(instant())
    return {}


def stop_many(call: Call, body: Doc) -> Doc:
    return many(call, body, stop, {"force": body.get("force")})


def reset_many(call: Call, body: Doc) -> Doc:
    return many(call, body, reset, {"force": body.get("force")})


def delete_many(call: Call, body: Doc) -> Doc:
    return many(call, body, delete, {"force": body.get("force")})


ENDPOINTS: dict[str, Endpoint] = {
    f"tasks.{endpoint.__name__}": endpoint
    for endpoint in (
        started, stopped, stop, completed, failed, publish, reset, delete, archive, unarchive,
        ping, stop_many, reset_many, delete_many,
    )
}  # fmt: skip
