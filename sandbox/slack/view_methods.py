"""views.*: opened with a trigger id that was not used before and is not older than 3 s."""

from typing import Any

from sandbox.slack.calls import Call, Method
from sandbox.slack.errors import SlackError
from sandbox.slack.views import View, shown

Doc = dict[str, Any]


def view_open(call: Call) -> Doc:
    doc = _document(call, "modal")
    person = call.slack.tickets.take_trigger(call.text("trigger_id"))
    return {"view": shown(call.slack.views.open(person, doc))}


def view_push(call: Call) -> Doc:
    doc = _document(call, "modal")
    person = call.slack.tickets.take_trigger(call.text("trigger_id"))
    return {"view": shown(call.slack.views.push(person, doc))}


def view_update(call: Call) -> Doc:
    view = call.slack.views.find(call.text("view_id", ""), call.text("external_id", ""))
    doc = _document(call, str(view.doc["type"]))
    return {"view": shown(call.slack.views.update(view, doc, call.text("hash", "")))}


def view_publish(call: Call) -> Doc:
    person = call.world.person(call.text("user_id")).id
    view: View = call.slack.views.publish(person, _document(call, "home"), call.text("hash", ""))
    return {"view": shown(view)}


def _document(call: Call, kind: str) -> Doc:
    doc = call.body.get("view")
    if not isinstance(doc, dict) or doc.get("type") != kind:
        messages = [f"[ERROR] must be a view of type {kind} [json-pointer:/view/type]"]
        raise SlackError("invalid_arguments", response_metadata={"messages": messages})
    return doc


METHODS = {
    "views.open": Method(view_open),
    "views.push": Method(view_push),
    "views.update": Method(view_update),
    "views.publish": Method(view_publish),
}
