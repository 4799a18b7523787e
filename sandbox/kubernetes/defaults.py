"""What the server fills in: templates, pods, daemon sets (recordings 06, 17)."""

import random
import string
from typing import Any

from sandbox.kubernetes.documents import Doc, copied

_LETTERS = "bcdfghjklmnpqrstvwxz2456789"


def suffix(length: int = 5) -> str:
    """Random letters as generateName appends them."""
    return "".join(random.choices(_LETTERS, k=length))  # noqa: S311  names, no secrets


def template_spec(spec: Doc) -> Doc:
    """A pod's or a template's spec with what is said for everybody."""
    spec = dict(spec)
    for field in ("initContainers", "containers"):
        if field in spec:
            spec[field] = [_container(one) for one in spec[field]]
    spec.setdefault("restartPolicy", "Always")
    spec.setdefault("terminationGracePeriodSeconds", 30)
    spec.setdefault("dnsPolicy", "ClusterFirst")
    spec.setdefault("securityContext", {})
    spec.setdefault("schedulerName", "default-scheduler")
    return spec


def _container(container: Doc) -> Doc:
    container = dict(container)
    image = str(container.get("image", ""))
    fresh = image.endswith(":latest") or ":" not in image.rpartition("/")[2]
    container.setdefault("resources", {})
    container["resources"] = _resources(container["resources"])
    container.setdefault("terminationMessagePath", "/dev/termination-log")
    container.setdefault("terminationMessagePolicy", "File")
    container.setdefault("imagePullPolicy", "Always" if fresh else "IfNotPresent")
    if env := container.get("env"):
        container["env"] = [_variable(one) for one in env]
    return container


def _resources(resources: Doc) -> Doc:
    """Extended resources are asked for as they are limited; quantities are text."""
    result = {name: dict(part) for name, part in resources.items() if isinstance(part, dict)}
    for part in result.values():
        part.update({name: str(amount) for name, amount in part.items()})
    limits = result.get("limits", {})
    extended = {name: amount for name, amount in limits.items() if "/" in name}
    if extended:
        result["requests"] = {**extended, **result.get("requests", {})}
    return result


def _variable(variable: Doc) -> Doc:
    field: Any = (variable.get("valueFrom") or {}).get("fieldRef")
    if field is None or "apiVersion" in field:
        return variable
    variable = copied(variable)
    variable["valueFrom"]["fieldRef"]["apiVersion"] = "v1"
    return variable


def daemon_set(spec: Doc) -> Doc:
    spec = dict(spec)
    template = dict(spec.get("template") or {})
    template["spec"] = template_spec(template.get("spec") or {})
    spec["template"] = template
    strategy = dict(spec.get("updateStrategy") or {})
    strategy.setdefault("type", "RollingUpdate")
    if strategy["type"] == "RollingUpdate":
        rolling = dict(strategy.get("rollingUpdate") or {})
        rolling.setdefault("maxUnavailable", 1)
        rolling.setdefault("maxSurge", 0)
        strategy["rollingUpdate"] = rolling
    spec["updateStrategy"] = strategy
    spec.setdefault("revisionHistoryLimit", 10)
    return spec


def pod(spec: Doc) -> Doc:
    """A pod as admission leaves it: the token's volume, tolerations, priority."""
    spec = template_spec(spec)
    token = "kube-api-access-" + "".join(random.choices(string.ascii_lowercase, k=5))  # noqa: S311
    mounted = any(one["name"].startswith("kube-api-access-") for one in spec.get("volumes") or [])
    if not mounted:
        spec["volumes"] = [*(spec.get("volumes") or []), _token_volume(token)]
        mount = {"name": token, "readOnly": True}
        mount["mountPath"] = "/var/run/secrets/kubernetes.io/serviceaccount"
        spec["containers"] = [
            {**one, "volumeMounts": [*(one.get("volumeMounts") or []), mount]}
            for one in spec["containers"]
        ]
    spec.setdefault("serviceAccountName", "default")
    spec.setdefault("serviceAccount", spec["serviceAccountName"])
    spec["tolerations"] = _tolerations(spec.get("tolerations") or [])
    spec.setdefault("priority", 0)
    spec.setdefault("enableServiceLinks", True)
    spec.setdefault("preemptionPolicy", "PreemptLowerPriority")
    return spec


def _token_volume(name: str) -> Doc:
    sources: list[Doc] = [
        {"serviceAccountToken": {"expirationSeconds": 3607, "path": "token"}},
        _from_map("kube-root-ca.crt", "ca.crt"),
        {
            "downwardAPI": {
                "items": [
                    {
                        "path": "namespace",
                        "fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.namespace"},
                    }
                ]
            }
        },
        _from_map("openshift-service-ca.crt", "service-ca.crt"),
    ]
    return {"name": name, "projected": {"sources": sources, "defaultMode": 420}}


def _from_map(name: str, key: str) -> Doc:
    return {"configMap": {"name": name, "items": [{"key": key, "path": key}]}}


def _tolerations(given: list[Doc]) -> list[Doc]:
    result = list(given)
    everything = any(one.get("operator") == "Exists" and not one.get("key") for one in given)
    for condition in ("not-ready", "unreachable"):
        key = f"node.kubernetes.io/{condition}"
        if not everything and all(one.get("key") != key for one in given):
            added = {"key": key, "operator": "Exists", "effect": "NoExecute"}
            result.append({**added, "tolerationSeconds": 300})
    return result


def as_stored(kind: str, doc: Doc) -> Doc:
    """The object with its defaults; kinds without any come back as they are."""
    doc = dict(doc)
    if kind == "DaemonSet":
        doc["spec"] = daemon_set(doc.get("spec") or {})
    elif kind == "Pod":
        doc["spec"] = pod(doc.get("spec") or {})
    elif kind == "Node":
        doc["spec"] = {key: value for key, value in (doc.get("spec") or {}).items() if value}
    elif kind == "Secret":
        doc.setdefault("type", "Opaque")
    elif kind == "Namespace":
        doc["spec"] = doc.get("spec") or {"finalizers": ["kubernetes"]}
        doc["status"] = doc.get("status") or {"phase": "Active"}
    return doc
