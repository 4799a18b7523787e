"""The simulated cluster: rollouts, restarts, modules, nodes that come and go, Helm and kured."""

import base64
import gzip
import json
from typing import Any

import pytest

from tests.kubernetes_support import INSTALLER, KURED_LOCK, SYSTEM, Cluster
from tests.sandbox_support import wait_until

HASH = "controller-revision-hash"
GPUS = ("gpu-1", "gpu-2", "gpu-3")


def hashes(cluster: Cluster) -> list[str]:
    """The revision of each installer's pod, by node."""
    pods = cluster.all("pods", SYSTEM)
    by_node = {pod["spec"]["nodeName"]: pod["metadata"]["labels"][HASH] for pod in pods}
    return [by_node[node] for node in GPUS if node in by_node]


def status(cluster: Cluster) -> dict[str, Any]:
    return dict(cluster.daemon_set()["status"])


def test_a_world_begins_at_rest(kubernetes: Cluster) -> None:
    assert kubernetes.is_rolled_out()
    assert kubernetes.step() is False
    assert [kubernetes.loaded(node) for node in GPUS] == [[1, 1]] * 3
    assert kubernetes.loaded("cpu-1") == []
    assert (kubernetes.policy(), kubernetes.policy_manager()) == ("1", "helm")
    assert kubernetes.releases() == {1: "deployed"}


def test_the_status_lags_behind_a_new_generation(kubernetes: Cluster) -> None:
    kubernetes.knobs(paused=True)
    kubernetes.edit(env={"POLICY": "3"})

    found = kubernetes.daemon_set()

    assert found["metadata"]["generation"] == 2
    counts = ("observedGeneration", "updatedNumberScheduled", "numberAvailable")
    assert [found["status"][name] for name in counts] == [1, 3, 3]


def test_a_rollout_replaces_as_many_pods_at_once_as_it_may(kubernetes: Cluster) -> None:
    kubernetes.knobs(paused=True)
    kubernetes.edit(env={"POLICY": "3"})
    available = []
    while not kubernetes.is_rolled_out():
        kubernetes.step()
        available.append(status(kubernetes).get("numberAvailable", 0))

    assert min(available) == 2
    assert len(set(hashes(kubernetes))) == 1
    assert [kubernetes.loaded(node) for node in GPUS] == [[1, 1]] * 3


def test_a_rollout_stands_still_while_a_node_is_lost(kubernetes: Cluster) -> None:
    old = hashes(kubernetes)
    kubernetes.set_ready("gpu-2", False)
    kubernetes.edit(env={"POLICY": "3"})
    kubernetes.settle()

    lost = kubernetes.get("pods", kubernetes.installer_pod("gpu-2"), SYSTEM)
    assert hashes(kubernetes) == old
    assert "deletionTimestamp" in lost["metadata"]
    assert status(kubernetes)["numberUnavailable"] == 1

    kubernetes.set_ready("gpu-2", True)
    kubernetes.wait_until_rolled_out()


def test_a_daemon_set_on_delete_waits_for_somebody_to_delete_its_pods(kubernetes: Cluster) -> None:
    kubernetes.edit(strategy="OnDelete")
    kubernetes.edit(env={"POLICY": "3"})
    kubernetes.settle()
    assert "updatedNumberScheduled" not in status(kubernetes)

    kubernetes.delete_pod(kubernetes.installer_pod("gpu-1"), SYSTEM)
    kubernetes.settle()
    assert status(kubernetes)["updatedNumberScheduled"] == 1

    # A pod's containers start again as they are in the pod: gpu-2's is the old one.
    kubernetes.restarted("gpu-1")
    kubernetes.restarted("gpu-2")
    assert [kubernetes.loaded(node) for node in GPUS] == [[3, 3], [1, 1], [1, 1]]


def test_a_template_that_comes_back_is_the_newest_revision_again(kubernetes: Cluster) -> None:
    (first,) = set(hashes(kubernetes))
    kubernetes.edit(env={"POLICY": "3"})
    kubernetes.settle()
    kubernetes.edit(env={"POLICY": "1"})
    kubernetes.settle()

    revisions = {
        one["metadata"]["labels"][HASH]: one["revision"]
        for one in kubernetes.all("controllerrevisions", SYSTEM)
    }

    assert set(hashes(kubernetes)) == {first}
    assert (len(revisions), revisions[first]) == (2, 3)


def test_a_restart_changes_the_boot_and_loads_the_module_anew(kubernetes: Cluster) -> None:
    kubernetes.edit(env={"POLICY": "3"})
    kubernetes.wait_until_rolled_out()
    before = kubernetes.restart("gpu-1", seconds=0.2)
    pod = kubernetes.installer_pod("gpu-1")

    assert not kubernetes.is_ready("gpu-1")
    wait_until(lambda: kubernetes.boot_id("gpu-1") != before, "it has restarted")
    wait_until(lambda: kubernetes.loaded("gpu-1") == [3, 3], "the module is loaded")

    assert kubernetes.is_ready("gpu-1")
    assert kubernetes.installer_pod("gpu-1") == pod
    containers = kubernetes.get("pods", pod, SYSTEM)["status"]["containerStatuses"]
    assert [one["restartCount"] for one in containers] == [1]
    assert kubernetes.loaded("gpu-2") == [1, 1]


def test_a_kubelet_that_was_lost_comes_back_with_the_same_boot(kubernetes: Cluster) -> None:
    before = kubernetes.boot_id("gpu-1")
    kubernetes.set_ready("gpu-1", False)
    kubernetes.settle()
    taints = [one["key"] for one in kubernetes.node("gpu-1")["spec"]["taints"]]
    kubernetes.set_ready("gpu-1", True)
    kubernetes.settle()

    assert set(taints) == {"node.kubernetes.io/unreachable"}
    assert kubernetes.boot_id("gpu-1") == before
    assert "taints" not in kubernetes.node("gpu-1")["spec"]
    assert kubernetes.is_rolled_out()


def test_a_machine_stays_down_until_it_is_booted(kubernetes: Cluster) -> None:
    before = kubernetes.boot_id("gpu-1")
    kubernetes.shut_down("gpu-1")
    kubernetes.settle()
    assert not kubernetes.is_ready("gpu-1")

    kubernetes.boot("gpu-1")
    kubernetes.settle()

    assert kubernetes.is_ready("gpu-1")
    assert kubernetes.boot_id("gpu-1") != before


def test_where_no_module_is_loaded_a_policy_takes_effect_at_once(kubernetes: Cluster) -> None:
    kubernetes.set_module("gpu-1")
    kubernetes.set_module("gpu-2", broken=True)
    kubernetes.edit(env={"POLICY": "5"})
    kubernetes.wait_until_rolled_out()

    assert [kubernetes.loaded(node) for node in GPUS] == [[5, 5], [], [1, 1]]
    assert kubernetes.procfs("gpu-2") == {}


def test_a_node_that_joins_gets_the_policy_of_now(kubernetes: Cluster) -> None:
    kubernetes.edit(env={"POLICY": "3"})
    kubernetes.wait_until_rolled_out()
    kubernetes.add_node("gpu-9", cards=4, gib=24)
    kubernetes.settle()

    node = kubernetes.node("gpu-9")
    assert kubernetes.loaded("gpu-9") == [3, 3, 3, 3]
    assert node["status"]["allocatable"]["aliyun.com/gpu-mem"] == "96"
    assert status(kubernetes)["desiredNumberScheduled"] == 4


def test_a_node_that_vanishes_takes_its_pods_with_it(kubernetes: Cluster) -> None:
    kubernetes.add_pods("train", node="gpu-1", gpu_mem=3)
    kubernetes.remove_node("gpu-1")
    kubernetes.settle()

    assert kubernetes.pods_on("gpu-1") == []
    assert status(kubernetes)["desiredNumberScheduled"] == 2
    assert "gpu-1" not in kubernetes.dump()["machines"]


def test_a_label_decides_where_the_installer_runs(kubernetes: Cluster) -> None:
    kubernetes.label("gpu-1", **{"ack.node.gpu.schedule": "share"})
    kubernetes.settle()

    # The module stays: only a restart unloads it (facts/cgpu.md, 1.2).
    assert kubernetes.installer_pod("gpu-1") == ""
    assert kubernetes.loaded("gpu-1") == [1, 1]
    kubernetes.restarted("gpu-1")
    assert kubernetes.loaded("gpu-1") == []


def test_the_module_shows_its_policies_and_its_containers(kubernetes: Cluster) -> None:
    kubernetes.add_pods("train", node="gpu-1", gpu_mem=3, gpu=1, weight=2)
    kubernetes.drift("gpu-1", gpu=1, policy=4, max_inst=16, files={"0/policy": " 1 \n"})

    files = kubernetes.procfs("gpu-1")

    assert files["/proc/cgpu_km/version"] == "1.5.13\n"
    assert files["/proc/cgpu_km/0/policy"] == " 1 \n"
    assert files["/proc/cgpu_km/1/policy"] == "4\n"
    assert files["/proc/cgpu_km/1/max_inst"] == "16\n"
    inside = {name.rpartition("/")[2]: text for name, text in files.items() if name.count("/") == 5}
    assert inside["weight"] == "2\n"
    assert inside["memsize"] == f"{3 * 2**30}\n"


def test_an_evicted_pod_comes_back_where_there_is_room(kubernetes: Cluster) -> None:
    kubernetes.add_pods("big", node="gpu-2", gpu_mem=30)
    kubernetes.add_pods("train", node="gpu-1", gpu_mem=20, owner="ReplicaSet/train")
    kubernetes.cordon("gpu-1")

    assert evict(kubernetes, "train") == 201
    kubernetes.settle()

    assert [name for name in kubernetes.pods_on("gpu-3") if name.startswith("train-")] != []
    assert kubernetes.pods_on("gpu-1", "default") == []


def evict(cluster: Cluster, pod: str) -> int:
    body = {"metadata": {"name": pod, "namespace": "default"}}
    return cluster.api("POST", cluster.path("pods", pod, "default") + "/eviction", body).status


def test_an_evicted_pod_that_fits_nowhere_waits(kubernetes: Cluster) -> None:
    kubernetes.add_pods("train", node="gpu-1", gpu_mem=20, owner="ReplicaSet/train")
    for node in GPUS:
        kubernetes.cordon(node)

    evict(kubernetes, "train")
    kubernetes.settle()

    (pod,) = kubernetes.all("pods", "default")
    assert (pod["status"]["phase"], pod["spec"].get("nodeName")) == ("Pending", None)


def test_an_evicted_pod_is_listed_until_its_kubelet_ended_it(kubernetes: Cluster) -> None:
    kubernetes.add_pods("slow", node="gpu-1", ends_after="never")
    evict(kubernetes, "slow")
    kubernetes.settle()

    pod = kubernetes.get("pods", "slow", "default")
    kubernetes.end_pod("slow")

    assert pod["status"]["phase"] == "Running"
    assert "deletionTimestamp" in pod["metadata"]
    kubernetes.wait_until_gone("slow")


def test_a_restart_ends_what_was_told_to_end(kubernetes: Cluster) -> None:
    kubernetes.add_pods("slow", node="gpu-1", ends_after="never")
    kubernetes.delete_pod("slow")
    kubernetes.restarted("gpu-1")

    assert kubernetes.pods_on("gpu-1", "default") == []


def test_a_pod_that_its_kubelet_rejects_is_replaced(kubernetes: Cluster) -> None:
    kubernetes.add_pods("train", node="gpu-1", gpu_mem=3, owner="ReplicaSet/train")
    kubernetes.fail_pod("train")
    kubernetes.settle()

    phases = {one["status"]["phase"] for one in kubernetes.all("pods", "default")}
    assert phases == {"Failed", "Running"}


def test_a_node_may_offer_less_than_before(kubernetes: Cluster) -> None:
    kubernetes.set_allocatable("gpu-1", **{"aliyun.com/gpu-mem": "15"})

    status = kubernetes.node("gpu-1")["status"]
    amounts = [status[name]["aliyun.com/gpu-mem"] for name in ("capacity", "allocatable")]
    assert amounts == ["30", "15"]


def test_a_pod_may_take_its_time_to_end(kubernetes: Cluster) -> None:
    kubernetes.add_pods("slow", node="gpu-1", ends_after=0.3)
    kubernetes.delete_pod("slow")
    kubernetes.settle()
    assert kubernetes.pods_on("gpu-1", "default") == ["slow"]

    kubernetes.wait_until_gone("slow")


@pytest.mark.parametrize(
    ("limit", "outcomes"),
    [
        ({"min_available": 2}, [201, 429, 429]),
        ({"max_unavailable": 2}, [201, 201, 429]),
        ({"min_available": "50%"}, [201, 429, 429]),
        ({"max_unavailable": 0}, [429, 429, 429]),
    ],
)
def test_a_budget_counts_the_pods_that_are_healthy(
    kubernetes: Cluster, limit: dict[str, Any], outcomes: list[int]
) -> None:
    kubernetes.knobs(paused=True)
    kubernetes.add_pods("web", node="gpu-1", labels={"app": "web"}, count=3)
    kubernetes.add_budget("guard", {"app": "web"}, **limit)

    assert [evict(kubernetes, f"web-{number}") for number in (1, 2, 3)] == outcomes


@pytest.mark.parametrize(("healthy", "outcome"), [(1, 201), (0, 429)])
def test_a_pod_that_is_not_ready_may_go_while_enough_others_are(
    kubernetes: Cluster, healthy: int, outcome: int
) -> None:
    kubernetes.add_pods("ill", node="gpu-1", labels={"app": "web"}, ready=False)
    kubernetes.add_pods("web", node="gpu-2", labels={"app": "web"}, ready=bool(healthy))
    kubernetes.add_budget("guard", {"app": "web"}, min_available=1)

    assert evict(kubernetes, "ill") == outcome


def test_a_budget_says_how_many_it_allows(kubernetes: Cluster) -> None:
    kubernetes.add_pods("web", node="gpu-1", labels={"app": "web"}, count=3)
    kubernetes.add_budget("guard", {"app": "web"}, min_available=2)
    kubernetes.settle()

    found = kubernetes.get("poddisruptionbudgets", "guard", "default")["status"]

    assert (found["disruptionsAllowed"], found["currentHealthy"], found["desiredHealthy"]) == (
        1,
        3,
        2,
    )


def test_a_helm_upgrade_puts_the_policy_back(kubernetes: Cluster) -> None:
    kubernetes.edit(env={"POLICY": "3", "EXTRA": "kept"}, manager="poolkeeper")
    assert kubernetes.policy_manager() == "poolkeeper"

    revision = kubernetes.helm_upgrade(policy=1)

    assert revision == 2
    assert (kubernetes.policy(), kubernetes.policy_manager()) == ("1", "helm")
    assert {"name": "EXTRA", "value": "kept"} in kubernetes.env()
    assert kubernetes.releases() == {1: "superseded", 2: "deployed"}


def test_a_pending_upgrade_applies_nothing_until_it_is_over(kubernetes: Cluster) -> None:
    kubernetes.edit(env={"POLICY": "3"})
    revision = kubernetes.helm_upgrade(policy=2, status="pending-upgrade")
    assert (kubernetes.policy(), kubernetes.releases()) == (
        "3",
        {1: "deployed", 2: "pending-upgrade"},
    )

    kubernetes.helm_finish(revision, policy=2)

    assert (kubernetes.policy(), kubernetes.releases()) == ("2", {1: "superseded", 2: "deployed"})


def test_a_release_says_its_values_as_helm_packs_them(kubernetes: Cluster) -> None:
    kubernetes.helm_upgrade(policy=0, values={"gpushare": True})
    name = "sh.helm.release.v1.ack-ai-installer.v2"

    packed = kubernetes.get("secrets", name, SYSTEM)["data"]["release"]
    release = json.loads(gzip.decompress(base64.b64decode(base64.b64decode(packed))))

    assert release["config"] == {"cgpu": {"policy": 0}, "gpushare": True}
    assert release["chart"]["values"]["cgpu"]["policy"] == 1
    assert release["info"]["status"] == "deployed"


def test_an_uninstalled_release_leaves_the_daemon_set(kubernetes: Cluster) -> None:
    kubernetes.helm_uninstall()

    assert kubernetes.releases() == {}
    assert kubernetes.policy() == "1"


def test_kured_holds_its_lock_in_an_annotation(kubernetes: Cluster) -> None:
    kubernetes.lock_kured("gpu-1", ttl=60)
    one = json.loads(lock(kubernetes))
    kubernetes.lock_kured(locks=["gpu-1", "gpu-2"])
    several = json.loads(lock(kubernetes))
    kubernetes.lock_kured()

    assert (one["nodeID"], one["TTL"]) == ("gpu-1", 60)
    assert [each["nodeID"] for each in several["locks"]] == ["gpu-1", "gpu-2"]
    assert lock(kubernetes) == ""


def lock(cluster: Cluster) -> str:
    annotations = cluster.daemon_set("kured")["metadata"]["annotations"]
    return str(annotations.get(KURED_LOCK, ""))


def test_somebody_annotates_an_object(kubernetes: Cluster) -> None:
    kubernetes.annotate(INSTALLER, "daemonsets", SYSTEM, note="x", **{"a.b/c": "y"})
    kubernetes.annotate(INSTALLER, "daemonsets", SYSTEM, note=None)

    annotations = kubernetes.daemon_set()["metadata"]["annotations"]
    assert annotations.keys() == {"a.b/c", "deprecated.daemonset.template.generation"}


def test_a_scene_may_have_odd_installers(kubernetes: Cluster) -> None:
    container = {"name": "c", "image": "registry:5000/acs/cgpu-installer:v1.0.7-fin"}
    twice = [{"name": "POLICY", "value": "1"}, {"name": "POLICY", "value": "4"}]
    kubernetes.reset(
        {
            "version": "v1.18.8-aliyun.1",
            "nodes": [{"name": "old", "policy": [2, 3]}, {"name": "new", "schedule": "core_mem"}],
            "daemonsets": [
                {"containers": [{**container, "env": twice}], "strategy": "OnDelete"},
                {
                    "name": "cgpu-core-installer",
                    "selector": {"ack.node.gpu.schedule": "core_mem"},
                    "policy": None,
                },
            ],
            "pods": [{"name": "lone", "node": "old", "gpu_mem": 3, "ready": False}],
            "budgets": [{"name": "b", "labels": {"a": "b"}, "min_available": 1}],
        }
    )

    assert kubernetes.loaded("old") == [2, 3]
    assert kubernetes.loaded("new") == [0, 0]
    assert kubernetes.machine("old")["module"] == "1.0.7"
    assert [one["value"] for one in kubernetes.env()] == ["1", "4"]
    assert kubernetes.policy("cgpu-core-installer") is None
    assert kubernetes.releases() == {}
    assert kubernetes.api("GET", "/version/").body["gitVersion"] == "v1.18.8-aliyun.1"


@pytest.mark.parametrize("world", [{"pod": []}, {"nodes": [{"name": "x", "gpu": 1}]}])
def test_a_scene_with_an_unknown_word_is_refused(
    kubernetes: Cluster, world: dict[str, Any]
) -> None:
    status, answer = kubernetes.wire.send("/sandbox/reset", {"world": world})

    assert (status, "TypeError" in answer["error"]) == (400, True)


def test_a_daemon_set_that_is_deleted_takes_its_pods_with_it(kubernetes: Cluster) -> None:
    kubernetes.remove_daemon_set()
    kubernetes.settle()

    assert kubernetes.all("pods", SYSTEM) == []
    assert kubernetes.all("controllerrevisions", SYSTEM) == []
    assert kubernetes.loaded("gpu-1") == [1, 1]


def test_five_hundred_nodes_settle(kubernetes: Cluster) -> None:
    pods = [
        {"name": f"p-{node}", "node": f"g-{node}", "gpu_mem": 3, "count": 4}
        for node in range(1, 501)
    ]
    nodes = [{"name": "g", "count": 500, "cards": 8}]
    kubernetes.reset({"nodes": nodes, "daemonsets": [{"max_unavailable": "100%"}], "pods": pods})
    kubernetes.edit(env={"POLICY": "3"})
    kubernetes.wait_until_rolled_out()

    assert len(kubernetes.all("pods")) == 2500
    assert len(kubernetes.all("pods", SYSTEM, labelSelector=f"name={INSTALLER}")) == 500
