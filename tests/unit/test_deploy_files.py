"""The files for machines without Kubernetes: compose, the environment's example, systemd."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from bot.settings import Settings, from_files, load_settings
from deploy.helm import CHART, ROOT

DEPLOY = ROOT / "deploy"
COMPOSE: dict[str, Any] = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
UNIT = (DEPLOY / "poolkeeper.service").read_text()
EXAMPLE = (DEPLOY / ".env.example").read_text()
OURS: dict[str, Any] = COMPOSE["services"]["poolkeeper"]
NAMES = {str(field.alias) for field in Settings.model_fields.values()}

TEXT = {"type": "string"}
TEXTS = {"type": "array", "items": TEXT}
DURATION = {"type": "string", "pattern": "^[0-9]+(ms|s|m|h)$"}
SIZE = {"type": "string", "pattern": "^[0-9]+[kmg]$"}
HEALTH = {
    "type": "object",
    "additionalProperties": False,
    "required": ["test", "interval", "timeout", "retries"],
    "properties": {
        "test": {"type": "array", "items": TEXT, "minItems": 2},
        "start_period": DURATION,
        "interval": DURATION,
        "timeout": DURATION,
        "retries": {"type": "integer"},
    },
}
# Of the Compose Specification, what is used here.
SPECIFICATION: dict[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "required": ["services"],
    "properties": {
        "name": {"type": "string", "pattern": "^[a-z0-9][a-z0-9_-]*$"},
        "volumes": {"type": "object", "additionalProperties": {"type": "null"}},
        "services": {
            "type": "object",
            "additionalProperties": {
                "type": "object",
                "additionalProperties": False,
                "required": ["image", "restart", "healthcheck"],
                "properties": {
                    "image": TEXT,
                    "build": TEXT,
                    "profiles": TEXTS,
                    "command": TEXTS,
                    "env_file": TEXTS,
                    "environment": {"type": "object", "additionalProperties": TEXT},
                    "ports": TEXTS,
                    "volumes": TEXTS,
                    "depends_on": {"type": "object"},
                    "restart": {"enum": ["unless-stopped"]},
                    "stop_grace_period": DURATION,
                    "user": TEXT,
                    "read_only": {"type": "boolean"},
                    "tmpfs": TEXTS,
                    "cap_drop": TEXTS,
                    "security_opt": TEXTS,
                    "mem_limit": SIZE,
                    "shm_size": SIZE,
                    "pids_limit": {"type": "integer"},
                    "healthcheck": HEALTH,
                    "logging": {"type": "object"},
                },
            },
        },
    },
}


def assigned(text: str) -> dict[str, str]:
    """The variables of an environment's file."""
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    return dict(line.split("=", 1) for line in lines)


def test_compose_is_as_the_specification_has_it() -> None:
    jsonschema.validate(COMPOSE, SPECIFICATION)


def test_what_composes_services_name_is_there() -> None:
    for service in COMPOSE["services"].values():
        volumes = {one.partition(":")[0] for one in service["volumes"]}
        assert volumes <= set(COMPOSE["volumes"])
        assert set(service.get("depends_on", {})) <= set(COMPOSE["services"])
        assert not service["image"].endswith("latest")
    assert (DEPLOY / OURS["build"] / "Dockerfile").is_file()
    asked = set(re.findall(r"\$\{(\w+)", (DEPLOY / "compose.yaml").read_text()))
    assert asked - set(assigned(EXAMPLE)) == {"POOLKEEPER_IMAGE"}  # it has a default


def test_poolkeeper_runs_in_compose_as_it_does_in_kubernetes() -> None:
    version = yaml.safe_load((CHART / "Chart.yaml").read_text())["appVersion"]

    assert OURS["image"] == f"${{POOLKEEPER_IMAGE:-poolkeeper:{version}}}"
    assert OURS["read_only"] is True
    assert OURS["cap_drop"] == ["ALL"]
    assert OURS["security_opt"] == ["no-new-privileges:true"]
    assert f"USER {OURS['user']}" in (ROOT / "Dockerfile").read_text()
    assert [mount.partition(":")[2] for mount in OURS["volumes"]] == ["/var/lib/poolkeeper"]
    assert all(port.startswith("127.0.0.1:") for port in OURS["ports"])
    load_settings(OURS["environment"])


def test_the_probe_of_compose_tells_whether_it_lives(tmp_path: Path) -> None:
    kind, python, option, source = OURS["healthcheck"]["test"]

    away = source.replace("9464", "1")
    done = subprocess.run([sys.executable, option, away], capture_output=True, text=True)

    assert (kind, python, option) == ("CMD", "python", "-c")
    assert done.returncode == 1
    assert "URLError" in done.stderr
    port = OURS["environment"]["POOLKEEPER_METRICS_PORT"]
    assert f'"http://127.0.0.1:{port}/healthz"' in source


def test_the_example_names_every_secret_and_gives_none() -> None:
    names = assigned(EXAMPLE)

    assert from_files() <= set(names)
    assert set(names.values()) == {""}
    assert set(names) - NAMES == {"POSTGRES_PASSWORD"}
    assert load_settings(names) == load_settings({})


def test_what_the_unit_sets_is_what_the_image_sets() -> None:
    image = (ROOT / "Dockerfile").read_text()

    for line in re.findall(r"^Environment=(.*)$", UNIT, re.MULTILINE):
        for setting in line.split():
            assert f"{setting.partition('=')[0]}=" in image


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="systemd is not on this machine")
def test_systemd_takes_the_unit_and_finds_it_well_confined(tmp_path: Path) -> None:
    unit = tmp_path / "poolkeeper.service"
    unit.write_text(UNIT.replace("/opt/poolkeeper/bin/poolkeeper", sys.executable))
    env = {"PATH": os.environ["PATH"], "SYSTEMD_LOG_LEVEL": "warning"}

    verified = subprocess.run(
        ["systemd-analyze", "verify", unit], capture_output=True, text=True, env=env
    )
    confined = subprocess.run(
        ["systemd-analyze", "security", "--offline=yes", "--threshold=20", unit],
        capture_output=True, text=True, env=env,
    )  # fmt: skip

    assert (verified.returncode, verified.stderr) == (0, "")
    assert confined.returncode == 0, confined.stdout
