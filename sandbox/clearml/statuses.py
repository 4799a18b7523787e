"""A task's status: which changes the server allows, and what every change writes besides."""

from collections.abc import Set as AbstractSet

from sandbox.clearml import errors, lives
from sandbox.clearml.body import words
from sandbox.clearml.calls import Call, Doc
from sandbox.clearml.world import instant, stored

STATUSES = words(
    "created queued in_progress stopped published publishing closed failed completed unknown"
)
_AFTER_STOPPED = "closed created failed queued in_progress published publishing completed"
TRANSITIONS: dict[str, AbstractSet[str]] = {
    "created": {"queued", "in_progress"},
    "queued": {"created", "in_progress", "stopped"},
    "in_progress": {"stopped", "failed", "created", "completed"},
    "stopped": words(_AFTER_STOPPED),
    "closed": {"created", "failed", "published", "publishing", "stopped"},
    "failed": {"created", "stopped", "published", "queued"},
    "publishing": {"published"},
    "completed": {"published", "in_progress", "created"},
}
# Echoes with their microseconds, the stored document with milliseconds.
TIMES = ("status_changed", "last_update", "last_change", "started", "completed", "published")


def change(call: Call, task: Doc, status: str, body: Doc, **more: object) -> Doc:
    """Changes the status, if the state machine or `force` allows it; the fields as echoed."""
    before = task["status"]
    if not (body.get("force") or status == before or status in TRANSITIONS.get(before, ())):
        raise errors.invalid_change(before, status)
    call.gap("before_status")
    if task["status"] != before:
        raise errors.ApiError(400, 121, "Failed changing task status", id=task["id"])
    now = instant()
    fields: Doc = {
        "status": status,
        "status_reason": body.get("status_reason") or "",
        "status_message": body.get("status_message") or "",
        "status_changed": now,
        "last_update": now,
        "last_change": now,
        "last_changed_by": call.user.id,
        **more,
    }
    write(task, fields)
    lives.changed(call, task, before)
    return fields


def write(task: Doc, fields: Doc) -> None:
    """Stores echoed fields; a null unsets."""
    for name, value in fields.items():
        if value is None:
            task.pop(name, None)
        else:
            task[name] = stored(value) if name in TIMES else value


def leave_queue(call: Call, task: Doc, reason: str) -> None:
    """The server's way of taking a task out: as it was before, execution.queue unset."""
    status = task.get("enqueue_status") or "created"
    body = {"force": True, "status_reason": reason}
    change(call, task, status, body, enqueue_status=None)
    task["execution"].pop("queue", None)
    lives.aborted(call, task["id"])
