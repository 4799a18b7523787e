"""The owners of other pods, and the scheduler: an evicted pod comes back where there is room."""

from collections import Counter

from sandbox.kubernetes.defaults import suffix
from sandbox.kubernetes.documents import Doc, at, name_of
from sandbox.kubernetes.eviction import kept_status
from sandbox.kubernetes.resources import BUDGETS, NODES, PODS
from sandbox.kubernetes.storing import added, with_status
from sandbox.kubernetes.world import Wanted, World


def step(world: World) -> None:
    _replace(world)
    _place(world)
    for budget in world.store.all(BUDGETS):
        with_status(world.store, BUDGETS, budget, kept_status(world.store, budget))


def own(world: World, pod: Doc) -> None:
    """From now on the pod's owner keeps as many pods as it has."""
    for owner in pod["metadata"].get("ownerReferences") or []:
        if owner["kind"] != "DaemonSet":
            wanted = world.wanted.setdefault(owner["uid"], Wanted(0, pod))
            wanted.count += 1


def _replace(world: World) -> None:
    if not world.wanted:
        return
    alive: Counter[str] = Counter()
    for pod in world.store.all(PODS):
        ends = "deletionTimestamp" in pod["metadata"]
        ended = at(pod, "status", "phase") in ("Succeeded", "Failed")
        for owner in pod["metadata"].get("ownerReferences") or []:
            alive[owner["uid"]] += not ends and not ended
    for uid, wanted in world.wanted.items():
        for _ in range(wanted.count - alive[uid]):
            _create(world, wanted.like)


def _create(world: World, like: Doc) -> None:
    old = like["metadata"]
    kept = ("namespace", "labels", "annotations", "ownerReferences")
    metadata = {name: old[name] for name in kept if name in old}
    placed = ("scheduler.framework.gpushare.", "ALIYUN_COM_GPU_MEM_")
    if "annotations" in metadata:
        notes = metadata["annotations"].items()
        metadata["annotations"] = {key: value for key, value in notes if not key.startswith(placed)}
    owner = old["ownerReferences"][0]["name"]
    metadata["name"] = f"{owner}-{suffix()}"
    spec = {key: value for key, value in like["spec"].items() if key != "nodeName"}
    added(world.store, PODS, {"metadata": metadata, "spec": spec})


def _place(world: World) -> None:
    """The scheduler: a node that is up, not cordoned, and has what the pod's limits ask."""
    waiting = [
        pod
        for pod in world.store.all(PODS)
        if not at(pod, "spec", "nodeName") and at(pod, "status", "phase") == "Pending"
    ]
    if not waiting:
        return
    used = {name_of(node): _used(world, name_of(node)) for node in world.store.all(NODES)}
    for pod in waiting:
        asked = limits(pod)
        for node in world.store.all(NODES):
            if _fits(world, node, used[name_of(node)], asked):
                used[name_of(node)].update(asked)
                spec = {**pod["spec"], "nodeName": name_of(node)}
                world.store.put(PODS, {**pod, "spec": spec})
                break


def limits(pod: Doc) -> Counter[str]:
    """The extended resources that a pod's containers are limited to."""
    total: Counter[str] = Counter()
    for container in pod["spec"]["containers"]:
        for name, amount in (at(container, "resources", "limits") or {}).items():
            if "/" in name:
                total[name] += int(amount)
    return total


def _used(world: World, node: str) -> Counter[str]:
    total: Counter[str] = Counter()
    for pod in world.pods_on(node):
        total.update(limits(pod))
    return total


def _fits(world: World, node: Doc, used: Counter[str], asked: Counter[str]) -> bool:
    if node["spec"].get("unschedulable") or not world.is_up(node):
        return False
    allocatable = node["status"]["allocatable"]
    return all(
        used[name] + amount <= int(allocatable.get(name, 0)) for name, amount in asked.items()
    )
