"""The machines behind the nodes: their cards, the kernel module, boots, and /proc/cgpu_km.

The module keeps the policy with which it was loaded until the machine restarts (the seed); the
files are those of the 0.8.8 sources (facts/cgpu.md, 1.5).
"""

import json
import re
import uuid
from dataclasses import dataclass, field
from typing import Any

from sandbox.kubernetes.documents import Doc, annotations_of, at, template_containers

PROC = "/proc/cgpu_km"
_INSTALLER = re.compile(r"[^/]*cgpu[^/]*installer[^/]*$")
_TRIPLE = re.compile(r"[vV]?(\d+\.\d+\.\d+)")
SHARES = 20


@dataclass(slots=True)
class Card:
    """One GPU; `policy` is what a container on it gets now."""

    policy: int = 0
    max_inst: int = SHARES


@dataclass(slots=True)
class Machine:
    """`module` is the loaded version, "" when none is; `written` are files changed by hand."""

    name: str
    cards: list[Card] = field(default_factory=list)
    module: str = ""
    broken: bool = False
    up: bool = True
    rebooted: bool = False
    boots_at: float | None = None
    boot_id: str = field(default_factory=lambda: str(uuid.uuid4()))
    written: dict[str, str] = field(default_factory=dict)

    def boot(self, fresh: bool) -> None:
        """Comes up; a restarted machine has a new bootID and no module until one is loaded."""
        self.up, self.boots_at = True, None
        if fresh:
            self.boot_id = str(uuid.uuid4())
            self.module, self.rebooted = "", True
            self.written.clear()

    def load(self, installer: Doc) -> None:
        """What the installer's container does at its start: nothing where the module is loaded."""
        if self.module or self.broken:
            return
        self.module = module_version(installer)
        for card in self.cards:
            card.policy = policy_of(installer)


def is_installer(pod: Doc) -> bool:
    images = (str(one.get("image", "")).partition("@")[0] for _, one in template_containers(pod))
    return any(_INSTALLER.fullmatch(image.rpartition("/")[2].split(":")[0]) for image in images)


def policy_of(installer: Doc) -> int:
    """The container's POLICY; a name given twice counts as given last, without one it is 0."""
    said = "0"
    for _, container in template_containers(installer):
        for variable in container.get("env") or []:
            if variable.get("name") == "POLICY":
                said = str(variable.get("value") or "0")
    return int(said) if said.strip().isdigit() else 0


def module_version(installer: Doc) -> str:
    for _, container in template_containers(installer):
        tag = str(container.get("image", "")).rpartition(":")[2]
        if found := _TRIPLE.match(tag):
            return found[1]
    return "0.0.0"


def files(machine: Machine, pods: list[Doc]) -> dict[str, str]:
    """The files below /proc/cgpu_km with what is read from them; none without the module."""
    if not machine.module:
        return {}
    found = {
        f"{PROC}/version": f"{machine.module}\n",
        f"{PROC}/default_memsize": "0\n",
        f"{PROC}/major": "239\n",
    }
    for number, card in enumerate(machine.cards):
        inside = f"{PROC}/{number}"
        found[f"{inside}/policy"] = f"{card.policy}\n"
        found[f"{inside}/max_inst"] = f"{card.max_inst}\n"
        users = [pod for pod in pods if number in cards_of(pod)]
        found[f"{inside}/free_weight"] = f"{max(0, card.max_inst - len(users))}\n"
        for pod in users:
            found |= _container_files(f"{inside}/{container_id(pod)}", pod)
    return {**found, **machine.written}


def _container_files(inside: str, pod: Doc) -> dict[str, str]:
    size = int(at(pod, "spec", "containers", 0, "resources", "limits", "aliyun.com/gpu-mem") or 0)
    return {
        f"{inside}/id": f"{container_id(pod)}\n",
        f"{inside}/meminfo": "Free: 0\n",
        f"{inside}/memsize": f"{size * 2**30}\n",
        f"{inside}/weight": f"{weight_of(pod)}\n",
    }


def container_id(pod: Doc) -> str:
    """The twelve characters by which the module names a container."""
    return str(pod["metadata"]["uid"]).replace("-", "")[:12]


def weight_of(pod: Doc) -> str:
    for _, container in template_containers(pod):
        for variable in container.get("env") or []:
            if variable.get("name") == "ALIYUN_COM_GPU_SCHD_WEIGHT":
                return str(variable.get("value"))
    return "1"


def cards_of(pod: Doc) -> set[int]:
    """The cards on which a running GPU-sharing pod was placed, by its annotation."""
    if at(pod, "status", "phase") != "Running":
        return set()
    said = annotations_of(pod).get("scheduler.framework.gpushare.allocation")
    allocation: dict[str, dict[str, Any]] = json.loads(said) if said else {}
    return {int(number) for one in allocation.values() for number in one}
