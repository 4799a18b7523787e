"""Whoever stands at the machines: restarts a node once Poolkeeper has prepared it and waits.

Poolkeeper itself restarts no machine, it says the step; here somebody follows it.
"""

import asyncio
import time
from collections.abc import Callable

from sandbox.kubernetes import machine_deeds
from sandbox.kubernetes.documents import Doc, annotations_of, at, name_of
from sandbox.kubernetes.resources import NODES
from sandbox.kubernetes.world import World

MARK = "poolkeeper.io/cgpu-cordoned"
LOOK_S = 0.5
WALK_S = 5.0
DOWN_S = 3.0


class MachineRoom:
    """Remembers since when nodes have been ready for it, by their boot."""

    def __init__(self) -> None:
        self._since: dict[str, float] = {}

    async def run(self, world: Callable[[], World]) -> None:
        """Until it is cancelled."""
        while True:
            self.look(world(), time.monotonic())
            await asyncio.sleep(LOOK_S)

    def look(self, world: World, now: float) -> list[str]:
        """Restarts the nodes that have been ready for it long enough; their names."""
        waiting = {
            machine.boot_id: machine.name
            for node in world.store.all(NODES)
            if (machine := world.machines.get(name_of(node))) and machine.up
            if _is_prepared(world, node)
        }
        self._since = {boot: self._since.get(boot, now) for boot in waiting}
        due = [waiting[boot] for boot, since in self._since.items() if now - since >= WALK_S]
        for name in due:
            machine_deeds.restart_node(world, name, DOWN_S)
        return due


def _is_prepared(world: World, node: Doc) -> bool:
    """Cordoned by Poolkeeper, and nobody's pods on it but the daemons'."""
    if not at(node, "spec", "unschedulable") or MARK not in annotations_of(node):
        return False
    return all(_stays(pod) for pod in world.pods_on(name_of(node)))


def _stays(pod: Doc) -> bool:
    owners = pod["metadata"].get("ownerReferences") or []
    return any(owner["kind"] == "DaemonSet" for owner in owners)
