"""queues.*: queues and the order of their entries. No call here looks at who owns a queue."""

from collections import OrderedDict

from sandbox.clearml import body as given
from sandbox.clearml import errors, lives
from sandbox.clearml.calls import Call, Doc, Endpoint
from sandbox.clearml.statuses import leave_queue
from sandbox.clearml.world import COMPANY, Queue, instant, stored

_SETTABLE = ("name", "display_name", "tags", "system_tags", "metadata")


def create(call: Call, body: Doc) -> Doc:
    name = _free_name(call, given.text(body, "name"))
    settings = {key: body[key] for key in _SETTABLE[1:] if body.get(key) is not None}
    return {"id": call.world.add_queue(name, settings).doc["id"]}


def update(call: Call, body: Doc) -> Doc:
    queue = call.world.queue(given.text(body, "queue"))
    fields = {key: body[key] for key in _SETTABLE if body.get(key) is not None}
    if "name" in fields:
        fields["name"] = _free_name(call, fields["name"], but=queue)
    queue.doc |= fields
    return {"fields": fields, "updated": int(bool(fields))}


def _free_name(call: Call, name: str, but: Queue | None = None) -> str:
    name = name.strip()
    if len(name) < 3:
        raise errors.too_short("name")
    if call.world.queue_named(name) not in (None, but):
        text = "Value combination already exists (unique field already contains this value)"
        raise errors.ApiError(400, 801, text, name=name, company=COMPANY)
    return name


def delete(call: Call, body: Doc) -> Doc:
    queue = call.world.queue(given.text(body, "queue"))
    if queue.entries:
        if not given.flag(body, "force"):
            text = "Queue is not empty (use force=true to delete)"
            raise errors.ApiError(400, 702, text, id=queue.doc["id"])
        _empty(call, queue, f"Queue {queue.doc['id']} was deleted")
    del call.world.queues[queue.doc["id"]]
    return {"deleted": 1}


def clear_queue(call: Call, body: Doc) -> Doc:
    queue_id = given.text(body, "queue")
    if queue_id not in call.world.queues:
        raise errors.ApiError(400, 701, "Invalid queue id", queue=queue_id)
    queue = call.world.queues[queue_id]
    return {"removed_tasks": _empty(call, queue, f"Queue {queue_id} was cleared")}


def _empty(call: Call, queue: Queue, reason: str) -> list[str]:
    """Takes all entries out; tasks whose execution.queue is this one go back as they were."""
    removed = []
    for task_id in list(queue.entries):
        call.world.pull(queue, task_id)
        task = call.world.tasks.get(task_id)
        if task and task["execution"].get("queue") == queue.doc["id"]:
            leave_queue(call, task, reason)
            removed.append(task_id)
    return removed


def add_task(call: Call, body: Doc) -> Doc:
    """Looks at neither the task's status nor its existence, nor at other queues."""
    task_id = given.text(body, "task")
    queue = call.world.queue(given.text(body, "queue"))
    call.world.push(queue, task_id)
    task = call.world.tasks.get(task_id)
    if task and given.flag(body, "update_execution_queue", True):
        task["execution"]["queue"] = queue.doc["id"]
    return {"added": 1}


def remove_task(call: Call, body: Doc) -> Doc:
    """Says 0 when it lost a race between its read and its write."""
    queue, task_id = _holding(call, body)
    call.gap("before_entry")
    removed = call.world.pull(queue, task_id)
    task = call.world.tasks.get(task_id)
    if removed and task and given.flag(body, "update_task_status"):
        leave_queue(call, task, f"Task was removed from the queue {queue.doc['id']}")
    return {"removed": int(removed)}


def _holding(call: Call, body: Doc) -> tuple[Queue, str]:
    queue_id, task_id = given.text(body, "queue"), given.text(body, "task")
    queue = call.world.queues.get(queue_id)
    if queue is None or task_id not in queue.entries:
        raise errors.not_in_queue(task_id, queue_id, COMPANY)
    return queue, task_id


def get_next_task(call: Call, body: Doc) -> Doc:
    """Pops the head. The task is not changed, but a stopped one is made queued again."""
    queue = call.world.queue(given.text(body, "queue"))
    head = next(iter(queue.entries), None)
    wanted = given.optional(body, "task", str)
    if head is None or (wanted is not None and wanted != head):
        return {}
    answer: Doc = {"entry": queue.entries[head]}
    call.world.pull(queue, head)
    lives.popped(call, head)
    task = call.world.tasks.get(head)
    if task and task["status"] == "stopped":
        task["status"] = "queued"
        lives.changed(call, task, "stopped")
    if task and given.flag(body, "get_task_info"):
        answer["task_info"] = {"company": task["company"], "user": task["user"]}
    return answer


def peek_task(call: Call, body: Doc) -> Doc:
    queue = call.world.queue(given.text(body, "queue"))
    return {"task": next(iter(queue.entries), None)}


def get_num_entries(call: Call, body: Doc) -> Doc:
    queue_id = given.text(body, "queue")
    if queue_id not in call.world.queues:
        raise errors.ApiError(400, 701, "Invalid queue id", queue_id=queue_id)
    return {"num": len(call.world.queues[queue_id].entries)}


def move_task_to_front(call: Call, body: Doc) -> Doc:
    queue, task_id = _holding(call, body)
    queue.entries.move_to_end(task_id, last=False)
    queue.touch()
    return {"position": 0}


def move_task_to_back(call: Call, body: Doc) -> Doc:
    queue, task_id = _holding(call, body)
    queue.entries.move_to_end(task_id)
    queue.touch()
    return {"position": len(queue.entries) - 1}


def move_task_forward(call: Call, body: Doc) -> Doc:
    return _step(call, body, -1)


def move_task_backward(call: Call, body: Doc) -> Doc:
    return _step(call, body, 1)


def _step(call: Call, body: Doc, direction: int) -> Doc:
    queue, task_id = _holding(call, body)
    count = given.optional(body, "count", int) or 1
    order = list(queue.entries)
    position = order.index(task_id)
    target = min(max(position + direction * count, 0), len(order) - 1)
    order.insert(target, order.pop(position))
    queue.entries = OrderedDict((task, queue.entries[task]) for task in order)
    queue.touch()
    return {"position": target}


def add_or_update_metadata(call: Call, body: Doc) -> Doc:
    queue = call.world.queue(given.text(body, "queue"))
    items = {item["key"]: item for item in given.required(body, "metadata", list)}
    kept = {} if given.flag(body, "replace_metadata") else queue.doc["metadata"]
    queue.doc["metadata"] = {**kept, **items}
    queue.doc["last_update"] = stored(instant())
    return {"updated": 1}


def delete_metadata(call: Call, body: Doc) -> Doc:
    queue = call.world.queue(given.text(body, "queue"))
    keys = given.required(body, "keys", list)
    kept = {key: item for key, item in queue.doc["metadata"].items() if key not in keys}
    queue.doc["metadata"] = kept
    return {"updated": 1}


ENDPOINTS: dict[str, Endpoint] = {
    f"queues.{endpoint.__name__}": endpoint
    for endpoint in (
        create, update, delete, clear_queue, add_task, remove_task, get_next_task, peek_task,
        get_num_entries, move_task_to_front, move_task_to_back, move_task_forward,
        move_task_backward, add_or_update_metadata, delete_metadata,
    )
}  # fmt: skip
