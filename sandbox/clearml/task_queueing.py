"""tasks.enqueue and tasks.dequeue, with their side effects in the order of the server's writes."""

from sandbox.clearml import body as given
from sandbox.clearml import errors, lives
from sandbox.clearml.calls import Call, Doc, Endpoint
from sandbox.clearml.queue_listing import default_queue, watchers
from sandbox.clearml.statuses import STATUSES, change
from sandbox.clearml.world import Queue


def enqueue(call: Call, body: Doc) -> Doc:
    task = call.world.task(given.text(body, "task"))
    point = _points(call, task, body)
    queue_id = _target(call, body)
    before = task["status"]
    previous = before if before != "queued" else task.get("enqueue_status") or "queued"
    fields = change(call, task, "queued", body, enqueue_status=previous)
    call.gap("before_entry")
    queue = _push(call, task, queue_id, before)
    _drop_development_tag(task)
    if point:
        task["execution"]["queue"] = fields["execution.queue"] = queue_id
    call.world.pull_from_all(task["id"], but=queue_id)
    lives.enqueued(call, task["id"], fields["status_reason"])
    answer: Doc = {"fields": fields, "queued": 1, "updated": 1}
    if given.flag(body, "verify_watched_queue"):
        answer["queue_watched"] = bool(watchers(call, queue.doc["id"]))
    return answer


def _points(call: Call, task: Doc, body: Doc) -> bool:
    """Whether to write execution.queue; not doing so is refused unless the task is queued."""
    if given.flag(body, "update_execution_queue", True):
        return True
    if not call.world.knows_update_execution_queue:
        return True
    if task["status"] != "queued" or not task["execution"].get("queue"):
        raise errors.validation(
            "Cannot skip setting execution queue for a task that is not enqueued "
            "or does not have execution queue set"
        )
    return False


def _target(call: Call, body: Doc) -> str:
    """The id asked for (it may not exist), that of a name (created if new), or the default."""
    queue_id, name = given.optional(body, "queue", str), given.optional(body, "queue_name", str)
    if queue_id and name:
        raise errors.validation("Either queue id or queue name should be provided")
    if queue_id:
        return queue_id
    queue = (
        call.world.queue_named(name) or call.world.add_queue(name, {})
        if name
        else default_queue(call)
    )
    return str(queue.doc["id"])


def _push(call: Call, task: Doc, queue_id: str, before: str) -> Queue:
    """Adds the entry; on failure the status goes back, and enqueue_status is lost."""
    try:
        queue = call.world.queue(queue_id)
        call.world.push(queue, task["id"])
    except errors.ApiError:
        reason = {"force": True, "status_reason": "failed enqueueing"}
        change(call, task, before, reason, enqueue_status=None)
        raise
    return queue


def _drop_development_tag(task: Doc) -> None:
    task["system_tags"] = [tag for tag in task["system_tags"] if tag != "development"]


def dequeue(call: Call, body: Doc) -> Doc:
    """Says dequeued even when it did nothing; a running task becomes what it was before."""
    task_id = given.text(body, "task")
    status = given.optional(body, "new_status", str)
    if status is not None and status not in STATUSES:
        raise errors.validation(f"Invalid task status: {status}")
    task = call.world.tasks.get(task_id)
    fields: Doc = {}
    if task is not None:
        _pull(call, task, given.flag(body, "remove_from_all_queues"))
        if task["status"] in ("queued", "in_progress"):
            fields = take_out(call, task, body, status)
    return {"dequeued": 1, "fields": fields, "updated": int(bool(fields))}


def take_out(call: Call, task: Doc, body: Doc, status: str | None = None) -> Doc:
    was_queued = task["status"] == "queued"
    status = status or task.get("enqueue_status") or "created"
    fields = change(call, task, status, {**body, "force": True}, enqueue_status=None)
    if status == "in_progress" and was_queued:
        lives.pod_started(call, task["id"])
    elif status not in ("queued", "in_progress"):
        lives.aborted(call, task["id"], fields["status_reason"])
    return fields


def _pull(call: Call, task: Doc, everywhere: bool) -> None:
    if everywhere:
        call.world.pull_from_all(task["id"])
    elif queue := call.world.queues.get(task["execution"].get("queue", "")):
        call.world.pull(queue, task["id"])


def leave_own_queue(call: Call, task: Doc) -> None:
    """Takes the entry out of execution.queue's queue only, and changes nothing else."""
    _pull(call, task, everywhere=False)


def many(call: Call, body: Doc, one: Endpoint, words: Doc) -> Doc:
    """Runs `one` per id; each failure is told beside its id. `words` replaces counts by flags."""
    succeeded, failed = [], []
    for task_id in given.ids(body):
        try:
            answer = one(call, {**body, "task": task_id, "force": words.get("force", False)})
        except errors.ApiError as refusal:
            error = {"codes": [refusal.code, refusal.subcode], "msg": refusal.message}
            failed.append({"id": task_id, "error": {**error, "data": refusal.data}})
        else:
            flags = {name: bool(answer[name]) for name in words.get("flags", ())}
            succeeded.append({"id": task_id, **answer, **flags})
    return {"succeeded": succeeded, "failed": failed}


def enqueue_many(call: Call, body: Doc) -> Doc:
    """Knows no update_execution_queue: it always points."""
    always = {**body, "update_execution_queue": True}
    return many(call, always, enqueue, {"flags": ("queued",)})


def dequeue_many(call: Call, body: Doc) -> Doc:
    return many(call, body, dequeue, {"flags": ("dequeued",)})


ENDPOINTS: dict[str, Endpoint] = {
    f"tasks.{endpoint.__name__}": endpoint
    for endpoint in (enqueue, dequeue, enqueue_many, dequeue_many)
}
