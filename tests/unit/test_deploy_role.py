"""The role that the chart gives is what Poolkeeper does in the cluster, and no more.

The reconciler really works with it: in a cluster that holds its caller to exactly these rules.
"""

from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from controller.kubernetes_ports import PROBE_RULES, RESTART_RULES, RULES, Rule
from deploy.helm import ROOT
from domain.cgpu_memory import Outcome
from domain.cgpu_nodes import NodeState
from tests.cgpu_support import Keeper, keeping
from tests.deploy_support import Doc, of_kind, rendered
from tests.kubernetes_support import Cluster

MANIFEST = ROOT / "deploy" / "manifests" / "cgpu-role.yaml"
ALL = {"enabled": True, "probe": True, "restarts": True}
FEATURES = {
    "the policy": ({}, RULES),
    "and reading modules": ({"probe": True}, (*RULES, *PROBE_RULES)),
    "and restarts": ({"restarts": True}, (*RULES, *RESTART_RULES)),
    "all of it": (ALL, (*RULES, *RESTART_RULES, *PROBE_RULES)),
}


def rules_of(objects: list[Doc]) -> list[Doc]:
    """The rules of all roles, as the sandbox takes them: those of a Role with its namespace."""
    return [
        {**rule, "namespaces": [one["metadata"]["namespace"]] if one["kind"] == "Role" else []}
        for one in of_kind(objects, "ClusterRole") + of_kind(objects, "Role")
        for rule in one["rules"]
    ]


def allowed(rules: list[Doc]) -> set[Rule]:
    return {
        Rule(verb=verb, resource=resource, group=group, namespace=namespace)
        for rule in rules
        for namespace in rule["namespaces"] or [""]
        for group in rule["apiGroups"]
        for resource in rule["resources"]
        for verb in rule["verbs"]
    }


def calls(cluster: Cluster, user: str) -> list[Rule]:
    """What the user called, each as the rule that it needs, refused or not."""
    return [
        Rule(
            verb=one["call"].split()[0],
            resource=one["call"].split()[1],
            group="apps" if one["path"].startswith("/apis/apps/") else "",
            namespace=one["namespace"],
        )
        for one in cluster.calls()
        if one["user"] == user and not one["call"].startswith("get /version")
    ]


@pytest.mark.parametrize(("values", "rules"), FEATURES.values(), ids=FEATURES)
def test_the_role_allows_every_rule_and_no_more(values: Doc, rules: tuple[Rule, ...]) -> None:
    objects = rendered({"cgpu": {"enabled": True, **values}})

    assert allowed(rules_of(objects)) == set(rules)


def test_the_plain_manifest_has_every_rule_and_an_account_that_has_them() -> None:
    objects = list(yaml.safe_load_all(MANIFEST.read_text()))

    assert allowed(rules_of(objects)) == {*RULES, *RESTART_RULES, *PROBE_RULES}
    assert {one["kind"] for one in objects} == {
        "ServiceAccount", "ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding",
    }  # fmt: skip


def test_a_role_is_given_wherever_installers_are() -> None:
    objects = rendered({"cgpu": {"enabled": True, "installerNamespaces": ["kube-system", "gpu"]}})

    places = {one["metadata"]["namespace"] for one in of_kind(objects, "RoleBinding")}
    assert places == {"kube-system", "gpu", "default"}


def play(keeper: Keeper, restarts: bool) -> None:
    """A change of the policy from its beginning to its end, in a cluster that does not help."""
    cluster = keeper.cluster
    cluster.edit(strategy="OnDelete")
    cluster.add_pods("train", node="gpu-1", gpu_mem=4, count=2, owner="ReplicaSet/train")
    keeper.set(3)
    for node in ("gpu-1", "gpu-2", "gpu-3"):
        if restarts:
            keeper.restarted(node)
        else:
            cluster.restarted(node)
            keeper.rests()
    assert set(keeper.states().values()) == {NodeState.UP_TO_DATE}
    assert keeper.change.outcome is Outcome.CONVERGED


@pytest.mark.parametrize("values", [each[0] for each in FEATURES.values()], ids=FEATURES)
def test_with_the_role_all_of_it_works_and_every_rule_is_used(
    kubernetes: Cluster, tmp_path: Path, values: Doc
) -> None:
    rules = rules_of(rendered({"cgpu": {"enabled": True, **values}}))
    token = kubernetes.grant(rules, name="poolkeeper", namespace="gpus")
    user = "system:serviceaccount:gpus:poolkeeper"
    reads, restarts = bool(values.get("probe")), bool(values.get("restarts"))
    with keeping(kubernetes, tmp_path, reads_modules=reads, token=token) as keeper:
        play(keeper, restarts)
        done = calls(kubernetes, user)

    assert [one for one in kubernetes.calls() if one["user"] == user and one["code"] == 403] == []
    unused = allowed(rules) - {narrowest(allowed(rules), call) for call in done}
    # Which of its two verbs an exec needs is the API server's choice; this one asks for get.
    assert unused == ({rule for rule in PROBE_RULES if rule.verb == "create"} if reads else set())


def narrowest(rules: set[Rule], call: Rule) -> Rule:
    """The rule that allows the call, one for its namespace before one for the whole cluster."""
    return call if call in rules else replace(call, namespace="")
