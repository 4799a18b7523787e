"""tasks.*: hyperparams, configuration, runtime and artifacts, changed item by item."""

from sandbox.clearml import body as given
from sandbox.clearml import errors
from sandbox.clearml.calls import Call, Doc, Endpoint
from sandbox.clearml.world import instant, stored

_MODES = frozenset(("none", "section", "all"))
_EDITABLE = ("queued", "in_progress")


def _editable(call: Call, body: Doc) -> Doc:
    """A draft, or with force a queued or running task; never one that has ended."""
    task = call.world.task(given.text(body, "task"))
    forced = given.flag(body, "force") and task["status"] in _EDITABLE
    if task["status"] != "created" and not forced:
        raise errors.invalid_status("created", task["status"])
    return task


def _touch(task: Doc, call: Call) -> None:
    task["last_update"] = task["last_change"] = stored(instant())
    task["last_changed_by"] = call.user.id


def _items(body: Doc, field: str) -> list[Doc]:
    items: list[Doc] = given.required(body, field, list)
    for item in items:
        try:
            given.optional(item, "value", str)
        except errors.ApiError as err:
            inner = err.message.removeprefix("Validation error (").removesuffix(")")
            raise errors.validation(f"error for field '{field}': {inner}.") from err
    return items


def edit_hyper_params(call: Call, body: Doc) -> Doc:
    mode = given.choice(body, "replace_hyperparams", _MODES, "none")
    items = _items(body, "hyperparams")
    only_properties = all(item["section"] == "properties" for item in items)
    task = call.world.task(given.text(body, "task")) if only_properties else _editable(call, body)
    sections = {} if mode == "all" else {**task["hyperparams"]}
    fresh = {item["section"] for item in items} if mode == "section" else set()
    for item in items:
        name = item["section"]
        kept = {} if name in fresh else sections.get(name, {})
        fresh.discard(name)
        sections[name] = {**kept, item["name"]: item}
    task["hyperparams"] = sections
    if not only_properties:
        _touch(task, call)
    return {"updated": 1}


def delete_hyper_params(call: Call, body: Doc) -> Doc:
    task = _editable(call, body)
    for key in given.required(body, "hyperparams", list):
        section = task["hyperparams"].get(key["section"], {})
        kept = {name: item for name, item in section.items() if name != key.get("name", name)}
        task["hyperparams"] = {**task["hyperparams"], key["section"]: kept}
        if not kept:
            del task["hyperparams"][key["section"]]
    _touch(task, call)
    return {"deleted": 1}


def get_hyper_params(call: Call, body: Doc) -> Doc:
    params = []
    for task in _known(call, body):
        sections = task["hyperparams"].items()
        items = [params[name] for _, params in sorted(sections) for name in sorted(params)]
        params.append({"task": task["id"], "hyperparams": items})
    return {"params": params}


def _known(call: Call, body: Doc) -> list[Doc]:
    return [call.world.tasks[key] for key in given.ids(body, "tasks") if key in call.world.tasks]


def edit_configuration(call: Call, body: Doc) -> Doc:
    items = {item["name"]: item for item in _items(body, "configuration")}
    task = _editable(call, body)
    kept = {} if given.flag(body, "replace_configuration") else task["configuration"]
    task["configuration"] = {**kept, **items}
    _touch(task, call)
    return {"updated": 1}


def delete_configuration(call: Call, body: Doc) -> Doc:
    task = _editable(call, body)
    names = given.required(body, "configuration", list)
    kept = {name: item for name, item in task["configuration"].items() if name not in names}
    task["configuration"] = kept
    _touch(task, call)
    return {"deleted": 1}


def get_configurations(call: Call, body: Doc) -> Doc:
    wanted = body.get("names")
    found = []
    for task in _known(call, body):
        names = [name for name in sorted(task["configuration"]) if not wanted or name in wanted]
        items = [task["configuration"][name] for name in names]
        found.append({"task": task["id"], "configuration": items})
    return {"configurations": found}


def get_configuration_names(call: Call, body: Doc) -> Doc:
    tasks = _known(call, body)
    found = [{"task": task["id"], "names": sorted(task["configuration"])} for task in tasks]
    return {"configurations": found}


def edit_runtime(call: Call, body: Doc) -> Doc:
    """Merges key by key. A dot in a key stays escaped in what is read back."""
    task = call.world.task(given.text(body, "task"))
    if task["status"] not in ("created", *_EDITABLE):
        raise errors.invalid_status("created", task["status"])
    added = given.optional(body, "add_or_update", dict) or {}
    removed = given.optional(body, "remove", list) or []
    if not added and not removed:
        return {"updated": 0}
    kept = {key: value for key, value in task["runtime"].items() if key not in removed}
    escaped = {key.replace(".", "%2E").replace("$", "%24"): value for key, value in added.items()}
    task["runtime"] = {**kept, **escaped}
    _touch(task, call)
    return {"updated": 1}


def add_or_update_artifacts(call: Call, body: Doc) -> Doc:
    task = call.world.task(given.text(body, "task"))
    artifacts = {artifact["key"]: artifact for artifact in task["execution"]["artifacts"]}
    for artifact in given.required(body, "artifacts", list):
        artifacts[artifact["key"]] = {"mode": "output", "display_data": [], **artifact}
    task["execution"]["artifacts"] = list(artifacts.values())
    _touch(task, call)
    return {"updated": 1}


def set_requirements(call: Call, body: Doc) -> Doc:
    task = call.world.task(given.text(body, "task"))
    requirements = given.required(body, "requirements", dict)
    task["script"] = {**task["script"], "requirements": requirements}
    _touch(task, call)
    return {"updated": 1, "fields": {"script.requirements": requirements}}


ENDPOINTS: dict[str, Endpoint] = {
    f"tasks.{endpoint.__name__}": endpoint
    for endpoint in (
        edit_hyper_params, delete_hyper_params, get_hyper_params, edit_configuration,
        delete_configuration, get_configurations, get_configuration_names, edit_runtime,
        add_or_update_artifacts, set_requirements,
    )
}  # fmt: skip
