"""metadata.managedFields: who wrote a field last, as structured-merge-diff keeps it.

Fields are paths of FieldsV1 elements ("f:spec", 'k:{"name":"POLICY"}'); a write takes the fields
that it changes, an apply is refused where it would change a field of another (recording 27).
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from sandbox.kubernetes import errors
from sandbox.kubernetes.documents import MERGE_KEYS, Doc, instant
from sandbox.kubernetes.patches import strategic_merge

Path = tuple[str, ...]

_SYSTEM = frozenset((
    "name", "namespace", "uid", "resourceVersion", "generation", "creationTimestamp",
    "deletionTimestamp", "deletionGracePeriodSeconds", "managedFields", "generateName",
))  # fmt: skip


@dataclass(frozen=True, slots=True)
class Writer:
    """Whose write it is, and how: operation Update or Apply, on the object or its status."""

    manager: str
    operation: str = "Update"
    subresource: str = ""

    def wrote(self, entry: Doc) -> bool:
        key = (entry["manager"], entry["operation"], entry.get("subresource", ""))
        return key == (self.manager, self.operation, self.subresource)


def leaves(value: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """The fields of a document with their values; items of keyed lists by their key."""
    if isinstance(value, dict) and value:
        for key, inner in value.items():
            yield from leaves(inner, (*path, f"f:{key}"))
        return
    key = MERGE_KEYS.get(path[-1][2:]) if path and isinstance(value, list) else None
    if key and value and all(isinstance(one, dict) and key in one for one in value):
        for one in value:
            inside = (*path, "k:" + json.dumps({key: one[key]}, separators=(",", ":")))
            yield (*inside, "."), None
            yield from leaves(one, inside)
        return
    yield path, value


def owned_part(doc: Doc) -> dict[Path, Any]:
    metadata = {key: value for key, value in doc["metadata"].items() if key not in _SYSTEM}
    rest = {key: value for key, value in doc.items() if key not in ("apiVersion", "kind")}
    if metadata:
        rest["metadata"] = metadata
    else:
        rest.pop("metadata")
    return dict(leaves(rest))


def fields_v1(paths: set[Path]) -> Doc:
    """The paths as the nested document of the wire."""
    root: Doc = {}
    for path in sorted(paths):
        inside = root
        for step in path:
            inside = inside.setdefault(step, {})
    return root


def paths_of(fields: Doc, path: Path = ()) -> Iterator[Path]:
    if not fields:
        yield path
    for step, inner in fields.items():
        yield from paths_of(inner, (*path, step))


def recorded(old: Doc | None, new: Doc, writer: Writer) -> list[Doc]:
    """The entries after an update: the writer has what changed, the others lose it."""
    before = owned_part(old) if old else {}
    after = owned_part(new)
    changed = {path for path, value in after.items() if path not in before or before[path] != value}
    if changed or before.keys() != after.keys():
        entries = (old or {}).get("metadata", {}).get("managedFields") or []
        return _entries(entries, new, writer, _Shift(changed, before.keys() - after.keys()))
    return list((old or {})["metadata"].get("managedFields") or [])


@dataclass(frozen=True, slots=True)
class _Shift:
    taken: set[Path]
    gone: set[Path]
    replaces: bool = False


def _entries(entries: list[Doc], new: Doc, writer: Writer, shift: _Shift) -> list[Doc]:
    result, mine = [], set[Path]()
    for entry in entries:
        paths = set(paths_of(entry["fieldsV1"])) - shift.gone
        if writer.wrote(entry):
            mine = set() if shift.replaces else paths
        elif left := paths - shift.taken:
            result.append({**entry, "fieldsV1": fields_v1(left)})
    if mine | shift.taken:
        entry = {"manager": writer.manager, "operation": writer.operation}
        entry |= {"apiVersion": new["apiVersion"], "time": instant(), "fieldsType": "FieldsV1"}
        entry["fieldsV1"] = fields_v1(mine | shift.taken)
        if writer.subresource:
            entry["subresource"] = writer.subresource
        result.append(entry)
    return result


def applied(live: Doc, config: Doc, writer: Writer, force: bool) -> Doc:
    """The live object with the configuration applied, and its entries; 409 on a conflict."""
    wanted, present = owned_part(config), owned_part(live)
    entries = live["metadata"].get("managedFields") or []
    differing = {path for path, value in wanted.items() if present.get(path, value) != value}
    conflicts = [
        (entry, path)
        for entry in entries
        if not writer.wrote(entry)
        for path in sorted(differing.intersection(paths_of(entry["fieldsV1"])))
    ]
    if conflicts and not force:
        raise _conflict(conflicts)
    merged: Doc = strategic_merge(live, config)
    taken = {path for _, path in conflicts}
    kept = [_without(entry, taken) for entry in entries]
    shift = _Shift(set(wanted), set(), replaces=True)
    shared = [entry for entry in kept if entry["fieldsV1"]]
    mine = _entries([], merged, writer, shift)
    others = [entry for entry in shared if not writer.wrote(entry)]
    metadata = {**merged["metadata"], "managedFields": [*others, *mine]}
    return {**merged, "metadata": metadata}


def _without(entry: Doc, taken: set[Path]) -> Doc:
    return {**entry, "fieldsV1": fields_v1(set(paths_of(entry["fieldsV1"])) - taken)}


def _conflict(conflicts: list[tuple[Doc, Path]]) -> errors.ApiError:
    causes = [
        {
            "reason": "FieldManagerConflict",
            "message": f'conflict with "{entry["manager"]}" using {entry["apiVersion"]}',
            "field": _spoken(path),
        }
        for entry, path in conflicts
    ]
    count = f"{len(causes)} conflict{'s' if len(causes) > 1 else ''}"
    said = "\n".join(f"{one['message']}: {one['field']}" for one in causes)
    text = f"Apply failed with {count}: {said}"
    return errors.ApiError(409, "Conflict", text, {"causes": causes})


def _spoken(path: Path) -> str:
    """`.spec.template.spec.containers[name="cgpu-installer"].image`."""
    text = ""
    for step in path:
        if step.startswith("k:"):
            pairs = json.loads(step[2:]).items()
            text += "[" + ",".join(f"{key}={json.dumps(value)}" for key, value in pairs) + "]"
        elif step != ".":
            text += "." + step[2:]
    return text
