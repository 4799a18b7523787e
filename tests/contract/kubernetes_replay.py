"""Replaying a Kubernetes recording against the sandbox, and what may differ: names that are given
anew each time (uids, versions, generations, times), and what the recorder left out or cut.
"""

import http.client
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode, urlsplit

from tests.kubernetes_support import SYSTEM, Cluster
from tests.sandbox_support import ROOT

Doc = dict[str, Any]

FOLDER = ROOT / "tests" / "recordings" / "kubernetes"
AGENT = "OpenAPI-Generator/37.0.2/python"
CUT_AFTER = 6
# Of a cut text this much is compared; what follows echoes the whole object.
CUT_TEXT = 60

# Given anew each time, but the same again wherever a recording has the same.
_GIVEN = frozenset(("uid", "resourceVersion", "generation", "observedGeneration"))
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{6})?Z")
# The names of token volumes, and the version that a server started with.
_RANDOM = re.compile(r"(?<=kube-api-access-)[a-z0-9]{5}|\(\d+\)$")

NODES = [
    ("gpu-node-1", "cgpu", {"aliyun.com/gpu-count": "4", "aliyun.com/gpu-mem": "60"}),
    ("gpu-node-2", "cgpu", {"aliyun.com/gpu-count": "2", "aliyun.com/gpu-mem": "30"}),
    ("gpu-node-3", "default", {"nvidia.com/gpu": "8"}),
    ("cpu-node-1", "none", {}),
]


def exchanges(name: str) -> list[Doc]:
    return list(json.loads((FOLDER / f"{name}.json").read_text())["exchanges"])


def send(cluster: Cluster, request: Doc, token: str | None) -> tuple[int, Any]:
    """The recorded request as the client sends it; the status, and the body as JSON or text."""
    connection = http.client.HTTPConnection(urlsplit(cluster.url).netloc, timeout=30)
    headers = {"User-Agent": AGENT, **request["headers"]}
    if token is not None:
        headers["Authorization"] = f"Bearer {token}"
    query = f"?{urlencode(request['query'])}" if request["query"] else ""
    body = None if request["body"] is None else json.dumps(request["body"])
    if body is not None:
        headers.setdefault("Content-Type", "application/json")
    connection.request(request["method"], request["path"] + query, body, headers)
    response = connection.getresponse()
    text = response.read().decode()
    connection.close()
    if request["query"].get("watch"):
        return response.status, [json.loads(line) for line in text.splitlines()]
    if response.headers.get_content_type() == "application/json":
        return response.status, json.loads(text)
    return response.status, text


def lab(cluster: Cluster, policy: str, metadata: Doc) -> None:
    """The recorded cluster: nodes and pods that somebody made up, and no kubelet that minds them.

    The installer has this policy, and these labels and annotations besides its own.
    """
    cluster.reset({"paused": True, "taints": False})
    for name, schedule, amounts in NODES:
        made(cluster, "/api/v1/nodes", _node(name, schedule, amounts))
    made(cluster, "/apis/apps/v1/namespaces/kube-system/daemonsets", installer(policy, metadata))
    cluster.settle()
    for pod in cluster.all("pods", SYSTEM):
        run_pod(cluster, pod["metadata"]["name"], SYSTEM)
    cluster.settle()


def made(cluster: Cluster, path: str, body: Doc) -> None:
    reply = cluster.api("POST", path, body, agent=AGENT)
    assert reply.status == 201, reply


def _node(name: str, schedule: str, amounts: Doc) -> Doc:
    capacity = {"cpu": "16", "memory": "64Gi", "pods": "110", **amounts}
    labels = {"ack.node.gpu.schedule": schedule}
    labels |= {"kubernetes.io/hostname": name, "kubernetes.io/os": "linux"}
    at = "2026-12-01T00:00:00Z"
    ready = {"type": "Ready", "status": "True", "reason": "KubeletReady"}
    info = dict.fromkeys(("machineID", "systemUUID", "bootID", "kubeProxyVersion"), "")
    info |= {"kernelVersion": "5.10.0", "osImage": "Alibaba Cloud Linux 3"}
    info |= {"containerRuntimeVersion": "containerd://1.6.36", "kubeletVersion": "v1.30.1"}
    return {
        "metadata": {
            "name": name,
            "labels": labels,
            "annotations": {"node.alpha.kubernetes.io/ttl": "0"},
        },
        "spec": {"providerID": f"lab://{name}"},
        "status": {
            "capacity": capacity,
            "allocatable": capacity,
            "conditions": [{**ready, "lastHeartbeatTime": at, "lastTransitionTime": at}],
            "daemonEndpoints": {"kubeletEndpoint": {"Port": 0}},
            "nodeInfo": {**info, "operatingSystem": "linux", "architecture": "amd64"},
        },
    }


def installer(policy: str, metadata: Doc) -> Doc:
    reference = {"fieldRef": {"fieldPath": "spec.nodeName"}}
    container: Doc = {
        "name": "cgpu-installer",
        "image": "registry/acs/cgpu-installer:v1.5.3-8d3fc1b-aliyun",
        "env": [
            {"name": "POLICY", "value": policy},
            {"name": "ML_PRIORITY", "value": "high"},
            {"name": "NODE_NAME", "valueFrom": reference},
        ],
        "securityContext": {"privileged": True},
    }
    template = {
        "containers": [container],
        "nodeSelector": {"ack.node.gpu.schedule": "cgpu"},
        "hostPID": True,
        "tolerations": [{"operator": "Exists"}],
    }
    labels = {"name": "cgpu-installer"}
    return {
        "metadata": {
            "name": "cgpu-installer",
            "labels": {"app": "cgpu-installer", **metadata.get("labels", {})},
            "annotations": metadata.get("annotations", {}),
        },
        "spec": {
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": template},
        },
    }


def run_pod(cluster: Cluster, name: str, namespace: str) -> None:
    """Says that the pod runs, in the place of a kubelet."""
    at = "2026-12-01T00:00:00Z"
    kinds = ("Initialized", "Ready", "ContainersReady", "PodScheduled")
    conditions = [
        {"type": kind, "status": "True", "lastProbeTime": None, "lastTransitionTime": at}
        for kind in kinds
    ]
    path = cluster.path("pods", name, namespace)
    containers = cluster.api("GET", path).body["spec"]["containers"]
    statuses = [
        {
            "name": one["name"],
            "state": {"running": {"startedAt": at}},
            "lastState": {},
            "ready": True,
            "restartCount": 0,
            "image": one["image"],
            "imageID": "lab",
            "started": True,
        }
        for one in containers
    ]
    status: Doc = {"phase": "Running", "conditions": conditions, "containerStatuses": statuses}
    status |= {"hostIP": "127.0.0.1", "podIP": "127.0.0.1", "podIPs": [{"ip": "127.0.0.1"}]}
    body = {"status": {**status, "startTime": at}}
    merge = "application/merge-patch+json"
    reply = cluster.api("PATCH", f"{path}/status", body, type=merge)
    assert reply.status == 200, reply


@dataclass
class Replay:
    """One recording on its way through the sandbox; `given` maps recorded names to ours."""

    cluster: Cluster
    name: str
    given: dict[tuple[str, str], str] = field(default_factory=dict)
    differences: list[list[str]] = field(default_factory=list)

    def run(self, token: Callable[[int], str | None]) -> None:
        """Goes through all exchanges, each with the token of its caller."""
        for number, exchange in enumerate(exchanges(self.name)):
            request = self._translated(exchange["request"])
            status, body = send(self.cluster, request, token(number))
            recorded = exchange["response"]
            if status != recorded["status"]:
                found = [f"recorded {recorded['status']}, got {status}: {body}"]
            elif "events" in recorded:
                found = list(self._compared(recorded["events"], body, "events"))
            else:
                found = list(self._compared(recorded["body"], body, "body"))
            self.differences.append(found)

    def _translated(self, value: Any, key: str = "") -> Any:
        """A request with our names in the place of the recorded ones."""
        if isinstance(value, dict):
            return {name: self._translated(inner, name) for name, inner in value.items()}
        if isinstance(value, list):
            return [self._translated(inner, key) for inner in value]
        known = {recorded: ours for (_, recorded), ours in self.given.items()}
        kinds = ("uid", "resourceVersion")
        if key in kinds or (key == "value" and isinstance(value, str) and value.isdigit()):
            return known.get(value, value) if len(str(value)) > 1 else value
        return value

    def _compared(self, recorded: Any, got: Any, path: str) -> Iterator[str]:
        """What differs, recursively: keys, types, lengths, and all values that are not given."""
        if isinstance(recorded, dict) and isinstance(got, dict):
            got = {name: value for name, value in got.items() if name != "managedFields"}
            if recorded.keys() != got.keys():
                yield f"{path}: recorded keys {sorted(recorded)}, got {sorted(got)}"
            for name in recorded.keys() & got.keys():
                yield from self._compared(recorded[name], got[name], f"{path}.{name}")
        elif isinstance(recorded, list) and isinstance(got, list):
            cut = len(recorded) == CUT_AFTER
            if len(recorded) != len(got[:CUT_AFTER] if cut else got):
                yield f"{path}: recorded {len(recorded)} items, got {len(got)}"
            for number, (one, other) in enumerate(zip(recorded, got, strict=False)):
                yield from self._compared(one, other, f"{path}[{number}]")
        elif not self._same(path.rpartition(".")[2], recorded, got):
            yield f"{path}: recorded {recorded!r}, got {got!r}"

    def _same(self, key: str, recorded: Any, got: Any) -> bool:
        if key in _GIVEN or key.endswith("template.generation"):
            kind = "generation" if "eneration" in key else key
            return self.given.setdefault((kind, str(recorded)), str(got)) == str(got)
        if not isinstance(recorded, str) or not isinstance(got, str):
            return bool(type(recorded) is type(got) and recorded == got)
        if _TIME.fullmatch(recorded) and _TIME.fullmatch(got):
            return len(recorded) == len(got)
        if recorded.endswith("…"):
            return bool(got[:CUT_TEXT] == recorded[:CUT_TEXT])
        return _RANDOM.sub("", recorded) == _RANDOM.sub("", got)
