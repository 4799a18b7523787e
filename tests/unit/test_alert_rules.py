"""The alert rules: whole, parsed by Prometheus's grammar, and fired by what they are there for.

Whether the metrics that they name exist is tests/scenario/test_metrics_page.py's.
"""

import shutil
import subprocess
from pathlib import Path
from typing import Any

import promql_parser
import pytest
import yaml

ROOT = Path(__file__).parent.parent.parent
RULES = ROOT / "deploy" / "prometheus" / "poolkeeper.rules.yaml"
PROMTOOL = shutil.which("promtool")

HEALTHY = {
    'poolkeeper_build_info{version="1",python="3"}': "1x120",
    "poolkeeper_leader": "1x120",
    'poolkeeper_rounds_total{ended="done"}': "0+12x120",
    'poolkeeper_rounds_total{ended="away"}': "0x120",
    'poolkeeper_rounds_total{ended="failed"}': "0x120",
    'poolkeeper_rounds_total{ended="alarm"}': "0x120",
    'poolkeeper_clearml_call_duration_seconds_bucket{call="tasks.get_all",le="0.1"}': "0+12x120",
    'poolkeeper_clearml_call_duration_seconds_bucket{call="tasks.get_all",le="5.0"}': "0+12x120",
    'poolkeeper_clearml_call_duration_seconds_bucket{call="tasks.get_all",le="+Inf"}': "0+12x120",
    "poolkeeper_database_up": "1x120",
    "poolkeeper_slack_connected": "1x120",
    "poolkeeper_outbox_oldest_seconds": "0x120",
    "poolkeeper_management_enabled": "1x120",
    'poolkeeper_pool_resources{pool="metal"}': "8x120",
    'poolkeeper_pool_foreign_resources{pool="metal"}': "1x120",
    'poolkeeper_policy_reserved_resources{policy="dev"}': "8x120",
    'poolkeeper_policy_used_resources{policy="dev"}': "8x120",
    'poolkeeper_policy_waiting_tasks{policy="dev",reason="no_capacity"}': "3x120",
    'poolkeeper_policy_longest_wait_seconds{policy="dev"}': "60x120",
    'poolkeeper_cgpu_drifts{kind="setting"}': "0x120",
    'poolkeeper_cgpu_drifts{kind="pending"}': "2x120",
}

NEVER = 'poolkeeper_policy_waiting_tasks{policy="dev",reason="too_large"}'
BUCKET = 'poolkeeper_clearml_call_duration_seconds_bucket{call="tasks.get_all",le="0.1"}'
FIRED: dict[str, dict[str, str | None]] = {
    "PoolkeeperAbsent": dict.fromkeys(HEALTHY),
    "PoolkeeperHasNoLeader": {"poolkeeper_leader": "0x120"},
    "PoolkeeperRoundsStopped": {'poolkeeper_rounds_total{ended="done"}': "7x120"},
    "PoolkeeperRoundsFail": {'poolkeeper_rounds_total{ended="failed"}': "0+1x120"},
    "PoolkeeperBooksDoNotBalance": {'poolkeeper_rounds_total{ended="alarm"}': "0+1x120"},
    "PoolkeeperClearMLAway": {
        'poolkeeper_rounds_total{ended="done"}': "7x120",
        'poolkeeper_rounds_total{ended="away"}': "0+2x120",
    },
    "PoolkeeperClearMLSlow": {BUCKET: "0+1x120"},
    "PoolkeeperDatabaseAway": {"poolkeeper_database_up": "0x120"},
    "PoolkeeperSlackAway": {"poolkeeper_slack_connected": "0x120"},
    "PoolkeeperOutboxWaits": {"poolkeeper_outbox_oldest_seconds": "0+60x120"},
    "PoolkeeperManagementDisabled": {"poolkeeper_management_enabled": "0x120"},
    "PoolkeeperPoolTakenByOthers": {'poolkeeper_pool_foreign_resources{pool="metal"}': "6x120"},
    "PoolkeeperReservationNotHonoured": {'poolkeeper_policy_used_resources{policy="dev"}': "4x120"},
    "PoolkeeperTasksCanNeverRun": {NEVER: "2x120"},
    "PoolkeeperWaitsLong": {'poolkeeper_policy_longest_wait_seconds{policy="dev"}': "20000x120"},
    "PoolkeeperCgpuDrifts": {'poolkeeper_cgpu_drifts{kind="setting"}': "1x120"},
}


def rules() -> list[dict[str, Any]]:
    document = yaml.safe_load(RULES.read_text())
    found: list[dict[str, Any]] = document["groups"][0]["rules"]
    return found


def test_every_alert_says_how_bad_it_is_what_happens_and_what_to_do() -> None:
    for rule in rules():
        assert set(rule) == {"alert", "expr", "for", "labels", "annotations"}, rule["alert"]
        assert rule["labels"]["severity"] in ("critical", "warning", "info")
        assert promql_parser.parse_duration(rule["for"])
        assert set(rule["annotations"]) == {"summary", "description", "runbook"}
        for name in ("summary", "description", "runbook"):
            assert rule["annotations"][name].endswith("."), (rule["alert"], name)


def test_every_expression_can_be_parsed() -> None:
    for rule in rules():
        parsed = promql_parser.parse(rule["expr"])
        assert "poolkeeper_" in parsed.prettify()


def test_for_every_alert_there_is_what_fires_it() -> None:
    assert sorted(rule["alert"] for rule in rules()) == sorted(FIRED)


def unit_test(alert: str) -> dict[str, Any]:
    """For promtool: after two hours of these series exactly this alert fires."""
    series = {**HEALTHY, **FIRED[alert]} if alert else HEALTHY
    firing = [{"labels": f'{{alertname="{alert}"}}', "value": 1}] if alert else []
    return {
        "interval": "1m",
        "input_series": [
            {"series": name, "values": values} for name, values in series.items() if values
        ],
        "promql_expr_test": [
            {
                "expr": 'count by (alertname) (ALERTS{alertstate="firing"})',
                "eval_time": "110m",
                "exp_samples": firing,
            }
        ],
    }


@pytest.mark.skipif(PROMTOOL is None, reason="promtool is not here (Debian: prometheus)")
def test_each_alert_fires_when_it_should_and_no_other_and_none_when_all_is_well(
    tmp_path: Path,
) -> None:
    document = {
        "rule_files": [str(RULES)],
        "evaluation_interval": "1m",
        "tests": [unit_test(alert) for alert in ("", *FIRED)],
    }
    path = tmp_path / "alerts.test.yaml"
    path.write_text(yaml.safe_dump(document))

    for arguments in (["check", "rules", str(RULES)], ["test", "rules", str(path)]):
        done = subprocess.run([str(PROMTOOL), *arguments], capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
