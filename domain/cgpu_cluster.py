"""What one look at a Kubernetes cluster saw of cGPU, as values. What was not seen is `Unknown`."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Final, TypeAlias

from domain.cgpu_versions import Unknown, image_name

SCHEDULE_LABEL: Final = "ack.node.gpu.schedule"
CORDON_MARK: Final = "poolkeeper.io/cgpu-cordoned"
"""The annotation of a node that Poolkeeper cordoned; its value names the restart."""

GPU_MEMORY: Final = "aliyun.com/gpu-mem"
GPU_PERCENTAGE: Final = "aliyun.com/gpu-core.percentage"
GPU_COUNT: Final = "aliyun.com/gpu-count"
WHOLE_GPU: Final = "nvidia.com/gpu"

_INSTALLER_IMAGE: Final = re.compile(r".*cgpu.*installer.*", re.IGNORECASE)
_ISOLATING: Final = frozenset({"cgpu", "core_mem"})


def isolates(labels: Mapping[str, str]) -> bool:
    """Whether nodes with these labels load the cGPU module (facts/cgpu.md, finding 2)."""
    return labels.get(SCHEDULE_LABEL) in _ISOLATING or labels.get("cgpu") == "true"


def is_installer_image(image: str) -> bool:
    """Whether an image installs cGPU, by its name only: registries and tags differ."""
    return _INSTALLER_IMAGE.fullmatch(image_name(image)) is not None


@dataclass(frozen=True, kw_only=True, slots=True)
class Node:
    """A node. `memory` is its allocatable GPU memory in GiB, `cards` its GPUs as sharing counts
    them, `whole` those given out as `nvidia.com/gpu`; each None where the node does not say.

    `cordon_mark` is the value of our annotation, "" without; `provider` as `cn-hangzhou.i-bp1`.
    """

    name: str
    uid: str
    boot: str
    created_at: datetime
    resource_version: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)
    ready: bool = True
    unschedulable: bool = False
    cordon_mark: str = ""
    provider: str = ""
    memory: int | None = None
    cards: int | None = None
    whole: int | None = None

    @property
    def isolates(self) -> bool:
        return isolates(self.labels)

    @property
    def label(self) -> str:
        """The label by which it shares its cards, as people know it."""
        if SCHEDULE_LABEL in self.labels:
            return self.labels[SCHEDULE_LABEL]
        return "cgpu=true" if self.labels.get("cgpu") == "true" else ""

    @property
    def card(self) -> str:
        """The model of its cards, "" where no label says."""
        return self.labels.get("aliyun.accelerator/nvidia_name", "")

    @property
    def card_memory(self) -> int | None:
        """GiB of one card, as the scheduler counts them (facts/cgpu.md, 3.1)."""
        return self.memory // self.cards if self.memory and self.cards else None


class Place(StrEnum):
    """In which list of a pod template a container stands."""

    CONTAINERS = "containers"
    INIT = "initContainers"


@dataclass(frozen=True, kw_only=True, slots=True)
class Setting:
    """One environment variable POLICY of a pod template: where it stands and what it says.

    `value` is None where it comes from elsewhere (`valueFrom`); the indices are for a patch.
    """

    container: str
    place: Place
    container_index: int
    index: int
    value: str | None

    @property
    def path(self) -> str:
        """Its JSON pointer in a DaemonSet."""
        place = f"{self.place}/{self.container_index}"
        return f"/spec/template/spec/{place}/env/{self.index}"


class Strategy(StrEnum):
    """How a DaemonSet's pods come to its new template."""

    ROLLING = "RollingUpdate"
    ON_DELETE = "OnDelete"


@dataclass(frozen=True, kw_only=True, slots=True)
class Writer:
    """Who last wrote POLICY, as `managedFields` tells; `manager` is such as `helm` or `kubectl`."""

    manager: str
    at: datetime | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Installer:
    """A DaemonSet with a container that installs cGPU, found by its image.

    `images` are the installing containers' own. `revision` is the hash that pods of the newest
    template carry, "" where it is not known yet. `bare` is where a missing POLICY would be added.
    """

    namespace: str
    name: str
    uid: str
    generation: int
    observed_generation: int = 0
    desired: int = 0
    updated: int = 0
    available: int = 0
    strategy: Strategy = Strategy.ROLLING
    images: tuple[str, ...] = ()
    settings: tuple[Setting, ...] = ()
    imports_environment: bool = False
    node_selector: Mapping[str, str] = field(default_factory=dict)
    revision: str = ""
    writer: Writer | None = None
    bare: "Bare | None" = None

    @property
    def title(self) -> str:
        return f"{self.namespace}/{self.name}"


@dataclass(frozen=True, kw_only=True, slots=True)
class Bare:
    """The only installing container, without POLICY; `env` is its list as JSON, None for none."""

    container: str
    place: Place
    index: int
    env: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class InstallerPod:
    """An installer's pod on a node; `policy` is what its own POLICY says, None for no policy.

    `container` is the one that installs, "" where only an init container does.
    """

    name: str
    namespace: str
    uid: str
    installer: str
    node: str
    revision: str
    policy: int | None
    ready: bool
    leaving: bool = False
    container: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Pod:
    """Any other pod on a node that shares cards, while it is not over.

    `stays`: it belongs to a DaemonSet or to the kubelet itself, so that nobody evicts it. `bare`:
    nothing makes it again. `weighted`: it asks for a weight above 1.
    """

    name: str
    namespace: str
    node: str
    memory: int = 0
    percentage: int = 0
    stays: bool = False
    bare: bool = False
    leaving: bool = False
    weighted: bool = False

    @property
    def title(self) -> str:
        return f"{self.namespace}/{self.name}"

    @property
    def shares(self) -> bool:
        """Whether it uses a part of a card."""
        return self.memory > 0


@dataclass(frozen=True, kw_only=True, slots=True)
class Release:
    """A Helm release that has cGPU in its values, at its highest deployed revision.

    `policy` is `cgpu.policy` as it stands there, None for none; `pending` is the status of a later
    revision that is on its way, "" where there is none.
    """

    namespace: str
    name: str
    revision: int
    enabled: bool
    policy: object = None
    pending: str = ""

    @property
    def title(self) -> str:
        return f"{self.namespace}/{self.name}"


@dataclass(frozen=True, kw_only=True, slots=True)
class Reading:
    """What /proc/cgpu_km says on one node, at boot `boot`.

    `policies` are by GPU, in the order of their numbers; none at all when the module is not loaded.
    `version` is "" then. `containers` counts what runs on the cards now.
    """

    boot: str
    version: str = ""
    policies: tuple[int | None, ...] = ()
    containers: int = 0

    @property
    def loaded(self) -> bool:
        return bool(self.version)


Probe: TypeAlias = Reading | Unknown


@dataclass(frozen=True, kw_only=True)
class Cluster:
    """One look. `releases` is Unknown where they could not be listed; `reboot_lock` says who holds
    kured's lock, "" for nobody. `readings` are by node; a node that was not read is not in there.
    """

    at: datetime
    version: str
    nodes: tuple[Node, ...] = ()
    installers: tuple[Installer, ...] = ()
    installer_pods: tuple[InstallerPod, ...] = ()
    pods: tuple[Pod, ...] = ()
    releases: tuple[Release, ...] | Unknown = ()
    readings: Mapping[str, Probe] = field(default_factory=dict)
    reboot_lock: str = ""
