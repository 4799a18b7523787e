"""Objects as JSON documents: copies, paths into them, times, and Go's way of printing them."""

import re
import time
from collections.abc import Iterator
from typing import Any

Doc = dict[str, Any]

# Lists that are merged by a key of their items: the strategic merge of the API's own types.
MERGE_KEYS: dict[str, str] = {
    "containers": "name",
    "initContainers": "name",
    "ephemeralContainers": "name",
    "env": "name",
    "volumes": "name",
    "volumeMounts": "mountPath",
    "volumeDevices": "devicePath",
    "ports": "containerPort",
    "imagePullSecrets": "name",
    "hostAliases": "ip",
    "conditions": "type",
    "addresses": "type",
    "taints": "key",
    "ownerReferences": "uid",
    "topologySpreadConstraints": "topologyKey",
}
# Lists of plain values that a strategic merge unites.
MERGED_SETS = frozenset(("finalizers",))


def copied(value: Any) -> Any:
    """A deep copy of JSON; several times faster than copy.deepcopy."""
    if isinstance(value, dict):
        return {key: copied(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [copied(inner) for inner in value]
    return value


def at(doc: Any, *path: str | int) -> Any:
    """What lies at the path, or None."""
    for step in path:
        if isinstance(doc, dict):
            doc = doc.get(step)
        elif isinstance(doc, list) and isinstance(step, int) and step < len(doc):
            doc = doc[step]
        else:
            return None
    return doc


def name_of(doc: Doc) -> str:
    return str(doc["metadata"]["name"])


def namespace_of(doc: Doc) -> str:
    return str(doc["metadata"].get("namespace", ""))


def labels_of(doc: Doc) -> Doc:
    return doc["metadata"].get("labels") or {}


def annotations_of(doc: Doc) -> Doc:
    return doc["metadata"].get("annotations") or {}


def instant(ahead: float = 0.0) -> str:
    """Now, as metadata says it: whole seconds, UTC."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + ahead))


def go_text(value: Any) -> str:
    """As Go prints a value: map[spec:map[unschedulable:true]]."""
    if isinstance(value, dict):
        return f"map[{' '.join(f'{key}:{go_text(value[key])}' for key in sorted(value))}]"
    if isinstance(value, list):
        return f"[{' '.join(go_text(inner) for inner in value)}]"
    if isinstance(value, bool):
        return "true" if value else "false"
    return "<nil>" if value is None else str(value)


def template_containers(doc: Doc) -> Iterator[tuple[str, Doc]]:
    """The containers of a pod, or of a template, each with the path that errors say."""
    inside = "spec.template.spec" if at(doc, "spec", "template") else "spec"
    spec = at(doc, *inside.split(".")) or {}
    for field in ("initContainers", "containers"):
        for number, container in enumerate(spec.get(field) or []):
            yield f"{inside}.{field}[{number}]", container


_TIME = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(\.\d+)?(Z|[+-]\d\d:\d\d)")
_MICRO_FIELDS = frozenset(("acquireTime", "renewTime", "eventTime", "lastObservedTime"))
_MICRO_FORMAT = "2006-01-02T15:04:05.000000Z07:00"


class TimeError(ValueError):
    """A time that the API server does not take."""


def with_times(value: Any, field: str = "") -> Any:
    """The document with its times as the server stores them; micro times need six digits."""
    if isinstance(value, dict):
        return {key: with_times(inner, key) for key, inner in value.items()}
    if isinstance(value, list):
        return [with_times(inner) for inner in value]
    if not isinstance(value, str) or not field.endswith(("Time", "Timestamp")):
        return value
    if (found := _TIME.fullmatch(value)) is None:
        return value
    if field not in _MICRO_FIELDS:
        return f"{found[1]}Z"
    if len(found[2] or "") != len(".000000"):
        rest = (found[2] or "") + found[3]
        raise TimeError(
            f'parsing time "{value}" as "{_MICRO_FORMAT}": cannot parse "{rest}" as ".000000"'
        )
    return f"{found[1]}{found[2]}Z"
