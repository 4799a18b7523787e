"""The chart's objects for tests, as Helm makes them of values."""

import json
import os
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

import pytest
import yaml

from bot.settings import Settings, from_files
from deploy.helm import NoHelm, helm, template

Doc = dict[str, Any]

PLACES: Doc = {
    "image": {"repository": "registry.example.org/poolkeeper"},
    "clearml": {"host": "https://api.clearml.example.org:8443"},
}


def need_helm() -> None:
    """Skips the test where there is no Helm and none can be had; in CI that is a failure."""
    try:
        helm()
    except NoHelm as error:
        if os.environ.get("CI") == "true":
            raise
        pytest.skip(str(error))


def merged(*values: Mapping[str, Any]) -> Doc:
    """Values on top of one another, as Helm lays them."""
    result: Doc = {}
    for each in values:
        for name, value in each.items():
            below = result.get(name)
            both = isinstance(value, Mapping) and isinstance(below, Mapping)
            result[name] = merged(below, value) if both else value  # type: ignore[arg-type]
    return result


def rendered(values: Mapping[str, Any], release: str = "poolkeeper") -> list[Doc]:
    """The objects that the chart makes of these values, on those that must be given."""
    need_helm()
    return list(_rendered(json.dumps(merged(PLACES, values), sort_keys=True), release))


@cache
def _rendered(values: str, release: str) -> tuple[Doc, ...]:
    text = template(json.loads(values), release=release, namespace="gpus")
    return tuple(doc for doc in yaml.safe_load_all(text) if doc)


def of_kind(objects: list[Doc], kind: str) -> list[Doc]:
    return [one for one in objects if one["kind"] == kind]


def pod_of(objects: list[Doc]) -> Doc:
    """The pod's spec of the only Deployment."""
    (deployment,) = of_kind(objects, "Deployment")
    spec: Doc = deployment["spec"]["template"]["spec"]
    return spec


def container_of(objects: list[Doc]) -> Doc:
    (container,) = pod_of(objects)["containers"]
    return dict(container)


def settings_of(objects: list[Doc]) -> Doc:
    """The data of the ConfigMap that the container takes its variables from."""
    (source,) = container_of(objects)["envFrom"]
    name = source["configMapRef"]["name"]
    (found,) = [one for one in of_kind(objects, "ConfigMap") if one["metadata"]["name"] == name]
    return dict(found["data"])


def variables(objects: list[Doc]) -> Iterator[str]:
    """The names of all variables that the container gets."""
    yield from settings_of(objects)
    for one in container_of(objects)["env"]:
        yield one["name"]


def known_variables() -> set[str]:
    """Those that Poolkeeper reads."""
    names = {str(field.alias) for field in Settings.model_fields.values()}
    return names | {f"{name}_FILE" for name in from_files()}
