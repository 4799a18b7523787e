"""How a scene describes its nodes, daemon sets, pods and budgets; every field has a default."""

from dataclasses import dataclass, field
from typing import Any

from sandbox.kubernetes.documents import Doc
from sandbox.kubernetes.world import SYSTEM

SHARING = frozenset(("cgpu", "core_mem", "share", "mps"))
IMAGE = "registry-vpc.cn-hongkong.aliyuncs.com/acs/cgpu-installer:v1.5.13-8d3fc1b-aliyun"
SCHEDULE = "ack.node.gpu.schedule"


@dataclass(frozen=True, slots=True)
class NodePlan:
    """A machine; with `count` several, named name-1, name-2, ...

    schedule: the value of ack.node.gpu.schedule, "" for none. cards and gib: of a sharing node;
    gpus: whole GPUs of any other. policy: what the loaded module does, one number or one per
    card; None as the installer says. module False: not loaded, and the installer does not load it.
    """

    name: str
    schedule: str = "cgpu"
    cards: int = 2
    gib: int = 15
    card: str = "Tesla-T4"
    gpus: int = 0
    labels: Doc = field(default_factory=dict)
    annotations: Doc = field(default_factory=dict)
    policy: Any = None
    module: bool = True
    max_inst: int = 20
    ready: bool = True
    unschedulable: bool = False
    kubelet: str = "v1.30.1"
    count: int = 1

    def all_labels(self) -> Doc:
        labels: Doc = {"kubernetes.io/hostname": self.name, "kubernetes.io/os": "linux"}
        if self.schedule:
            labels[SCHEDULE] = self.schedule
        if self.cards_here():
            labels["aliyun.accelerator/nvidia_count"] = str(self.cards_here())
            labels["aliyun.accelerator/nvidia_mem"] = f"{self.gib * 1024}MiB"
            labels["aliyun.accelerator/nvidia_name"] = self.card
        return {**labels, **self.labels}

    def cards_here(self) -> int:
        return self.cards if self.schedule in SHARING else self.gpus

    def amounts(self) -> dict[str, str]:
        """Capacity; on sharing nodes nvidia.com/gpu is 0 (facts/cgpu.md, 1.3)."""
        amounts = {"cpu": "16", "memory": "64Gi", "pods": "110"}
        if self.schedule not in SHARING:
            return {**amounts, "nvidia.com/gpu": str(self.gpus)} if self.gpus else amounts
        amounts["aliyun.com/gpu-count"] = str(self.cards)
        amounts["aliyun.com/gpu-mem"] = str(self.cards * self.gib)
        amounts["nvidia.com/gpu"] = "0"
        if self.schedule == "core_mem":
            amounts["aliyun.com/gpu-core.percentage"] = str(100 * self.cards)
        return amounts


@dataclass(frozen=True, slots=True)
class DaemonSetPlan:
    """An installer. policy: the value of POLICY, None for none; env: further variables, after it;
    containers and init_containers: the whole list instead. manager: whose the fields are."""

    name: str = "cgpu-installer"
    namespace: str = SYSTEM
    image: str = IMAGE
    policy: Any = "1"
    env: list[Doc] = field(default_factory=list)
    containers: list[Doc] | None = None
    init_containers: list[Doc] = field(default_factory=list)
    strategy: str = "RollingUpdate"
    max_unavailable: int | str = 1
    selector: Doc = field(default_factory=lambda: {SCHEDULE: "cgpu"})
    annotations: Doc = field(default_factory=dict)
    manager: str = "helm"

    def document(self) -> Doc:
        strategy: Doc = {"type": self.strategy}
        if self.strategy == "RollingUpdate":
            strategy["rollingUpdate"] = {"maxUnavailable": self.max_unavailable}
        spec: Doc = {
            "containers": self.containers or [self._container()],
            "nodeSelector": self.selector,
            "hostPID": True,
            "tolerations": [{"operator": "Exists"}],
        }
        if self.init_containers:
            spec["initContainers"] = self.init_containers
        labels = {"name": self.name, "app": "ack-ai-installer"}
        metadata = {"name": self.name, "namespace": self.namespace, "labels": dict(labels)}
        return {
            "metadata": {**metadata, "annotations": dict(self.annotations)},
            "spec": {
                "selector": {"matchLabels": {"name": self.name}},
                "template": {"metadata": {"labels": labels}, "spec": spec},
                "updateStrategy": strategy,
            },
        }

    def _container(self) -> Doc:
        policy = [] if self.policy is None else [{"name": "POLICY", "value": self.policy}]
        reference = {"fieldRef": {"fieldPath": "spec.nodeName"}}
        own = [{"name": "NODE_NAME", "valueFrom": reference}]
        container = {"name": self.name, "image": self.image, "env": [*policy, *self.env, *own]}
        return {**container, "securityContext": {"privileged": True}}


@dataclass(frozen=True, slots=True)
class PodPlan:
    """A pod of a user. gpu_mem (GiB) and gpu_core (percent) on card `gpu`, or whole `gpus`.

    owner: "ReplicaSet/train" brings the pod back when it is evicted. ends_after: seconds that it
    takes to end, or "never". weight: ALIYUN_COM_GPU_SCHD_WEIGHT.
    """

    name: str
    namespace: str = "default"
    node: str = ""
    gpu_mem: int = 0
    gpu_core: int = 0
    gpu: int = 0
    gpus: int = 0
    weight: int = 0
    owner: str = ""
    labels: Doc = field(default_factory=dict)
    annotations: Doc = field(default_factory=dict)
    ready: bool = True
    ends_after: float | str = 0
    count: int = 1

    def limits(self) -> Doc:
        asked = {
            "aliyun.com/gpu-mem": self.gpu_mem,
            "aliyun.com/gpu-core.percentage": self.gpu_core,
            "nvidia.com/gpu": self.gpus,
        }
        return {name: str(amount) for name, amount in asked.items() if amount}

    def all_annotations(self) -> Doc:
        notes: Doc = dict(self.annotations)
        if self.gpu_mem and self.node:
            notes["scheduler.framework.gpushare.allocation"] = (
                f'{{"0":{{"{self.gpu}":{self.gpu_mem}}}}}'
            )
            notes["ALIYUN_COM_GPU_MEM_IDX"] = str(self.gpu)
            notes["ALIYUN_COM_GPU_MEM_POD"] = str(self.gpu_mem)
            notes["ALIYUN_COM_GPU_MEM_ASSIGNED"] = "true"
        if self.ends_after:
            notes["sandbox/ends-after"] = str(self.ends_after)
        if not self.ready:
            notes["sandbox/unready"] = "true"
        return notes


@dataclass(frozen=True, slots=True)
class BudgetPlan:
    """A disruption budget over the pods with these labels."""

    name: str
    labels: Doc
    namespace: str = "default"
    min_available: int | str | None = None
    max_unavailable: int | str | None = None

    def document(self) -> Doc:
        spec: Doc = {"selector": {"matchLabels": self.labels}}
        if self.min_available is not None:
            spec["minAvailable"] = self.min_available
        if self.max_unavailable is not None:
            spec["maxUnavailable"] = self.max_unavailable
        return {"metadata": {"name": self.name, "namespace": self.namespace}, "spec": spec}
