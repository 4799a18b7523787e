"""What other people, Helm and kured do, each under a field manager of their own."""

import json
from typing import Any

from sandbox.kubernetes import helm, scene
from sandbox.kubernetes.documents import Doc, annotations_of, copied, instant, template_containers
from sandbox.kubernetes.ownership import Writer
from sandbox.kubernetes.plans import BudgetPlan, DaemonSetPlan, PodPlan
from sandbox.kubernetes.resources import (
    BUDGETS,
    BY_PATH,
    DAEMON_SETS,
    NODES,
    PODS,
    SECRETS,
    Resource,
)
from sandbox.kubernetes.storing import added, ending, rewritten
from sandbox.kubernetes.world import SYSTEM, World

KURED_LOCK = "weave.works/kured-node-lock"


def set_labels(world: World, name: str, labels: Doc) -> Doc:
    """Labels of a node, as somebody with kubectl sets them; null removes one."""
    return _set_notes(world, (NODES, "", name), "labels", labels)


def set_annotations(world: World, name: str, annotations: Doc, **where: str) -> Doc:
    """Annotations of any object; where: `resource` (plural) and `namespace`."""
    resource = next(one for one in BY_PATH.values() if one.plural == where["resource"])
    key = (resource, where.get("namespace", ""), name)
    return _set_notes(world, key, "annotations", annotations)


def _set_notes(world: World, where: tuple[Resource, str, str], field: str, given: Doc) -> Doc:
    resource, namespace, name = where
    old = world.store.tables[resource][(namespace, name)]
    notes = {**(old["metadata"].get(field) or {}), **given}
    notes = {key: value for key, value in notes.items() if value is not None}
    new = {**old, "metadata": {**old["metadata"], field: notes}}
    rewritten(world.store, resource, new, Writer("kubectl-label"))
    return {}


def cordon(world: World, name: str, on: bool = True) -> Doc:
    """By somebody else, with kubectl."""
    node = world.node(name)
    new = {**node, "spec": {**node["spec"], "unschedulable": on}}
    rewritten(world.store, NODES, new, Writer("kubectl-cordon"))
    return {}


def add_daemon_set(world: World, **plan: Any) -> Doc:
    scene.add_daemon_set(world, DaemonSetPlan(**plan))
    return {}


def remove_daemon_set(world: World, name: str = "cgpu-installer", namespace: str = SYSTEM) -> Doc:
    world.store.remove(DAEMON_SETS, world.daemon_set(name, namespace))
    return {}


def edit_daemon_set(
    world: World, name: str = "cgpu-installer", namespace: str = SYSTEM, **change: Any
) -> Doc:
    """Somebody edits it: `env` {name: value, null removes}, `image`, `strategy`, `manager`."""
    new = copied(world.daemon_set(name, namespace))
    for _, container in template_containers(new):
        if "image" in change:
            container["image"] = change["image"]
        for variable, value in change.get("env", {}).items():
            container["env"] = _with_variable(container.get("env") or [], variable, value)
    if "strategy" in change:
        new["spec"]["updateStrategy"] = {"type": change["strategy"]}
    rewritten(world.store, DAEMON_SETS, new, Writer(change.get("manager", "kubectl-edit")))
    return {}


def _with_variable(env: list[Doc], name: str, value: Any) -> list[Doc]:
    """The variables with this one set in its place, or added at the end, or removed."""
    if value is None:
        return [one for one in env if one["name"] != name]
    new = {"name": name, "value": value}
    if all(one["name"] != name for one in env):
        return [*env, new]
    return [new if one["name"] == name else one for one in env]


def create_pods(world: World, **plan: Any) -> Doc:
    names = scene.add_pods(world, PodPlan(**plan))
    world.stir()
    return {"names": names}


def delete_pod(world: World, name: str, namespace: str = "default") -> Doc:
    """As `kubectl delete pod`: it ends when its kubelet ends it."""
    world.store.put(PODS, ending(world.pod(name, namespace), 30, []))
    return {}


def end_pod(world: World, name: str, namespace: str = "default") -> Doc:
    """The pod is gone at once, also one that would never end."""
    world.store.remove(PODS, world.pod(name, namespace))
    return {}


def fail_pod(
    world: World, name: str, namespace: str = "default", reason: str = "UnexpectedAdmissionError"
) -> Doc:
    """The kubelet does not take the pod again after a restart (kubernetes/kubernetes#125579)."""
    pod = world.pod(name, namespace)
    status = {"phase": "Failed", "reason": reason, "message": f"Pod was rejected: {reason}"}
    world.store.put(PODS, {**pod, "status": status})
    return {}


def create_budget(world: World, **plan: Any) -> Doc:
    added(world.store, BUDGETS, BudgetPlan(**plan).document())
    return {}


def helm_upgrade(world: World, **release: Any) -> Doc:
    """A new revision; unless `status` is a pending or failed one, the chart's POLICY is back."""
    return {"revision": helm.upgrade(world, helm.Release(**release))}


def helm_finish(world: World, revision: int, **release: Any) -> Doc:
    """A pending revision becomes what `status` says, and is applied when that is deployed."""
    helm.finish(world, helm.Release(**release), revision)
    return {}


def helm_uninstall(world: World, **release: Any) -> Doc:
    for secret in helm.revisions(world, helm.Release(**release)).values():
        world.store.remove(SECRETS, secret)
    return {}


def lock_kured(world: World, node: str = "", **lock: Any) -> Doc:
    """kured holds its lock for this node ("" releases it); further locks: `locks` [names]."""
    if world.store.find(DAEMON_SETS, SYSTEM, "kured") is None:
        containers = [{"name": "kured", "image": "ghcr.io/kubereboot/kured:1.17.0"}]
        plan = DaemonSetPlan(name="kured", containers=containers, selector={"none": "none"})
        scene.add_daemon_set(world, plan)
    value: Doc = {
        "nodeID": node,
        "metadata": {"unschedulable": False},
        "created": lock.get("created", instant()),
        "TTL": lock.get("ttl", 0),
    }
    holders = lock.get("locks", [])
    if holders:
        value = {"maxOwners": len(holders), "locks": [{**value, "nodeID": one} for one in holders]}
    daemon_set = world.daemon_set("kured")
    notes = {key: one for key, one in annotations_of(daemon_set).items() if key != KURED_LOCK}
    if node or holders:
        notes[KURED_LOCK] = json.dumps(value)
    new = {**daemon_set, "metadata": {**daemon_set["metadata"], "annotations": notes}}
    rewritten(world.store, DAEMON_SETS, new, Writer("kured"))
    return {}
