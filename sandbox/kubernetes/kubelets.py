"""The kubelets: pods start, end and survive restarts on their machines, one stage per step."""

from sandbox.kubernetes import node_status
from sandbox.kubernetes.documents import Doc, annotations_of, at, instant
from sandbox.kubernetes.eviction import is_ready
from sandbox.kubernetes.machines import Machine, is_installer
from sandbox.kubernetes.resources import NODES, PODS
from sandbox.kubernetes.storing import with_status
from sandbox.kubernetes.world import ENDS_AFTER, World, now


def boot_due(world: World) -> None:
    """Machines whose restart is over come up; those of deleted nodes are forgotten."""
    for machine in list(world.machines.values()):
        if world.store.find(NODES, "", machine.name) is None:
            del world.machines[machine.name]
        elif machine.boots_at is not None and machine.boots_at <= now():
            machine.boot(fresh=True)
            node_status.report(world, machine)
            world.stir()


def step(world: World) -> None:
    """One stage of every pod's life."""
    for pod in world.store.all(PODS):
        node = at(pod, "spec", "nodeName")
        if not node:
            continue
        machine = world.machines.get(node)
        if world.store.find(NODES, "", node) is None:
            _end(world, pod)
        elif machine is None:
            continue  # a node that somebody made up: no kubelet runs its pods
        elif not machine.up:
            _set_ready(world, pod, False)
        else:
            _attend(world, machine, pod)
    for machine in world.machines.values():
        if machine.up:
            machine.rebooted = False


def _attend(world: World, machine: Machine, pod: Doc) -> None:
    phase = at(pod, "status", "phase")
    if "deletionTimestamp" in pod["metadata"]:
        _end_when_due(world, pod, at_once=machine.rebooted)
    elif phase == "Pending":
        _start(world, machine, pod, restarts=0)
    elif phase == "Running" and machine.rebooted:
        count = int(at(pod, "status", "containerStatuses", 0, "restartCount") or 0)
        _start(world, machine, pod, restarts=count + 1)
    elif phase == "Running":
        _set_ready(world, pod, True)


def _end_when_due(world: World, pod: Doc, at_once: bool) -> None:
    """An annotation says how many seconds a pod takes to end; "never" waits for the door."""
    wait = annotations_of(pod).get(ENDS_AFTER, "0")
    if at_once or wait == "0":
        _end(world, pod)
    elif wait != "never":
        due = world.ended_at.setdefault(pod["metadata"]["uid"], now() + float(wait))
        if due <= now():
            _end(world, pod)


def _end(world: World, pod: Doc) -> None:
    world.ended_at.pop(pod["metadata"]["uid"], None)
    world.store.remove(PODS, pod)


def _start(world: World, machine: Machine, pod: Doc, restarts: int) -> None:
    with_status(world.store, PODS, pod, running(pod, restarts))
    if is_installer(pod):
        machine.load(pod)


def running(pod: Doc, restarts: int = 0, ready: bool = True) -> Doc:
    """The status of a pod whose containers run."""
    started = instant()
    spec = pod["spec"]
    return {
        "phase": "Running",
        "conditions": _conditions(ready),
        "hostIP": "10.0.0.1",
        "podIP": "10.1.0.1",
        "podIPs": [{"ip": "10.1.0.1"}],
        "startTime": started,
        "containerStatuses": [_container(one, ready, restarts) for one in spec["containers"]],
        "qosClass": "BestEffort",
    }


def _container(container: Doc, ready: bool, restarts: int) -> Doc:
    return {
        "name": container["name"],
        "state": {"running": {"startedAt": instant()}},
        "lastState": {},
        "ready": ready,
        "restartCount": restarts,
        "image": container["image"],
        "imageID": container["image"],
        "containerID": "containerd://sandbox",
        "started": ready,
    }


def _conditions(ready: bool) -> list[Doc]:
    said = "True" if ready else "False"
    states = {"Initialized": "True", "Ready": said, "ContainersReady": said, "PodScheduled": "True"}
    return [
        {"type": kind, "status": status, "lastProbeTime": None, "lastTransitionTime": instant()}
        for kind, status in states.items()
    ]


def _set_ready(world: World, pod: Doc, ready: bool) -> None:
    """A pod on a lost node is not ready, though it is listed as Running; a pod told to stay
    unready by the scene stays so."""
    unwilling = annotations_of(pod).get("sandbox/unready") == "true"
    ready = ready and not unwilling
    if at(pod, "status", "phase") != "Running" or is_ready(pod) == ready:
        return
    status = dict(pod["status"])
    others = [
        one
        for one in status["conditions"]
        if one["type"] not in {c["type"] for c in _conditions(True)}
    ]
    status["conditions"] = [*_conditions(ready), *others]
    with_status(world.store, PODS, pod, status)
