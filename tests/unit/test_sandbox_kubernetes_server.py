"""The sandbox's Kubernetes as a server: callers, field managers, faults, its log, its process."""

import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import yaml

from tests.kubernetes_support import EMPTY, INSTALLER, READ_ONLY, SYSTEM, Cluster, Reply
from tests.sandbox_support import ROOT, wait_until

NODE = "/api/v1/nodes/gpu-1"
JSON_PATCH = "application/json-patch+json"
MERGE = "application/merge-patch+json"
STRATEGIC = "application/strategic-merge-patch+json"
APPLY = "application/apply-patch+yaml"
CORDON = [{"op": "add", "path": "/spec/unschedulable", "value": True}]


def cordon(cluster: Cluster, **options: Any) -> Reply:
    return cluster.api("PATCH", NODE, CORDON, type=JSON_PATCH, **options)


def test_a_rule_may_name_objects_and_namespaces(kubernetes: Cluster) -> None:
    named = {"verbs": ["patch"], "apiGroups": [""], "resources": ["nodes"]}
    here = {"verbs": ["list"], "apiGroups": ["*"], "resources": ["pods"], "namespaces": [SYSTEM]}
    token = kubernetes.grant([{**named, "resourceNames": ["gpu-1"]}, here])

    assert cordon(kubernetes, token=token).status == 200
    assert patched(kubernetes, "gpu-2", token).status == 403
    assert kubernetes.api("GET", kubernetes.path("pods", "", SYSTEM), token=token).status == 200
    refused = kubernetes.api("GET", "/api/v1/pods", token=token)
    assert refused.body["message"].endswith("at the cluster scope")


def patched(cluster: Cluster, node: str, token: str) -> Reply:
    return cluster.api("PATCH", cluster.path("nodes", node), CORDON, type=JSON_PATCH, token=token)


def test_a_review_answers_as_the_rules_would(kubernetes: Cluster) -> None:
    token = kubernetes.grant(READ_ONLY)
    asked = {
        "list pods": {"verb": "list", "resource": "pods"},
        "evict": {"verb": "create", "resource": "pods", "subresource": "eviction"},
        "revisions": {"verb": "list", "resource": "controllerrevisions", "group": "apps"},
        "leases": {"verb": "update", "resource": "leases", "group": "coordination.k8s.io"},
    }

    allowed = {name: reviewed(kubernetes, asked[name], token) for name in asked}

    assert allowed == {"list pods": True, "evict": False, "revisions": True, "leases": False}


def reviewed(cluster: Cluster, attributes: dict[str, str], token: str) -> bool:
    path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
    body = {"spec": {"resourceAttributes": attributes}}
    reply = cluster.api("POST", path, body, token=token)
    assert reply.status == 201
    return bool(reply.body["status"]["allowed"])


def test_a_revoked_token_is_worth_nothing(kubernetes: Cluster) -> None:
    kubernetes.revoke(kubernetes.token)
    refused = kubernetes.api("GET", NODE)
    kubernetes.reset()

    assert (refused.status, refused.reason) == (401, "Unauthorized")
    assert kubernetes.api("GET", NODE).status == 200


def test_each_write_takes_the_fields_that_it_changes(kubernetes: Cluster) -> None:
    path = kubernetes.path("daemonsets", INSTALLER, SYSTEM)
    value = "/spec/template/spec/containers/0/env/0/value"
    body = [{"op": "replace", "path": value, "value": "3"}]
    kubernetes.api("PATCH", path, body, type=JSON_PATCH, query={"fieldManager": "poolkeeper"})
    ours = kubernetes.policy_manager()
    same = kubernetes.api("PATCH", path, body, type=JSON_PATCH, query={"fieldManager": "late"})
    kubernetes.edit(image="registry/cgpu-installer:v1.5.20", manager="console")

    managers = {one["manager"] for one in kubernetes.daemon_set()["metadata"]["managedFields"]}

    assert ours == kubernetes.policy_manager() == "poolkeeper"
    assert managers == {"helm", "poolkeeper", "console", "kube-controller-manager"}
    assert same.body["metadata"]["generation"] == 2


def test_an_apply_is_refused_what_another_owns_unless_it_is_forced(kubernetes: Cluster) -> None:
    path = kubernetes.path("daemonsets", INSTALLER, SYSTEM)
    container = {"name": INSTALLER, "env": [{"name": "POLICY", "value": "4"}]}
    body = {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "spec": {"template": {"spec": {"containers": [container]}}},
    }
    query = {"fieldManager": "applier"}

    refused = kubernetes.api("PATCH", path, body, type=APPLY, query=query)
    forced = kubernetes.api("PATCH", path, body, type=APPLY, query={**query, "force": "true"})
    again = kubernetes.api("PATCH", path, body, type=APPLY, query=query)

    assert (refused.status, refused.body["details"]["causes"][0]["message"]) == (
        409,
        'conflict with "helm" using apps/v1',
    )
    assert (forced.status, kubernetes.policy(), kubernetes.policy_manager()) == (
        200,
        "4",
        "applier",
    )
    assert again.status == 200
    assert len(kubernetes.env()) == 2


def order(*keys: str) -> dict[str, Any]:
    """What kubectl sends besides a list, so that its items come in this order."""
    return {"$setElementOrder/taints": [{"key": key} for key in keys]}


@pytest.mark.parametrize(
    ("kind", "body", "taints"),
    [
        (STRATEGIC, {"spec": {"taints": [{"key": "b", "effect": "NoExecute"}]}}, ["a", "b"]),
        (STRATEGIC, {"spec": {"taints": [{"key": "a", "$patch": "delete"}]}}, []),
        (STRATEGIC, {"spec": {"taints": [{"key": "b"}], **order("b", "a")}}, ["b", "a"]),
        (MERGE, {"spec": {"taints": [{"key": "b", "effect": "NoExecute"}]}}, ["b"]),
        (MERGE, {"spec": {"taints": None}}, []),
        (JSON_PATCH, [{"op": "remove", "path": "/spec/taints/0"}], []),
        (
            JSON_PATCH,
            [{"op": "copy", "from": "/spec/taints/0", "path": "/spec/taints/-"}],
            ["a", "a"],
        ),
    ],
)
def test_a_patch_changes_lists_as_its_kind_does(
    kubernetes: Cluster, kind: str, body: object, taints: list[str]
) -> None:
    kubernetes.knobs(paused=True)
    first = {"spec": {"taints": [{"key": "a", "effect": "NoSchedule"}]}}
    kubernetes.api("PATCH", NODE, first, type=MERGE)

    reply = kubernetes.api("PATCH", NODE, body, type=kind)

    assert reply.status == 200
    found = kubernetes.node("gpu-1")["spec"].get("taints") or []
    assert [one["key"] for one in found] == taints


@pytest.mark.parametrize(
    "operation",
    [
        {"op": "test", "path": "/spec/providerID", "value": "other"},
        {"op": "replace", "path": "/spec/nothing/here", "value": 1},
        {"op": "add", "path": "/metadata/labels/x/y", "value": 1},
        {"op": "remove", "path": "/spec/taints/0"},
        {"op": "dance", "path": "/spec"},
        {"op": "replace", "path": "spec"},
    ],
)
def test_a_json_patch_that_fails_changes_nothing(
    kubernetes: Cluster, operation: dict[str, Any]
) -> None:
    before = kubernetes.node("gpu-1")

    reply = kubernetes.api("PATCH", NODE, [*CORDON, operation], type=JSON_PATCH)

    assert (reply.status, reply.body["details"]) == (422, {})
    assert kubernetes.node("gpu-1") == before


def test_a_dry_run_answers_and_stores_nothing(kubernetes: Cluster) -> None:
    before = kubernetes.node("gpu-1")

    reply = cordon(kubernetes, query={"dryRun": "All"})

    assert reply.body["spec"]["unschedulable"] is True
    assert kubernetes.node("gpu-1") == before


def test_a_status_is_written_apart_from_all_else(kubernetes: Cluster) -> None:
    body = {"spec": {"unschedulable": True}, "status": {"phase": "Odd"}}

    kubernetes.api("PATCH", NODE, body, type=MERGE)
    spec_only = kubernetes.node("gpu-1")
    kubernetes.api("PATCH", NODE, {"spec": {"unschedulable": None}}, type=MERGE)
    kubernetes.api("PATCH", f"{NODE}/status", body, type=MERGE)
    status_only = kubernetes.node("gpu-1")

    assert spec_only["spec"]["unschedulable"] is True
    assert "phase" not in spec_only["status"]
    assert "unschedulable" not in status_only["spec"]
    assert status_only["status"]["phase"] == "Odd"


def test_exec_is_refused_where_nothing_can_answer(kubernetes: Cluster) -> None:
    pod = kubernetes.path("pods", kubernetes.installer_pod("gpu-1"), SYSTEM)
    upgrade = {"Connection": "Upgrade", "Upgrade": "websocket"}
    token = {"Authorization": f"Bearer {kubernetes.token}"}

    plain = kubernetes.wire.exchange("GET", f"{pod}/exec", b"", token)
    missing = kubernetes.wire.exchange("GET", f"{pod}x/exec", b"", {**token, **upgrade})
    kubernetes.set_ready("gpu-1", False)
    lost = kubernetes.wire.exchange("GET", f"{pod}/exec", b"", {**token, **upgrade})

    assert (plain[0], plain[1]["message"]) == (400, "Upgrade request required")
    assert missing[0] == 404
    assert (lost[0], "no route to host" in lost[1]["message"]) == (500, True)


def test_a_cache_may_lag(kubernetes: Cluster) -> None:
    kubernetes.stale("nodes")
    cordon(kubernetes)
    stale = kubernetes.is_cordoned("gpu-1"), len(kubernetes.all("nodes"))
    kubernetes.add_node("gpu-9")
    still = len(kubernetes.all("nodes"))
    kubernetes.stale("nodes", on=False)

    assert (stale, still) == ((False, 4), 4)
    assert kubernetes.is_cordoned("gpu-1")
    assert len(kubernetes.all("nodes")) == 5


def test_an_exact_version_is_read_until_it_is_forgotten(kubernetes: Cluster) -> None:
    kubernetes.knobs(paused=True)
    version = cordon(kubernetes).body["metadata"]["resourceVersion"]
    query = {"resourceVersion": version, "resourceVersionMatch": "Exact"}
    kubernetes.remove_node("gpu-1")

    past = kubernetes.api("GET", "/api/v1/nodes", query=query)
    kubernetes.compact()
    gone = kubernetes.api("GET", "/api/v1/nodes", query=query)

    names = [one["metadata"]["name"] for one in past.body["items"]]
    cordoned = [one["spec"].get("unschedulable", False) for one in past.body["items"]]
    assert dict(zip(names, cordoned, strict=True)) == {
        "cpu-1": False,
        "gpu-1": True,
        "gpu-2": False,
        "gpu-3": False,
    }
    assert (gone.status, gone.reason) == (410, "Expired")


def test_a_response_is_dropped_after_the_write(kubernetes: Cluster) -> None:
    fault = kubernetes.fault("drop_response", "patch nodes", name="gpu-1")

    with pytest.raises(ConnectionError):
        cordon(kubernetes)

    assert fault.fired() == 1
    assert kubernetes.is_cordoned("gpu-1")


@pytest.mark.parametrize(("action", "cordoned"), [("status", False), ("status_after", True)])
def test_an_answer_is_replaced_before_or_after_the_write(
    kubernetes: Cluster, action: str, cordoned: bool
) -> None:
    kubernetes.fault(action, "patch nodes", code=503, message="etcd is away")

    reply = cordon(kubernetes)

    assert (reply.status, reply.body["message"]) == (503, "etcd is away")
    assert kubernetes.is_cordoned("gpu-1") == cordoned


def test_a_fault_may_fire_every_time(kubernetes: Cluster) -> None:
    kubernetes.fault("status", "get nodes", code=500, nth=0)

    codes = [kubernetes.api("GET", NODE).status for _ in range(3)]
    kubernetes.clear_faults()

    assert codes == [500, 500, 500]
    assert kubernetes.api("GET", NODE).status == 200


def test_fields_that_nobody_knows_are_dropped_unless_that_is_refused(kubernetes: Cluster) -> None:
    body = {"spec": {"bogus": 1, "unschedulable": True}}

    strict = kubernetes.api("PATCH", NODE, body, type=MERGE, query={"fieldValidation": "Strict"})
    loose = kubernetes.api("PATCH", NODE, body, type=MERGE)

    assert strict.status == 422
    assert loose.body["spec"].keys() == {"providerID", "unschedulable"}


def test_a_lease_is_replaced_only_as_it_was_seen(kubernetes: Cluster) -> None:
    path = kubernetes.path("leases", "", SYSTEM)
    kubernetes.api("POST", path, {"metadata": {"name": "l"}})

    reply = kubernetes.api("PUT", f"{path}/l", {"metadata": {"name": "l"}})

    assert reply.body["details"]["causes"][0]["field"] == "metadata.resourceVersion"


def test_an_answer_may_be_plain_text(kubernetes: Cluster) -> None:
    kubernetes.fault("status", "get nodes", code=502, text="bad gateway", nth=2)
    assert kubernetes.api("GET", NODE).status == 200

    with pytest.raises(ValueError, match="Expecting value"):
        kubernetes.api("GET", NODE)


@pytest.mark.parametrize(("when", "cordoned"), [("before", False), ("after", True)])
def test_a_call_is_held_before_or_after_its_write(
    kubernetes: Cluster, when: str, cordoned: bool
) -> None:
    fault = kubernetes.fault("hold", "patch nodes", when=when)
    with ThreadPoolExecutor(1) as pool:
        calling = pool.submit(cordon, kubernetes)
        fault.wait_until_holding()
        seen = kubernetes.is_cordoned("gpu-1")
        fault.release()

        assert calling.result(10).status == 200
    assert seen == cordoned
    assert kubernetes.is_cordoned("gpu-1")


def test_a_held_call_can_be_cut(kubernetes: Cluster) -> None:
    fault = kubernetes.fault("hold", "patch nodes")
    failed = threading.Event()

    def call() -> None:
        try:
            cordon(kubernetes)
        except ConnectionError:
            failed.set()

    with ThreadPoolExecutor(1) as pool:
        calling = pool.submit(call)
        fault.wait_until_holding()
        fault.release("drop")
        calling.result(10)

    assert failed.is_set()
    assert not kubernetes.is_cordoned("gpu-1")


def test_somebody_acts_between_two_calls(kubernetes: Cluster) -> None:
    steps = [
        {"deed": "helm_upgrade", "policy": 2},
        {"method": "PATCH", "path": NODE, "body": CORDON, "type": JSON_PATCH, "manager": "eve"},
    ]
    fault = kubernetes.fault("do", "get daemonsets", when="after", steps=steps)

    first, second = kubernetes.policy(), kubernetes.policy()

    assert (first, second) == ("1", "2")
    assert kubernetes.is_cordoned("gpu-1")
    assert [one.get("code", 0) for one in fault.state()["answers"]] == [0, 200]


def test_a_call_is_delayed(kubernetes: Cluster) -> None:
    kubernetes.fault("delay", "get nodes", seconds=0.3)
    begun = time.monotonic()

    kubernetes.api("GET", NODE)

    assert time.monotonic() - begun >= 0.3


def test_an_outage_cuts_everything_until_it_ends(kubernetes: Cluster) -> None:
    kubernetes.outage()
    with pytest.raises(ConnectionError):
        kubernetes.api("GET", NODE)
    kubernetes.outage("503")
    with pytest.raises(ValueError, match="Expecting value"):
        kubernetes.api("GET", NODE)
    kubernetes.outage("")

    assert kubernetes.api("GET", NODE).status == 200


def test_every_call_is_noted(kubernetes: Cluster) -> None:
    kubernetes.reset_calls()
    before = kubernetes.last_call()
    cordon(kubernetes, query={"fieldManager": "me"})
    cordon(kubernetes, token="bad")
    kubernetes.api("GET", "/version/")

    calls = kubernetes.calls(since=before)

    seen = [(one["call"], one["name"], one["code"], one["user"]) for one in calls]
    assert seen == [
        ("patch nodes", "gpu-1", 200, "kubernetes-admin"),
        ("patch nodes", "gpu-1", 401, ""),
        ("get /version", "", 200, "kubernetes-admin"),
    ]
    assert (calls[0]["body"], calls[0]["query"]) == (CORDON, {"fieldManager": "me"})
    assert kubernetes.call_counts() == {"patch nodes": 2, "get /version": 1}
    assert [one["n"] for one in kubernetes.calls("get /version")] == [before + 3]


def test_a_reset_undoes_everything(kubernetes: Cluster) -> None:
    kubernetes.fault("refuse", nth=0)
    kubernetes.stale("nodes")
    kubernetes.knobs(paused=True)
    kubernetes.reset(EMPTY)

    assert kubernetes.all("nodes") == []
    kubernetes.add_node("n")
    assert [one["metadata"]["name"] for one in kubernetes.all("nodes")] == ["n"]
    assert kubernetes.call_counts() == {"list nodes": 2}


def test_unknown_doors_and_deeds_are_refused(kubernetes: Cluster) -> None:
    assert kubernetes.wire.send("/sandbox/nothing", {})[0] == 404
    assert kubernetes.wire.send("/sandbox/restart_node", {"name": "nobody"})[0] == 400
    assert kubernetes.wire.send("/sandbox/add_fault", {"action": "explode"})[0] == 400


def test_a_namespace_goes_with_all_that_is_in_it(kubernetes: Cluster) -> None:
    kubernetes.api("POST", "/api/v1/namespaces", {"metadata": {"name": "lab"}})
    lease = {"metadata": {"name": "l"}}
    made = kubernetes.api("POST", kubernetes.path("leases", "", "lab"), lease)

    gone = kubernetes.api("DELETE", "/api/v1/namespaces/lab")

    assert (made.status, gone.status, gone.body["status"]) == (201, 200, "Success")
    assert kubernetes.all("leases", "lab") == []


def test_a_delete_minds_its_preconditions(kubernetes: Cluster) -> None:
    kubernetes.add_pods("p", node="gpu-1", ends_after="never")
    path = kubernetes.path("pods", "p", "default")

    refused = kubernetes.api("DELETE", path, {"preconditions": {"uid": "another"}})
    told = kubernetes.api("DELETE", path, {"gracePeriodSeconds": 5})
    forced = kubernetes.api("DELETE", path, {"gracePeriodSeconds": 0})

    assert (refused.status, refused.reason) == (409, "Conflict")
    assert told.body["metadata"]["deletionGracePeriodSeconds"] == 5
    assert forced.status == 200
    assert kubernetes.api("GET", path).status == 404


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_the_server_says_where_it_is_and_ends_on_a_signal(number: signal.Signals) -> None:
    command = [sys.executable, "-m", "sandbox", "kubernetes"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        ready = yaml.safe_load(process.stdout.readline())
        process.send_signal(number)
        code, rest = process.wait(10), process.stdout.read()

    assert (code, rest) == (0, b"")
    kubeconfig = yaml.safe_load(ready["kubeconfig"])
    assert kubeconfig["clusters"][0]["cluster"]["server"] == ready["kubernetes"]
    assert kubeconfig["users"][0]["user"]["token"] == ready["token"]


def test_a_server_ends_with_its_parent_though_somebody_watches() -> None:
    cluster = Cluster()
    with ThreadPoolExecutor(1) as pool:
        watching = pool.submit(watched, Cluster.api, cluster)
        wait_until(lambda: cluster.call_counts().get("watch nodes"), "somebody watches")
        assert cluster.process.stdin is not None
        cluster.process.stdin.close()

        assert cluster.process.wait(10) == 0
        watching.result(10)


def watched(api: Any, cluster: Cluster) -> None:
    try:
        api(cluster, "GET", "/api/v1/nodes", query={"watch": "true"})
    except (OSError, ValueError):
        return
