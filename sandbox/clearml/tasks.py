"""tasks.*: creating, reading and editing. An edit replaces whole fields, execution excepted."""

from copy import deepcopy

from sandbox.clearml import body as given
from sandbox.clearml import errors, lives
from sandbox.clearml.calls import Call, Doc, Endpoint
from sandbox.clearml.statuses import STATUSES
from sandbox.clearml.world import COMPANY, instant, new_id, stored

TYPES = given.words(
    "training testing inference data_processing application monitor controller report optimizer "
    "service qc custom"
)
_PLAIN = ("name", "tags", "system_tags", "comment", "project", "parent", "type", "output_dest")
_STRUCTURED = (
    "execution",
    "hyperparams",
    "configuration",
    "script",
    "models",
    "container",
    "runtime",
)
# Editing only these leaves last_update alone.
_QUIET = frozenset(("name", "tags", "system_tags", "comment", "project", "parent"))


def create(call: Call, body: Doc) -> Doc:
    given.text(body, "type")
    fields = _checked(call, body)
    return {"id": add(call, given.text(body, "name"), fields)["id"]}


def add(call: Call, name: str, fields: Doc) -> Doc:
    """A new draft of the caller's."""
    if len(name.strip()) < 3:
        raise errors.too_short("name")
    now = stored(instant())
    task: Doc = {
        "id": new_id(), "company": COMPANY, "user": call.user.id, "name": name.strip(),
        "type": "training", "status": "created", "report_assets": [], "created": now,
        "output": {}, "tags": [], "system_tags": [], "last_update": now, "last_change": now,
        "last_iteration": 0, "last_metrics": {}, "unique_metrics": [], "metric_stats": {},
        "hyperparams": {}, "configuration": {}, "runtime": {}, "container": {},
        "models": {"input": [], "output": []}, "last_changed_by": call.user.id,
        "execution": {
            "test_split": 0, "parameters": {}, "model_desc": {}, "model_labels": {},
            "artifacts": [],
        },
        "script": {"binary": "python", "repository": "", "entry_point": "", "requirements": {}},
    }  # fmt: skip
    _write(task, fields)
    call.world.tasks[task["id"]] = task
    return task


def _checked(call: Call, body: Doc) -> Doc:
    """The fields of a body that a task can have, with those checked that the server checks."""
    if "type" in body:
        given.choice(body, "type", TYPES, "training")
    if body.get("project") and body["project"] not in call.world.projects:
        text = "Invalid value for fields (expecting Project id)"
        raise errors.ApiError(400, 16, text, id=body["project"], field="project")
    for name in _STRUCTURED:
        given.optional(body, name, dict)
    names = (*_PLAIN, *_STRUCTURED)
    return {name: deepcopy(body[name]) for name in names if body.get(name) is not None}


def _write(task: Doc, fields: Doc) -> None:
    for name, value in fields.items():
        if name in ("execution", "script", "models"):
            task[name] = {**task[name], **value}
        elif name in ("tags", "system_tags"):
            task[name] = sorted(value)
        else:
            task[name] = value
    _move_legacy_parameters(task)


def _move_legacy_parameters(task: Doc) -> None:
    parameters = task["execution"].get("parameters") or {}
    if parameters:
        section = task["hyperparams"].setdefault("Args", {})
        for name, value in parameters.items():
            item = {"section": "Args", "name": name, "value": value, "type": "legacy"}
            section.setdefault(name, item)
        task["execution"]["parameters"] = {}


def edit(call: Call, body: Doc) -> Doc:
    """Drafts only, unless forced; writes any status, whatever the state machine says."""
    task = call.world.task(given.text(body, "task"))
    if task["status"] != "created" and not given.flag(body, "force"):
        raise errors.invalid_status("created", task["status"])
    fields = _checked(call, body)
    if body.get("status"):
        fields["status"] = given.choice(body, "status", STATUSES, "created")
    return _edited(call, task, fields)


def update(call: Call, body: Doc) -> Doc:
    """Any status, but only what does not matter to a run."""
    task = call.world.task(given.text(body, "task"))
    names = ("name", "comment", "status_message", "created", "project", "tags", "system_tags")
    return _edited(call, task, {name: body[name] for name in names if body.get(name) is not None})


def _edited(call: Call, task: Doc, fields: Doc) -> Doc:
    if not fields:
        return {"fields": {}, "updated": 0}
    before, now = task["status"], instant()
    _write(task, fields)
    echoed = {name: task[name] for name in fields}
    times = {"last_change": now, "last_changed_by": call.user.id}
    if not _QUIET.issuperset(fields):
        times["last_update"] = now
    task |= {
        name: value if name == "last_changed_by" else stored(value) for name, value in times.items()
    }
    if task["status"] != before:
        lives.changed(call, task, before)
    return {"fields": {**echoed, **times}, "updated": 1}


def clone(call: Call, body: Doc) -> Doc:
    source = call.world.task(given.text(body, "task"))
    name = given.optional(body, "new_task_name", str) or f"Clone of {source['name']}"
    copied = {
        field: deepcopy(source[field]) for field in ("hyperparams", "configuration", "script")
    }
    copied |= {field: source[field] for field in ("type", "tags", "container") if field in source}
    task = add(call, name, copied)
    task |= {field: source[field] for field in ("project", "comment") if field in source}
    task["parent"] = given.optional(body, "new_task_parent", str) or source.get(
        "parent", source["id"]
    )
    return {"id": task["id"]}


def update_tags(call: Call, body: Doc) -> Doc:
    """Counts its two writes, adding and removing, apart."""
    added, removed = body.get("add_tags") or [], body.get("remove_tags") or []
    known = [call.world.tasks[key] for key in given.ids(body) if key in call.world.tasks]
    for task in known:
        task["tags"] = sorted({*task["tags"], *added} - set(removed))
        task["last_change"] = stored(instant())
    return {"updated": len(known) * (bool(added) + bool(removed))}


ENDPOINTS: dict[str, Endpoint] = {
    f"tasks.{endpoint.__name__}": endpoint
    for endpoint in (create, edit, update, clone, update_tags)
}
