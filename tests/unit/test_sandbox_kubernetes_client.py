"""The official client, unmodified, on the sandbox's Kubernetes: what facts/kubernetes.md lists."""

# The client says few types.
# mypy: allow-untyped-calls

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from kubernetes import client, config, watch
from kubernetes.client import ApiException
from kubernetes.stream import stream
from urllib3.exceptions import MaxRetryError

from tests.kubernetes_support import INSTALLER, SYSTEM, Cluster

VALUE = "/spec/template/spec/containers/0/env/0/value"


def connected(kubeconfig: Path) -> Any:
    settings = client.Configuration()
    config.load_kube_config(str(kubeconfig), client_configuration=settings)
    settings.retries = 0
    return client.ApiClient(settings)


def refusal(caught: pytest.ExceptionInfo[ApiException]) -> tuple[int | None, str]:
    """The HTTP status of a refusal, and the reason in its body."""
    return caught.value.status, str(json.loads(caught.value.body or "{}").get("reason"))


@pytest.fixture
def api(kubernetes: Cluster, tmp_path: Path) -> Iterator[Any]:
    """The client, of the admin."""
    with connected(kubernetes.write_kubeconfig(tmp_path / "kubeconfig")) as found:
        yield found


@pytest.fixture
def core(api: Any) -> Any:
    return client.CoreV1Api(api)


@pytest.fixture
def apps(api: Any) -> Any:
    return client.AppsV1Api(api)


def test_a_list_comes_in_pages_of_the_same_moment(kubernetes: Cluster, core: Any) -> None:
    first = core.list_node(limit=2)
    kubernetes.add_node("aaa")
    kubernetes.remove_node("gpu-3")

    rest = core.list_node(limit=2, _continue=first.metadata._continue)

    assert first.metadata.remaining_item_count == 2
    assert [one.metadata.name for one in first.items] == ["cpu-1", "gpu-1"]
    assert [one.metadata.name for one in rest.items] == ["gpu-2", "gpu-3"]
    assert rest.metadata._continue is None
    assert core.list_node(limit=1).items[0].metadata.name == "aaa"


def test_a_half_read_list_expires_when_the_past_is_forgotten(
    kubernetes: Cluster, core: Any
) -> None:
    token = core.list_node(limit=2).metadata._continue
    kubernetes.touch("nodes", "gpu-1")
    kubernetes.compact()

    with pytest.raises(ApiException) as caught:
        core.list_node(limit=2, _continue=token)

    assert refusal(caught) == (410, "Expired")


@pytest.mark.parametrize(
    ("selector", "names"),
    [
        ("ack.node.gpu.schedule=cgpu", ["gpu-1", "gpu-2", "gpu-3"]),
        ("ack.node.gpu.schedule!=cgpu", ["cpu-1"]),
        ("!ack.node.gpu.schedule", ["cpu-1"]),
        ("ack.node.gpu.schedule in (cgpu, core_mem),kubernetes.io/hostname=gpu-2", ["gpu-2"]),
        ("ack.node.gpu.schedule,kubernetes.io/hostname notin (gpu-1,gpu-3)", ["gpu-2"]),
    ],
)
def test_labels_select(core: Any, kubernetes: Cluster, selector: str, names: list[str]) -> None:
    found = core.list_node(label_selector=selector).items

    assert [one.metadata.name for one in found] == names


@pytest.mark.parametrize(
    "query", [{"label_selector": "=="}, {"field_selector": "spec.bogus=1"}, {"field_selector": "x"}]
)
def test_selectors_that_cannot_be_read_are_refused(core: Any, query: dict[str, str]) -> None:
    with pytest.raises(ApiException) as caught:
        core.list_node(**query)

    assert refusal(caught) == (400, "BadRequest")


def test_fields_select(kubernetes: Cluster, core: Any) -> None:
    kubernetes.cordon("gpu-2")
    kubernetes.add_pods("train", node="gpu-1", gpu_mem=3)

    cordoned = core.list_node(field_selector="spec.unschedulable=true").items
    here = core.list_pod_for_all_namespaces(field_selector="spec.nodeName=gpu-1").items

    assert [one.metadata.name for one in cordoned] == ["gpu-2"]
    assert {one.metadata.namespace for one in here} == {"default", SYSTEM}


def test_the_safest_write_of_the_policy_goes_through_a_rollout(
    kubernetes: Cluster, apps: Any
) -> None:
    kubernetes.knobs(pace=0.0)
    for old, new in zip("1234", "2345", strict=True):
        guarded = [
            {"op": "test", "path": VALUE, "value": old},
            {"op": "replace", "path": VALUE, "value": new},
        ]
        apps.patch_namespaced_daemon_set(INSTALLER, SYSTEM, guarded, field_manager="poolkeeper")

    with pytest.raises(ApiException) as caught:
        apps.patch_namespaced_daemon_set(INSTALLER, SYSTEM, guarded)

    assert caught.value.status == 422
    assert (kubernetes.policy(), kubernetes.policy_manager()) == ("5", "poolkeeper")


def test_a_write_with_a_version_conflicts_with_the_controllers_status(
    kubernetes: Cluster, apps: Any
) -> None:
    kubernetes.knobs(paused=True)
    kubernetes.edit(env={"POLICY": "2"})
    seen = apps.read_namespaced_daemon_set(INSTALLER, SYSTEM)
    kubernetes.step()

    with pytest.raises(ApiException) as caught:
        apps.replace_namespaced_daemon_set(INSTALLER, SYSTEM, seen)

    assert refusal(caught) == (409, "Conflict")


def test_a_dictionary_is_a_strategic_merge(kubernetes: Cluster, apps: Any) -> None:
    before = kubernetes.env()
    container = {"name": INSTALLER, "env": [{"name": "POLICY", "value": "0"}]}
    body = {"spec": {"template": {"spec": {"containers": [container]}}}}

    apps.patch_namespaced_daemon_set(INSTALLER, SYSTEM, body)

    assert kubernetes.env() == [{"name": "POLICY", "value": "0"}, *before[1:]]
    assert kubernetes.policy_manager() == "OpenAPI-Generator"


def test_a_watch_begins_with_what_is_there_and_goes_on_with_what_comes(
    kubernetes: Cluster, core: Any
) -> None:
    going = watch.Watch()
    seen = []
    for event in going.stream(core.list_node, timeout_seconds=10):
        seen.append((event["type"], event["object"].metadata.name))
        if len(seen) == 4:
            kubernetes.remove_node("gpu-2")
        if event["type"] == "DELETED":
            going.stop()

    assert [kind for kind, _ in seen] == ["ADDED"] * 4 + ["DELETED"]
    assert seen[-1] == ("DELETED", "gpu-2")


def test_a_watch_ends_at_its_timeout_and_sees_objects_come_and_go(
    kubernetes: Cluster, core: Any
) -> None:
    version = core.list_node().metadata.resource_version
    kubernetes.label("cpu-1", team="vision")
    kubernetes.label("cpu-1", team="speech")
    kubernetes.label("cpu-1", team=None)

    events = watch.Watch().stream(
        core.list_node, resource_version=version, label_selector="team", timeout_seconds=1
    )

    assert [event["type"] for event in events] == ["ADDED", "MODIFIED", "DELETED"]


def test_a_watch_from_a_forgotten_version_is_gone(kubernetes: Cluster, core: Any) -> None:
    version = core.list_node().metadata.resource_version
    kubernetes.cordon("gpu-1")
    kubernetes.compact()

    with pytest.raises(ApiException) as caught:
        list(watch.Watch().stream(core.list_node, resource_version=version, timeout_seconds=5))

    assert caught.value.status == 410


def test_exec_reads_what_the_kernel_module_says(kubernetes: Cluster, core: Any) -> None:
    kubernetes.drift("gpu-1", gpu=1, policy=4)
    pod = kubernetes.installer_pod("gpu-1")
    script = "cd /proc/cgpu_km && grep -H . version [0-9]*/policy; cat nothing || echo missing"

    said = executed(core, pod, ["nsenter", "-t", "1", "-m", "--", "sh", "-c", script])

    assert said == "version:1.5.13\n0/policy:1\n1/policy:4\nmissing\n"


def executed(core: Any, pod: str, command: list[str]) -> str:
    options = {"stdout": True, "stderr": False, "stdin": False, "tty": False}
    call = core.connect_get_namespaced_pod_exec
    return str(stream(call, pod, SYSTEM, command=command, **options))


def test_exec_needs_to_be_allowed_to_get_and_to_create(kubernetes: Cluster, tmp_path: Path) -> None:
    rule = {"verbs": ["get"], "apiGroups": [""], "resources": ["pods/exec"]}
    token = kubernetes.grant([rule])
    pod = kubernetes.installer_pod("gpu-1")

    with connected(kubernetes.write_kubeconfig(tmp_path / "limited", token)) as api:
        core = client.CoreV1Api(api)
        with pytest.raises(ApiException, match="403 Forbidden"):
            executed(core, pod, ["cat", "/proc/cgpu_km/version"])
        kubernetes.grant([{**rule, "verbs": ["get", "create"]}])

        assert executed(core, pod, ["cat", "/proc/cgpu_km/version"]) == "1.5.13\n"


def test_a_cut_connection_is_an_error_of_urllib3(kubernetes: Cluster, core: Any) -> None:
    kubernetes.fault("refuse", "list nodes")

    with pytest.raises(MaxRetryError):
        core.list_node()

    assert len(core.list_node().items) == 4


def test_a_lease_is_taken_renewed_and_refused(kubernetes: Cluster, api: Any) -> None:
    leases: Any = client.CoordinationV1Api(api)
    spec = {"holderIdentity": "a", "renewTime": "2026-12-01T03:25:10.000001Z"}
    made = leases.create_namespaced_lease(SYSTEM, {"metadata": {"name": "l"}, "spec": spec})
    made.spec.renew_time = made.spec.renew_time.replace(microsecond=0)

    with pytest.raises(ApiException) as rounded:
        leases.replace_namespaced_lease("l", SYSTEM, made)
    made.spec.renew_time = made.spec.renew_time.replace(microsecond=5)
    renewed = leases.replace_namespaced_lease("l", SYSTEM, made)
    with pytest.raises(ApiException) as stale:
        leases.replace_namespaced_lease("l", SYSTEM, made)

    assert (rounded.value.status, stale.value.status) == (400, 409)
    assert renewed.spec.renew_time.microsecond == 5


def test_events_about_nodes_belong_in_the_default_namespace(kubernetes: Cluster, core: Any) -> None:
    about = {"kind": "Node", "name": "gpu-1"}
    body = {"metadata": {"generateName": "gpu-1."}, "involvedObject": about, "reason": "Restarted"}

    made = core.create_namespaced_event("default", body)
    with pytest.raises(ApiException) as caught:
        core.create_namespaced_event(SYSTEM, body)

    assert made.metadata.name.startswith("gpu-1.")
    assert caught.value.status == 422
    found = kubernetes.events(fieldSelector="involvedObject.name=gpu-1")
    assert [one["reason"] for one in found] == ["Restarted"]
