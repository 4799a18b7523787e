"""The sandbox Kubernetes for tests: a process of its own, and the people and machines around it."""

import json
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from urllib.parse import urlencode

from tests.sandbox_support import PATIENCE, ROOT, Wire, wait_until

Doc = dict[str, Any]

SYSTEM = "kube-system"
INSTALLER = "cgpu-installer"
KURED_LOCK = "weave.works/kured-node-lock"
# A world without anything but its namespaces.
EMPTY: Doc = {}
# What the reconciler needs and no more, as `grant` takes it.
READ_ONLY = [
    {
        "verbs": ["get", "list", "watch"],
        "apiGroups": ["", "apps"],
        "resources": ["nodes", "pods", "daemonsets", "controllerrevisions", "secrets"],
    }
]
_API = {
    "daemonsets": "apps",
    "controllerrevisions": "apps",
    "deployments": "apps",
    "leases": "coordination.k8s.io",
    "poddisruptionbudgets": "policy",
}


@dataclass(frozen=True)
class Fault:
    """A rule in force in the server."""

    cluster: "Cluster"
    id: str

    def state(self) -> Doc:
        """{seen, fired, holding, answers, ...}; `answers` are those of the steps that it did."""
        rules: list[Doc] = self.cluster.door("list_faults")["faults"]
        return next(rule for rule in rules if rule["id"] == self.id)

    def fired(self) -> int:
        return int(self.state()["fired"])

    def holding(self) -> int:
        return int(self.state()["holding"])

    def wait_until_fired(self, timeout: float = PATIENCE) -> None:
        wait_until(self.fired, f"{self.id} has fired", timeout)

    def wait_until_holding(self, timeout: float = PATIENCE) -> None:
        wait_until(self.holding, f"{self.id} holds a call", timeout)

    def release(self, outcome: str = "continue") -> None:
        """ "continue" lets the held call go on; "drop" cuts its connection instead."""
        self.cluster.door("release_fault", id=self.id, outcome=outcome)


@dataclass(frozen=True)
class Reply:
    """What the API said: the HTTP status and the document."""

    status: int
    body: Doc

    @property
    def reason(self) -> str:
        return str(self.body.get("reason", ""))


class Cluster:
    """A Kubernetes in a process of its own; its methods are what happens to it, or is true of it.

    Reads go through the API as the admin; deeds through the scripting door (sandbox/kubernetes/
    deeds.py), as other people and machines do them.
    """

    def __init__(self) -> None:
        command = [sys.executable, "-m", "sandbox", "kubernetes", "--with-parent"]
        self.process = subprocess.Popen(
            command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        assert self.process.stdout is not None
        ready = json.loads(self.process.stdout.readline() or b"{}")
        assert "kubernetes" in ready, "the sandbox did not start"
        self.url, self.token = str(ready["kubernetes"]), str(ready["token"])
        self.kubeconfig = str(ready["kubeconfig"])
        self.wire = Wire(self.url)

    def __repr__(self) -> str:
        return f"Cluster({self.url})"

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        self.wire.close()
        self.process.terminate()
        self.process.communicate(timeout=10)

    def door(self, action: str, /, **body: Any) -> Doc:
        """One request at the scripting door."""
        status, answer = self.wire.send(f"/sandbox/{action}", body)
        assert status == 200, f"{action} {body}: {answer}"
        return answer

    def reset(self, world: Mapping[str, Any] | None = None) -> None:
        """Another world, settled; None: the standard one. Undoes faults, tokens and outages.

        {version, nodes, daemonsets, pods, budgets, helm, namespaces, pace, paused, taints}; the
        fields of each are in sandbox/kubernetes/plans.py, helm's in helm.Release.
        """
        self.door("reset", world=world)

    def write_kubeconfig(self, path: Path, token: str = "") -> Path:
        """A kubeconfig file for this server, of the admin or of a token made by `grant`."""
        text = self.door("kubeconfig", token=token or self.token)["kubeconfig"]
        path.write_text(text)
        return path

    def grant(self, rules: list[Doc], name: str = "limited", namespace: str = "default") -> str:
        """A service account with these rules; its token.

        A rule: {verbs, apiGroups, resources} with "*" for all, and optionally resourceNames and
        namespaces. Granting again replaces the rules.
        """
        token, user = f"token-of-{name}", f"system:serviceaccount:{namespace}:{name}"
        self.door("grant", token=token, user=user, rules=rules)
        return token

    def revoke(self, token: str) -> None:
        """The token gets 401 from now on; also the admin's, until the reset."""
        self.door("revoke", token=token)

    def api(self, method: str, path: str, body: object = None, **options: Any) -> Reply:
        """One raw call. options: query (dict), type (Content-Type), token ("" for none)."""
        token = options.get("token", self.token)
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        headers["Content-Type"] = options.get("type", "application/json")
        headers["User-Agent"] = options.get("agent", "kubectl/v1.30.1")
        query = f"?{urlencode(options['query'])}" if options.get("query") else ""
        raw = b"" if body is None else json.dumps(body).encode()
        status, document = self.wire.exchange(method, path + query, raw, headers)
        return Reply(status, document)

    def path(self, resource: str, name: str = "", namespace: str = "") -> str:
        """The path of an object, or of all: ("daemonsets", "cgpu-installer", "kube-system")."""
        group = _API.get(resource)
        root = f"/apis/{group}/v1" if group else "/api/v1"
        inside = f"/namespaces/{namespace}" if namespace else ""
        return f"{root}{inside}/{resource}" + (f"/{name}" if name else "")

    def get(self, resource: str, name: str, namespace: str = "") -> Doc:
        """An object, which must be there."""
        reply = self.api("GET", self.path(resource, name, namespace))
        assert reply.status == 200, reply
        return reply.body

    def all(self, resource: str, namespace: str = "", **query: str) -> list[Doc]:
        """All objects; query: labelSelector, fieldSelector, limit."""
        reply = self.api("GET", self.path(resource, "", namespace), query=query)
        assert reply.status == 200, reply
        return list(reply.body["items"])

    def node(self, name: str) -> Doc:
        return self.get("nodes", name)

    def boot_id(self, node: str) -> str:
        return str(self.node(node)["status"]["nodeInfo"]["bootID"])

    def is_ready(self, node: str) -> bool:
        conditions = self.node(node)["status"]["conditions"]
        return any(one["type"] == "Ready" and one["status"] == "True" for one in conditions)

    def is_cordoned(self, node: str) -> bool:
        return bool(self.node(node)["spec"].get("unschedulable"))

    def daemon_set(self, name: str = INSTALLER, namespace: str = SYSTEM) -> Doc:
        return self.get("daemonsets", name, namespace)

    def env(self, name: str = INSTALLER, container: int = 0) -> list[Doc]:
        """The variables of a daemon set's container."""
        spec = self.daemon_set(name)["spec"]["template"]["spec"]
        return list(spec["containers"][container].get("env") or [])

    def policy(self, name: str = INSTALLER) -> str | None:
        """The value of POLICY in the daemon set; None without one."""
        return next((one.get("value") for one in self.env(name) if one["name"] == "POLICY"), None)

    def policy_manager(self, name: str = INSTALLER) -> str:
        """The field manager that owns the value of POLICY; "" for none."""
        for entry in self.daemon_set(name)["metadata"]["managedFields"]:
            fields = entry["fieldsV1"]
            for step in ("f:spec", "f:template", "f:spec", "f:containers"):
                fields = fields.get(step, {})
            for container in fields.values():
                if "f:value" in container.get("f:env", {}).get('k:{"name":"POLICY"}', {}):
                    return str(entry["manager"])
        return ""

    def is_rolled_out(self, name: str = INSTALLER) -> bool:
        """Whether all pods are of the present template, and available."""
        found = self.daemon_set(name)
        status = found["status"]
        wanted = status.get("desiredNumberScheduled", 0)
        return bool(
            status.get("observedGeneration", 0) >= found["metadata"]["generation"]
            and status.get("updatedNumberScheduled", 0) == wanted
            and status.get("numberAvailable", 0) == wanted
        )

    def wait_until_rolled_out(self, name: str = INSTALLER, timeout: float = PATIENCE) -> None:
        wait_until(lambda: self.is_rolled_out(name), f"{name} is rolled out", timeout)

    def wait_until_ready(self, node: str, timeout: float = PATIENCE) -> None:
        wait_until(lambda: self.is_ready(node), f"{node} is ready", timeout)

    def wait_until_gone(
        self, pod: str, namespace: str = "default", timeout: float = PATIENCE
    ) -> None:
        path = self.path("pods", pod, namespace)
        wait_until(lambda: self.api("GET", path).status == 404, f"{pod} is gone", timeout)

    def pods_on(self, node: str, namespace: str = "") -> list[str]:
        """The names of the pods there, those of daemon sets too."""
        found = self.all("pods", namespace, fieldSelector=f"spec.nodeName={node}")
        return [one["metadata"]["name"] for one in found]

    def installer_pod(self, node: str, name: str = INSTALLER) -> str:
        """The name of the installer's pod on a node; "" for none."""
        return next((pod for pod in self.pods_on(node, SYSTEM) if pod.startswith(name)), "")

    def loaded(self, node: str) -> list[int]:
        """The policy that each card really has; [] when the module is not loaded."""
        machine = self.machine(node)
        return list(machine["policies"]) if machine["module"] else []

    def machine(self, node: str) -> Doc:
        """{boot_id, module ("" or version), up, policies}, as the machine is, not as it is said."""
        return dict(self.dump()["machines"][node])

    def procfs(self, node: str) -> dict[str, str]:
        """The files below /proc/cgpu_km and what is in them."""
        return dict(self.door("procfs", node=node)["files"])

    def dump(self) -> Doc:
        """Everything: {nodes: [documents], pods: ..., machines: {name: ...}, version}."""
        return self.door("dump")

    def events(self, **query: str) -> list[Doc]:
        return self.all("events", **query)

    def releases(self, name: str = "ack-ai-installer") -> dict[int, str]:
        """The status of each revision of a Helm release."""
        found = self.all("secrets", labelSelector=f"owner=helm,name={name}")
        labels = [one["metadata"]["labels"] for one in found]
        return {int(one["version"]): one["status"] for one in labels}

    def restart(self, node: str, seconds: float = 0.0) -> str:
        """The machine restarts, lost for so long; answers its bootID before, at once."""
        return str(self.door("restart_node", name=node, seconds=seconds)["boot_id"])

    def restarted(self, node: str) -> None:
        """Restarts the machine and waits until it is up, with its pods running again."""
        before = self.restart(node)
        wait_until(lambda: self.boot_id(node) != before, f"{node} has another bootID")
        self.wait_until_ready(node)
        self.settle()

    def shut_down(self, node: str) -> None:
        """The machine goes down for its restart, and stays down until `boot`."""
        self.door("restart_node", name=node, stay_down=True)

    def boot(self, node: str) -> None:
        self.door("boot_node", name=node)

    def set_ready(self, node: str, ready: bool) -> None:
        """The kubelet stops answering, or answers again: no restart, the same bootID."""
        self.door("set_ready", name=node, ready=ready)

    def add_node(self, name: str, **plan: Any) -> None:
        """A node joins: fields of plans.NodePlan."""
        self.door("add_node", name=name, **plan)

    def remove_node(self, name: str) -> None:
        self.door("remove_node", name=name)

    def label(self, node: str, **labels: str | None) -> None:
        """Labels of a node, None removes; for dotted keys label(node, **{"a.b/c": "d"})."""
        self.door("set_labels", name=node, labels=labels)

    def annotate(self, name: str, resource: str, namespace: str = "", **notes: str | None) -> None:
        body = {"resource": resource, "namespace": namespace, "annotations": notes}
        self.door("set_annotations", name=name, **body)

    def cordon(self, node: str, on: bool = True) -> None:
        """Somebody else cordons the node, or uncordons it."""
        self.door("cordon", name=node, on=on)

    def add_daemon_set(self, name: str, **plan: Any) -> None:
        """Fields of plans.DaemonSetPlan."""
        self.door("add_daemon_set", name=name, **plan)

    def remove_daemon_set(self, name: str = INSTALLER, namespace: str = SYSTEM) -> None:
        self.door("remove_daemon_set", name=name, namespace=namespace)

    def edit(self, name: str = INSTALLER, **change: Any) -> None:
        """Somebody edits a daemon set: env={name: value or None}, image, strategy, manager."""
        self.door("edit_daemon_set", name=name, **change)

    def touch(self, resource: str, name: str, namespace: str = "") -> None:
        """Bumps an object's resourceVersion, as a status write of somebody else does."""
        self.door("touch", resource=resource, name=name, namespace=namespace)

    def add_pods(self, name: str, **plan: Any) -> list[str]:
        """Pods of a user: fields of plans.PodPlan (node, gpu_mem, owner, count, ...)."""
        return list(self.door("create_pods", name=name, **plan)["names"])

    def delete_pod(self, name: str, namespace: str = "default") -> None:
        """As `kubectl delete pod`."""
        self.door("delete_pod", name=name, namespace=namespace)

    def end_pod(self, name: str, namespace: str = "default") -> None:
        """The pod is gone at once, also one with ends_after "never"."""
        self.door("end_pod", name=name, namespace=namespace)

    def fail_pod(self, name: str, namespace: str = "default") -> None:
        """The pod is Failed with UnexpectedAdmissionError, as after some restarts."""
        self.door("fail_pod", name=name, namespace=namespace)

    def add_budget(self, name: str, labels: Doc, **plan: Any) -> None:
        """A disruption budget over the pods with these labels: min_available, max_unavailable."""
        self.door("create_budget", name=name, labels=labels, **plan)

    def helm_upgrade(self, policy: Any = 1, **release: Any) -> int:
        """A new revision, which puts POLICY back to what the chart says; its number.

        release: name, namespace, tag, status ("pending-upgrade" and "failed" apply nothing),
        values (more of the user's), chart (the chart's defaults); policy None: not in the values.
        """
        return int(self.door("helm_upgrade", policy=policy, **release)["revision"])

    def helm_finish(self, revision: int, policy: Any = 1, status: str = "deployed") -> None:
        """A pending revision comes to its end."""
        self.door("helm_finish", revision=revision, policy=policy, status=status)

    def helm_uninstall(self, **release: Any) -> None:
        """The release's Secrets go; the daemon sets stay."""
        self.door("helm_uninstall", **release)

    def set_allocatable(self, node: str, **amounts: str) -> None:
        """What the node offers from now on: **{"aliyun.com/gpu-mem": "15"}."""
        self.door("set_allocatable", name=node, **amounts)

    def drift(self, node: str, gpu: int = 0, **values: Any) -> None:
        """Somebody writes below /proc/cgpu_km: policy, max_inst, or files={"0/policy": " 1 "}."""
        self.door("drift", node=node, gpu=gpu, **values)

    def set_module(self, node: str, version: str = "", broken: bool = False) -> None:
        """Which version of the module is loaded; broken: the installer cannot load it."""
        self.door("set_module", node=node, version=version, broken=broken)

    def lock_kured(self, node: str = "", **lock: Any) -> None:
        """kured holds its lock for the node, "" releases it; ttl (ns), created, locks=[nodes]."""
        self.door("lock_kured", node=node, **lock)

    def knobs(self, **knobs: Any) -> None:
        """pace (seconds between steps of the controllers), paused, taints."""
        self.door("set_knobs", **knobs)

    def step(self, count: int = 1) -> bool:
        """Steps of the controllers, also while paused; whether the last one changed anything."""
        return bool(self.door("take_steps", count=count)["changed"])

    def settle(self) -> None:
        """Everything that goes on comes to its end now, but for what waits for a time."""
        self.door("settle")

    def stale(self, *resources: str, on: bool = True) -> None:
        """Gets and lists of these kinds see this moment until it is turned off."""
        self.door("set_stale", resources=list(resources), on=on)

    def compact(self) -> None:
        """The server forgets the past: old watches and half-read lists get 410."""
        self.door("compact")

    def fault(self, action: str, call: str = "*", **rule: Any) -> Fault:
        """What shall go wrong: see sandbox/kubernetes/faults.py.

        action: delay (seconds), refuse, drop_response, status and status_after (code, message,
        text, headers), hold, do (steps: {"deed": name, ...} of deeds.py, or {method, path, body,
        type, manager}). call: "patch daemonsets", "list nodes", "create pods/eviction", "get
        /version". Further: name (an object's), nth (0: every), when (before, after).
        """
        return Fault(self, self.door("add_fault", action=action, call=call, **rule)["id"])

    def clear_faults(self) -> None:
        self.door("clear_faults")

    def outage(self, mode: str = "refuse") -> None:
        """ "refuse" cuts every connection, "503" answers so, "" ends the outage."""
        self.door("set_outage", mode=mode)

    def calls(self, call: str = "", name: str = "", since: int = 0) -> list[Doc]:
        """The log: {n, time, call, path, query, body, type, name, namespace, user, agent, code}."""
        return list(self.door("list_calls", call=call, name=name, since=since)["calls"])

    def call_counts(self) -> dict[str, int]:
        return dict(self.door("list_calls", since=sys.maxsize)["counts"])

    def last_call(self) -> int:
        """The number of the latest call, for `calls(since=...)`."""
        return int(self.door("list_calls", since=sys.maxsize)["last"])

    def reset_calls(self) -> None:
        self.door("reset_calls")
