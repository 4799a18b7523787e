"""What the door reads from Kubernetes' documents: kured's lock, Helm's releases, /proc/cgpu_km."""

import base64
import gzip
import json
from datetime import UTC, datetime
from typing import Any

import pytest

from controller.kubernetes_cluster_errors import Blocked, refusal
from controller.kubernetes_cluster_helm import Releases
from controller.kubernetes_cluster_locks import LOCK, held
from controller.kubernetes_cluster_probe import parsed
from controller.kubernetes_cluster_reading import installer_of, newest_revision
from controller.kubernetes_ports import Declined, Forbidden, KubernetesAway, Misconfigured, Rule
from domain.cgpu_cluster import Reading, Strategy
from domain.cgpu_versions import Unknown

NOW = datetime(2026, 12, 1, 12, tzinfo=UTC)
HOUR = 3_600_000_000_000


def kured(document: object) -> list[dict[str, Any]]:
    text = document if isinstance(document, str) else json.dumps(document)
    return [{"metadata": {"name": "kured", "annotations": {LOCK: text}}}]


def lock(
    node: str, ttl: int = 0, created: str = "2026-12-01T10:30:00.123456789Z"
) -> dict[str, Any]:
    metadata = {"unschedulable": False}
    return {"nodeID": node, "metadata": metadata, "created": created, "TTL": ttl}


@pytest.mark.parametrize(
    ("document", "who"),
    [
        pytest.param(lock("a"), "the lock of a", id="held for ever"),
        pytest.param(lock("a", ttl=HOUR), "", id="over"),
        pytest.param(lock("a", ttl=2 * HOUR), "the lock of a", id="not over yet"),
        pytest.param(
            {"maxOwners": 2, "locks": [lock("a"), lock("b", ttl=HOUR)]},
            "the lock of a",
            id="one of two is over",
        ),
        pytest.param({"maxOwners": 2, "locks": []}, "", id="of several, nobody"),
        pytest.param({"maxOwners": 2, "locks": None}, "", id="of several, null"),
        pytest.param(lock(""), "", id="nobody"),
        pytest.param("{", "its lock cannot be read", id="no JSON"),
        pytest.param("[1]", "its lock cannot be read", id="another shape"),
        pytest.param(lock("a", ttl=HOUR, created="soon"), "its lock cannot be read", id="no time"),
    ],
)
def test_kureds_lock(document: object, who: str) -> None:
    assert held(kured(document), NOW) == who


def test_without_kured_nobody_holds_a_lock() -> None:
    assert held([{"metadata": {"name": "other"}}], NOW) == ""


def secret(revision: int, config: object, status: str = "deployed", **given: Any) -> dict[str, Any]:
    name = given.get("name", "ack-ai-installer")
    document = {"config": config, "chart": {"values": given.get("chart", {})}}
    text = (
        given.get("text")
        or base64.b64encode(base64.b64encode(gzip.compress(json.dumps(document).encode()))).decode()
    )
    labels = {"owner": "helm", "name": name, "status": status, "version": str(revision)}
    metadata = {
        "namespace": "kube-system",
        "name": f"sh.helm.release.v1.{name}.v{revision}",
        "resourceVersion": str(revision),
        "labels": labels,
    }
    return {"metadata": metadata, "data": {"release": text}}


def test_a_users_values_go_before_the_charts() -> None:
    chart = {"cgpu": {"enabled": True, "policy": 1}}

    (release,) = Releases().read([secret(1, {"cgpu": {"policy": 0}}, chart=chart)])

    assert (release.policy, release.enabled) == (0, True)


def test_the_tenth_revision_is_later_than_the_ninth() -> None:
    secrets = [secret(10, {"cgpu": {"policy": 4}}), secret(9, {"cgpu": {"policy": 3}})]

    (release,) = Releases().read(secrets)

    assert (release.revision, release.policy) == (10, 4)


def test_a_pending_revision_that_is_past_freezes_nothing() -> None:
    secrets = [
        secret(1, {"cgpu": {"policy": 1}}, "pending-install"),
        secret(2, {"cgpu": {"policy": 1}}),
    ]

    (release,) = Releases().read(secrets)

    assert release.pending == ""


def test_a_first_installation_that_is_pending_is_told() -> None:
    (release,) = Releases().read([secret(1, {"cgpu": {"policy": 1}}, "pending-install")])

    assert release.pending == "pending-install"


def test_releases_without_cgpu_are_passed_over() -> None:
    assert Releases().read([secret(1, {"replicas": 2}, name="web")]) == ()


@pytest.mark.parametrize("text", ["%%%", "aGVsbG8=", base64.b64encode(b"H4sIAA==").decode()])
def test_a_release_of_cgpu_that_cannot_be_read_is_no_fine_release(text: str) -> None:
    (release,) = Releases().read([secret(1, {}, text=text)])

    assert release.pending == "unreadable"
    assert Releases().read([secret(1, {}, text=text, name="web")]) == ()


OUTPUT = """\
version
0
/proc/cgpu_km/version:1.5.13
/proc/cgpu_km/default_memsize:0
/proc/cgpu_km/10/policy:3
/proc/cgpu_km/0/policy: 1 \

/proc/cgpu_km/0/max_inst:20
/proc/cgpu_km/0/prio_ratio:50
/proc/cgpu_km/0/0123456789ab/id:0123456789ab
/proc/cgpu_km/0/0123456789ab/weight:1
end
"""


def test_proc_is_read_by_gpu_and_unknown_names_are_passed_over() -> None:
    assert parsed(OUTPUT, "b") == Reading(boot="b", version="1.5.13", policies=(1, 3), containers=1)


@pytest.mark.parametrize(
    ("output", "why"),
    [
        ("", "cut short"),
        (OUTPUT.replace("end", ""), "cut short"),
        ("version\nend\n", "names no version"),
        ("/proc/cgpu_km/version:soon\nend\n", "names no version"),
    ],
)
def test_what_proc_does_not_say_is_unknown(output: str, why: str) -> None:
    probe = parsed(output, "b")

    assert isinstance(probe, Unknown)
    assert why in probe.why


def test_a_policy_that_is_none_is_kept_as_unknown() -> None:
    probe = parsed("/proc/cgpu_km/version:1.5.13\n/proc/cgpu_km/0/policy:x\nend\n", "b")

    assert isinstance(probe, Reading)
    assert probe.policies == (None,)


def revision(number: int, owner: str, name: str) -> dict[str, Any]:
    owners = [{"kind": "DaemonSet", "uid": owner, "controller": True}]
    labels = {"controller-revision-hash": name}
    return {"metadata": {"ownerReferences": owners, "labels": labels}, "revision": number}


def test_the_newest_revision_is_found_by_its_owner_and_number() -> None:
    revisions = [revision(9, "a", "nine"), revision(10, "a", "ten"), revision(11, "b", "other")]

    assert newest_revision(revisions, "a") == "ten"
    assert newest_revision(revisions, "c") == ""


def daemon_set(**spec: Any) -> dict[str, Any]:
    container = {"name": "c", "image": "registry/acs/cgpu-installer:v1.5.13"}
    template = {"spec": {"containers": [container], **spec.pop("pod", {})}}
    metadata = {"namespace": "kube-system", "name": "d", "uid": "u"}
    return {"metadata": metadata, "spec": {"template": template, **spec}}


def test_absent_numbers_of_a_daemon_set_are_zero() -> None:
    installer = installer_of(daemon_set())

    assert installer is not None
    numbers = (installer.observed_generation, installer.desired, installer.available)
    assert numbers == (0, 0, 0)
    assert installer.strategy is Strategy.ROLLING


def test_a_daemon_set_that_installs_nothing_is_none() -> None:
    other = daemon_set(pod={"containers": [{"name": "c", "image": "registry/pause:3"}]})

    assert installer_of(other) is None


CANNOT = (
    'daemonsets.apps "cgpu-installer" is forbidden: User "u" cannot patch resource "daemonsets" '
    'in API group "apps" in the namespace "kube-system"'
)


@pytest.mark.parametrize(
    ("status", "text", "kind"),
    [
        (401, '{"message": "Unauthorized"}', Misconfigured),
        (403, json.dumps({"message": CANNOT}), Forbidden),
        (403, '{"message": "admission webhook denied it"}', Declined),
        (404, "404 page not found\n", Declined),
        (422, "{}", Declined),
        (429, '{"message": "too many"}', KubernetesAway),
        (
            429,
            '{"details": {"causes": [{"reason": "DisruptionBudget", "message": "guard"}]}}',
            Blocked,
        ),
        (500, "<html>", KubernetesAway),
        (503, "", KubernetesAway),
    ],
)
def test_refusals_have_their_kinds(status: int, text: str, kind: type[Exception]) -> None:
    assert type(refusal("GET /x", status, text)) is kind


def test_a_forbidden_call_names_the_rule() -> None:
    error = refusal("PATCH /x", 403, json.dumps({"message": CANNOT}))

    assert isinstance(error, Forbidden)
    assert error.rule == Rule(
        verb="patch", resource="daemonsets", group="apps", namespace="kube-system"
    )
    assert str(error.rule) == "patch daemonsets.apps in kube-system"
