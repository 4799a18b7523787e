"""The sandbox answers as the recorded API server did: every exchange of every recording."""

import functools
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.contract.kubernetes_replay import FOLDER, Replay, exchanges, lab, made, run_pod
from tests.kubernetes_support import Cluster

Doc = dict[str, Any]
Replayed = Callable[[str], list[list[str]]]

NAMES = sorted(path.stem for path in FOLDER.glob("*.json"))
STEPS = [
    pytest.param(name, number, id=f"{name}:{number + 1} {one['request']['method']}")
    for name in NAMES
    for number, one in enumerate(exchanges(name))
]
READS = ["get", "list", "watch"]
LIMITED = [
    {"verbs": READS, "apiGroups": [""], "resources": ["nodes"]},
    {"verbs": READS, "apiGroups": ["apps"], "resources": ["daemonsets"]},
]
NOTED: Doc = {"annotations": {"lab/a": "1"}}
LABELLED: Doc = {**NOTED, "labels": {"x": "3"}}

# The installer's policy, labels and annotations when a recording begins.
INSTALLERS: dict[str, tuple[str, Doc]] = {
    "07_ds_smp_resourceversion_409": ("9", {}),
    "08_ds_json_patch": ("4", {}),
    "09_ds_merge_patch": ("5", {}),
    "10_ds_put_conflict": ("5", NOTED),
    "11_ds_dryrun_strict_noop": ("5", LABELLED),
    "21_rbac_403": ("2", LABELLED),
    "27_server_side_apply": ("2", LABELLED),
}
# Who calls, where it was not the admin.
LIMITED_CALLERS = ("21_rbac_403", "22_self_subject_access_review")

# What the sandbox does not do as it was recorded: where in the answer, and why.
EXCEPTIONS: dict[tuple[str, int], tuple[str, str]] = {
    ("09_ds_merge_patch", 0): ("body.status", "recorded in the middle of a rollout"),
    ("14_watch_old_rv", 0): ("events", "the recorder noted no events of this stream"),
    ("25_discovery_misc", 0): ("body.resources", "the sandbox has no deployments/scale"),
}


def evictable(cluster: Cluster) -> None:
    """The pods of the recording, one of them under a disruption budget."""
    limits = {"limits": {"aliyun.com/gpu-mem": "3"}}
    container = {"name": "c", "image": "registry/x", "resources": limits}
    spec = {"containers": [container], "nodeName": "gpu-node-1"}
    for name in ("victim", "guarded", "gpupod"):
        metadata = {"name": name, "labels": {"app": name}}
        made(cluster, cluster.path("pods", "", "default"), {"metadata": metadata, "spec": spec})
        run_pod(cluster, name, "default")
    cluster.add_budget("guard", {"app": "guarded"}, min_available=1)


ARRANGED: dict[str, Callable[[Cluster], None]] = {
    "17_eviction": evictable,
    "29_watch_410_gone": Cluster.compact,
}


def token(cluster: Cluster, name: str, number: int) -> str | None:
    """Whose call it was; the recordings do not show tokens."""
    if name == "23_auth_401_anonymous":
        return "a bad token" if number == 0 else None
    return cluster.grant(LIMITED) if name in LIMITED_CALLERS else cluster.token


@pytest.fixture(scope="module")
def replayed() -> Iterator[Replayed]:
    """The differences of a recording, by exchange; each is replayed once, in a lab of its own."""
    with Cluster() as cluster:

        @functools.cache
        def replay(name: str) -> list[list[str]]:
            lab(cluster, *INSTALLERS.get(name, ("1", {})))
            if name in ARRANGED:
                ARRANGED[name](cluster)
            going = Replay(cluster, name)
            going.run(lambda number: token(cluster, name, number))
            return going.differences

        yield replay


@pytest.mark.parametrize(("name", "number"), STEPS)
def test_a_recorded_exchange_goes_the_same_way(name: str, number: int, replayed: Replayed) -> None:
    differences = replayed(name)[number]

    where, _ = EXCEPTIONS.get((name, number), ("nowhere", ""))
    assert [text for text in differences if not text.startswith(where)] == []


@pytest.mark.parametrize(("name", "number"), EXCEPTIONS)
def test_an_exception_is_still_needed(name: str, number: int, replayed: Replayed) -> None:
    where, _ = EXCEPTIONS[name, number]

    assert any(text.startswith(where) for text in replayed(name)[number])
