"""The restart of a node on an admin's wish: what is touched, what is respected, how it fails."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from domain.cgpu_cluster import CORDON_MARK
from domain.cgpu_memory import Outcome
from domain.cgpu_nodes import NodeState
from domain.cgpu_restarting import VERIFY_WITHIN
from storage import cgpu
from tests.cgpu_support import ADMIN, Keeper, keeping, now
from tests.kubernetes_support import Cluster


@pytest.fixture
def keeper(kubernetes: Cluster, tmp_path: Path) -> Iterator[Keeper]:
    """A cluster whose installer has been set to 3, and whose nodes have not restarted."""
    with keeping(kubernetes, tmp_path) as keeper:
        keeper.set(3)
        yield keeper


def test_nothing_is_restarted_without_a_wish(keeper: Keeper) -> None:
    keeper.rests()

    assert keeper.cluster.calls("patch nodes") == []
    assert not any(keeper.cluster.is_cordoned(f"gpu-{n}") for n in (1, 2, 3))


def test_the_exact_step_is_told(keeper: Keeper) -> None:
    keeper.restart("gpu-1")

    assert keeper.rests() == (
        "gpu-1 is empty; restart it now: "
        "aliyun ecs RebootInstance --RegionId cn-hongkong --InstanceId i-gpu-1"
    )
    assert keeper.status("gpu-1").state is NodeState.AWAITS_RESTART


def test_pods_leave_before_the_restart_and_the_installer_stays(keeper: Keeper) -> None:
    keeper.cluster.add_pods("train", node="gpu-1", gpu_mem=4, count=3, owner="ReplicaSet/train")
    keeper.cluster.add_pods("other", node="gpu-2", gpu_mem=4)
    keeper.restart("gpu-1")
    keeper.rests()

    assert keeper.cluster.pods_on("gpu-1") == [keeper.cluster.installer_pod("gpu-1")]
    assert "other" in keeper.cluster.pods_on("gpu-2")


def test_one_node_at_a_time(keeper: Keeper) -> None:
    keeper.restart("gpu-1")
    keeper.restart("gpu-2")
    keeper.rests()

    assert [keeper.cluster.is_cordoned(node) for node in ("gpu-1", "gpu-2")] == [True, False]
    assert keeper.status("gpu-2").state is NodeState.WISHED
    keeper.cluster.restarted("gpu-1")
    assert "gpu-2 is empty" in keeper.rests()
    assert [keeper.cluster.is_cordoned(node) for node in ("gpu-1", "gpu-2")] == [False, True]


def test_a_node_that_somebody_else_cordoned_stays_so(keeper: Keeper) -> None:
    keeper.cluster.cordon("gpu-1")

    keeper.restarted("gpu-1")

    assert keeper.status("gpu-1").state is NodeState.UP_TO_DATE
    assert keeper.cluster.is_cordoned("gpu-1")


def test_a_node_cordoned_between_the_look_and_the_cordon_stays_so(keeper: Keeper) -> None:
    steps = [{"deed": "cordon", "name": "gpu-1", "on": True}]
    fault = keeper.cluster.fault("do", call="patch nodes", nth=1, steps=steps)

    keeper.restarted("gpu-1")

    assert fault.fired() == 1
    assert keeper.cluster.is_cordoned("gpu-1")


def test_a_disruption_budget_is_respected_and_named(keeper: Keeper) -> None:
    keeper.cluster.add_pods("guarded", node="gpu-1", labels={"app": "guarded"})
    keeper.cluster.add_budget("guard", {"app": "guarded"}, min_available=1)
    keeper.restart("gpu-1")
    for _ in range(3):
        keeper.run()

    (refusal,) = keeper.view.note.refusals
    assert refusal.startswith("default/guarded may not leave: The disruption budget guard needs 1")
    assert "guarded" in keeper.cluster.pods_on("gpu-1")
    assert keeper.status("gpu-1").state is NodeState.DRAINING

    keeper.cluster.end_pod("guarded")
    assert "gpu-1 is empty" in keeper.rests()
    assert keeper.view.note.refusals == ()


def test_a_pod_that_takes_its_time_is_waited_for(keeper: Keeper) -> None:
    keeper.cluster.add_pods("slow", node="gpu-1", ends_after="never")
    keeper.restart("gpu-1")
    keeper.run()

    assert keeper.rests_with_the_cluster() == "gpu-1 waits for default/slow to end"
    assert len(keeper.cluster.calls("create pods/eviction")) == 1


def kured_several(cluster: Cluster) -> None:
    cluster.lock_kured("gpu-3", locks=["gpu-2", "gpu-3"])


def kured_unreadable(cluster: Cluster) -> None:
    note = {"weave.works/kured-node-lock": "{not json"}
    cluster.lock_kured("gpu-3")
    for doc in cluster.all("daemonsets"):
        metadata = doc["metadata"]
        if "kured" in metadata["name"] or "weave.works/kured-node-lock" in (
            metadata.get("annotations") or {}
        ):
            cluster.annotate(metadata["name"], "daemonsets", metadata["namespace"], **note)


@pytest.mark.parametrize(
    ("lock", "who"),
    [
        (lambda cluster: cluster.lock_kured("gpu-3"), "the lock of gpu-3"),
        (kured_several, "the lock of gpu-2, gpu-3"),
        (kured_unreadable, "its lock cannot be read"),
    ],
    ids=["one", "several", "unreadable"],
)
def test_kureds_lock_is_respected(keeper: Keeper, lock: object, who: str) -> None:
    assert callable(lock)
    lock(keeper.cluster)
    keeper.restart("gpu-1")

    assert keeper.rests_with_the_cluster() == f"gpu-1 waits: kured restarts nodes ({who})"
    assert not keeper.cluster.is_cordoned("gpu-1")

    keeper.cluster.lock_kured("")
    assert "gpu-1 is empty" in keeper.rests()


def test_a_node_that_is_gone_is_let_go(keeper: Keeper) -> None:
    keeper.restart("gpu-1")
    keeper.rests()
    keeper.cluster.remove_node("gpu-1")

    assert keeper.rests() == "to be restarted, one by one: gpu-2 and gpu-3"
    assert keeper.view.restarts == ()


def test_the_same_boot_id_is_no_restart(keeper: Keeper) -> None:
    keeper.restart("gpu-1")
    keeper.rests()
    keeper.cluster.set_ready("gpu-1", False)
    keeper.run()
    keeper.cluster.set_ready("gpu-1", True)

    assert "restart it now" in keeper.rests()
    assert keeper.cluster.is_cordoned("gpu-1")


def test_a_node_that_restarts_twice_is_verified_all_the_same(keeper: Keeper) -> None:
    keeper.restart("gpu-1")
    keeper.rests()
    keeper.cluster.restarted("gpu-1")
    keeper.cluster.restarted("gpu-1")
    keeper.rests()

    assert keeper.status("gpu-1").state is NodeState.UP_TO_DATE
    assert not keeper.cluster.is_cordoned("gpu-1")


def test_a_node_that_is_still_down_is_waited_for(keeper: Keeper) -> None:
    keeper.restart("gpu-1")
    keeper.rests()
    keeper.cluster.shut_down("gpu-1")
    keeper.run()
    assert keeper.cluster.is_cordoned("gpu-1")
    keeper.cluster.boot("gpu-1")

    keeper.rests()

    assert keeper.status("gpu-1").state is NodeState.UP_TO_DATE


def fail(keeper: Keeper, node: str = "gpu-1") -> None:
    """A node that restarts, and then does not come right in time."""
    keeper.restart(node)
    keeper.rests()
    patch = {"status": {"allocatable": {"aliyun.com/gpu-count": "1"}}}
    keeper.cluster.restarted(node)
    reply = keeper.cluster.api(
        "PATCH",
        f"/api/v1/nodes/{node}/status",
        patch,
        type="application/strategic-merge-patch+json",
    )
    assert reply.status == 200, reply
    keeper.run()
    with keeper.database.transaction() as session:
        (restart,) = (one for one in cgpu.restarts(session) if one.node == node)
        late = now() - VERIFY_WITHIN - timedelta(minutes=1)
        cgpu.put_restart(session, replace(restart, back_at=late))
    keeper.rests()


def test_a_node_that_lost_a_card_has_failed_and_stays_as_it_is(keeper: Keeper) -> None:
    fail(keeper)

    status = keeper.status("gpu-1")
    assert status.state is NodeState.FAILED
    assert status.reason == (
        "it was not right within 15 minutes of its restart: it has 1 of its 2 cards"
    )
    assert keeper.cluster.is_cordoned("gpu-1")


def test_after_a_failure_no_other_node_is_begun_until_an_admin_acts(keeper: Keeper) -> None:
    fail(keeper)
    keeper.restart("gpu-2")

    assert keeper.rests().startswith("the restart failed of gpu-1 (")
    assert not keeper.cluster.is_cordoned("gpu-2")

    keeper.withdraw("gpu-1")
    assert "gpu-2 is empty" in keeper.rests()
    assert not keeper.cluster.is_cordoned("gpu-1")


def test_after_a_failure_a_new_wish_begins_anew_and_the_cordon_is_still_ours(
    keeper: Keeper,
) -> None:
    fail(keeper)

    keeper.restarted("gpu-1")

    assert keeper.status("gpu-1").state is NodeState.UP_TO_DATE
    assert not keeper.cluster.is_cordoned("gpu-1")


def test_a_withdrawn_wish_gives_the_node_back(keeper: Keeper) -> None:
    keeper.restart("gpu-1")
    keeper.rests()

    keeper.withdraw("gpu-1")
    keeper.rests()

    assert not keeper.cluster.is_cordoned("gpu-1")
    assert CORDON_MARK not in keeper.cluster.node("gpu-1")["metadata"]["annotations"]


def test_a_node_that_somebody_uncordons_meanwhile_has_failed(keeper: Keeper) -> None:
    keeper.restart("gpu-1")
    keeper.rests()
    keeper.cluster.cordon("gpu-1", on=False)
    keeper.rests()

    assert keeper.status("gpu-1").reason == "somebody uncordoned it meanwhile"
    assert not keeper.cluster.is_cordoned("gpu-1")


def test_while_paused_nothing_is_done(keeper: Keeper) -> None:
    keeper.restart("gpu-1")
    keeper.pause()

    assert keeper.rests() == f"paused by {ADMIN}"
    assert not keeper.cluster.is_cordoned("gpu-1")

    keeper.resume()
    assert "gpu-1 is empty" in keeper.rests()


def test_without_a_policy_what_was_begun_is_put_back(keeper: Keeper) -> None:
    keeper.restart("gpu-1")
    keeper.rests()

    keeper.set(None)

    assert not keeper.cluster.is_cordoned("gpu-1")
    assert keeper.view.restarts == ()
    assert keeper.change.outcome is Outcome.UNMANAGED


def test_a_node_that_shares_nothing_is_not_touched(keeper: Keeper) -> None:
    keeper.restart("cpu-1")
    keeper.rests()

    assert keeper.view.restarts == ()
    assert not keeper.cluster.is_cordoned("cpu-1")


def test_a_node_that_is_not_ready_does_not_keep_another_from_its_restart(keeper: Keeper) -> None:
    keeper.cluster.set_ready("gpu-1", False)
    keeper.restart("gpu-1")
    keeper.restart("gpu-2")

    assert "gpu-2 is empty" in keeper.rests()


def test_the_pods_that_would_be_evicted_are_told_before(keeper: Keeper) -> None:
    keeper.cluster.add_pods("train", node="gpu-1", gpu_mem=4, owner="ReplicaSet/train")
    keeper.cluster.add_pods("lone", node="gpu-1", gpu_mem=4)
    keeper.rests()

    leaving = {pod.title: pod.bare for pod in keeper.view.leaving("gpu-1")}

    assert leaving == {"default/train": False, "default/lone": True}
