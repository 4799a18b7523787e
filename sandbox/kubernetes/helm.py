"""Helm's releases as it keeps them (Secrets), and what an upgrade does to the daemon sets.

An upgrade writes what the chart says: a POLICY that somebody edited is put back, a variable that
the chart does not know is kept (helm/helm#3805, #9063).
"""

import base64
import gzip
import json
from dataclasses import dataclass, field
from typing import Any

from sandbox.kubernetes.documents import Doc, copied, instant, labels_of, template_containers
from sandbox.kubernetes.ownership import Writer
from sandbox.kubernetes.resources import DAEMON_SETS, SECRETS
from sandbox.kubernetes.storing import added, rewritten
from sandbox.kubernetes.world import SYSTEM, World

WRITER = Writer("helm")
TYPE = "helm.sh/release.v1"


@dataclass(frozen=True, slots=True)
class Release:
    """One release; `values` are those that the user gave, `chart` the chart's own defaults.

    `policy` None leaves cgpu.policy out of the values, so that the chart's default of 1 counts.
    """

    name: str = "ack-ai-installer"
    namespace: str = SYSTEM
    policy: Any = 1
    tag: str = ""
    status: str = "deployed"
    values: Doc = field(default_factory=dict)
    chart: Doc = field(default_factory=lambda: {"cgpu": {"enabled": True, "policy": 1}})

    def config(self) -> Doc:
        given: Doc = copied(self.values)
        cgpu: Doc = {}
        if self.policy is not None:
            cgpu["policy"] = self.policy
        if self.tag:
            cgpu["tag"] = self.tag
        if cgpu:
            given["cgpu"] = {**cgpu, **given.get("cgpu", {})}
        return given

    def effective_policy(self) -> Any:
        return self.config().get("cgpu", {}).get("policy", self.chart["cgpu"].get("policy"))


def revisions(world: World, release: Release) -> dict[int, Doc]:
    """The Secrets of a release by revision."""
    return {
        int(labels_of(one)["version"]): one
        for one in world.store.all(SECRETS)
        if one.get("type") == TYPE
        and labels_of(one).get("name") == release.name
        and one["metadata"]["namespace"] == release.namespace
    }


def install(world: World, release: Release) -> int:
    """Writes the next revision; a deployed one supersedes those before. Touches nothing else."""
    known = revisions(world, release)
    revision = max(known, default=0) + 1
    if release.status == "deployed":
        for old in known.values():
            if labels_of(old)["status"] == "deployed":
                _set_status(world, old, "superseded")
    metadata = {
        "name": f"sh.helm.release.v1.{release.name}.v{revision}",
        "namespace": release.namespace,
        "labels": _labels(release.name, release.status, revision),
    }
    body = {"release": encoded(_document(release, revision))}
    added(world.store, SECRETS, {"metadata": metadata, "type": TYPE, "data": body}, WRITER)
    return revision


def upgrade(world: World, release: Release) -> int:
    """A new revision, and when it is deployed all installers as the chart says."""
    revision = install(world, release)
    if release.status == "deployed":
        apply_chart(world, release)
    return revision


def finish(world: World, release: Release, revision: int) -> None:
    """A pending revision comes to its end: as release.status says."""
    secret = revisions(world, release)[revision]
    if release.status == "deployed":
        for number, old in revisions(world, release).items():
            if number != revision and labels_of(old)["status"] == "deployed":
                _set_status(world, old, "superseded")
        apply_chart(world, release)
    _set_status(world, secret, release.status)


def apply_chart(world: World, release: Release) -> None:
    policy = release.effective_policy()
    for daemon_set in world.store.all(DAEMON_SETS):
        new = copied(daemon_set)
        for _, container in template_containers(new):
            if release.tag and "cgpu" in container["image"]:
                container["image"] = f"{container['image'].rpartition(':')[0]}:{release.tag}"
            for variable in container.get("env") or []:
                if variable["name"] == "POLICY":
                    variable.pop("valueFrom", None)
                    variable["value"] = str(policy)
        rewritten(world.store, DAEMON_SETS, new, WRITER)


def _labels(name: str, status: str, revision: int) -> Doc:
    return {
        "name": name,
        "owner": "helm",
        "status": status,
        "version": str(revision),
        "modifiedAt": "1764547200",
    }


def _document(release: Release, revision: int) -> Doc:
    return {
        "name": release.name,
        "info": {
            "first_deployed": instant(),
            "last_deployed": instant(),
            "deleted": "",
            "description": "Upgrade complete" if revision > 1 else "Install complete",
            "status": release.status,
        },
        "chart": {
            "metadata": {"name": release.name, "version": "1.12.6", "apiVersion": "v2"},
            "templates": [],
            "values": release.chart,
        },
        "config": release.config(),
        "manifest": "",
        "version": revision,
        "namespace": release.namespace,
    }


def encoded(document: Doc) -> str:
    """base64 (Kubernetes) of base64 (Helm) of gzip of JSON (recording 24)."""
    packed = base64.b64encode(gzip.compress(json.dumps(document).encode(), mtime=0))
    return base64.b64encode(packed).decode()


def decoded(text: str) -> Doc:
    inner = gzip.decompress(base64.b64decode(base64.b64decode(text)))
    document: Doc = json.loads(inner)
    return document


def _set_status(world: World, secret: Doc, status: str) -> None:
    document = decoded(secret["data"]["release"])
    document["info"] = {**document["info"], "status": status}
    labels = {**labels_of(secret), "status": status}
    metadata = {**secret["metadata"], "labels": labels}
    new = {**secret, "metadata": metadata, "data": {"release": encoded(document)}}
    rewritten(world.store, SECRETS, new, WRITER)
