"""Create, update and patch, with dry runs, conflicts and field managers."""

import base64
import json
from typing import Any

from sandbox.kubernetes import decoding, errors, ownership, patches, storing
from sandbox.kubernetes.calls import APPLY, JSON_PATCH, MERGE_PATCH, STRATEGIC_MERGE, Answer, Call
from sandbox.kubernetes.decoding import UnreadableError
from sandbox.kubernetes.defaults import suffix
from sandbox.kubernetes.documents import Doc, go_text
from sandbox.kubernetes.ownership import Writer
from sandbox.kubernetes.resources import NAMESPACES

_OPTIONS = {"create": "CreateOptions", "update": "UpdateOptions", "patch": "PatchOptions"}
# Kinds whose PUT must say which version it replaces.
_CONDITIONAL = frozenset(("Lease", "PodDisruptionBudget"))
_PATCH_TYPES = (JSON_PATCH, MERGE_PATCH, STRATEGIC_MERGE, APPLY)


def create(call: Call) -> Answer:
    _check_options(call)
    body = _sent_object(call)
    metadata = dict(body.get("metadata") or {})
    if metadata.get("resourceVersion"):
        text = "resourceVersion should not be set on objects to be created"
        raise errors.ApiError(500, "", text)
    if metadata.get("generateName") and not metadata.get("name"):
        metadata["name"] = metadata["generateName"] + suffix()
    if call.resource.namespaced:
        _check_namespace(call, metadata)
        metadata["namespace"] = call.namespace
    for field in ("uid", "creationTimestamp", "generation", "managedFields", "selfLink"):
        metadata.pop(field, None)
    name = str(metadata.get("name") or "")
    if call.store.find(call.resource, call.namespace, name):
        raise errors.already_exists(call.resource, name)
    new = storing.prepared(call.resource, _secret_text({**body, "metadata": metadata}), call.writer)
    return Answer(201, new if call.dry_run else call.store.put(call.resource, new))


def _check_namespace(call: Call, metadata: Doc) -> None:
    if metadata.get("namespace", call.namespace) != call.namespace:
        text = (
            "the namespace of the provided object does not match the namespace sent on the request"
        )
        raise errors.bad_request(text)
    if call.store.find(NAMESPACES, "", call.namespace) is None:
        raise errors.not_found(NAMESPACES, call.namespace)


def _secret_text(doc: Doc) -> Doc:
    """`stringData` is written into `data`."""
    given = doc.pop("stringData", None) or {}
    if given:
        encoded = {key: base64.b64encode(text.encode()).decode() for key, text in given.items()}
        doc["data"] = {**(doc.get("data") or {}), **encoded}
    return doc


def _sent_object(call: Call) -> Doc:
    """The body of a POST or PUT, read as its kind; what cannot be read is 400."""
    body, kind = call.request.body(), call.resource.kind
    if not isinstance(body, dict):
        raise errors.bad_request("couldn't get version/kind; json parse error")
    body.setdefault("metadata", {})
    if unknown := _unknown(call, body):
        text = f'{kind} in version "v1" cannot be handled as a {kind}: {unknown}'
        raise errors.bad_request(text)
    try:
        return decoding.read(call.resource, body)
    except UnreadableError as err:
        text = f'{kind} in version "v1" cannot be handled as a {kind}: {err}'
        raise errors.bad_request(text) from None


def _unknown(call: Call, body: Any) -> str:
    if call.request.query.get("fieldValidation") != "Strict" or not isinstance(body, dict):
        return ""
    fields = [f'unknown field "{name}"' for name in decoding.unknown_fields(call.resource, body)]
    return f"strict decoding error: {', '.join(fields)}" if fields else ""


def _check_options(call: Call) -> None:
    said = call.request.query.get("dryRun")
    if said not in (None, "All"):
        text = f'Unsupported value: ["{said}"]: supported values: "All"'
        why = errors.cause("dryRun", text, "FieldValueNotSupported")
        raise errors.invalid_options(_OPTIONS[call.attempt.verb], [why])


def update(call: Call) -> Answer:
    _check_options(call)
    body = _sent_object(call)
    metadata = body["metadata"]
    if metadata.get("name") != call.name:
        said = metadata.get("name", "")
        text = f"the name of the object ({said}) does not match the name on the URL ({call.name})"
        raise errors.bad_request(text)
    old = call.current()
    if metadata.get("uid", old["metadata"]["uid"]) != old["metadata"]["uid"]:
        why = (
            f"Precondition failed: UID in precondition: {metadata['uid']}, "
            f"UID in object meta: {old['metadata']['uid']}"
        )
        raise errors.conflict(call.resource, call.name, why)
    if call.resource.kind in _CONDITIONAL and not metadata.get("resourceVersion"):
        text = "Invalid value: 0x0: must be specified for an update"
        why_not = errors.cause("metadata.resourceVersion", text)
        raise errors.invalid(call.resource, call.name, [why_not])
    return _stored(call, old, body)


def patch(call: Call) -> Answer:
    _check_options(call)
    kind = call.request.content_type
    if kind not in _PATCH_TYPES:
        text = (
            "the body of the request was in an unknown format - accepted media types include: "
            + ", ".join(_PATCH_TYPES)
        )
        raise errors.ApiError(415, "UnsupportedMediaType", text, {})
    sent = call.request.body()
    if kind == APPLY:
        return _apply(call, sent)
    old = call.current()
    if unknown := _unknown(call, sent):
        raise errors.invalid_patch(go_text(sent), unknown)
    new = _patched(kind, old, sent)
    try:
        new = decoding.read(call.resource, new)
    except UnreadableError as err:
        echo = _quoted(new) if kind == JSON_PATCH else go_text(sent)
        raise errors.invalid_patch(echo, str(err)) from None
    if new["metadata"].get("uid") != old["metadata"]["uid"]:
        text = f'Invalid value: "{new["metadata"].get("uid", "")}": field is immutable'
        why = errors.cause("metadata.uid", text)
        raise errors.invalid(call.resource, call.name, [why, why])
    return _stored(call, old, new)


def _patched(kind: str, old: Doc, sent: Any) -> Doc:
    if kind == JSON_PATCH:
        return patches.json_patch(old, sent)
    merged = patches.merge_patch if kind == MERGE_PATCH else patches.strategic_merge
    result: Doc = merged(old, sent)
    return result


def _quoted(doc: Doc) -> str:
    """The whole object as JSON inside a Go string: what a JSON patch is refused with."""
    ordered = {"apiVersion": doc["apiVersion"], **doc}
    return json.dumps(json.dumps(ordered, separators=(",", ":")))[1:-1]


def _apply(call: Call, sent: Doc) -> Answer:
    """Server-side apply; it needs a field manager, and creates what is not there."""
    query = call.request.query
    if not query.get("fieldManager"):
        text = "Required value: is required for apply patch"
        why = errors.cause("fieldManager", text, "FieldValueRequired")
        raise errors.invalid_options("PatchOptions", [why])
    sent = {"metadata": {}, **sent}
    sent["metadata"] = {**sent["metadata"], "name": call.name}
    if call.resource.namespaced:
        sent["metadata"]["namespace"] = call.namespace
    old = call.store.find(call.resource, call.namespace, call.name)
    if old is None:
        new = storing.prepared(call.resource, sent, call.writer)
        return Answer(201, new if call.dry_run else call.store.put(call.resource, new))
    new = ownership.applied(old, sent, call.writer, force=query.get("force") == "true")
    managed = new["metadata"]["managedFields"]
    result = storing.revised(call.resource, old, new, call.writer)
    if result is old:
        return Answer(200, old)
    result["metadata"]["managedFields"] = managed
    return Answer(200, result if call.dry_run else call.store.put(call.resource, result))


def _stored(call: Call, old: Doc, new: Doc) -> Answer:
    said = new["metadata"].get("resourceVersion")
    if said and said != old["metadata"]["resourceVersion"]:
        raise errors.conflict(call.resource, call.name)
    writer = Writer(call.writer.manager, "Update", call.attempt.subresource)
    result = storing.revised(call.resource, old, _secret_text(new), writer)
    if result is old or call.dry_run:
        return Answer(200, result)
    return Answer(200, call.store.put(call.resource, result))
