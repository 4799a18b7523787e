"""Reading an object as its kind: wrong types, times without their digits, unknown fields.

A body that cannot be read is 400; a patch whose result cannot be read is 422 and echoes itself.
"""

from collections.abc import Iterator

from sandbox.kubernetes.documents import Doc, TimeError, template_containers, with_times
from sandbox.kubernetes.resources import Resource

_DAEMON_SET_SPEC = frozenset(
    ("selector", "template", "updateStrategy", "minReadySeconds", "revisionHistoryLimit")
)
_NODE_SPEC = frozenset(
    ("podCIDR", "podCIDRs", "providerID", "unschedulable", "taints", "configSource", "externalID")
)
_LEASE_SPEC = frozenset((
    "holderIdentity", "leaseDurationSeconds", "acquireTime", "renewTime", "leaseTransitions",
    "strategy", "preferredHolder",
))  # fmt: skip
_KNOWN = {"DaemonSet": _DAEMON_SET_SPEC, "Node": _NODE_SPEC, "Lease": _LEASE_SPEC}
_NUMBERS = ("leaseDurationSeconds", "leaseTransitions", "minReadySeconds", "revisionHistoryLimit")


class UnreadableError(ValueError):
    """The document is no such object; the text is Go's."""


def read(resource: Resource, doc: Doc) -> Doc:
    """The document as the kind stores it: times in their form, unknown fields dropped."""
    for problem in _type_problems(resource, doc):
        raise UnreadableError(problem)
    try:
        doc = with_times(doc)
    except TimeError as err:
        raise UnreadableError(str(err)) from None
    doc = {**doc, "apiVersion": resource.api_version, "kind": resource.kind}
    unread = {field.removeprefix("spec.") for field in unknown_fields(resource, doc)}
    if unread:
        spec = {key: value for key, value in doc["spec"].items() if key not in unread}
        doc["spec"] = spec
    return doc


def unknown_fields(resource: Resource, doc: Doc) -> list[str]:
    """Fields of the spec that the kind does not have; known for the kinds that are written."""
    known, spec = _KNOWN.get(resource.kind), doc.get("spec")
    if known is None or not isinstance(spec, dict):
        return []
    return [f"spec.{field}" for field in spec if field not in known]


def _type_problems(resource: Resource, doc: Doc) -> Iterator[str]:
    metadata, spec = doc.get("metadata"), doc.get("spec") or {}
    if not isinstance(metadata, dict) or not isinstance(spec, dict):
        yield _mismatch("array", f"{resource.kind}.spec", "map[string]interface {}")
        return
    for part in ("labels", "annotations"):
        for value in (metadata.get(part) or {}).values():
            if not isinstance(value, str):
                yield _mismatch(_go_type(value), f"ObjectMeta.metadata.{part}", "string")
    for field in _NUMBERS:
        if field in spec and (not isinstance(spec[field], int) or isinstance(spec[field], bool)):
            inside = f"{resource.kind}Spec.spec.{field}"
            yield _mismatch(_go_type(spec[field]), inside, "int32")
    for path, container in template_containers(doc):
        yield from _variable_problems(path.split("[")[0], container)


def _variable_problems(path: str, container: Doc) -> Iterator[str]:
    for variable in container.get("env") or []:
        for field in ("name", "value"):
            value = variable.get(field)
            if value is not None and not isinstance(value, str):
                yield _mismatch(_go_type(value), f"EnvVar.{path}.env.{field}", "string")


def _go_type(value: object) -> str:
    if isinstance(value, bool):
        return "bool"
    return {int: "number", float: "number", list: "array", dict: "object"}.get(
        type(value), "string"
    )


def _mismatch(got: str, field: str, wanted: str) -> str:
    return f"json: cannot unmarshal {got} into Go struct field {field} of type {wanted}"
