"""The DaemonSet controller: revisions, pods per node, rolling and manual updates, status.

It moves one stage per step and writes its status as it goes, which bumps resourceVersion under
everybody's hands (facts/kubernetes.md, 07a) and lags behind the generation (12, 28).
"""

import hashlib
import json
from collections import defaultdict

from sandbox.kubernetes import storing
from sandbox.kubernetes.defaults import suffix
from sandbox.kubernetes.documents import Doc, at, copied, labels_of, name_of, namespace_of
from sandbox.kubernetes.eviction import is_ready
from sandbox.kubernetes.ownership import Writer
from sandbox.kubernetes.resources import DAEMON_SETS, NODES, PODS, REVISIONS
from sandbox.kubernetes.storing import added, with_status
from sandbox.kubernetes.world import World

HASH = "controller-revision-hash"
_WRITER = Writer("kube-controller-manager")

Owned = dict[str, list[Doc]]


def step(world: World) -> None:
    """One stage of every daemon set; pods and revisions of vanished ones go."""
    owned: Owned = defaultdict(list)
    for pod in world.store.all(PODS):
        if owner := owner_uid(pod, "DaemonSet"):
            owned[owner].append(pod)
    for daemon_set in world.store.all(DAEMON_SETS):
        pods = owned.pop(daemon_set["metadata"]["uid"], [])
        _reconcile(world, daemon_set, pods)
    for orphan in (pod for pods in owned.values() for pod in pods):
        world.store.remove(PODS, orphan)
    alive = {one["metadata"]["uid"] for one in world.store.all(DAEMON_SETS)}
    for revision in world.store.all(REVISIONS):
        if owner_uid(revision, "DaemonSet") not in alive | {""}:
            world.store.remove(REVISIONS, revision)


def owner_uid(doc: Doc, kind: str) -> str:
    owners = doc["metadata"].get("ownerReferences") or []
    return next((str(one["uid"]) for one in owners if one["kind"] == kind), "")


def _reconcile(world: World, daemon_set: Doc, pods: list[Doc]) -> None:
    current = _revision(world, daemon_set)
    nodes = eligible(world, daemon_set)
    by_node: Owned = defaultdict(list)
    for pod in pods:
        by_node[at(pod, "spec", "nodeName") or ""].append(pod)
    # The status tells of what was there before this step: it lags, as the real one's does.
    _write_status(world, daemon_set, pods, (nodes, current))
    for node, found in by_node.items():
        for pod in found if node not in nodes else found[1:]:
            _tell_to_end(world, pod)
    for node in nodes:
        if not by_node.get(node):
            _create(world, daemon_set, node, current)
    if at(daemon_set, "spec", "updateStrategy", "type") == "RollingUpdate":
        _roll(world, daemon_set, by_node, (nodes, current))


def eligible(world: World, daemon_set: Doc) -> list[str]:
    """The nodes that the template's selector names; cordoned and lost ones too."""
    wanted = at(daemon_set, "spec", "template", "spec", "nodeSelector") or {}
    return [
        name_of(node)
        for node in world.store.all(NODES)
        if all(labels_of(node).get(key) == value for key, value in wanted.items())
    ]


def template_hash(daemon_set: Doc) -> str:
    text = json.dumps(daemon_set["spec"]["template"], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:9]


def _revision(world: World, daemon_set: Doc) -> str:
    """The hash of the present template; an old revision that comes back becomes the newest."""
    wanted = template_hash(daemon_set)
    uid, namespace = daemon_set["metadata"]["uid"], namespace_of(daemon_set)
    known = [one for one in world.store.all(REVISIONS) if owner_uid(one, "DaemonSet") == uid]
    newest = max((one["revision"] for one in known), default=0)
    same = next((one for one in known if labels_of(one).get(HASH) == wanted), None)
    if same is not None:
        if same["revision"] < newest:
            world.store.put(REVISIONS, {**same, "revision": newest + 1})
        return wanted
    template = {**copied(daemon_set["spec"]["template"]), "$patch": "replace"}
    labels = {**labels_of(daemon_set["spec"]["template"]), HASH: wanted}
    metadata: Doc = {"name": f"{name_of(daemon_set)}-{wanted}", "namespace": namespace}
    metadata |= {"labels": labels, "ownerReferences": [_owner(daemon_set)]}
    revision = {
        "metadata": metadata,
        "data": {"spec": {"template": template}},
        "revision": newest + 1,
    }
    added(world.store, REVISIONS, revision, _WRITER)
    return wanted


def _owner(daemon_set: Doc) -> Doc:
    return {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "name": name_of(daemon_set),
        "uid": daemon_set["metadata"]["uid"],
        "controller": True,
        "blockOwnerDeletion": True,
    }


def _create(world: World, daemon_set: Doc, node: str, current: str) -> None:
    template = copied(daemon_set["spec"]["template"])
    labels = {**labels_of(template), HASH: current}
    labels["pod-template-generation"] = str(daemon_set["metadata"]["generation"])
    metadata = {**template.get("metadata", {}), "labels": labels}
    metadata["name"] = f"{name_of(daemon_set)}-{suffix()}"
    metadata["generateName"] = f"{name_of(daemon_set)}-"
    metadata |= {"namespace": namespace_of(daemon_set), "ownerReferences": [_owner(daemon_set)]}
    spec = {**template["spec"], "nodeName": node}
    added(world.store, PODS, {"metadata": metadata, "spec": spec})


def _roll(world: World, daemon_set: Doc, by_node: Owned, aim: tuple[list[str], str]) -> None:
    """Replaces old pods while no more than maxUnavailable nodes are without a working one.

    An old pod that is not ready is replaced first; on a lost node it never ends, and its place
    stays unavailable: the rollout stands still (kubernetes/kubernetes#63465).
    """
    nodes, current = aim
    unavailable, old = 0, []
    for node in nodes:
        pod = next(iter(by_node.get(node) or []), None)
        ending = pod is not None and "deletionTimestamp" in pod["metadata"]
        if pod is None or ending or not is_ready(pod):
            unavailable += 1
        if pod is not None and not ending and labels_of(pod).get(HASH) != current:
            old.append(pod)
    rolling = at(daemon_set, "spec", "updateStrategy", "rollingUpdate") or {}
    room = _amount(rolling.get("maxUnavailable", 1), len(nodes)) - unavailable
    for pod in old:
        if not is_ready(pod):
            _tell_to_end(world, pod)
        elif room > 0:
            room -= 1
            _tell_to_end(world, pod)


def _amount(value: int | str, total: int) -> int:
    """Of a percentage at least one, as the real controller rounds up."""
    if isinstance(value, str) and value.endswith("%"):
        return max(1, -(-total * int(value[:-1]) // 100))
    return int(value)


def _tell_to_end(world: World, pod: Doc) -> None:
    grace = int(at(pod, "spec", "terminationGracePeriodSeconds") or 0)
    ended = storing.ending(pod, grace, [])
    if ended is not pod:
        world.store.put(PODS, ended)


def _write_status(
    world: World, daemon_set: Doc, pods: list[Doc], aim: tuple[list[str], str]
) -> None:
    nodes, current = aim
    placed = [pod for pod in pods if at(pod, "spec", "nodeName") in nodes]
    misplaced = len(pods) - len(placed)
    alive = {at(pod, "spec", "nodeName") for pod in placed}
    ready = [pod for pod in placed if is_ready(pod) and "deletionTimestamp" not in pod["metadata"]]
    updated = [pod for pod in placed if labels_of(pod).get(HASH) == current]
    status: Doc = {
        "currentNumberScheduled": len(alive),
        "numberMisscheduled": misplaced,
        "desiredNumberScheduled": len(nodes),
        "numberReady": len(ready),
        "observedGeneration": daemon_set["metadata"]["generation"],
    }
    counted = {
        "updatedNumberScheduled": len(updated),
        "numberAvailable": len(ready),
        "numberUnavailable": len(nodes) - len(ready),
    }
    # A count of nothing is not written: it reads as None in Python.
    status |= {name: count for name, count in counted.items() if count}
    with_status(world.store, DAEMON_SETS, daemon_set, status)
