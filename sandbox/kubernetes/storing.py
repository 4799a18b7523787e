"""How an object comes to be stored or changed: by a call, by a controller, by a person's tool."""

from typing import Any

from sandbox.kubernetes import defaults, ownership, validation
from sandbox.kubernetes.documents import Doc, annotations_of, at, instant, name_of, namespace_of
from sandbox.kubernetes.ownership import Writer
from sandbox.kubernetes.resources import Resource
from sandbox.kubernetes.store import Store

TEMPLATE_GENERATION = "deprecated.daemonset.template.generation"
_KEPT = ("uid", "creationTimestamp", "resourceVersion", "generation", "deletionTimestamp",
         "deletionGracePeriodSeconds", "namespace", "managedFields")  # fmt: skip
_NO_PODS = {
    "currentNumberScheduled": 0,
    "numberMisscheduled": 0,
    "desiredNumberScheduled": 0,
    "numberReady": 0,
}


def added(store: Store, resource: Resource, doc: Doc, writer: Writer | None = None) -> Doc:
    """Stores a new object with its defaults; raises 422 for one that may not be."""
    return store.put(resource, prepared(resource, doc, writer))


def prepared(resource: Resource, doc: Doc, writer: Writer | None) -> Doc:
    """A new object as it would be stored, without its version and uid.

    What the world itself makes by the thousand (pods, nodes) has no writer: nobody asks for it.
    """
    doc = defaults.as_stored(resource.kind, doc)
    validation.check(resource, doc)
    metadata = {key: value for key, value in doc["metadata"].items() if value not in ({}, None)}
    if resource.counts_generations:
        metadata["generation"] = 1
    if resource.kind == "DaemonSet":
        doc["status"] = dict(_NO_PODS)
        metadata["annotations"] = {**(metadata.get("annotations") or {}), TEMPLATE_GENERATION: "1"}
    elif resource.kind == "Pod":
        doc["status"] = {"phase": "Pending", "qosClass": "BestEffort"}
    doc = {"kind": resource.kind, "apiVersion": resource.api_version, **doc, "metadata": metadata}
    metadata["creationTimestamp"] = instant()
    if writer:
        metadata["managedFields"] = ownership.recorded(None, doc, writer)
    return doc


def revised(resource: Resource, old: Doc, new: Doc, writer: Writer) -> Doc:
    """The object after a change, with its generation and field managers; `old` when none is.

    A write of the status leaves all else as it was, and the other way round.
    """
    new = _parted(old, new, writer)
    metadata = {key: value for key, value in new["metadata"].items() if key not in _KEPT}
    kept = {key: old["metadata"][key] for key in _KEPT if key in old["metadata"]}
    metadata = {key: value for key, value in metadata.items() if value not in ({}, None, [])}
    new["metadata"] = {**metadata, **kept}
    if writer.subresource != "status":
        new = defaults.as_stored(resource.kind, new)
        validation.check(resource, new, old)
        _count_generation(resource, old, new)
    if resource.kind == "DaemonSet":
        _count_template(old, new)
    if new == old:
        return old
    if writer.operation == "Update":
        new["metadata"]["managedFields"] = ownership.recorded(old, new, writer)
    return new


def _parted(old: Doc, new: Doc, writer: Writer) -> Doc:
    if writer.subresource == "status":
        return {**old, "status": new.get("status") or {}}
    new = dict(new)
    if "status" in old:
        new["status"] = old["status"]
    elif "status" in new:
        del new["status"]
    return new


def _count_generation(resource: Resource, old: Doc, new: Doc) -> None:
    if resource.counts_generations and new.get("spec") != old.get("spec"):
        new["metadata"]["generation"] = old["metadata"].get("generation", 1) + 1


def _count_template(old: Doc, new: Doc) -> None:
    """The template's own generation is an annotation, which nobody can write."""
    count = int(annotations_of(old)[TEMPLATE_GENERATION])
    if at(new, "spec", "template") != at(old, "spec", "template"):
        count += 1
    annotations = {**annotations_of(new), TEMPLATE_GENERATION: str(count)}
    new["metadata"]["annotations"] = annotations


def rewritten(store: Store, resource: Resource, new: Doc, writer: Writer) -> Doc:
    """The stored object changed to `new` by somebody in the world; stored if that is a change."""
    old = store.find(resource, namespace_of(new), name_of(new))
    assert old is not None
    result = revised(resource, old, new, writer)
    return old if result is old else store.put(resource, result)


def with_status(store: Store, resource: Resource, old: Doc, status: Doc) -> Doc:
    """The object with another status, as its controller or kubelet writes it.

    Pods and nodes carry no field managers here: there are thousands, and nobody asks theirs.
    """
    if old.get("status") == status:
        return old
    if resource.kind != "DaemonSet":
        return store.put(resource, {**old, "status": status})
    writer = Writer("kube-controller-manager", "Update", "status")
    return store.put(resource, revised(resource, old, {**old, "status": status}, writer))


def with_metadata(store: Store, resource: Resource, old: Doc, **fields: Any) -> Doc:
    """The object with other fields of its metadata; None removes a field."""
    metadata = {**old["metadata"], **fields}
    metadata = {key: value for key, value in metadata.items() if value is not None}
    return store.put(resource, {**old, "metadata": metadata})


def ending(pod: Doc, grace: int, conditions: list[Doc]) -> Doc:
    """A pod told to end: it stays listed, still Running, until its kubelet ended it."""
    if "deletionTimestamp" in pod["metadata"]:
        return pod
    status = dict(pod.get("status") or {})
    if conditions:
        status["conditions"] = [*(status.get("conditions") or []), *conditions]
    metadata = {
        **pod["metadata"],
        "deletionTimestamp": instant(grace),
        "deletionGracePeriodSeconds": grace,
        "generation": pod["metadata"].get("generation", 1) + 1,
    }
    return {**pod, "metadata": metadata, "status": status}
