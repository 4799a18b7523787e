"""What happens to the machines: restarts, lost nodes, new ones, writes below /proc."""

from typing import Any

from sandbox.kubernetes import node_status, scene
from sandbox.kubernetes.documents import Doc
from sandbox.kubernetes.machines import PROC, files
from sandbox.kubernetes.plans import NodePlan
from sandbox.kubernetes.resources import NODES
from sandbox.kubernetes.world import World, now


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


def set_allocatable(world: World, name: str, **amounts: str) -> Doc:
    """What the node offers from now on, as after a restart that lost a card."""
    node = world.node(name)
    status = {**node["status"], "allocatable": {**node["status"]["allocatable"], **amounts}}
    world.store.put(NODES, {**node, "status": status})
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
