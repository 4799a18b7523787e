"""Kubernetes' JSON as values of `domain.cgpu_cluster`: nodes, DaemonSets, pods."""

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from domain.cgpu import read_policy
from domain.cgpu_cluster import (
    CORDON_MARK,
    GPU_COUNT,
    GPU_MEMORY,
    GPU_PERCENTAGE,
    WHOLE_GPU,
    Bare,
    Installer,
    InstallerPod,
    Node,
    Place,
    Pod,
    Setting,
    Strategy,
    Writer,
    is_installer_image,
)

Doc = Mapping[str, Any]

_POLICY: Final = "POLICY"
_WEIGHT: Final = "ALIYUN_COM_GPU_SCHD_WEIGHT"
_MIRROR: Final = "kubernetes.io/config.mirror"
_OVER: Final = frozenset({"Succeeded", "Failed"})


def node_of(doc: Doc) -> Node:
    """A node as the list shows it."""
    metadata, spec, status = doc["metadata"], doc.get("spec") or {}, doc.get("status") or {}
    labels = metadata.get("labels") or {}
    allocatable = status.get("allocatable") or {}
    cards = _count(allocatable.get(GPU_COUNT))
    return Node(
        name=metadata["name"],
        uid=metadata["uid"],
        boot=(status.get("nodeInfo") or {}).get("bootID") or "",
        created_at=datetime.fromisoformat(metadata["creationTimestamp"]),
        resource_version=metadata["resourceVersion"],
        labels=labels,
        ready=_is_true(status, "Ready"),
        unschedulable=bool(spec.get("unschedulable")),
        cordon_mark=(metadata.get("annotations") or {}).get(CORDON_MARK, ""),
        provider=spec.get("providerID") or "",
        memory=_count(allocatable.get(GPU_MEMORY)),
        cards=_count(labels.get("aliyun.accelerator/nvidia_count")) if cards is None else cards,
        whole=_count(allocatable.get(WHOLE_GPU)),
    )


def installer_of(doc: Doc) -> Installer | None:
    """A DaemonSet, if one of its containers installs cGPU; its revision is not in here."""
    template = doc["spec"]["template"]["spec"]
    containers = tuple(_containers(template))
    images = [one.get("image", "") for _, _, one in containers]
    if not any(map(is_installer_image, images)):
        return None
    metadata, status = doc["metadata"], doc.get("status") or {}
    settings = tuple(_settings(template))
    strategy = (doc["spec"].get("updateStrategy") or {}).get("type")
    return Installer(
        namespace=metadata["namespace"],
        name=metadata["name"],
        uid=metadata["uid"],
        generation=metadata.get("generation") or 0,
        observed_generation=status.get("observedGeneration") or 0,
        desired=status.get("desiredNumberScheduled") or 0,
        updated=status.get("updatedNumberScheduled") or 0,
        available=status.get("numberAvailable") or 0,
        strategy=Strategy.ON_DELETE if strategy == Strategy.ON_DELETE else Strategy.ROLLING,
        images=tuple(image for image in images if is_installer_image(image)),
        settings=settings,
        imports_environment=any(one.get("envFrom") for _, _, one in containers),
        node_selector=template.get("nodeSelector") or {},
        writer=_writer(metadata, settings),
        bare=_bare(template) if not settings else None,
    )


def selector_of(doc: Doc) -> str:
    """The label selector that finds a DaemonSet's revisions."""
    labels = (doc["spec"].get("selector") or {}).get("matchLabels") or {}
    return ",".join(f"{key}={value}" for key, value in sorted(labels.items()))


def newest_revision(revisions: Sequence[Doc], uid: str) -> str:
    """The hash that a DaemonSet's pods get now; found by owner, for names share prefixes."""
    own = [one for one in revisions if _owner(one).get("uid") == uid]
    if not own:
        return ""
    newest = max(own, key=lambda one: int(one.get("revision") or 0))
    labels = newest["metadata"].get("labels") or {}
    return str(labels.get("controller-revision-hash") or "")


def installer_pod_of(doc: Doc, installers: Mapping[str, Installer]) -> InstallerPod | None:
    """The pod, if it is one of these installers', by uid."""
    owner = str(_owner(doc).get("uid") or "")
    if owner not in installers:
        return None
    metadata, spec, status = doc["metadata"], doc["spec"], doc.get("status") or {}
    settings = tuple(_settings(spec))
    return InstallerPod(
        name=metadata["name"],
        namespace=metadata["namespace"],
        uid=metadata["uid"],
        installer=owner,
        node=spec.get("nodeName") or "",
        revision=(metadata.get("labels") or {}).get("controller-revision-hash") or "",
        policy=read_policy(settings[0].value) if len(settings) == 1 else None,
        ready=_is_true(status, "Ready"),
        leaving="deletionTimestamp" in metadata,
        container=next(
            (
                one["name"]
                for one in spec.get("containers") or []
                if is_installer_image(one.get("image", ""))
            ),
            "",
        ),
    )


def pod_of(doc: Doc) -> Pod | None:
    """Any other pod; None for one that is over."""
    metadata, spec, status = doc["metadata"], doc["spec"], doc.get("status") or {}
    if status.get("phase") in _OVER:
        return None
    owner = _owner(doc).get("kind")
    limits = [(one.get("resources") or {}).get("limits") or {} for one in spec["containers"]]
    return Pod(
        name=metadata["name"],
        namespace=metadata["namespace"],
        node=spec.get("nodeName") or "",
        memory=sum(_count(one.get(GPU_MEMORY)) or 0 for one in limits),
        percentage=sum(_count(one.get(GPU_PERCENTAGE)) or 0 for one in limits),
        stays=owner in ("DaemonSet", "Node") or _MIRROR in (metadata.get("annotations") or {}),
        bare=owner is None,
        leaving="deletionTimestamp" in metadata,
        weighted=any(_is_weighted(one) for one in spec["containers"]),
    )


def _containers(template: Doc) -> Iterator[tuple[Place, int, Doc]]:
    for place in Place:
        for index, container in enumerate(template.get(place.value) or []):
            yield place, index, container


def _settings(template: Doc) -> Iterator[Setting]:
    for place, number, container in _containers(template):
        for index, variable in enumerate(container.get("env") or []):
            if variable["name"] == _POLICY:
                plain = "valueFrom" not in variable
                yield Setting(
                    container=container["name"],
                    place=place,
                    container_index=number,
                    index=index,
                    value=variable.get("value", "") if plain else None,
                )


def _bare(template: Doc) -> Bare | None:
    installing = [
        (place, index, one)
        for place, index, one in _containers(template)
        if is_installer_image(one.get("image", ""))
    ]
    if len(installing) != 1:
        return None
    place, index, container = installing[0]
    env = container.get("env")
    return Bare(
        container=container["name"],
        place=place,
        index=index,
        env=json.dumps(env) if env else None,
    )


def _writer(metadata: Doc, settings: tuple[Setting, ...]) -> Writer | None:
    """Who wrote POLICY last, as `managedFields` say; None where they do not."""
    if len(settings) != 1:
        return None
    setting = settings[0]
    container = f"k:{json.dumps({'name': setting.container}, separators=(',', ':'))}"
    variable = f"k:{json.dumps({'name': _POLICY}, separators=(',', ':'))}"
    path = ("f:spec", "f:template", "f:spec", f"f:{setting.place}", container, "f:env", variable)
    wrote = [
        entry
        for entry in metadata.get("managedFields") or []
        if "f:value" in (_inside(entry.get("fieldsV1") or {}, path) or {})
    ]
    if not wrote:
        return None
    last = max(wrote, key=lambda entry: entry.get("time") or "")
    time = last.get("time")
    return Writer(
        manager=str(last.get("manager") or ""), at=datetime.fromisoformat(time) if time else None
    )


def _inside(fields: Doc, path: tuple[str, ...]) -> Doc | None:
    found: Any = fields
    for step in path:
        found = found.get(step) if isinstance(found, Mapping) else None
    return found if isinstance(found, Mapping) else None


def _owner(doc: Doc) -> Doc:
    owners = doc["metadata"].get("ownerReferences") or []
    return next((one for one in owners if one.get("controller")), owners[0] if owners else {})


def _is_true(status: Doc, condition: str) -> bool:
    conditions = status.get("conditions") or []
    return any(one["type"] == condition and one["status"] == "True" for one in conditions)


def _is_weighted(container: Doc) -> bool:
    weights = (
        _count(one.get("value")) for one in container.get("env") or [] if one["name"] == _WEIGHT
    )
    return any((weight or 0) > 1 for weight in weights)


def _count(raw: object) -> int | None:
    """A whole number as Kubernetes writes extended resources; None for anything else."""
    text = str(raw).strip()
    return int(text) if text.isascii() and text.isdigit() else None
