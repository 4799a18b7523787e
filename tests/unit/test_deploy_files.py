"""The files for machines without Kubernetes: compose, the environment's example, systemd."""

import os
import re
import shutil
import subprocess
import sys
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
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


@pytest.mark.parametrize(("status", "code"), [(200, 0), (503, 1)])
def test_the_probe_of_compose_tells_whether_it_lives(status: int, code: int) -> None:
    kind, python, option, source = OURS["healthcheck"]["test"]
    asked = []

    class Page(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_response(status)
            self.end_headers()

    with HTTPServer(("127.0.0.1", 0), Page) as server:
        Thread(target=server.handle_request).start()
        here = source.replace(
            f":{OURS['environment']['POOLKEEPER_METRICS_PORT']}/", f":{server.server_port}/"
        )
        done = subprocess.run([sys.executable, option, here], capture_output=True, timeout=60)

    assert (kind, python, option) == ("CMD", "python", "-c")
    assert (asked, done.returncode) == (["/healthz"], code)


def test_the_example_names_every_secret_and_gives_none() -> None:
    names = assigned(EXAMPLE)

    assert from_files() <= set(names)
    assert set(names.values()) == {""}
    assert set(names) - NAMES == {"POSTGRES_PASSWORD"}
    assert load_settings(names) == load_settings({})


def test_the_page_that_says_how_names_what_there_is() -> None:
    page = (DEPLOY / "README.md").read_text()
    headings = {
        re.sub(r"[^a-z0-9 -]", "", line.lower()).strip().replace(" ", "-")
        for line in re.findall(r"^#+ (.*)$", page, re.MULTILINE)
    }
    values: dict[str, Any] = yaml.safe_load((CHART / "values.yaml").read_text())

    for link in re.findall(r"\]\(([^)]+)\)", page):
        path, _, anchor = link.partition("#")
        assert (DEPLOY / path).exists(), link
        assert path or anchor in headings, link
    named = set(re.findall(r"\b(?:POOLKEEPER|CLEARML|SLACK)_[A-Z_]*[A-Z]\b", page))
    assert named - NAMES == {"POOLKEEPER_IMAGE"}
    for name in re.findall(r"`((?:cgpu|monitoring|networkPolicy|database)\.[A-Za-z.]+)`", page):
        found: Any = values
        for part in name.split("."):
            found = found[part]


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
