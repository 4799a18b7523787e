"""Writes what follows from other files: the plain manifests, the settings in the chart's schema,
and the chart's copies of alerts and dashboard.

`make manifests` runs it; a test says when that was forgotten.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic import SecretStr

from bot.settings import Settings, from_files
from deploy.helm import CHART, ROOT, template

MANIFESTS = ROOT / "deploy" / "manifests"
SCHEMA = CHART / "values.schema.json"
COPIED = (
    ROOT / "deploy" / "prometheus" / "poolkeeper.rules.yaml",
    ROOT / "deploy" / "grafana" / "poolkeeper.json",
)
"""A chart holds all its files."""

_PLACES = {
    "image": {"repository": "registry.example.org/poolkeeper"},
    "clearml": {"host": "https://api.clearml.example.org"},
}
_CGPU = {"enabled": True, "probe": True, "restarts": True}
_HEADER = """\
# Made from deploy/chart by `make manifests`: {what}.
# Change registry.example.org and api.clearml.example.org; the README says which secrets it reads.
"""

SETS: dict[str, tuple[str, dict[str, Any], tuple[str, ...]]] = {
    "sqlite": ("one process with its state on a volume", {}, ()),
    "postgresql": (
        "two replicas, with their state in PostgreSQL",
        {"database": {"kind": "postgresql"}, "replicas": 2},
        (),
    ),
    "sqlite-cgpu": ("one process that keeps its cluster's cGPU policy too", {"cgpu": _CGPU}, ()),
    "cgpu-role": (
        "an account with its role, in a cluster whose cGPU policy is kept from outside",
        {"cgpu": _CGPU},
        ("--show-only", "templates/account.yaml", "--show-only", "templates/cgpu-role.yaml"),
    ),
}
"""Each manifest: what it is, its values, and options of `helm template`."""

GIVEN_BY_THE_CHART = frozenset(
    {
        "CLEARML_API_HOST",
        "POOLKEEPER_DATABASE",
        "POOLKEEPER_KUBERNETES",
        "POOLKEEPER_KUBECONFIG",
        "POOLKEEPER_CGPU_PROBE",
        "POOLKEEPER_CGPU_RESTARTS",
        "POOLKEEPER_METRICS_HOST",
        "POOLKEEPER_METRICS_PORT",
        "POOLKEEPER_SLACK_HOST",
        "POOLKEEPER_SLACK_PORT",
    }
)
"""Settings that follow from other values, and so are none of `settings`."""

# Helm's marks are for its own releases.
_MARKS = re.compile(
    r"^ *(app\.kubernetes\.io/managed-by: Helm|helm\.sh/chart: .*|# Source: .*)\n", re.MULTILINE
)
_SUM = re.compile(
    r"^      annotations:\n        # Settings .*\n        checksum/settings: .*\n", re.M
)
_KEPT = re.compile(
    r"^  annotations:\n    # The state .*\n    helm\.sh/resource-policy: keep\n", re.M
)


def manifest(name: str) -> str:
    """The text of a plain manifest."""
    what, values, options = SETS[name]
    rendered = template({**_PLACES, **values}, *options)
    for helms in (_MARKS, _SUM, _KEPT):
        rendered = helms.sub("", rendered)
    return _HEADER.format(what=what) + rendered


def schema() -> str:
    """The schema of the chart's values, with the settings that there are."""
    document = json.loads(SCHEMA.read_text())
    document["properties"]["settings"] = {
        "type": "object",
        "additionalProperties": False,
        "properties": dict(_settings()),
    }
    return json.dumps(document, indent=2) + "\n"


def _settings() -> Iterator[tuple[str, dict[str, Any]]]:
    for field in Settings.model_fields.values():
        name = str(field.alias)
        secret = isinstance(field.default, SecretStr) or name in from_files()
        if not secret and name not in GIVEN_BY_THE_CHART:
            kinds = ["string", "number", "boolean"]
            yield name, {"type": kinds, "description": str(field.description)}


def files() -> Iterator[tuple[Path, str]]:
    """Everything that is made, with its text; first what the chart is made of itself."""
    yield SCHEMA, schema()
    for source in COPIED:
        yield CHART / "files" / source.name, source.read_text()
    for name in SETS:
        yield MANIFESTS / f"{name}.yaml", manifest(name)


def main() -> None:
    for path, text in files():
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
        print(f"Wrote {path.relative_to(ROOT)}.")


if __name__ == "__main__":
    main()
