"""users.*, projects.*, events.*, and the server about itself: what the clients need of them."""

from sandbox.clearml import body as given
from sandbox.clearml import errors
from sandbox.clearml.calls import Call, Doc, Endpoint
from sandbox.clearml.filters import found
from sandbox.clearml.listing import ordered, paged
from sandbox.clearml.projection import PROJECT_FIELDS, shown
from sandbox.clearml.world import COMPANY, COMPANY_NAME, User, instant, new_id, stored


def users_get_all(call: Call, body: Doc) -> Doc:
    docs = {user.id: {"id": user.id, "name": user.name} for user in call.world.users.values()}
    return {"users": found(docs, body, ())}


def users_get_current(call: Call, _body: Doc) -> Doc:
    start = {"agentName": "clearml", "configure": "clearml-init"}
    start |= {"install": "pip install clearml", "packageName": "clearml"}
    settings = {"max_download_items": 50000}
    return {"user": _person(call.user), "getting_started": start, "settings": settings}


def _person(user: User) -> Doc:
    company = {"id": COMPANY, "name": COMPANY_NAME}
    person: Doc = {"id": user.id, "name": user.name, "role": "user", "company": company}
    return person | {"created": user.created}


def users_get_by_id(call: Call, body: Doc) -> Doc:
    user = call.world.users.get(given.text(body, "user"))
    if user is None:
        raise errors.ApiError(400, 401, f"Invalid user id: id={body['user']}")
    return {"user": {"id": user.id, "name": user.name, "company": COMPANY}}


def projects_create(call: Call, body: Doc) -> Doc:
    name = given.text(body, "name").strip()
    if any(project["name"] == name for project in call.world.projects.values()):
        text = "Value combination already exists (unique field already contains this value)"
        raise errors.ApiError(400, 801, text, name=name, company=COMPANY)
    now = stored(instant())
    project: Doc = {"id": new_id(), "name": name, "basename": name.rpartition("/")[2]}
    project |= {"description": "", "tags": [], "system_tags": [], "path": []}
    settable = ("description", "tags", "system_tags")
    settings: Doc = {key: body[key] for key in settable if key in body}
    project |= {"company": COMPANY, "user": call.user.id, "created": now, "last_update": now}
    call.world.projects[project["id"]] = {**project, **settings}
    return {"id": project["id"]}


def projects_get_all(call: Call, body: Doc) -> Doc:
    chosen = found(call.world.projects, body, ("tags", "system_tags", "user"))
    docs, more = paged(call.world, ordered(chosen, body, PROJECT_FIELDS), body)
    fields = body.get("only_fields")
    return {"projects": [shown(doc, fields, PROJECT_FIELDS) for doc in docs], **more}


def projects_get_by_id(call: Call, body: Doc) -> Doc:
    project = call.world.projects.get(given.text(body, "project"))
    if project is None:
        raise errors.ApiError(400, 601, f"Invalid project id: id={body['project']}")
    return {"project": project}


def models_get_all(_call: Call, _body: Doc) -> Doc:
    return {"models": []}


def events_add(_call: Call, body: Doc) -> Doc:
    """Takes events and keeps none."""
    return {"added": len(body.get("requests") or [1]), "errors": 0, "errors_info": {}}


def events_none(_call: Call, _body: Doc) -> Doc:
    return {"events": [], "returned": 0, "total": 0, "scroll_id": None}


def server_info(call: Call, _body: Doc) -> Doc:
    world = call.world
    about = {"version": world.server_version, "api_version": world.api_version}
    return {**about, "build": "", "commit": ""}


def ping(_call: Call, _body: Doc) -> Doc:
    return {"msg": "ClearML server"}


ENDPOINTS: dict[str, Endpoint] = {
    "users.get_all": users_get_all,
    "users.get_all_ex": users_get_all,
    "users.get_current_user": users_get_current,
    "users.get_by_id": users_get_by_id,
    "projects.create": projects_create,
    "projects.get_all": projects_get_all,
    "projects.get_all_ex": projects_get_all,
    "projects.get_by_id": projects_get_by_id,
    "models.get_all": models_get_all,
    "events.add": events_add,
    "events.add_batch": events_add,
    "events.get_task_log": events_none,
    "server.info": server_info,
    "debug.ping": ping,
}
