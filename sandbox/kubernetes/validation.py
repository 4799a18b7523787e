"""What an object must be to be stored: 422 with a cause per field, in the server's words."""

import base64
import json
import re
from collections.abc import Iterator
from typing import Any

from sandbox.kubernetes import errors
from sandbox.kubernetes.documents import Doc, at, go_text, labels_of, template_containers
from sandbox.kubernetes.errors import cause
from sandbox.kubernetes.resources import NODES, Resource
from sandbox.kubernetes.selectors import by_selector

_NAME = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
_NAME_RULE = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or "
    "'.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used "
    "for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
)
_LABEL_VALUE = re.compile(r"(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?")
_LABEL_RULE = (
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or "
    "'.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  "
    "or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
)
_LABEL_LIMIT = 63


def check(resource: Resource, new: Doc, old: Doc | None = None) -> None:
    """Raises the 422 that the real server answers to this object, if it does."""
    causes = list(_metadata(new))
    if resource.kind == "DaemonSet":
        causes += _daemon_set(new, old)
    elif resource.kind == "Pod":
        causes += _containers(new)
    elif resource.kind == "Lease":
        causes += _lease(new)
    elif resource.kind == "Event":
        causes += _event(new)
    elif resource.kind == "Secret":
        causes += _secret(new)
    if causes:
        raise errors.invalid(resource, str(new["metadata"].get("name", "")), causes)


def _invalid(field: str, value: Any, rule: str) -> Doc:
    shown = f'"{value}"' if isinstance(value, str) else _json(value)
    return cause(field, f"Invalid value: {shown}: {rule}")


def _json(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"))


def _metadata(new: Doc) -> Iterator[Doc]:
    name = new["metadata"].get("name") or ""
    if not name:
        text = "Required value: name or generateName is required"
        yield cause("metadata.name", text, "FieldValueRequired")
    elif not _NAME.fullmatch(name):
        yield _invalid("metadata.name", name, _NAME_RULE)
    for value in labels_of(new).values():
        if len(value) > _LABEL_LIMIT:
            rule = f"must be no more than {_LABEL_LIMIT} bytes"
            yield _invalid("metadata.labels", value, rule)
        elif not _LABEL_VALUE.fullmatch(value):
            yield _invalid("metadata.labels", value, _LABEL_RULE)


def _daemon_set(new: Doc, old: Doc | None) -> Iterator[Doc]:
    selector = at(new, "spec", "selector") or {}
    if old and at(old, "spec", "selector") != selector:
        yield _invalid("spec.selector", selector, "field is immutable")
    labels = at(new, "spec", "template", "metadata", "labels") or {}
    if not by_selector(selector)(labels):
        rule = "`selector` does not match template `labels`"
        yield _invalid("spec.template.metadata.labels", labels, rule)
    yield from _containers(new)


def _containers(new: Doc) -> Iterator[Doc]:
    names: set[str] = set()
    found = list(template_containers(new))
    if not any(".containers[" in path for path, _ in found):
        inside = "spec.template.spec" if at(new, "spec", "template") else "spec"
        yield cause(f"{inside}.containers", "Required value", "FieldValueRequired")
    for path, container in found:
        for field in ("name", "image"):
            if not container.get(field):
                yield cause(f"{path}.{field}", "Required value", "FieldValueRequired")
        name = container.get("name")
        if name in names:
            text = f'Duplicate value: "{name}"'
            yield cause(f"{path}.name", text, "FieldValueDuplicate")
        names.add(str(name))
        yield from _variables(path, container)


def _variables(path: str, container: Doc) -> Iterator[Doc]:
    for number, variable in enumerate(container.get("env") or []):
        where = f"{path}.env[{number}]"
        if not variable.get("name"):
            yield cause(f"{where}.name", "Required value", "FieldValueRequired")
        if variable.get("value") and variable.get("valueFrom"):
            rule = "may not be specified when `value` is not empty"
            yield cause(f"{where}.valueFrom", f'Invalid value: "": {rule}')


def _lease(new: Doc) -> Iterator[Doc]:
    spec = new.get("spec") or {}
    for field, least in (("leaseDurationSeconds", 1), ("leaseTransitions", 0)):
        value = spec.get(field)
        if value is not None and value < least:
            rule = "must be greater than 0" if least else "must be greater than or equal to 0"
            yield _invalid(f"spec.{field}", value, rule)


def _event(new: Doc) -> Iterator[Doc]:
    """Events about nodes, which have no namespace, belong in `default`."""
    where = new["metadata"].get("namespace")
    about = new.get("involvedObject") or {}
    namespace = about.get("namespace") or ""
    fits = namespace == where or (not namespace and where == "default")
    if about.get("kind") == NODES.kind and where != "default":
        fits = False
    if not fits:
        rule = "does not match event.namespace"
        yield _invalid("involvedObject.namespace", namespace, rule)


def _secret(new: Doc) -> Iterator[Doc]:
    for key, value in (new.get("data") or {}).items():
        try:
            base64.b64decode(value, validate=True)
        except ValueError:
            yield _invalid(f"data[{key}]", go_text(value), "illegal base64 data")
