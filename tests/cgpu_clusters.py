"""Looks at clusters, made up for tests of what is decided from them."""

from datetime import UTC, datetime, timedelta
from typing import Any

from domain.cgpu_cluster import Cluster, Installer, InstallerPod, Node, Place, Setting

START = datetime(2026, 12, 1, 12, tzinfo=UTC)
LABELS = {"ack.node.gpu.schedule": "cgpu"}


def node(name: str = "gpu-1", **given: Any) -> Node:
    """A ready node that shares two cards of 15 GiB."""
    usual = {
        "uid": f"uid-{name}",
        "boot": f"{name}-first",
        "created_at": START - timedelta(days=1),
        "labels": LABELS,
        "memory": 30,
        "cards": 2,
        "provider": f"cn-hongkong.i-{name}",
    }
    return Node(name=name, **{**usual, **given})


def setting(value: str | None = "1") -> Setting:
    return Setting(
        container="installer", place=Place.CONTAINERS, container_index=0, index=0, value=value
    )


def installer(policy: str = "1", generation: int = 1, **given: Any) -> Installer:
    """An installer that is rolled out on one node."""
    usual = {
        "namespace": "kube-system",
        "name": "cgpu-installer",
        "uid": "uid-installer",
        "observed_generation": generation,
        "desired": 1,
        "updated": 1,
        "available": 1,
        "images": ("registry/acs/cgpu-installer:v1.5.13",),
        "settings": (setting(policy),),
        "revision": f"r{generation}",
    }
    return Installer(generation=generation, **{**usual, **given})


def pod(policy: int | None = 1, on: str = "gpu-1", **given: Any) -> InstallerPod:
    """The installer's pod on a node, ready."""
    usual = {
        "name": f"cgpu-installer-{on}",
        "namespace": "kube-system",
        "uid": f"uid-pod-{on}",
        "installer": "uid-installer",
        "node": on,
        "revision": "r1",
        "policy": policy,
        "ready": True,
    }
    return InstallerPod(**{**usual, **given})


def look(minutes: float = 0, **given: Any) -> Cluster:
    """A look, so many minutes after the start."""
    usual = {
        "version": "v1.36.2-aliyun.1",
        "nodes": (node(),),
        "installers": (installer(),),
        "installer_pods": (pod(),),
    }
    return Cluster(at=START + timedelta(minutes=minutes), **{**usual, **given})
