"""`poolkeeper cgpu status`: real processes, on a real database and a sandbox cluster."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.cgpu_support import Keeper
from tests.kubernetes_support import Cluster
from tests.poolkeeper_support import Installation, installed, one_profile
from tests.sandbox_support import Sandbox


@pytest.fixture
def there(clearml: Sandbox, tmp_path: Path) -> Iterator[Installation]:
    with installed(clearml, tmp_path / "here") as there:
        yield there


@pytest.fixture
def keeper(there: Installation, kubernetes: Cluster, tmp_path: Path) -> Keeper:
    return Keeper(kubernetes, there.database, tmp_path)


def connected(directory: Path) -> dict[str, str]:
    path = str(directory / "kubeconfig")
    return {"POOLKEEPER_KUBERNETES": "kubeconfig", "POOLKEEPER_KUBECONFIG": path}


def test_it_prints_the_table_and_what_comes_next(
    there: Installation, keeper: Keeper, tmp_path: Path
) -> None:
    keeper.set(1)
    keeper.set(3)
    keeper.restarted("gpu-1")

    code, said = there.command("cgpu", "status", **connected(tmp_path))

    lines = said.splitlines()
    assert code == 0
    assert lines[0] == (
        "cGPU policy 3 (fixed percentage) is provisioned; 1 of 3 nodes has it for certain."
    )
    assert "Waits for an admin: to be restarted, one by one: gpu-2 and gpu-3." in lines
    assert "Loaded on the nodes now: policy 3 on 1 and not known of 2." in lines
    (row,) = [line for line in lines if line.startswith("gpu-1 ")]
    assert " ".join(row.split()) == "gpu-1 cgpu 2 Tesla-T4 not read 3 yes up to date"


def test_where_cgpu_is_not_installed_it_prints_the_values(
    there: Installation, keeper: Keeper, tmp_path: Path
) -> None:
    keeper.cluster.remove_daemon_set()
    keeper.set(0)

    _, said = there.command("cgpu", "status", **connected(tmp_path))

    assert said.rstrip().endswith(
        "Install it with these Helm values:\ncgpu:\n  enabled: true\n  policy: 0"
    )


def test_an_unmanaged_cluster_is_said_to_be_so(
    there: Installation, keeper: Keeper, tmp_path: Path
) -> None:
    keeper.set(None)

    _, said = there.command("cgpu", "status", **connected(tmp_path))

    assert "cGPU is not managed: the configuration names no policy." in said


def test_before_the_first_look_it_says_who_looks(
    there: Installation, keeper: Keeper, tmp_path: Path
) -> None:
    code, said = there.command("cgpu", "status", **connected(tmp_path))

    assert (code, "was not looked at yet; start `poolkeeper run`." in said) == (1, True)


def test_without_kubernetes_it_is_refused_with_the_setting(there: Installation) -> None:
    code, said = there.command("cgpu", "status")

    assert (code, "set POOLKEEPER_KUBERNETES" in said) == (2, True)


def test_the_doctor_names_the_rules_that_the_role_lacks(
    there: Installation, kubernetes: Cluster, tmp_path: Path
) -> None:
    reads = {"verbs": ["list"], "apiGroups": ["", "apps"], "resources": ["*"]}
    token = kubernetes.grant([reads])
    kubernetes.write_kubeconfig(tmp_path / "kubeconfig", token)

    _, limited = there.command("doctor", **connected(tmp_path))
    kubernetes.write_kubeconfig(tmp_path / "kubeconfig")
    _, full = there.command("doctor", **connected(tmp_path))
    kubernetes.outage("refuse")
    _, away = there.command("doctor", **connected(tmp_path))

    lacks = "Poolkeeper's role in Kubernetes lacks: patch daemonsets.apps in kube-system."
    assert lacks in limited
    assert "lacks: list nodes" not in limited
    assert "role in Kubernetes lacks" not in full
    assert "Kubernetes +0 s" in full.replace("-0", "+0")
    assert "See POOLKEEPER_KUBERNETES and POOLKEEPER_KUBECONFIG." in away


def test_agents_ask_for_the_part_of_a_card(
    there: Installation, keeper: Keeper, tmp_path: Path
) -> None:
    base = one_profile({"shared": 6}, {"dev": (0, None)}, allotment="1/3")
    pool = replace(base.pools[0], nodes=(("ack.node.gpu.schedule", "cgpu"),))
    there.apply(replace(base, pools=(pool,)))
    keeper.rests()

    _, said = there.command("agents", "job on shared", **connected(tmp_path))
    _, plain = there.command("agents", "job on shared")

    assert "aliyun.com/gpu-mem: '5'" in said
    assert "aliyun.com/gpu-mem" not in plain
    assert "nvidia.com/gpu: 1" in plain
