"""The Helm chart: what it makes of values is valid, agrees with itself, and is no more than needed.

There is no cluster here; objects are held to the API's published schemas, strictly.
"""

import itertools
import json
import tomllib
from collections import Counter
from collections.abc import Iterator
from typing import Any

import jsonschema
import kubernetes_validate
import pytest
import yaml

from bot.settings import SettingsError, load_settings
from deploy.generate import COPIED, GIVEN_BY_THE_CHART, SCHEMA, SETS, files, schema
from deploy.helm import CHART, ROOT, Refused, lint
from tests.deploy_support import (
    PLACES,
    Doc,
    container_of,
    known_variables,
    merged,
    need_helm,
    of_kind,
    pod_of,
    rendered,
    settings_of,
    variables,
)

DATABASES: dict[str, Doc] = {
    "sqlite": {},
    "postgresql": {"database": {"kind": "postgresql"}, "replicas": 3},
}
CGPU: dict[str, Doc] = {
    "without cgpu": {},
    "cgpu": {"cgpu": {"enabled": True}},
    "cgpu, probe": {"cgpu": {"enabled": True, "probe": True}},
    "cgpu, restarts": {"cgpu": {"enabled": True, "restarts": True}},
    "cgpu elsewhere": {"cgpu": {"enabled": True, "kubeconfig": {"secret": "gpu-cluster"}}},
}
SLACK: dict[str, Doc] = {mode: {"slack": {"mode": mode}} for mode in ("socket", "http", "none")}
MONITORS: dict[str, Doc] = {
    "unmonitored": {},
    "monitored": {
        "monitoring": {
            name: {"enabled": True, "labels": {"for": "prometheus"}}
            for name in ("serviceMonitor", "rules", "dashboard")
        }
    },
}
EVERYTHING: Doc = {
    "image": {"digest": f"sha256:{'0' * 64}", "pullSecrets": ["registry"]},
    "database": {"volume": {"storageClass": "fast"}, "ca": {"secret": "database-ca"}},
    "clearml": {"ca": {"secret": "clearml-ca"}},
    "settings": {"POOLKEEPER_ROUND_SECONDS": 2.5, "POOLKEEPER_LONE_ADMIN": True},
    "extraEnv": [{"name": "HTTPS_PROXY", "value": "http://proxy:3128"}],
    "serviceAccount": {"annotations": {"a": "b"}},
    "service": {"annotations": {"a": "b"}},
    "networkPolicy": {
        "metricsFrom": [{"namespaceSelector": {"matchLabels": {"name": "monitoring"}}}],
        "slackFrom": [{"namespaceSelector": {}}],
        "clearmlTo": [{"ipBlock": {"cidr": "10.0.0.0/8"}}],
        "databaseTo": [{"podSelector": {}}],
        "kubernetesTo": [{"ipBlock": {"cidr": "10.0.0.1/32"}}],
        "extraEgress": [{"ports": [{"port": 3128}]}],
    },
    "podAnnotations": {"a": "b"},
    "podLabels": {"c": "d"},
    "nodeSelector": {"e": "f"},
    "tolerations": [{"key": "g", "operator": "Exists"}],
    "affinity": {"nodeAffinity": {}},
    "priorityClassName": "high",
}


def _matrix() -> Iterator[tuple[str, Doc]]:
    for database, cgpu, slack, monitor in itertools.product(DATABASES, CGPU, SLACK, MONITORS):
        values = (DATABASES[database], CGPU[cgpu], SLACK[slack], MONITORS[monitor])
        yield f"{database}, {cgpu}, {slack}, {monitor}", merged(*values)
    for name, values_ in DATABASES.items():
        yield f"everything, {name}", merged(EVERYTHING, values_, SLACK["http"], CGPU["cgpu"])


MATRIX = [pytest.param(values, id=name) for name, values in _matrix()]
VERSIONS = ("1.28.0", kubernetes_validate.latest_version())

# https://prometheus-operator.dev: what is used of it, and nothing else.
SERVICE_MONITOR: Doc = {
    "type": "object",
    "additionalProperties": False,
    "required": ["apiVersion", "kind", "metadata", "spec"],
    "properties": {
        "apiVersion": {"const": "monitoring.coreos.com/v1"},
        "kind": {"const": "ServiceMonitor"},
        "metadata": {"type": "object", "required": ["name", "namespace", "labels"]},
        "spec": {
            "type": "object",
            "additionalProperties": False,
            "required": ["selector", "endpoints"],
            "properties": {
                "selector": {
                    "type": "object",
                    "additionalProperties": False,
                    "required": ["matchLabels"],
                    "properties": {"matchLabels": {"type": "object", "minProperties": 1}},
                },
                "namespaceSelector": {
                    "type": "object",
                    "additionalProperties": False,
                    "properties": {"matchNames": {"type": "array", "items": {"type": "string"}}},
                },
                "endpoints": {
                    "type": "array",
                    "minItems": 1,
                    "items": {
                        "type": "object",
                        "additionalProperties": False,
                        "required": ["port"],
                        "properties": {
                            "port": {"type": "string"},
                            "path": {"type": "string", "pattern": "^/"},
                            "interval": {"type": "string", "pattern": "^[0-9]+(ms|s|m|h)$"},
                        },
                    },
                },
            },
        },
    },
}
TEXTS: Doc = {"type": "object", "additionalProperties": {"type": "string"}}
PROMETHEUS_RULE: Doc = {
    "type": "object",
    "additionalProperties": False,
    "required": ["apiVersion", "kind", "metadata", "spec"],
    "properties": {
        "apiVersion": {"const": "monitoring.coreos.com/v1"},
        "kind": {"const": "PrometheusRule"},
        "metadata": {"type": "object", "required": ["name", "namespace", "labels"]},
        "spec": {
            "type": "object",
            "additionalProperties": False,
            "required": ["groups"],
            "properties": {
                "groups": {
                    "type": "array",
                    "minItems": 1,
                    "items": {
                        "type": "object",
                        "additionalProperties": False,
                        "required": ["name", "rules"],
                        "properties": {
                            "name": {"type": "string"},
                            "rules": {
                                "type": "array",
                                "minItems": 1,
                                "items": {
                                    "type": "object",
                                    "additionalProperties": False,
                                    "required": ["alert", "expr"],
                                    "properties": {
                                        "alert": {"type": "string"},
                                        "expr": {"type": "string"},
                                        "for": {"type": "string", "pattern": "^[0-9]+(s|m|h)$"},
                                        "labels": TEXTS,
                                        "annotations": TEXTS,
                                    },
                                },
                            },
                        },
                    },
                }
            },
        },
    },
}
CUSTOM = {"ServiceMonitor": SERVICE_MONITOR, "PrometheusRule": PROMETHEUS_RULE}


def test_helm_has_nothing_against_the_chart() -> None:
    need_helm()

    assert "0 chart(s) failed" in lint(PLACES)


@pytest.mark.parametrize("values", MATRIX)
def test_every_object_is_what_the_api_takes(values: Doc) -> None:
    for one, version in itertools.product(rendered(values), VERSIONS):
        if one["kind"] in CUSTOM:
            jsonschema.validate(one, CUSTOM[one["kind"]])
        else:
            kubernetes_validate.validate(one, version, strict=True)


@pytest.mark.parametrize("values", MATRIX)
def test_the_objects_agree_with_one_another(values: Doc) -> None:
    objects = rendered(values)
    pod, container = pod_of(objects), container_of(objects)
    (deployment,) = of_kind(objects, "Deployment")
    labels = deployment["spec"]["template"]["metadata"]["labels"]
    ports = {one["name"] for one in container["ports"]}

    again = Counter(
        (one["kind"], one["metadata"].get("namespace"), one["metadata"]["name"]) for one in objects
    )
    assert max(again.values()) == 1
    assert all(one["metadata"]["labels"].items() >= _owner().items() for one in objects)
    for selector in _selectors(objects):
        assert selector.items() <= labels.items(), selector
    for service in of_kind(objects, "Service"):
        assert {one["targetPort"] for one in service["spec"]["ports"]} == ports
    for monitor in of_kind(objects, "ServiceMonitor"):
        assert {one["port"] for one in monitor["spec"]["endpoints"]} <= ports
    for policy in of_kind(objects, "NetworkPolicy"):
        incoming = [port["port"] for rule in policy["spec"]["ingress"] for port in rule["ports"]]
        assert set(incoming) == ports
    assert {one["name"] for one in pod["volumes"]} == {
        one["name"] for one in container["volumeMounts"]
    }
    claims = {one["metadata"]["name"] for one in of_kind(objects, "PersistentVolumeClaim")}
    assert claims == {
        one["persistentVolumeClaim"]["claimName"]
        for one in pod["volumes"]
        if "persistentVolumeClaim" in one
    }
    assert [one["metadata"]["name"] for one in of_kind(objects, "ServiceAccount")] == [
        pod["serviceAccountName"]
    ]
    for binding in of_kind(objects, "RoleBinding") + of_kind(objects, "ClusterRoleBinding"):
        (subject,) = binding["subjects"]
        assert (subject["name"], subject["namespace"]) == (pod["serviceAccountName"], "gpus")
        role, where = binding["roleRef"], binding["metadata"].get("namespace")
        assert [
            one
            for one in of_kind(objects, role["kind"])
            if (one["metadata"]["name"], one["metadata"].get("namespace")) == (role["name"], where)
        ]


def _owner() -> Doc:
    return {
        "app.kubernetes.io/name": "poolkeeper",
        "app.kubernetes.io/instance": "poolkeeper",
        "app.kubernetes.io/managed-by": "Helm",
    }


def _selectors(objects: list[Doc]) -> list[Doc]:
    specs = [one.get("spec", {}) for one in objects]
    found = [spec[name] for spec in specs for name in ("selector", "podSelector") if name in spec]
    spread = pod_of(objects).get("topologySpreadConstraints", [])
    found += [one["labelSelector"] for one in spread]
    return [one.get("matchLabels", one) for one in found]  # a Service's has no such level


@pytest.mark.parametrize("values", MATRIX)
def test_a_pod_is_restricted(values: Doc) -> None:
    """As the profile `restricted` of the Pod Security Standards has it, and read-only besides."""
    pod, container = pod_of(rendered(values)), container_of(rendered(values))

    assert pod["securityContext"]["runAsNonRoot"] is True
    assert pod["securityContext"]["runAsUser"] > 0
    assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    assert container["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    assert not {"hostNetwork", "hostPID", "hostIPC"} & set(pod)
    kinds = {kind for one in pod["volumes"] for kind in one if kind != "name"}
    assert kinds <= {"emptyDir", "projected", "secret", "persistentVolumeClaim"}


@pytest.mark.parametrize("values", MATRIX)
def test_it_reaches_kubernetes_only_where_that_is_its_work(values: Doc) -> None:
    objects = rendered(values)
    cgpu = values.get("cgpu", {})
    here = bool(cgpu.get("enabled")) and "kubeconfig" not in cgpu

    assert pod_of(objects)["automountServiceAccountToken"] is here
    assert of_kind(objects, "ServiceAccount")[0]["automountServiceAccountToken"] is False
    assert bool([one for one in objects if "Role" in one["kind"]]) is here


@pytest.mark.parametrize("values", MATRIX)
def test_every_variable_is_a_setting_and_they_start_it(values: Doc) -> None:
    objects = rendered(values)
    env = {one["name"]: one["value"] for one in container_of(objects)["env"]}
    plain = {
        name: value
        for name, value in (env | settings_of(objects)).items()
        if not name.endswith("_FILE")
    }

    names = list(variables(objects))
    assert len(names) == len(set(names))
    assert set(names) - known_variables() <= {"HTTPS_PROXY"}
    settings = load_settings(plain)
    assert settings.metrics_port == container_of(objects)["ports"][0]["containerPort"]


@pytest.mark.parametrize("values", MATRIX)
def test_no_secret_is_in_an_object(values: Doc) -> None:
    objects = rendered(values)
    mounted = next(one for one in pod_of(objects)["volumes"] if one["name"] == "secrets")
    items = [one["secret"]["items"][0] for one in mounted["projected"]["sources"]]
    files_ = {
        one["name"].removesuffix("_FILE"): one["value"]
        for one in container_of(objects)["env"]
        if one["name"].endswith("_FILE")
    }

    assert not of_kind(objects, "Secret")
    assert files_ == {one["path"]: f"/run/secrets/poolkeeper/{one['path']}" for one in items}
    assert not set(files_) & set(settings_of(objects))


def test_the_addresses_of_services_are_not_given_as_settings() -> None:
    links = {f"{of_kind(rendered({}), 'Service')[0]['metadata']['name'].upper()}_SERVICE_HOST": "x"}

    with pytest.raises(SettingsError, match="is no setting"):
        load_settings(links)
    assert pod_of(rendered({}))["enableServiceLinks"] is False


def test_sqlite_is_one_process_on_one_volume() -> None:
    objects = rendered({})
    (deployment,) = of_kind(objects, "Deployment")

    assert deployment["spec"]["strategy"] == {"type": "Recreate"}
    assert deployment["spec"]["replicas"] == 1
    assert len(of_kind(objects, "PersistentVolumeClaim")) == 1
    assert not of_kind(objects, "PodDisruptionBudget"), "it would keep the node from being drained"


def test_postgresql_lets_replicas_follow_one_another_without_a_volume() -> None:
    objects = rendered(DATABASES["postgresql"])
    (deployment,) = of_kind(objects, "Deployment")

    assert deployment["spec"]["strategy"]["type"] == "RollingUpdate"
    assert deployment["spec"]["replicas"] == 3
    assert not of_kind(objects, "PersistentVolumeClaim")
    assert of_kind(objects, "PodDisruptionBudget")
    assert pod_of(objects)["topologySpreadConstraints"]


@pytest.mark.parametrize(
    ("values", "says"),
    [
        ({"replicas": 2}, "replicas"),
        ({"replicas": 2, "database": {"kind": "sqlite"}}, "replicas"),
        ({"image": {"tag": "latest"}}, "tag"),
        ({"image": {"repository": ""}}, "Say where the image was pushed"),
        ({"clearml": {"host": ""}}, "Say where ClearML's API server is"),
        ({"clearml": {"host": "clearml.example.org"}}, "host"),
        ({"clearml": {"secretKey": "s3cret"}}, "secretKey"),
        ({"cgpu": {"probe": True}}, "probe"),
        ({"slack": {"mode": "webhook"}}, "mode"),
        ({"settings": {"POOLKEEPER_ROUND_SECOND": 5}}, "POOLKEEPER_ROUND_SECOND"),
        ({"settings": {"SLACK_BOT_TOKEN": "xoxb-1"}}, "SLACK_BOT_TOKEN"),
        ({"settings": {"POOLKEEPER_METRICS_PORT": 1}}, "POOLKEEPER_METRICS_PORT"),
    ],
    ids=lambda value: value if isinstance(value, str) else yaml.safe_dump(value).strip(),
)
def test_values_that_cannot_work_are_refused(values: Doc, says: str) -> None:
    with pytest.raises(Refused) as caught:
        rendered(values)

    assert says in str(caught.value)


def test_every_setting_can_be_given() -> None:
    names = set(_schema()["properties"]["settings"]["properties"])
    secret = {name.removesuffix("_FILE") for name in known_variables() if name.endswith("_FILE")}

    assert names | secret | GIVEN_BY_THE_CHART == {
        name for name in known_variables() if not name.endswith("_FILE")
    }


def _schema() -> Doc:
    document: Doc = yaml.safe_load(SCHEMA.read_text())
    return document


def test_every_value_is_in_the_schema() -> None:
    values: Doc = yaml.safe_load((CHART / "values.yaml").read_text())

    assert set(values) | {"global"} == set(_schema()["properties"])


@pytest.mark.parametrize(
    ("host", "port"),
    [
        ("https://api.clearml.example.org", 443),
        ("http://clearml", 80),
        ("http://clearml.example.org:8008", 8008),
        ("https://clearml.example.org:8443/api", 8443),
        ("https://[2001:db8::1]:8008", 8008),
    ],
)
def test_the_way_to_clearml_is_open_at_its_port(host: str, port: int) -> None:
    (policy,) = of_kind(rendered({"clearml": {"host": host}}), "NetworkPolicy")

    assert [{"port": port}] in [rule["ports"] for rule in policy["spec"]["egress"]]


def test_a_read_that_clearml_does_not_answer_ends_before_the_pod_is_killed() -> None:
    from controller.clearml_session import _PAUSE_S, _READ_ATTEMPTS, _TIMEOUT_S

    longest = _READ_ATTEMPTS * (sum(_TIMEOUT_S) + _PAUSE_S * _READ_ATTEMPTS)

    assert pod_of(rendered({}))["terminationGracePeriodSeconds"] > longest


def test_another_release_has_names_of_its_own() -> None:
    first, second = rendered(CGPU["cgpu"]), rendered(CGPU["cgpu"], release="blue")

    names = [{(one["kind"], one["metadata"]["name"]) for one in each} for each in (first, second)]
    assert not names[0] & names[1]


def test_the_versions_are_the_projects() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    chart: dict[str, Any] = yaml.safe_load((CHART / "Chart.yaml").read_text())

    assert chart["appVersion"] == chart["version"] == project["version"]
    assert f'image.version="{project["version"]}"' in (ROOT / "Dockerfile").read_text()
    assert chart["description"] == project["description"]


def test_the_schema_knows_the_settings_that_there_are() -> None:
    assert SCHEMA.read_text() == schema(), "run `make manifests`"


def test_the_plain_manifests_are_what_the_chart_makes() -> None:
    need_helm()

    for path, text in files():
        assert path.read_text() == text, f"{path.name} is not current; run `make manifests`"
    made = {path for path, _ in files()}
    assert set((ROOT / "deploy" / "manifests").iterdir()) <= made
    assert set((CHART / "files").iterdir()) <= made


def test_alerts_and_dashboard_arrive_as_they_are() -> None:
    objects = rendered(MONITORS["monitored"])
    (rules,) = of_kind(objects, "PrometheusRule")
    dashboard = objects_by_name(objects)["poolkeeper-dashboard"]

    assert rules["spec"] == yaml.safe_load(COPIED[0].read_text())
    assert json.loads(dashboard["data"]["poolkeeper.json"]) == json.loads(COPIED[1].read_text())


def objects_by_name(objects: list[Doc]) -> dict[str, Doc]:
    return {one["metadata"]["name"]: one for one in objects}


@pytest.mark.parametrize("name", SETS)
def test_a_plain_manifest_is_valid_and_none_of_helms(name: str) -> None:
    text = (ROOT / "deploy" / "manifests" / f"{name}.yaml").read_text()

    assert "helm.sh" not in text
    assert "managed-by" not in text
    assert "checksum" not in text
    for one, version in itertools.product(yaml.safe_load_all(text), VERSIONS):
        kubernetes_validate.validate(one, version, strict=True)
