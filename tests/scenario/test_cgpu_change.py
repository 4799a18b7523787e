"""A change of the cGPU policy, from its provisioning until every node has it."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from domain.cgpu_memory import Outcome
from domain.cgpu_nodes import NodeState
from tests.cgpu_support import Keeper, keeping
from tests.kubernetes_support import SYSTEM, Cluster

NODES = ("gpu-1", "gpu-2", "gpu-3")


@pytest.fixture(params=[False, True], ids=["not read", "read by exec"])
def keeper(kubernetes: Cluster, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Keeper]:
    with keeping(kubernetes, tmp_path, reads_modules=request.param) as keeper:
        yield keeper


@pytest.fixture
def reader(kubernetes: Cluster, tmp_path: Path) -> Iterator[Keeper]:
    with keeping(kubernetes, tmp_path, reads_modules=True) as keeper:
        yield keeper


@pytest.fixture
def blind(kubernetes: Cluster, tmp_path: Path) -> Iterator[Keeper]:
    with keeping(kubernetes, tmp_path) as keeper:
        yield keeper


def world(**daemon_set: Any) -> dict[str, Any]:
    nodes = [{"name": name} for name in NODES]
    return {"nodes": nodes, "daemonsets": [daemon_set], "helm": {"policy": 1}}


def test_a_change_reaches_every_node_by_restarts_that_admins_make(keeper: Keeper) -> None:
    waits = keeper.set(3)

    assert keeper.cluster.policy() == "3"
    assert waits == "to be restarted, one by one: gpu-1, gpu-2 and gpu-3"
    for node in NODES:
        assert keeper.cluster.loaded(node) == [1, 1]
        keeper.restarted(node)
        assert keeper.cluster.loaded(node) == [3, 3]
        assert not keeper.cluster.is_cordoned(node)
    assert set(keeper.states().values()) == {NodeState.UP_TO_DATE}
    assert keeper.change.outcome is Outcome.CONVERGED


def test_without_reading_modules_nodes_that_never_restarted_are_unknown(blind: Keeper) -> None:
    blind.set(1)

    assert set(blind.states().values()) == {NodeState.UNKNOWN}
    assert blind.change.outcome is Outcome.UNPROVEN


def test_where_modules_are_read_a_cluster_that_has_the_policy_has_converged(reader: Keeper) -> None:
    reader.set(1)

    assert set(reader.states().values()) == {NodeState.UP_TO_DATE}
    assert reader.change.outcome is Outcome.CONVERGED
    assert reader.cluster.calls("patch daemonsets") == []


def test_policy_0_is_a_policy(keeper: Keeper) -> None:
    keeper.converged(0)

    assert keeper.cluster.policy() == "0"
    assert keeper.cluster.loaded("gpu-2") == [0, 0]


def test_without_a_policy_nothing_is_touched(keeper: Keeper) -> None:
    keeper.cluster.reset_calls()

    says = keeper.set(None)

    assert says == "the configuration has no cGPU policy, so cGPU is left alone"
    verbs = {call.split()[0] for call in keeper.cluster.call_counts()}
    assert verbs == {"get", "list"} | ({"get"} if keeper.reads_modules else set())


def test_rolling_back_before_any_restart_restores_the_installer_only(keeper: Keeper) -> None:
    keeper.set(1)
    keeper.set(4)

    says = keeper.set(1)

    assert says == "every node is set to policy 1"
    assert keeper.cluster.policy() == "1"
    assert [keeper.cluster.loaded(node) for node in NODES] == [[1, 1]] * 3
    assert not any(keeper.cluster.is_cordoned(node) for node in NODES)


def test_a_node_that_restarted_has_to_restart_again_for_a_rollback(keeper: Keeper) -> None:
    keeper.set(1)
    keeper.set(4)
    keeper.restarted("gpu-2")

    says = keeper.set(1)

    assert says == "to be restarted, one by one: gpu-2"


def test_another_policy_replaces_a_change_that_is_not_done(keeper: Keeper) -> None:
    keeper.set(3)
    first = keeper.change
    keeper.set(5)

    assert keeper.change.id == first.id + 1
    assert keeper.cluster.policy() == "5"


def test_with_on_delete_the_pods_are_replaced_one_by_one(
    kubernetes: Cluster, tmp_path: Path
) -> None:
    kubernetes.reset(world(strategy="OnDelete"))
    with keeping(kubernetes, tmp_path) as keeper:
        keeper.converged(3)

    evictions = kubernetes.calls("create pods/eviction")
    assert len([call for call in evictions if call["namespace"] == SYSTEM]) == len(NODES)


def test_a_missing_policy_is_added(kubernetes: Cluster, tmp_path: Path) -> None:
    kubernetes.reset(world(policy=None))
    with keeping(kubernetes, tmp_path) as keeper:
        keeper.set(2)

    names = [one["name"] for one in kubernetes.env()]
    assert kubernetes.policy() == "2"
    assert names == ["NODE_NAME", "POLICY"]


def container(name: str, *values: Any) -> dict[str, Any]:
    env = [
        {"name": "POLICY", "valueFrom": value}
        if isinstance(value, dict)
        else {"name": "POLICY", "value": value}
        for value in values
    ]
    return {"name": name, "image": "registry/acs/cgpu-installer:v1.5.13", "env": env}


REFERENCE = {"configMapKeyRef": {"name": "cgpu", "key": "policy"}}


@pytest.mark.parametrize(
    ("daemon_set", "reason"),
    [
        pytest.param(
            {"containers": [container("installer", "1", "2")]}, "sets POLICY 2 times", id="twice"
        ),
        pytest.param(
            {"containers": [container("installer", "1"), container("second", "1")]},
            "sets POLICY 2 times, in installer (env 0) and second (env 0)",
            id="in two containers",
        ),
        pytest.param(
            {
                "containers": [container("installer", "1")],
                "init_containers": [container("first", "1")],
            },
            "sets POLICY 2 times",
            id="in an init container too",
        ),
        pytest.param(
            {"containers": [container("installer", REFERENCE)]},
            "takes POLICY from elsewhere (valueFrom in installer)",
            id="from elsewhere",
        ),
        pytest.param(
            {"containers": [container("installer", "high")]},
            "has POLICY 'high', which is no policy",
            id="no policy",
        ),
        pytest.param(
            {
                "containers": [
                    {**container("installer"), "envFrom": [{"configMapRef": {"name": "c"}}]}
                ]
            },
            "takes variables from elsewhere (envFrom)",
            id="from elsewhere, all of them",
        ),
        pytest.param(
            {"containers": [container("installer"), container("second")]},
            "which of its containers should have it is not certain",
            id="missing in two containers",
        ),
        pytest.param(
            {"image": "registry/acs/cgpu-installer:latest"},
            "Which cGPU version kube-system/cgpu-installer installs is not known",
            id="a tag without a version",
        ),
        pytest.param(
            {"image": "registry:5000/acs/cgpu-installer@sha256:0f"},
            "has only a digest",
            id="a digest",
        ),
        pytest.param(
            {"image": "registry/acs/cgpu-installer:v1.0.5"},
            "installs cGPU 1.0.5, and policies need 1.0.6",
            id="too old",
        ),
    ],
)
def test_what_is_not_certain_is_left_alone_and_said(
    kubernetes: Cluster, tmp_path: Path, daemon_set: dict[str, Any], reason: str
) -> None:
    kubernetes.reset(world(**daemon_set))
    with keeping(kubernetes, tmp_path) as keeper:
        says = keeper.set(3)

    assert reason in says
    assert kubernetes.calls("patch daemonsets") == []


@pytest.mark.parametrize(
    ("version", "touched"),
    [("v1.18.8-aliyun.1", True), ("v1.16.9-aliyun.1", False), ("v1.20.4-ack-3.0", True)],
)
def test_the_version_of_kubernetes_is_compared_by_its_numbers(
    kubernetes: Cluster, tmp_path: Path, version: str, touched: bool
) -> None:
    kubernetes.reset({**world(), "version": version})
    with keeping(kubernetes, tmp_path) as keeper:
        keeper.set(3)

    assert (kubernetes.policy() == "3") is touched


def test_an_installer_in_an_init_container_is_set_there(
    kubernetes: Cluster, tmp_path: Path
) -> None:
    plain = {"name": "sleeper", "image": "registry/pause:3"}
    kubernetes.reset(world(containers=[plain], init_containers=[container("first", "1")]))
    with keeping(kubernetes, tmp_path) as keeper:
        keeper.set(3)

    spec = kubernetes.daemon_set()["spec"]["template"]["spec"]
    assert spec["initContainers"][0]["env"] == [{"name": "POLICY", "value": "3"}]


def test_every_installer_is_set_whatever_its_name(kubernetes: Cluster, tmp_path: Path) -> None:
    scene = world()
    scene["nodes"].append({"name": "core-1", "schedule": "core_mem"})
    core = {"name": "cgpu-core-installer", "selector": {"ack.node.gpu.schedule": "core_mem"}}
    scene["daemonsets"].append(core)
    kubernetes.reset(scene)
    with keeping(kubernetes, tmp_path) as keeper:
        keeper.converged(3)

        assert len(keeper.states()) == len(NODES) + 1

    assert kubernetes.policy("cgpu-core-installer") == kubernetes.policy() == "3"


def test_a_second_installer_without_policy_is_told_and_left_alone(
    kubernetes: Cluster, tmp_path: Path
) -> None:
    scene = world()
    scene["daemonsets"].append({"name": "cgpu-core-installer", "policy": None})
    kubernetes.reset(scene)
    with keeping(kubernetes, tmp_path) as keeper:
        keeper.set(3)

        assert "no-setting" in keeper.drift_kinds()

    assert kubernetes.policy() == "3"
    assert kubernetes.policy("cgpu-core-installer") is None


def test_a_change_does_not_begin_while_a_node_is_not_ready(keeper: Keeper) -> None:
    keeper.cluster.set_ready("gpu-2", False)

    says = keeper.set(3)

    assert says.startswith("Not ready: gpu-2.")
    assert keeper.cluster.policy() == "1"


def test_where_cgpu_is_not_installed_the_values_are_told(
    kubernetes: Cluster, tmp_path: Path
) -> None:
    chart = {"cgpu": {"enabled": False, "policy": 1}}
    kubernetes.reset({"nodes": [{"name": "gpu-1"}], "helm": {"policy": None, "chart": chart}})
    with keeping(kubernetes, tmp_path) as keeper:
        says = keeper.set(0)
        (drift,) = keeper.view.drifts

    assert says == "cGPU is not installed: no DaemonSet installs it"
    assert "has cgpu.enabled false" in drift.text
    assert drift.remedy.endswith("cgpu:\n  enabled: true\n  policy: 0")


def test_a_node_that_joins_during_the_change_needs_no_restart(blind: Keeper) -> None:
    blind.set(3)
    since = blind.view.situation.cluster.at
    while blind.door.look().at == since:  # the API server tells whole seconds
        blind.cluster.step()

    blind.cluster.add_node("gpu-4")
    blind.rests()

    assert blind.status("gpu-4").state is NodeState.UP_TO_DATE
    assert blind.cluster.loaded("gpu-4") == [3, 3]


def test_a_node_that_leaves_during_the_change_is_not_waited_for(keeper: Keeper) -> None:
    keeper.set(3)
    keeper.cluster.remove_node("gpu-3")
    for node in NODES[:2]:
        keeper.restarted(node)

    assert keeper.change.outcome is Outcome.CONVERGED


def test_a_restart_by_somebody_else_is_recognised(keeper: Keeper) -> None:
    keeper.set(3)

    keeper.cluster.restarted("gpu-2")
    keeper.rests()

    assert keeper.status("gpu-2").state is NodeState.UP_TO_DATE


def test_a_node_that_was_only_lost_for_a_while_has_not_restarted(keeper: Keeper) -> None:
    keeper.set(3)
    keeper.cluster.set_ready("gpu-2", False)
    keeper.run()
    keeper.cluster.set_ready("gpu-2", True)
    keeper.rests()

    assert keeper.status("gpu-2").state is NodeState.RESTART_REQUIRED


def test_events_say_what_was_done(keeper: Keeper) -> None:
    keeper.converged(3)
    keeper.begin()
    keeper.rests()

    told = [one["reason"] for one in keeper.cluster.events()]
    assert told.count("CgpuPolicyPatched") == 1
    assert told.count("CgpuRestartRequired") == len(NODES)
    assert told.count("CgpuRestarted") == told.count("CgpuPolicyVerified") == len(NODES)


def test_a_policy_that_is_managed_again_is_set_again(keeper: Keeper) -> None:
    keeper.set(3)
    keeper.set(None)
    keeper.cluster.edit(env={"POLICY": "1"})

    keeper.set(3)

    assert keeper.cluster.policy() == "3"
