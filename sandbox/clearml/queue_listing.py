"""queues.*: reading. Queues tagged k8s-glue are hidden unless asked for by id, name or flag."""

from sandbox.clearml import body as given
from sandbox.clearml import errors
from sandbox.clearml.calls import Call, Doc, Endpoint
from sandbox.clearml.filters import QUEUE_LISTS, found, pattern
from sandbox.clearml.listing import ordered, paged
from sandbox.clearml.projection import QUEUE_FIELDS, check, shown
from sandbox.clearml.world import COMPANY, HIDDEN_QUEUE_TAG, Queue


def get_by_id(call: Call, body: Doc) -> Doc:
    queue = call.world.queue(given.text(body, "queue"))
    return {"queue": _shortened(queue.shown(), body)}


def get_default(call: Call, _body: Doc) -> Doc:
    queue = default_queue(call)
    return {"id": queue.doc["id"], "name": queue.doc["name"]}


def default_queue(call: Call) -> Queue:
    for queue in call.world.queues.values():
        if "default" in queue.doc["system_tags"]:
            return queue
    raise errors.ApiError(400, 707, "Could not find queue tagged as default", company=COMPANY)


def get_all(call: Call, body: Doc) -> Doc:
    docs, more = paged(call.world, _listed(call, body), body)
    fields = given.optional(body, "only_fields", list) or body.get("projection")
    check(fields, QUEUE_FIELDS)
    full = [_shortened(call.world.queues[doc["id"]].shown(), body) for doc in docs]
    return {"queues": [shown(doc, fields, QUEUE_FIELDS) for doc in full], **more}


def get_all_ex(call: Call, body: Doc) -> Doc:
    """Joins tasks and workers; only_fields is ignored."""
    docs, more = paged(call.world, _listed(call, body), body)
    return {"queues": [_joined(call, doc, body) for doc in docs], **more}


def _listed(call: Call, body: Doc) -> list[Doc]:
    if body.get("name") is not None:
        pattern(body["name"])
    docs = {queue_id: queue.doc for queue_id, queue in call.world.queues.items()}
    chosen = found(docs, body, QUEUE_LISTS)
    if not (body.get("search_hidden") or body.get("id") or body.get("name")):
        chosen = [doc for doc in chosen if HIDDEN_QUEUE_TAG not in doc["system_tags"]]
    return ordered(chosen, body, QUEUE_FIELDS)


def _shortened(doc: Doc, body: Doc) -> Doc:
    limit = given.optional(body, "max_task_entries", int)
    return doc if limit is None else {**doc, "entries": doc["entries"][:limit]}


def _joined(call: Call, doc: Doc, body: Doc) -> Doc:
    entries = []
    for entry in _shortened(call.world.queues[doc["id"]].shown(), body)["entries"]:
        task = call.world.tasks.get(entry["task"])
        name = {"name": task["name"]} if task else {}
        entries.append({"task": {"id": entry["task"], **name}, "added": entry["added"]})
    workers = [_listener(worker) for worker in watchers(call, doc["id"])]
    return {**doc, "company": {"id": doc["company"]}, "entries": entries, "workers": workers}


def watchers(call: Call, queue_id: str) -> list[Doc]:
    return [worker for worker in call.world.live_workers() if queue_id in worker["queues"]]


def _listener(worker: Doc) -> Doc:
    listener = {"name": worker["id"], "ip": worker["ip"], "key": worker["key"]}
    if worker.get("task"):
        listener["task"] = {key: worker["task"][key] for key in ("id", "name")}
    return listener


def get_queue_metrics(_call: Call, _body: Doc) -> Doc:
    """Always empty: the real server keeps this history in Elasticsearch."""
    return {"queues": []}


ENDPOINTS: dict[str, Endpoint] = {
    f"queues.{endpoint.__name__}": endpoint
    for endpoint in (get_by_id, get_default, get_all, get_all_ex, get_queue_metrics)
}
