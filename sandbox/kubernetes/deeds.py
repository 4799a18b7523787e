"""What other people, Helm and the machines do to the cluster: scripted through the door."""

import json
from collections.abc import Callable
from typing import Any

from sandbox.kubernetes import control, helm, node_status, scene
from sandbox.kubernetes.documents import (
    Doc,
    annotations_of,
    copied,
    instant,
    template_containers,
)
from sandbox.kubernetes.machines import PROC, files
from sandbox.kubernetes.ownership import Writer
from sandbox.kubernetes.plans import BudgetPlan, DaemonSetPlan, NodePlan, PodPlan
from sandbox.kubernetes.resources import BUDGETS, BY_PATH, DAEMON_SETS, NODES, PODS, SECRETS
from sandbox.kubernetes.storing import added, ending, rewritten
from sandbox.kubernetes.world import SYSTEM, World, now

KURED_LOCK = "weave.works/kured-node-lock"


def restart_node(world: World, name: str, seconds: float = 0.0, stay_down: bool = False) -> Doc:
    """The machine restarts: lost for so many seconds, then up with a new bootID.

    stay_down: until `boot_node`. Its bootID before is answered.
    """
    machine = world.machines[name]
    machine.up = False
    machine.boots_at = None if stay_down else now() + seconds
    node_status.report(world, machine)
    world.stir()
    return {"boot_id": machine.boot_id}


def boot_node(world: World, name: str) -> Doc:
    machine = world.machines[name]
    machine.boot(fresh=True)
    node_status.report(world, machine)
    return {"boot_id": machine.boot_id}


def set_ready(world: World, name: str, ready: bool) -> Doc:
    """The kubelet stops answering, or answers again; the machine does not restart."""
    machine = world.machines[name]
    machine.up, machine.boots_at = ready, None
    node_status.report(world, machine)
    return {}


def add_node(world: World, **plan: Any) -> Doc:
    scene.add_nodes(world, NodePlan(**plan))
    world.stir()
    return {}


def remove_node(world: World, name: str) -> Doc:
    world.store.remove(NODES, world.node(name))
    return {}


def set_labels(
    world: World, name: str, labels: Doc, resource: str = "nodes", namespace: str = ""
) -> Doc:
    """Labels of an object, as somebody with kubectl sets them; null removes one."""
    return _set_notes(world, (resource, namespace, name), "labels", labels)


def set_annotations(
    world: World, name: str, annotations: Doc, resource: str = "nodes", namespace: str = ""
) -> Doc:
    return _set_notes(world, (resource, namespace, name), "annotations", annotations)


def _set_notes(world: World, where: tuple[str, str, str], field: str, given: Doc) -> Doc:
    plural, namespace, name = where
    resource = next(one for one in BY_PATH.values() if one.plural == plural)
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
            kept = [one for one in container.get("env") or [] if one["name"] != variable]
            same = any(one["name"] == variable for one in container.get("env") or [])
            if same and value is not None:
                kept = [
                    {"name": variable, "value": value} if one["name"] == variable else one
                    for one in container["env"]
                ]
            elif value is not None:
                kept.append({"name": variable, "value": value})
            container["env"] = kept
    if "strategy" in change:
        new["spec"]["updateStrategy"] = {"type": change["strategy"]}
    rewritten(world.store, DAEMON_SETS, new, Writer(change.get("manager", "kubectl-edit")))
    return {}


def touch(world: World, resource: str, name: str, namespace: str = "") -> Doc:
    """A write that changes nothing but the version, as a status write of somebody else does."""
    found = next(one for one in BY_PATH.values() if one.plural == resource)
    world.store.put(found, world.store.tables[found][(namespace, name)])
    return {}


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


def drift(world: World, node: str, gpu: int = 0, **values: Any) -> Doc:
    """Somebody writes below /proc: `policy`, `max_inst` of a card, or `files` {name: text}."""
    machine = world.machines[node]
    for field in ("policy", "max_inst"):
        if field in values:
            setattr(machine.cards[gpu], field, values[field])
    for name, text in values.get("files", {}).items():
        machine.written[f"{PROC}/{name}"] = text
    return {}


def set_module(world: World, node: str, version: str = "", broken: bool = False) -> Doc:
    """Which version is loaded, "" for none; broken: the installer will not load it."""
    machine = world.machines[node]
    machine.module, machine.broken = version, broken
    return {}


def procfs(world: World, node: str) -> Doc:
    return {"files": files(world.machines[node], world.pods_on(node))}


def lock_kured(world: World, node: str = "", **lock: Any) -> Doc:
    """kured holds its lock for this node ("" releases it); further locks: `locks` [names]."""
    if world.store.find(DAEMON_SETS, SYSTEM, "kured") is None:
        image = "ghcr.io/kubereboot/kured:1.17.0"
        containers = [{"name": "kured", "image": image}]
        plan = DaemonSetPlan(name="kured", containers=containers, selector={"none": "none"})
        scene.add_daemon_set(world, plan)
    value: Doc = {
        "nodeID": node,
        "metadata": {"unschedulable": False},
        "created": lock.get("created", instant()),
        "TTL": lock.get("ttl", 0),
    }
    if names := lock.get("locks"):
        value = {"maxOwners": len(names), "locks": [{**value, "nodeID": one} for one in names]}
    said = json.dumps(value) if node or names else None
    daemon_set = world.daemon_set("kured")
    notes = {key: one for key, one in annotations_of(daemon_set).items() if key != KURED_LOCK}
    if said is not None:
        notes[KURED_LOCK] = said
    new = {**daemon_set, "metadata": {**daemon_set["metadata"], "annotations": notes}}
    rewritten(world.store, DAEMON_SETS, new, Writer("kured"))
    return {}


def set_knobs(world: World, **knobs: Any) -> Doc:
    """pace, paused, taints: see world.Knobs."""
    for name, value in knobs.items():
        setattr(world.knobs, name, value)
    world.stir()
    return {}


def take_steps(world: World, count: int = 1) -> Doc:
    """Steps of the controllers, also while they are paused; {changed} of the last one."""
    changed = [control.step(world) for _ in range(count)]
    return {"changed": changed[-1] if changed else False}


def settle(world: World) -> Doc:
    """Everything that goes on comes to its end now, but for what waits for a time."""
    control.settle(world)
    return {}


def set_stale(world: World, resources: list[str], on: bool = True) -> Doc:
    """Gets and lists of these kinds see this moment until it is turned off."""
    for resource in [one for one in BY_PATH.values() if one.plural in resources]:
        if on:
            world.store.freeze(resource)
        else:
            world.store.frozen.pop(resource, None)
    return {}


def compact(world: World) -> Doc:
    """Forgets the past: old watches and half-read lists get 410."""
    world.store.compact()
    return {}


def grant(world: World, token: str, user: str, rules: list[Doc]) -> Doc:
    """A token of a user with these rules {verbs, apiGroups, resources, resourceNames, namespaces};
    without rules nothing is allowed."""
    world.api.access.grant(token, user, rules)
    return {}


def revoke(world: World, token: str) -> Doc:
    """The token is worth nothing any more: 401."""
    world.api.access.callers.pop(token, None)
    return {}


def dump(world: World) -> Doc:
    """{nodes, pods, daemonsets, ...: [documents]} and machines {name: {...}}."""
    state: Doc = {one.plural: world.store.all(one) for one in world.store.tables}
    state["machines"] = {
        one.name: {
            "boot_id": one.boot_id,
            "module": one.module,
            "up": one.up,
            "policies": [card.policy for card in one.cards],
        }
        for one in world.machines.values()
    }
    return {**state, "version": world.store.version}


DEEDS: dict[str, Callable[..., Doc]] = {
    deed.__name__: deed
    for deed in (
        restart_node, boot_node, set_ready, add_node, remove_node, set_labels, set_annotations,
        cordon, add_daemon_set, remove_daemon_set, edit_daemon_set, touch, create_pods, delete_pod,
        end_pod, create_budget, helm_upgrade, helm_finish, helm_uninstall, drift, set_module,
        procfs, lock_kured, set_knobs, take_steps, settle, set_stale, compact, grant, revoke, dump,
    )
}  # fmt: skip
