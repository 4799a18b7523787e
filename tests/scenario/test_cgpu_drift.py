"""Drift of any kind is reported within one look, and what others write is never fought over."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from domain.cgpu_drift_kinds import DriftKind
from domain.cgpu_memory import Outcome
from domain.cgpu_nodes import NodeState
from tests.cgpu_support import Keeper, keeping
from tests.kubernetes_support import Cluster


@pytest.fixture
def keeper(kubernetes: Cluster, tmp_path: Path) -> Iterator[Keeper]:
    """A cluster that has converged on 1, its modules being read."""
    with keeping(kubernetes, tmp_path, reads_modules=True) as keeper:
        keeper.set(1)
        assert keeper.change.outcome is Outcome.CONVERGED
        assert keeper.view.drifts == ()
        yield keeper


def test_a_helm_upgrade_that_reverts_is_told_with_the_values_and_not_fought(
    keeper: Keeper,
) -> None:
    keeper.set(3)
    revision = keeper.cluster.helm_upgrade(policy=1)

    says = keeper.rests()

    assert keeper.cluster.policy() == "1"
    assert f"Helm release kube-system/ack-ai-installer, revision {revision}" in says
    assert "by helm at" in says
    assert "set cgpu.policy to 3 in its values, then say resume" in says
    assert DriftKind.SETTING in keeper.drift_kinds()

    keeper.cluster.helm_upgrade(policy=3)
    keeper.resume()
    assert keeper.rests() == "to be restarted, one by one: gpu-1, gpu-2 and gpu-3"
    assert keeper.cluster.policy() == "3"


def test_resume_writes_again_what_somebody_changed_after_the_end(keeper: Keeper) -> None:
    keeper.cluster.edit(env={"POLICY": "4"}, manager="kubectl-edit")
    assert "is not 1; say resume" in keeper.rests()
    assert "was set to POLICY 4 by kubectl-edit" in keeper.drift(DriftKind.SETTING).text

    keeper.resume()
    keeper.rests()

    assert keeper.cluster.policy() == "1"
    assert keeper.view.drifts == ()


def test_a_change_between_the_look_and_the_write_is_not_overwritten_blindly(
    keeper: Keeper,
) -> None:
    steps = [{"deed": "edit_daemon_set", "name": "cgpu-installer", "env": {"POLICY": "5"}}]
    fault = keeper.cluster.fault("do", call="patch daemonsets", nth=1, steps=steps)

    keeper.set(3)

    assert fault.fired() == 1
    codes = [call["code"] for call in keeper.cluster.calls("patch daemonsets")]
    assert codes == [422, 200]
    assert keeper.cluster.policy() == "3"


def test_a_pending_helm_upgrade_freezes_changes(keeper: Keeper) -> None:
    revision = keeper.cluster.helm_upgrade(policy=3, status="pending-upgrade")

    assert "is pending-upgrade; cGPU is left alone" in keeper.set(3)
    assert keeper.cluster.calls("patch daemonsets") == []

    keeper.cluster.helm_finish(revision, policy=3)
    assert keeper.rests() == "to be restarted, one by one: gpu-1, gpu-2 and gpu-3"


def values_differ(cluster: Cluster) -> None:
    cluster.helm_upgrade(policy=2, status="deployed")
    cluster.edit(env={"POLICY": "1"})


@pytest.mark.parametrize(
    ("happens", "kind", "about", "text"),
    [
        pytest.param(
            lambda cluster: cluster.edit(env={"POLICY": "2"}),
            DriftKind.SETTING,
            "kube-system/cgpu-installer",
            "was set to POLICY 2",
            id="the setting",
        ),
        pytest.param(
            values_differ,
            DriftKind.VALUES,
            "kube-system/ack-ai-installer",
            "its next upgrade will set that",
            id="Helm's values",
        ),
        pytest.param(
            lambda cluster: cluster.drift("gpu-2", gpu=0, policy=4),
            DriftKind.RUNTIME,
            "gpu-2",
            "GPU 0: 4, GPU 1: 1",
            id="one GPU of a node",
        ),
        pytest.param(
            lambda cluster: cluster.drift("gpu-2", files={"0/policy": " 1 ", "1/policy": "2\n"}),
            DriftKind.RUNTIME,
            "gpu-2",
            "GPU 0: 1, GPU 1: 2",
            id="with blanks in the file",
        ),
        pytest.param(
            lambda cluster: cluster.drift("gpu-2", files={"0/policy": "many"}),
            DriftKind.UNKNOWN,
            "nodes",
            "1 of 3 nodes cannot be said to have the policy: gpu-2",
            id="a file that cannot be read",
        ),
        pytest.param(
            lambda cluster: cluster.set_module("gpu-2", version="0.8.10"),
            DriftKind.MODULE,
            "gpu-2",
            "gpu-2 has cGPU 0.8.10 loaded",
            id="another module",
        ),
        pytest.param(
            lambda cluster: cluster.set_module("gpu-2", broken=True),
            DriftKind.NOT_LOADED,
            "nodes",
            "1 of 3 nodes have no cGPU module loaded",
            id="no module",
        ),
        pytest.param(
            lambda cluster: cluster.edit(image="registry/acs/cgpu-installer:v1.5.20"),
            DriftKind.IMAGE,
            "kube-system/cgpu-installer",
            "now has registry/acs/cgpu-installer:v1.5.20",
            id="another image",
        ),
        pytest.param(
            lambda cluster: cluster.label("gpu-2", **{"ack.node.gpu.schedule": "share"}),
            DriftKind.LABEL,
            "gpu-2",
            "was labelled share while its cGPU module is still loaded",
            id="another label",
        ),
        pytest.param(
            lambda cluster: cluster.edit(image="registry/acs/cgpu-installer:latest"),
            DriftKind.UNREADABLE,
            "Which cGPU version kube-system/cgpu-installer installs is not known",
            "names no version of three numbers",
            id="an image without a version",
        ),
        pytest.param(
            lambda cluster: cluster.remove_daemon_set(),
            DriftKind.NOT_INSTALLED,
            "cgpu",
            "has cGPU enabled, but no DaemonSet installs it",
            id="uninstalled",
        ),
    ],
)
def test_drift_is_told_within_one_look(
    keeper: Keeper,
    happens: Callable[[Cluster], None],
    kind: DriftKind,
    about: str,
    text: str,
) -> None:
    happens(keeper.cluster)
    keeper.run()

    drift = keeper.drift(kind)
    assert (drift.about, text in drift.text) == (about, True), drift
    assert keeper.cluster.calls("patch daemonsets") == []


def test_a_weight_overrides_policy_1_and_that_is_no_alarm(keeper: Keeper) -> None:
    keeper.cluster.add_pods("heavy", node="gpu-2", gpu_mem=4, weight=3)
    keeper.cluster.drift("gpu-2", policy=2)
    keeper.run()

    assert keeper.status("gpu-2").state is NodeState.OVERRIDDEN
    assert not keeper.drift(DriftKind.WEIGHT).alarms


def test_a_refused_exec_leaves_the_modules_unknown_and_says_the_rule(
    kubernetes: Cluster, tmp_path: Path
) -> None:
    token = kubernetes.grant(
        [
            {"verbs": ["list"], "apiGroups": ["", "apps"], "resources": ["*"]},
            {"verbs": ["create"], "apiGroups": [""], "resources": ["events"]},
        ]
    )
    with keeping(kubernetes, tmp_path, reads_modules=True, token=token) as keeper:
        keeper.set(1)

        assert set(keeper.states().values()) == {NodeState.UNKNOWN}
        assert "add the rule" in keeper.status("gpu-1").reason
        assert "pods/exec in kube-system" in keeper.status("gpu-1").reason


def test_an_event_is_told_once_for_one_drift(keeper: Keeper) -> None:
    keeper.cluster.drift("gpu-2", policy=4)
    for _ in range(3):
        keeper.run()
    keeper.begin()
    keeper.run()

    told = [one for one in keeper.cluster.events() if one["reason"] == "CgpuDriftDetected"]
    assert [one["involvedObject"]["name"] for one in told] == ["gpu-2"]


def test_a_node_that_cannot_be_read_any_more_is_unknown_and_needs_no_restart(
    keeper: Keeper,
) -> None:
    keeper.cluster.fault("status", call="get pods/exec", nth=0, code=500)
    keeper.run()

    assert set(keeper.states().values()) == {NodeState.UNKNOWN}
    assert "could not be read" in keeper.status("gpu-1").reason
    assert keeper.rests_with_the_cluster().startswith("waited for: ")
