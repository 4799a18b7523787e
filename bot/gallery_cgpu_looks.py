"""Looks at a cluster with cGPU, made up for the gallery."""

from dataclasses import replace
from datetime import timedelta
from fractions import Fraction
from typing import Any, Final

from bot import cgpu_telling
from bot.gallery_examples import worked
from bot.gallery_stage import BEN, NOW, Stage
from controller.cgpu_view import Note, publish
from domain.cgpu_cluster import (
    Cluster,
    Installer,
    InstallerPod,
    Node,
    Place,
    Pod,
    Setting,
)
from domain.cgpu_learning import learn
from domain.cgpu_memory import Change, Outcome, Restart
from domain.configuration import CGPU, Configuration, Link, Pool, Profile
from storage import cgpu
from storage.database import Session

GROUP: Final = "cGPU"

WITH: Final = {"POOLKEEPER_KUBERNETES": "in-cluster"}

LABELS: Final = {
    "ack.node.gpu.schedule": "core_mem", "aliyun.accelerator/nvidia_name": "Tesla-T4",
}  # fmt: skip

FOUR: Final = tuple(f"gpu-{number}" for number in range(1, 5))


def a_node(name: str, **given: Any) -> Node:
    """A ready node with two shared cards of 15 GiB."""
    usual = {
        "uid": f"uid-{name}", "boot": f"{name}-first", "created_at": NOW - timedelta(days=9),
        "labels": LABELS, "memory": 30, "cards": 2, "provider": f"cn-hongkong.i-{name}",
    }  # fmt: skip
    return Node(name=name, **{**usual, **given})


def an_installer(policy: str | None = "1", generation: int = 1, **given: Any) -> Installer:
    setting = Setting(
        container="installer", place=Place.CONTAINERS, container_index=0, index=0, value=policy
    )
    usual = {
        "namespace": "kube-system", "name": "cgpu-installer", "uid": "uid-installer",
        "observed_generation": generation, "desired": 4, "updated": 4, "available": 4,
        "images": ("registry/acs/cgpu-installer:v1.5.13",), "settings": (setting,),
        "revision": f"r{generation}",
    }  # fmt: skip
    return Installer(generation=generation, **{**usual, **given})


def a_look(stage: Stage, policy: str | None = "1", generation: int = 1, **given: Any) -> Cluster:
    """Four nodes with an installer's pod each, as it is set now."""
    nodes = given.pop("nodes", tuple(a_node(one) for one in FOUR))
    number = int(policy) if policy and policy.isdecimal() else None
    pods = tuple(
        InstallerPod(
            name=f"cgpu-installer-{one.name}", namespace="kube-system", uid=f"uid-pod-{one.name}",
            installer="uid-installer", node=one.name, revision=f"r{generation}", policy=number,
            ready=True,
        )
        for one in nodes
    )  # fmt: skip
    usual = {
        "version": "v1.30.1-aliyun.1", "nodes": nodes, "installer_pods": pods,
        "installers": (an_installer(policy, generation),),
    }  # fmt: skip
    return Cluster(at=stage.now, **{**usual, **given})


def sees(stage: Stage, cluster: Cluster, **note: Any) -> None:
    """A look was taken, learnt from and published, and what is new of it told."""

    def work(session: Session) -> None:
        before = cgpu.memory(session)
        cgpu.learn(session, before, learn(before, cluster))
        publish(session, cluster, Note(looked_at=stage.now, **note))

    stage.change(work)
    cgpu_telling.tell(stage.desk)


def managed(policy: int | None) -> Configuration:
    """The worked example with a pool of the shared cards."""
    example = worked()
    shared = Pool(
        name="shared", resources=Fraction(6), profiles=("half",), nodes=tuple(LABELS.items())[:1]
    )
    half = Profile(
        name="half", allotment=Fraction(1, 2), pools=(Link(pool="shared", name="half a T4"),)
    )
    return replace(
        example,
        pools=(*example.pools, shared),
        profiles=(*example.profiles, half),
        cgpu=None if policy is None else CGPU(policy=policy),
    )


PODS: Final = (
    Pod(name="train-0", namespace="vision", node="gpu-1", memory=7, percentage=50),
    Pod(name="train-1", namespace="vision", node="gpu-1", memory=7, percentage=50),
    Pod(name="notebook", namespace="speech", node="gpu-2", memory=15, bare=True),
    Pod(name="exporter", namespace="kube-system", node="gpu-2", stays=True),
)


def begins(stage: Stage, policy: int, outcome: Outcome | None = None, **given: Any) -> Change:
    """A change that has begun, or ended so."""
    change = Change(id=0, policy=policy, version=2, by=BEN, started_at=stage.now)
    found: list[Change] = []

    def work(session: Session) -> None:
        begun = replace(cgpu.begin_change(session, change), **given)
        if outcome is not None:
            begun = replace(begun, ended_at=stage.now, outcome=outcome)
        cgpu.put_change(session, begun)
        found.append(begun)

    stage.change(work)
    return found[0]


def ends(stage: Stage, change: Change, outcome: Outcome) -> None:
    ended = replace(change, ended_at=stage.now, outcome=outcome)
    stage.change(lambda session: cgpu.put_change(session, ended))


def keeps(stage: Stage, restart: Restart) -> None:
    stage.change(lambda session: cgpu.put_restart(session, restart))
