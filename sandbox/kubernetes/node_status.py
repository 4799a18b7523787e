"""What a kubelet says about its node, and what the control plane adds when it says nothing."""

from sandbox.kubernetes.documents import Doc, instant
from sandbox.kubernetes.machines import Machine
from sandbox.kubernetes.resources import NODES
from sandbox.kubernetes.storing import with_status
from sandbox.kubernetes.world import World

_TAINT = "node.kubernetes.io/"
_PRESSURES = {
    "MemoryPressure": ("KubeletHasSufficientMemory", "kubelet has sufficient memory available"),
    "DiskPressure": ("KubeletHasNoDiskPressure", "kubelet has no disk pressure"),
    "PIDPressure": ("KubeletHasSufficientPID", "kubelet has sufficient PID available"),
}


def first(machine: Machine, amounts: dict[str, str], kubelet: str) -> Doc:
    """The status of a node that joined."""
    return {
        "capacity": dict(amounts),
        "allocatable": dict(amounts),
        "conditions": conditions(machine.up),
        "addresses": [{"type": "Hostname", "address": machine.name}],
        "daemonEndpoints": {"kubeletEndpoint": {"Port": 10250}},
        "nodeInfo": {
            "machineID": machine.boot_id.replace("-", ""),
            "systemUUID": machine.name,
            "bootID": machine.boot_id,
            "kernelVersion": "5.10.134-16.3.al8.x86_64",
            "osImage": "Alibaba Cloud Linux 3",
            "containerRuntimeVersion": "containerd://1.6.36",
            "kubeletVersion": kubelet,
            "kubeProxyVersion": kubelet,
            "operatingSystem": "linux",
            "architecture": "amd64",
        },
    }


def conditions(ready: bool) -> list[Doc]:
    """A node that does not answer is Unknown in everything."""
    result = []
    for kind, (reason, message) in _PRESSURES.items():
        result.append(_condition(kind, "False" if ready else "Unknown", reason, message))
    if ready:
        ready_one = _condition("Ready", "True", "KubeletReady", "kubelet is posting ready status")
    else:
        text = "Kubelet stopped posting node status."
        ready_one = _condition("Ready", "Unknown", "NodeStatusUnknown", text)
    return [*result, ready_one]


def _condition(kind: str, status: str, reason: str, message: str) -> Doc:
    times = {"lastHeartbeatTime": instant(), "lastTransitionTime": instant()}
    return {"type": kind, "status": status, **times, "reason": reason, "message": message}


def report(world: World, machine: Machine) -> None:
    """Writes whether the machine is up, and the bootID that it had last."""
    node = world.node(machine.name)
    info = {**node["status"]["nodeInfo"], "bootID": machine.boot_id}
    status = {**node["status"], "conditions": conditions(machine.up), "nodeInfo": info}
    with_status(world.store, NODES, node, status)


def keep_taints(world: World) -> None:
    """The node lifecycle controller: taints for cordoned and for unreachable nodes."""
    if not world.knobs.taints:
        return
    for node in world.store.all(NODES):
        spec = node["spec"]
        wanted = []
        if spec.get("unschedulable"):
            wanted.append(("unschedulable", "NoSchedule"))
        if not world.is_up(node):
            wanted += [("unreachable", "NoSchedule"), ("unreachable", "NoExecute")]
        ours = {f"{_TAINT}{name}" for name in ("unschedulable", "unreachable")}
        given = spec.get("taints") or []
        others = [one for one in given if one["key"] not in ours]
        taints = [*others, *({"key": f"{_TAINT}{key}", "effect": why} for key, why in wanted)]
        if [_pair(one) for one in taints] != [_pair(one) for one in given]:
            rest = {key: value for key, value in spec.items() if key != "taints"}
            spec = {**rest, "taints": taints} if taints else rest
            world.store.put(NODES, {**node, "spec": spec})


def _pair(taint: Doc) -> tuple[str, str]:
    return taint["key"], taint["effect"]
