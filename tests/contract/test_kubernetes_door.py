"""What the door to Kubernetes promises: on the sandbox always, and on a real API server where
`POOLKEEPER_CONTRACT_KUBECONFIG` names one.

There it makes nodes, a namespace and a DaemonSet of its own under a prefix, touches nothing else,
and removes them. Faults, budgets and roles are tried on the sandbox only.
"""

import os
import time
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from controller.kubernetes_cluster import KubernetesCluster
from controller.kubernetes_cluster_session import Access, Call, KubernetesSession
from controller.kubernetes_ports import (
    PROBE_RULES,
    RESTART_RULES,
    RULES,
    Declined,
    Eviction,
    Forbidden,
    KubernetesAway,
    Misconfigured,
    Rule,
    Told,
    WriteUnknown,
    Written,
)
from domain.cgpu_cluster import CORDON_MARK, Cluster, Installer, InstallerPod, Node, Reading
from domain.cgpu_versions import Unknown, Version, kubernetes_version
from tests.cgpu_support import door_to, now
from tests.kubernetes_support import Cluster as Sandbox
from tests.sandbox_support import wait_until

REAL = os.environ.get("POOLKEEPER_CONTRACT_KUBECONFIG", "")
IMAGE = "registry/acs/cgpu-installer:v1.5.13-8d3fc1b-aliyun"
NOBODY = "poolkeeper-contract-no-such"


@dataclass
class Ground:
    """A cluster with two nodes and an installer of ours in it."""

    session: KubernetesSession
    prefix: str = field(default_factory=lambda: f"poolkeeper-contract-{uuid.uuid4().hex[:8]}")

    def __post_init__(self) -> None:
        self.door = KubernetesCluster(self.session, now)

    def write(self, method: str, path: str, body: object = None) -> dict[str, Any]:
        kind = "application/strategic-merge-patch+json" if method == "PATCH" else ""
        return self.session.write(Call(method=method, path=path, body=body, content_type=kind))

    def prepare(self) -> None:
        self.write("POST", "/api/v1/namespaces", {"metadata": {"name": self.prefix}})
        for number in (1, 2):
            metadata = {
                "name": f"{self.prefix}-{number}",
                "labels": {self.prefix: "yes", "ack.node.gpu.schedule": "cgpu"},
            }
            taint = {"key": self.prefix, "effect": "NoSchedule"}
            node = {"metadata": metadata, "spec": {"taints": [taint]}}
            self.write("POST", "/api/v1/nodes", node)
        self.write("POST", f"/apis/apps/v1/namespaces/{self.prefix}/daemonsets", self.daemon_set())

    def daemon_set(self) -> dict[str, Any]:
        env = [
            {"name": "POLICY", "value": "1"},
            {"name": "NODE", "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}}},
        ]
        container = {"name": "installer", "image": IMAGE, "env": env}
        labels = {"name": self.prefix}
        spec = {"containers": [container], "nodeSelector": {self.prefix: "nowhere"}}
        template = {"metadata": {"labels": labels}, "spec": spec}
        return {
            "metadata": {"name": "cgpu-installer", "namespace": self.prefix},
            "spec": {"selector": {"matchLabels": labels}, "template": template},
        }

    def remove(self) -> None:
        for path in (
            f"/apis/apps/v1/namespaces/{self.prefix}/daemonsets/cgpu-installer",
            f"/api/v1/nodes/{self.prefix}-1",
            f"/api/v1/nodes/{self.prefix}-2",
            f"/api/v1/namespaces/{self.prefix}",
        ):
            try:
                self.write("DELETE", path)
            except Declined:
                continue

    def look(self) -> Cluster:
        return self.door.look()

    def installer(self) -> Installer:
        return next(one for one in self.look().installers if one.namespace == self.prefix)

    def node(self, number: int = 1) -> Node:
        return next(one for one in self.look().nodes if one.name == f"{self.prefix}-{number}")

    def env(self) -> list[dict[str, Any]]:
        path = f"/apis/apps/v1/namespaces/{self.prefix}/daemonsets/cgpu-installer"
        containers = self.session.read(path)["spec"]["template"]["spec"]["containers"]
        return list(containers[0].get("env") or [])

    def edit(self, env: object) -> None:
        path = f"/apis/apps/v1/namespaces/{self.prefix}/daemonsets/cgpu-installer"
        container = {"name": "installer", "env": env}
        self.write("PATCH", path, {"spec": {"template": {"spec": {"containers": [container]}}}})


@pytest.fixture(params=["sandbox", *(["real"] if REAL else [])])
def ground(request: pytest.FixtureRequest, kubernetes: Sandbox, tmp_path: Path) -> Iterator[Ground]:
    path = REAL
    if request.param == "sandbox":
        kubernetes.reset({})
        path = str(kubernetes.write_kubeconfig(tmp_path / "kubeconfig"))
    ground = Ground(KubernetesSession(Access(kubeconfig=path), time.sleep))
    ground.prepare()
    try:
        yield ground
    finally:
        ground.remove()


@pytest.fixture
def door(kubernetes: Sandbox, tmp_path: Path) -> KubernetesCluster:
    return door_to(kubernetes, tmp_path)


def written_at_last(write: Callable[[], Written]) -> None:
    """Others write to nodes too: whoever finds one changed looks again."""
    wait_until(lambda: write() is Written.DONE, "it is written")


# On both ----------------------------------------------------------------------------------------


def test_a_look_sees_versions_nodes_and_installers(ground: Ground) -> None:
    look = ground.look()

    assert isinstance(kubernetes_version(look.version), Version)
    names = {node.name for node in look.nodes}
    assert {f"{ground.prefix}-1", f"{ground.prefix}-2"} <= names
    assert ground.node().label == "cgpu"
    assert ground.installer().images == (IMAGE,)
    (setting,) = ground.installer().settings
    assert (setting.container, setting.value) == ("installer", "1")


def test_a_policy_is_replaced_and_everything_else_stays(ground: Ground) -> None:
    installer = ground.installer()
    before = ground.env()

    written = ground.door.set_policy(installer, installer.settings[0], 3)

    assert written is Written.DONE
    assert ground.env() == [{"name": "POLICY", "value": "3"}, *before[1:]]
    changed = ground.installer()
    assert changed.generation == installer.generation + 1
    assert changed.writer is not None
    assert changed.writer.manager == "poolkeeper"


def test_a_value_that_was_changed_meanwhile_is_not_overwritten(ground: Ground) -> None:
    installer = ground.installer()
    ground.edit([{"name": "POLICY", "value": "4"}])

    written = ground.door.set_policy(installer, installer.settings[0], 3)

    assert written is Written.CHANGED
    assert ground.installer().settings[0].value == "4"


def test_a_variable_that_moved_meanwhile_is_not_overwritten(ground: Ground) -> None:
    installer = ground.installer()
    setting = replace(installer.settings[0], index=1)

    assert ground.door.set_policy(installer, setting, 3) is Written.CHANGED


def test_an_installer_made_again_under_its_name_is_another(ground: Ground) -> None:
    installer = replace(ground.installer(), uid=str(uuid.uuid4()))

    assert ground.door.set_policy(installer, installer.settings[0], 3) is Written.CHANGED


def test_an_installer_that_is_gone_is_said_so(ground: Ground) -> None:
    installer = replace(ground.installer(), name=NOBODY)

    assert ground.door.set_policy(installer, installer.settings[0], 3) is Written.GONE


def test_a_missing_policy_is_added_unless_the_variables_changed(ground: Ground) -> None:
    ground.edit([{"$patch": "replace"}, {"name": "OTHER", "value": "x"}])
    installer = ground.installer()
    assert installer.settings == ()

    ground.edit([{"name": "OTHER", "value": "y"}])
    assert ground.door.add_policy(installer, 0) is Written.CHANGED

    assert ground.door.add_policy(ground.installer(), 0) is Written.DONE
    assert ground.env()[-1] == {"name": "POLICY", "value": "0"}


def test_cordon_and_uncordon_leave_a_mark_and_take_it_away(ground: Ground) -> None:
    written_at_last(lambda: ground.door.cordon(ground.node(), "wish-1"))
    assert (ground.node().unschedulable, ground.node().cordon_mark) == (True, "wish-1")

    written_at_last(lambda: ground.door.uncordon(ground.node()))
    assert (ground.node().unschedulable, ground.node().cordon_mark) == (False, "")


def test_a_node_that_changed_meanwhile_is_not_cordoned(ground: Ground) -> None:
    node = ground.node()
    ground.write("PATCH", f"/api/v1/nodes/{node.name}", {"metadata": {"labels": {"x": "y"}}})

    assert ground.door.cordon(node, "wish-1") is Written.CHANGED
    assert not ground.node().unschedulable


def test_a_pod_that_is_not_there_is_gone(ground: Ground) -> None:
    pod = InstallerPod(
        name=NOBODY, namespace=ground.prefix, uid="", installer="", node="", revision="",
        policy=None, ready=False,
    )  # fmt: skip

    assert ground.door.evict(pod).outcome is Eviction.GONE


def test_an_event_told_twice_is_one(ground: Ground) -> None:
    installer = ground.installer()
    told = Told(
        kind="DaemonSet", namespace=ground.prefix, name=installer.name, uid=installer.uid,
        reason="CgpuPolicyPatched", message="said", cause="once",
    )  # fmt: skip

    ground.door.tell(told)
    ground.door.tell(told)

    events = ground.session.read(f"/api/v1/namespaces/{ground.prefix}/events")["items"]
    assert [one["reason"] for one in events if one["reason"] == told.reason] == [told.reason]


def test_an_admin_misses_no_rule(ground: Ground) -> None:
    assert ground.door.missing((*RULES, *RESTART_RULES, *PROBE_RULES)) == ()


# On the sandbox ---------------------------------------------------------------------------------


def test_lists_come_in_pages(kubernetes: Sandbox, door: KubernetesCluster) -> None:
    kubernetes.reset({"nodes": [{"name": "n", "count": 501}]})

    assert len(door.look().nodes) == 501
    assert kubernetes.call_counts()["list nodes"] == 2


def test_a_list_that_expires_between_two_pages_is_no_list(
    kubernetes: Sandbox, door: KubernetesCluster
) -> None:
    kubernetes.reset({"nodes": [{"name": "n", "count": 501}]})
    kubernetes.fault("status", call="list nodes", nth=2, code=410, message="expired")

    with pytest.raises(KubernetesAway, match="changed while it was read"):
        door.look()


@pytest.mark.parametrize("answer", ["503", "refuse"])
def test_an_outage_is_told_as_such(
    kubernetes: Sandbox, door: KubernetesCluster, answer: str
) -> None:
    kubernetes.outage(answer)

    with pytest.raises(KubernetesAway):
        door.look()

    kubernetes.outage("")
    assert door.look().installers


def test_a_read_is_tried_again(kubernetes: Sandbox, door: KubernetesCluster) -> None:
    kubernetes.fault("status", call="list nodes", nth=1, code=503)
    kubernetes.fault("drop_response", call="list pods", nth=1)

    assert len(door.look().nodes) == 4


def test_text_that_is_no_status_is_survived(kubernetes: Sandbox, door: KubernetesCluster) -> None:
    kubernetes.fault("status", call="list nodes", nth=0, code=404, text="404 page not found\n")

    with pytest.raises(Declined, match="404 page not found"):
        door.look()


@pytest.mark.parametrize(
    ("rule", "missing"),
    [
        ("nodes", Rule(verb="list", resource="nodes")),
        ("pods", Rule(verb="list", resource="pods")),
        ("daemonsets", Rule(verb="list", resource="daemonsets", group="apps")),
    ],
)
def test_a_refusal_names_the_missing_rule(
    kubernetes: Sandbox, tmp_path: Path, rule: str, missing: Rule
) -> None:
    resources = ["nodes", "pods", "daemonsets", "controllerrevisions", "secrets"]
    resources.remove(rule)
    token = kubernetes.grant(
        [{"verbs": ["list"], "apiGroups": ["", "apps"], "resources": resources}]
    )

    with pytest.raises(Forbidden) as refused:
        door_to(kubernetes, tmp_path, token).look()

    assert refused.value.rule == missing


def test_secrets_that_may_not_be_listed_leave_the_releases_unknown(
    kubernetes: Sandbox, tmp_path: Path
) -> None:
    resources = ["nodes", "pods", "daemonsets", "controllerrevisions"]
    token = kubernetes.grant(
        [{"verbs": ["list"], "apiGroups": ["", "apps"], "resources": resources}]
    )

    assert door_to(kubernetes, tmp_path, token).look().releases == Unknown(
        "add the rule list secrets"
    )


def test_the_doctor_learns_each_missing_rule(kubernetes: Sandbox, tmp_path: Path) -> None:
    token = kubernetes.grant([{"verbs": ["list"], "apiGroups": [""], "resources": ["nodes"]}])

    missing = door_to(kubernetes, tmp_path, token).missing(RULES)

    assert set(missing) == {rule for rule in RULES if str(rule) != "list nodes"}


def test_credentials_that_are_not_accepted_are_told(kubernetes: Sandbox, tmp_path: Path) -> None:
    token = kubernetes.grant([])
    door = door_to(kubernetes, tmp_path, token)
    kubernetes.revoke(token)

    with pytest.raises(Misconfigured, match="does not accept these credentials"):
        door.look()


def test_a_kubeconfig_that_is_none_is_told(tmp_path: Path) -> None:
    path = tmp_path / "kubeconfig"
    path.write_text("{")
    session = KubernetesSession(Access(kubeconfig=str(path)), time.sleep)

    with pytest.raises(Misconfigured, match="gives no access to Kubernetes"):
        session.read("/version/")


def test_a_write_without_an_answer_is_in_doubt_and_sent_once(
    kubernetes: Sandbox, door: KubernetesCluster
) -> None:
    installer = door.look().installers[0]
    kubernetes.fault("drop_response", call="patch daemonsets", nth=0)

    with pytest.raises(WriteUnknown):
        door.set_policy(installer, installer.settings[0], 3)

    assert kubernetes.policy() == "3"
    assert len(kubernetes.calls("patch daemonsets")) == 1


def test_status_churn_does_not_disturb_the_write(
    kubernetes: Sandbox, door: KubernetesCluster
) -> None:
    installer = door.look().installers[0]
    kubernetes.touch("daemonsets", "cgpu-installer", "kube-system")

    assert door.set_policy(installer, installer.settings[0], 3) is Written.DONE


def test_a_budget_that_refuses_is_named(kubernetes: Sandbox, door: KubernetesCluster) -> None:
    kubernetes.add_pods("guarded", node="gpu-1", labels={"app": "guarded"})
    kubernetes.add_budget("guard", {"app": "guarded"}, min_available=1)
    (pod,) = door.look().pods

    evicted = door.evict(pod)

    assert evicted.outcome is Eviction.REFUSED
    assert evicted.why.startswith("The disruption budget guard needs 1 healthy pods")


def test_the_helm_release_that_counts_is_the_highest_deployed_one(
    kubernetes: Sandbox, door: KubernetesCluster
) -> None:
    for policy in (2, 3):
        kubernetes.helm_upgrade(policy=policy)
    kubernetes.helm_upgrade(policy=4, status="pending-upgrade")
    kubernetes.helm_upgrade(policy=5, status="failed")

    releases = door.look().releases

    assert isinstance(releases, tuple)
    (release,) = releases
    assert (release.policy, release.revision, release.pending) == (3, 3, "pending-upgrade")


@pytest.mark.parametrize("policy", ["1", 0, 1.0, None], ids=["text", "zero", "a float", "default"])
def test_helms_policy_is_told_as_it_stands(
    kubernetes: Sandbox, door: KubernetesCluster, policy: object
) -> None:
    kubernetes.helm_upgrade(policy=policy)

    releases = door.look().releases

    assert isinstance(releases, tuple)
    assert releases[0].policy == (1 if policy is None else policy)


def test_a_module_is_read_by_exec(kubernetes: Sandbox, door: KubernetesCluster) -> None:
    kubernetes.reset(
        {
            "nodes": [{"name": "gpu-1", "cards": 9, "policy": [1, 2, 3, 4, 5, 0, 1, 2, 3]}],
            "daemonsets": [{}],
            "pods": [{"name": "train", "node": "gpu-1", "gpu_mem": 4, "gpu": 3}],
        }
    )
    look = door.look()

    reading = door.read_module(look.installer_pods[0], look.nodes[0])

    assert reading == Reading(
        boot=kubernetes.boot_id("gpu-1"),
        version="1.5.13",
        policies=(1, 2, 3, 4, 5, 0, 1, 2, 3),
        containers=1,
    )


def test_a_module_that_is_not_loaded_is_no_module(
    kubernetes: Sandbox, door: KubernetesCluster
) -> None:
    kubernetes.set_module("gpu-1", broken=True)
    look = door.look()
    node = next(one for one in look.nodes if one.name == "gpu-1")
    pod = next(one for one in look.installer_pods if one.node == "gpu-1")

    assert door.read_module(pod, node) == Reading(boot=node.boot)


def test_nobodys_cordon_has_no_mark(kubernetes: Sandbox, door: KubernetesCluster) -> None:
    kubernetes.cordon("gpu-1")
    kubernetes.annotate("gpu-2", "nodes", **{CORDON_MARK: "wish"})

    nodes = {node.name: node for node in door.look().nodes}

    assert (nodes["gpu-1"].unschedulable, nodes["gpu-1"].cordon_mark) == (True, "")
    assert (nodes["gpu-2"].unschedulable, nodes["gpu-2"].cordon_mark) == (False, "wish")
