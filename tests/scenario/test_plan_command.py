"""`poolkeeper plan` and `poolkeeper validate` on documents that can be read."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests.commands import CONFIGURATION, EXAMPLES, ROOT, SNAPSHOT, poolkeeper


def test_the_worked_example_is_planned_as_documented() -> None:
    done = poolkeeper("plan", "--config", CONFIGURATION, "--snapshot", SNAPSHOT)

    plan = json.loads(done.stdout)
    assert (done.returncode, done.stderr) == (0, "")
    assert [(d["task"], d["pool"], d["link"], d["tier"]) for d in plan["dispatch"]] == [
        ("dev-1", "bare-metal", "4 GPU Low End", "reserved"),
        ("dev-2", "bare-metal", "4 GPU Low End", "reserved"),
        ("research-1", "h100", "4 GPU H100 link", "reserved"),
        ("research-2", "h100", "4 GPU H100 link", "reserved"),
    ]
    assert [(w["task"], w["reason"]) for w in plan["waiting"]] == [
        ("dev-3", "no_capacity"),
        ("dev-4", "no_capacity"),
        ("research-3", "no_capacity"),
        ("research-4", "no_capacity"),
    ]
    assert all(w["detail"].endswith(".") for w in plan["waiting"])
    assert plan["pools"] == [
        {"name": "bare-metal", "resources": "8", "used": "8", "free": "0"},
        {"name": "h100", "resources": "8", "used": "8", "free": "0"},
    ]
    assert plan["policies"] == [
        {"name": "dev", "reservation": "8", "limit": "16", "usage": "8"},
        {"name": "research", "reservation": "8", "limit": "16", "usage": "8"},
    ]


def test_json_and_yaml_are_read_by_their_names_and_from_standard_input(tmp_path: Path) -> None:
    tree = yaml.safe_load(CONFIGURATION.read_text())
    as_json, as_yaml = tmp_path / "c.json", tmp_path / "s.yaml"
    as_json.write_text("\ufeff" + json.dumps(tree, indent="\t"), encoding="utf-8")
    as_yaml.write_text(yaml.safe_dump(json.loads(SNAPSHOT.read_text())), newline="\r\n")

    expected = poolkeeper("plan", "--config", CONFIGURATION, "--snapshot", SNAPSHOT)
    others = [
        poolkeeper("plan", "--config", as_json, "--snapshot", as_yaml),
        poolkeeper(
            "plan", "--config", CONFIGURATION, "--snapshot", "-", stdin=SNAPSHOT.read_bytes()
        ),
    ]

    assert [done.stdout for done in others] == [expected.stdout] * 2


@pytest.mark.parametrize(
    ("allotment", "amount"),
    [
        pytest.param("010", "10", id="what YAML would read as octal"),
        pytest.param("1e1", "10", id="what YAML would read as text"),
        pytest.param("0.5", "0.5", id="a decimal"),
        pytest.param("1/7", "1/7", id="a fraction"),
    ],
)
def test_an_amount_is_what_a_person_reads(tmp_path: Path, allotment: str, amount: str) -> None:
    text = CONFIGURATION.read_text().replace("allotment: 4", f"allotment: {allotment}")
    configuration = tmp_path / "c.yaml"
    configuration.write_text(text.replace("resources: 8", "resources: 10"))

    done = poolkeeper("plan", "--config", configuration, "--snapshot", SNAPSHOT)

    assert {d["amount"] for d in json.loads(done.stdout)["dispatch"]} <= {amount}
    assert {w["amount"] for w in json.loads(done.stdout)["waiting"]} <= {amount}


ODD = """
pools:
  - {name: small, resources: 2, profiles: [big]}
  - {name: spare, resources: 1}
profiles:
  - {name: big, allotment: 4, pools: [{pool: small, link: L}], policies: [dev]}
  - {name: lost, allotment: 0.143}
policies:
  - {name: dev, reservation: 9, limit: 8, queues: [{profile: big, queue: dv}]}
"""


def test_what_validation_finds_does_not_stop_a_plan(tmp_path: Path) -> None:
    configuration = tmp_path / "odd.yaml"
    configuration.write_text(ODD)
    task = {"id": "t", "first_seen": "2026-12-01T09:00:00Z"}
    queue = {"policy": "dev", "profile": "big", "tasks": [task]}
    snapshot = tmp_path / "s.json"
    snapshot.write_text(json.dumps({"taken_at": "2026-12-01T10:00:00Z", "queues": [queue]}))

    done = poolkeeper("plan", "--config", configuration, "--snapshot", snapshot)

    assert done.returncode == 0
    assert [w["reason"] for w in json.loads(done.stdout)["waiting"]] == ["too_large"]


def test_findings_are_one_line_each_and_errors_exit_1(tmp_path: Path) -> None:
    configuration = tmp_path / "odd.yaml"
    configuration.write_text(ODD)

    done = poolkeeper("validate", configuration)

    assert (done.returncode, done.stderr) == (1, "")
    assert [line.split(":")[0] for line in done.stdout.splitlines()] == [
        "error queue_name_short queue 'dv'",
        "error profile_unlinked profile 'lost'",
        "error allotment_above_pools profile 'big'",
        "error reservation_above_limit policy 'dev'",
        "error promises_cannot_be_kept policy 'dev'",
        "warning pool_without_link pool 'spare'",
        "warning amount_rounded profile 'lost'",
        "warning limit_above_pools policy 'dev'",
        "warning reservation_no_multiple policy 'dev'",
        "invalid",
    ]
    assert (
        "error profile_unlinked profile 'lost': is linked to no pool, so its jobs can never run; "
        "link it to a pool or delete it.\n"
    ) in done.stdout


def test_findings_as_json(tmp_path: Path) -> None:
    configuration = tmp_path / "odd.yaml"
    configuration.write_text(ODD)

    done = poolkeeper("validate", "--json", configuration)

    findings = json.loads(done.stdout)
    assert done.returncode == 1
    assert len(findings) == 9
    assert set(findings[0]) == {"code", "severity", "kind", "name", "message", "remedy"}


def test_warnings_alone_exit_0(tmp_path: Path) -> None:
    configuration = tmp_path / "c.yaml"
    configuration.write_text(CONFIGURATION.read_text().replace("limit: 16", "limit: 17"))

    done = poolkeeper("validate", configuration)

    assert done.returncode == 0
    assert done.stdout.splitlines()[-1] == "valid: 0 errors, 2 warnings"
    assert poolkeeper("validate", CONFIGURATION).stdout == "valid: 0 errors, 0 warnings\n"


def test_help_names_the_commands_and_their_options() -> None:
    assert "validate" in poolkeeper("--help").stdout
    assert "--snapshot" in poolkeeper("plan", "--help").stdout
    assert "--json" in poolkeeper("validate", "--help").stdout


def test_a_closed_pipe_is_quiet() -> None:
    plan = [sys.executable, "-m", "bot", "plan", "--config", str(CONFIGURATION)]
    process = subprocess.Popen(
        [*plan, "--snapshot", str(SNAPSHOT)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None
    process.stdout.close()

    _, errors = process.communicate(timeout=60)

    assert errors == b""


def test_the_examples_are_documents_that_are_valid() -> None:
    for path in EXAMPLES.glob("*.yaml"):
        assert poolkeeper("validate", path).returncode == 0, path
