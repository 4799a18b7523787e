"""All that the door can do to the world, by name: see the three modules of deeds."""

from collections.abc import Callable

from sandbox.kubernetes import machine_deeds, people_deeds, server_deeds
from sandbox.kubernetes.documents import Doc

DEEDS: dict[str, Callable[..., Doc]] = {
    name: deed
    for module in (machine_deeds, people_deeds, server_deeds)
    for name, deed in vars(module).items()
    if getattr(deed, "__module__", "") == module.__name__ and not name.startswith("_")
}
