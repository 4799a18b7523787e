"""The cGPU policy in the rest of Poolkeeper: settings, validation, outages, rules, pools."""

from collections.abc import Iterator
from datetime import timedelta
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from bot.settings import SettingsError, load_settings
from controller.cgpu_pacing import Pacer
from controller.validating import findings
from domain.cgpu_nodes import NodeState
from domain.configuration import CGPU, Configuration, Pool
from tests.cgpu_support import Keeper, keeping, managed, now, provision
from tests.kubernetes_support import Cluster
from tests.poolkeeper_support import Installation, installed
from tests.sandbox_support import Sandbox

CGPU_LABEL = {"ack.node.gpu.schedule": "cgpu"}


@pytest.fixture
def keeper(kubernetes: Cluster, tmp_path: Path) -> Iterator[Keeper]:
    with keeping(kubernetes, tmp_path) as keeper:
        yield keeper


@pytest.fixture
def there(clearml: Sandbox, tmp_path: Path) -> Iterator[Installation]:
    with installed(clearml, tmp_path / "here") as there:
        yield there


def test_without_kubernetes_a_policy_is_refused_with_that_reason(there: Installation) -> None:
    path = there.written(Configuration(cgpu=CGPU(policy=3)))

    code, said = there.command("apply", path, "--yes")

    assert code == 1
    assert "cgpu_needs_kubernetes" in said
    assert "set POOLKEEPER_KUBERNETES, or take `cgpu` out of the configuration" in said


def test_with_kubernetes_it_is_applied(
    there: Installation, kubernetes: Cluster, tmp_path: Path
) -> None:
    env = {
        "POOLKEEPER_KUBERNETES": "kubeconfig",
        "POOLKEEPER_KUBECONFIG": str(kubernetes.write_kubeconfig(tmp_path / "kubeconfig")),
    }
    path = there.written(Configuration(cgpu=CGPU(policy=3)))

    code, said = there.command("apply", path, "--yes", **env)

    assert (code, "cGPU: not managed → policy 3." in said) == (0, True), said


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({"POOLKEEPER_KUBERNETES": "kubeconfig"}, "needs POOLKEEPER_KUBECONFIG"),
        ({"POOLKEEPER_KUBERNETES": "yes"}, "POOLKEEPER_KUBERNETES cannot be used"),
        ({"POOLKEEPER_CGPU_PROBE": "ssh"}, "POOLKEEPER_CGPU_PROBE cannot be used"),
    ],
)
def test_settings_that_fit_nothing_are_refused(given: dict[str, str], problem: str) -> None:
    with pytest.raises(SettingsError, match=problem):
        load_settings(given)


def test_a_pools_size_is_compared_with_its_nodes(keeper: Keeper) -> None:
    small = Pool(name="shared", resources=Fraction(4), nodes=tuple(CGPU_LABEL.items()))
    configuration = Configuration(pools=(small,))
    provision(keeper.database, configuration)
    keeper.rests()

    with keeper.database.reading() as session:
        found = {one.code: one for one in findings(session, configuration, connected=True)}
    finding = found["pool_size_differs"]
    assert "has 4 resources, but its nodes have 6 allocatable GPUs" in finding.message
    assert keeper.view.size_notes == (
        "Pool 'shared' has 4 resources, but its 3 nodes have 6 allocatable GPUs.",
    )


def test_a_pool_of_the_right_size_is_not_mentioned(keeper: Keeper) -> None:
    provision(keeper.database, managed(None, **CGPU_LABEL))
    keeper.rests()

    assert keeper.view.size_notes == ()


def test_an_outage_is_noted_with_its_beginning_and_is_over_again(keeper: Keeper) -> None:
    keeper.set(1)
    keeper.cluster.outage("503")
    for _ in range(3):
        keeper.reconciler.run()

    note = keeper.view.note
    assert (note.times, "503" in note.away) == (3, True)
    assert note.since is not None
    assert len(keeper.view.nodes) == 3

    keeper.cluster.outage("")
    keeper.run()
    assert (keeper.view.note.away, keeper.view.note.times) == ("", 0)


WRITES: list[dict[str, Any]] = [
    {"verbs": ["patch"], "apiGroups": ["apps"], "resources": ["daemonsets"]},
    {"verbs": ["patch"], "apiGroups": [""], "resources": ["nodes"]},
    {"verbs": ["create"], "apiGroups": [""], "resources": ["pods/eviction"]},
]
READS = {"verbs": ["list"], "apiGroups": ["", "apps"], "resources": ["*"]}


@pytest.mark.parametrize(
    ("missing", "rule"),
    [
        (0, "patch daemonsets.apps in kube-system"),
        (1, "patch nodes"),
        (2, "create pods/eviction in default"),
    ],
)
def test_a_missing_rule_is_named_and_nothing_is_lost(
    kubernetes: Cluster, tmp_path: Path, missing: int, rule: str
) -> None:
    kubernetes.add_pods("train", node="gpu-1", gpu_mem=4)
    granted = [one for number, one in enumerate(WRITES) if number != missing]
    token = kubernetes.grant([READS, *granted])
    with keeping(kubernetes, tmp_path, token=token) as keeper:
        provision(keeper.database, managed(3))
        keeper.restart("gpu-1")
        for _ in range(8):
            keeper.run()

        assert keeper.view.note.away == (
            f"Kubernetes does not allow Poolkeeper to {rule}; add that rule."
        )
        assert keeper.view.note.times > 1
        kubernetes.grant([READS, *WRITES])

        assert "gpu-1 is empty" in keeper.rests()
        assert keeper.view.note.away == ""


def test_releases_that_may_not_be_listed_block_and_the_rule_is_named(
    kubernetes: Cluster, tmp_path: Path
) -> None:
    resources = ["nodes", "pods", "daemonsets", "controllerrevisions"]
    token = kubernetes.grant([{**READS, "resources": resources}, *WRITES])
    with keeping(kubernetes, tmp_path, token=token) as keeper:
        says = keeper.set(3)

    assert says == "The Helm release of cGPU is not known: add the rule list secrets."
    assert kubernetes.policy() == "1"


def test_what_a_change_would_mean_is_told_before_it_is_approved(keeper: Keeper) -> None:
    keeper.cluster.add_pods("lone", node="gpu-1", gpu_mem=4)
    keeper.cluster.add_pods("pair", node="gpu-2", gpu_mem=4, count=2)
    keeper.set(1)

    impact = keeper.view.impact(3)

    assert (impact.before, impact.policy) == (1, 3)
    assert impact.restarts == ("gpu-1", "gpu-2", "gpu-3")
    assert impact.alone == ("default/lone",)
    assert impact.crowded == ("default/pair-1", "default/pair-2")
    assert any("may drop" in line for line in impact.warnings)
    assert impact.blockers == ()
    assert impact.values == "cgpu:\n  enabled: true\n  policy: 3"


def test_what_is_published_is_read_by_other_processes_as_it_was(keeper: Keeper) -> None:
    keeper.set(3)
    keeper.restart("gpu-1")
    keeper.rests()

    assert keeper.states() == {
        "gpu-1": NodeState.AWAITS_RESTART,
        "gpu-2": NodeState.RESTART_REQUIRED,
        "gpu-3": NodeState.RESTART_REQUIRED,
    }
    assert keeper.view.step.says.startswith("gpu-1 is empty; restart it now")


def test_a_change_that_takes_too_long_is_told(keeper: Keeper) -> None:
    keeper.set(3)
    assert "overdue" not in keeper.drift_kinds()
    with keeper.database.transaction() as session:
        session.connection().exec_driver_sql(
            "UPDATE cgpu_changes SET started_at = datetime('now', '-25 hours')"
        )

    assert "overdue" in keeper.drift_kinds()


def test_the_reconciler_runs_at_its_interval_on_a_nudge_and_on_a_word(keeper: Keeper) -> None:
    times = [now()]
    pacer = Pacer(keeper.reconciler, keeper.database, lambda: times[-1], timedelta(minutes=1))

    assert pacer.tick() is not None
    assert pacer.tick() is None
    times.append(times[-1] + timedelta(seconds=59))
    assert pacer.tick() is None
    times.append(times[-1] + timedelta(seconds=1))
    assert pacer.tick() is not None
    pacer.nudge()
    assert pacer.tick() is not None
    keeper.restart("gpu-1")
    assert pacer.tick() is not None
    assert pacer.tick() is None
    times.append(times[0])  # the clock is set back
    assert pacer.tick() is not None


def test_while_something_is_under_way_it_looks_sooner(keeper: Keeper) -> None:
    keeper.set(3)
    times = [now()]
    pacer = Pacer(keeper.reconciler, keeper.database, lambda: times[-1], timedelta(minutes=1))
    keeper.restart("gpu-1")
    pacer.tick()

    times.append(times[-1] + timedelta(seconds=10))

    assert pacer.tick() is not None
