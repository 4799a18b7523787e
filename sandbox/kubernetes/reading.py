"""Get and list: selectors, pages that agree with each other, and the past until it is compacted."""

from sandbox.kubernetes import errors
from sandbox.kubernetes.calls import Answer, Call, token_text, token_value
from sandbox.kubernetes.documents import Doc
from sandbox.kubernetes.selectors import Test, by_fields, by_labels
from sandbox.kubernetes.store import Key

_TOO_OLD = "The resourceVersion for the provided list is too old."
_TOKEN_TOO_OLD = (
    "The provided continue parameter is too old to display a consistent list result. You can "
    "start a new list without the continue parameter."
)


def get(call: Call) -> Answer:
    table = call.store.as_of(call.resource, call.store.seen_at(call.resource))
    found = table.get((call.namespace, call.name))
    if found is None:
        raise errors.not_found(call.resource, call.name)
    return Answer(200, found)


def selection(call: Call) -> Test:
    """The label selector, field selector and namespace of a list or a watch, as one test."""
    query = call.request.query
    labels = by_labels(query.get("labelSelector", ""))
    fields = by_fields(call.resource, query.get("fieldSelector", ""))
    namespace = call.namespace

    def selects(doc: Doc) -> bool:
        inside = not namespace or doc["metadata"].get("namespace") == namespace
        return inside and labels(doc) and fields(doc)

    return selects


def list_all(call: Call) -> Answer:
    """Items say neither kind nor apiVersion; they come in order of namespace and name."""
    query = call.request.query
    selects = selection(call)
    version, start = _place(call)
    table = call.store.as_of(call.resource, version)
    keys = sorted(key for key in table if key > start and selects(table[key]))
    limit = int(query.get("limit") or 0)
    metadata: Doc = {"resourceVersion": str(version)}
    if limit and len(keys) > limit:
        rest = len(keys) - limit
        keys = keys[:limit]
        metadata["continue"] = token_text({"rv": version, "start": keys[-1]})
        if not query.get("labelSelector") and not query.get("fieldSelector"):
            metadata["remainingItemCount"] = rest
    items = [_item(table[key]) for key in keys]
    kind, api_version = f"{call.resource.kind}List", call.resource.api_version
    return Answer(
        200, {"kind": kind, "apiVersion": api_version, "metadata": metadata, "items": items}
    )


def _item(doc: Doc) -> Doc:
    return {key: value for key, value in doc.items() if key not in ("kind", "apiVersion")}


def _place(call: Call) -> tuple[int, Key]:
    """The version and the key after which the list starts; 410 when that past is forgotten."""
    query, store = call.request.query, call.store
    if text := query.get("continue"):
        token = token_value(text)
        if token["rv"] < store.oldest:
            raise errors.expired(_TOKEN_TOO_OLD)
        namespace, name = token["start"]
        return token["rv"], (namespace, name)
    if query.get("resourceVersionMatch") == "Exact":
        version = int(query["resourceVersion"])
        if version < store.oldest:
            raise errors.expired(_TOO_OLD)
        return version, ("", "")
    return store.seen_at(call.resource), ("", "")
