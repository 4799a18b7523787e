"""How server and controllers behave: pace, stale reads, a forgotten past, who may do what."""

from typing import Any

from sandbox.kubernetes import control
from sandbox.kubernetes.documents import Doc
from sandbox.kubernetes.resources import BY_PATH
from sandbox.kubernetes.world import World


def touch(world: World, resource: str, name: str, namespace: str = "") -> Doc:
    """A write that changes nothing but the version, as a status write of somebody else does."""
    found = next(one for one in BY_PATH.values() if one.plural == resource)
    world.store.put(found, world.store.tables[found][(namespace, name)])
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
