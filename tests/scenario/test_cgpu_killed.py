"""A `poolkeeper run` that is killed anywhere in a change of the cGPU policy, and started again.

Real processes, kill -9 while the API server holds a call: before its write, or after it with the
answer still to come. What was begun goes on, nothing is done twice that must be done once.
"""

import time
from pathlib import Path

import pytest

from controller.cgpu_view import View, last_view
from domain.cgpu_memory import Outcome
from domain.cgpu_nodes import NodeState
from storage import cgpu
from tests.cgpu_support import ADMIN, managed, now, provision
from tests.kubernetes_support import Cluster
from tests.poolkeeper_support import Installation, installed
from tests.sandbox_support import Sandbox, wait_until

NODES = ("gpu-1", "gpu-2")
SCENE = {
    "nodes": [{"name": name} for name in NODES],
    "daemonsets": [{}],
    "helm": {"policy": 3},
    "pods": [{"name": "train", "node": "gpu-1", "gpu_mem": 4, "owner": "ReplicaSet/train"}],
}


def view_of(installation: Installation) -> View | None:
    with installation.database.reading() as session:
        return last_view(session)


def wish(installation: Installation) -> None:
    with installation.database.transaction() as session:
        for node in NODES:
            cgpu.wish_restart(session, node, ADMIN, now())


def restart_what_is_ready(cluster: Cluster, view: View, done: set[str]) -> None:
    """What an admin does on reading that a node is empty and to be restarted now."""
    for status in view.nodes:
        if status.state is NodeState.AWAITS_RESTART and status.node not in done:
            done.add(status.node)
            cluster.restart(status.node)


def converge(installation: Installation, cluster: Cluster, done: set[str]) -> None:
    def is_over() -> bool:
        view = view_of(installation)
        if view is None or view.change is None:
            return False
        restart_what_is_ready(cluster, view, done)
        return view.change.outcome is Outcome.CONVERGED

    wait_until(is_over, "the change has converged", timeout=60.0)


@pytest.mark.parametrize(
    ("call", "nth", "when"),
    [
        pytest.param("list nodes", 4, "before", id="looking"),
        pytest.param("patch daemonsets", 1, "before", id="before POLICY is written"),
        pytest.param("patch daemonsets", 1, "after", id="after POLICY is written"),
        pytest.param("patch nodes", 1, "before", id="before a cordon"),
        pytest.param("patch nodes", 1, "after", id="after a cordon"),
        pytest.param("create pods/eviction", 1, "before", id="before an eviction"),
        pytest.param("create pods/eviction", 1, "after", id="after an eviction"),
        pytest.param("patch nodes", 2, "before", id="before an uncordon"),
        pytest.param("patch nodes", 2, "after", id="after an uncordon"),
    ],
)
def test_a_change_goes_on_where_it_was_killed(
    clearml: Sandbox, kubernetes: Cluster, tmp_path: Path, call: str, nth: int, when: str
) -> None:
    kubernetes.reset(SCENE)
    env = {
        "POOLKEEPER_KUBERNETES": "kubeconfig",
        "POOLKEEPER_KUBECONFIG": str(kubernetes.write_kubeconfig(tmp_path / "kubeconfig")),
        "POOLKEEPER_CGPU_SECONDS": "1",
    }
    with installed(clearml, tmp_path / "installed") as installation:
        provision(installation.database, managed(3))
        wish(installation)
        fault = kubernetes.fault("hold", call=call, nth=nth, when=when)
        process = installation.start("run", **env)
        restarted: set[str] = set()

        def is_held() -> bool:
            view = view_of(installation)
            if view is not None:
                restart_what_is_ready(kubernetes, view, restarted)
            return bool(fault.holding())

        wait_until(is_held, f"{call} is held", timeout=60.0)
        process.kill()
        fault.release("drop")
        kubernetes.clear_faults()
        again = installation.start("run", **env)
        converge(installation, kubernetes, restarted)
        assert again.end() == 0

    assert kubernetes.daemon_set()["metadata"]["generation"] == 2  # written once
    assert [kubernetes.loaded(node) for node in NODES] == [[3, 3], [3, 3]]
    assert not any(kubernetes.is_cordoned(node) for node in NODES)
    assert restarted == set(NODES)


def test_a_second_process_does_not_reconcile(
    clearml: Sandbox, kubernetes: Cluster, tmp_path: Path
) -> None:
    env = {
        "POOLKEEPER_KUBERNETES": "kubeconfig",
        "POOLKEEPER_KUBECONFIG": str(kubernetes.write_kubeconfig(tmp_path / "kubeconfig")),
    }
    with installed(clearml, tmp_path / "installed") as installation:
        first = installation.start("run", **env)
        wait_until(lambda: view_of(installation), "the first has looked", timeout=60.0)
        second = installation.start("run", **env)

        assert second.wait(60.0) == 1
        assert "Another poolkeeper" in second.log
        assert first.end() == 0


def test_a_wish_from_another_process_is_seen_without_waiting_for_the_interval(
    clearml: Sandbox, kubernetes: Cluster, tmp_path: Path
) -> None:
    env = {
        "POOLKEEPER_KUBERNETES": "kubeconfig",
        "POOLKEEPER_KUBECONFIG": str(kubernetes.write_kubeconfig(tmp_path / "kubeconfig")),
        "POOLKEEPER_CGPU_SECONDS": "3600",
    }
    with installed(clearml, tmp_path / "installed") as installation:
        process = installation.start("run", **env)
        wait_until(lambda: view_of(installation), "it has looked", timeout=60.0)
        began = time.monotonic()

        provision(installation.database, managed(3))

        wait_until(lambda: kubernetes.policy() == "3", "the policy is set", timeout=30.0)
        assert time.monotonic() - began < 30
        assert process.end() == 0
