"""The loop of all controllers: it sleeps while nothing changes, and takes a step when it does."""

import asyncio
import contextlib

from sandbox.kubernetes import daemonsets, kubelets, node_status, workloads
from sandbox.kubernetes.world import World, now

SETTLED_AFTER = 10_000


def step(world: World) -> bool:
    """One stage of everything; whether anything changed."""
    before = world.store.version
    kubelets.boot_due(world)
    kubelets.step(world)
    workloads.step(world)
    daemonsets.step(world)
    node_status.keep_taints(world)
    return world.store.version != before


def settle(world: World) -> None:
    """Steps until nothing changes any more, at once: how a scene begins."""
    for _ in range(SETTLED_AFTER):
        if not step(world):
            return
    raise RuntimeError("the world does not come to rest")


async def run(world: World) -> None:
    """Steps at the world's pace, for ever."""
    stepped = 0.0
    while True:
        await _next(world, stepped)
        world.store.stirred.clear()
        await asyncio.sleep(world.knobs.pace)
        if not world.knobs.paused:
            stepped = now()
            step(world)


async def _next(world: World, stepped: float) -> None:
    """Until something was written, or what waits for its time since the last step is due."""
    due = world.next_due(stepped)
    wait = None if due is None or world.knobs.paused else max(0.0, due - now())
    with contextlib.suppress(TimeoutError):
        await asyncio.wait_for(world.store.stirred.wait(), wait)
