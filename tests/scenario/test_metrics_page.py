"""What a real process shows at /metrics, and that README, alerts and dashboard name just that."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

import promql_parser
import pytest
import yaml

from tests.kubernetes_support import Cluster
from tests.outside_support import Outside, outside_of, samples_of
from tests.poolkeeper_support import installed, one_profile
from tests.sandbox_support import ROOT, Sandbox, wait_until
from tests.slack_support import Workspace

Labels = dict[str, set[str]]
"""By the name of a sample, the names of its labels."""

RULES = ROOT / "deploy" / "prometheus" / "poolkeeper.rules.yaml"
DASHBOARD = ROOT / "deploy" / "grafana" / "poolkeeper.json"
TARGETS = {"job", "instance", "namespace"}
"""The labels that Prometheus gives to whatever it reads from one process."""


@pytest.fixture(scope="module")
def page(
    _clearml_process: Sandbox,
    _slack_process: Workspace,
    _kubernetes_process: Cluster,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[str]:
    """The page of a process to which everything has happened that is counted."""
    clearml, slack, directory = _clearml_process, _slack_process, tmp_path_factory.mktemp("page")
    for world in (clearml, slack, _kubernetes_process):
        world.reset()
    env = {
        "POOLKEEPER_METRICS_PORT": "0",
        "SLACK_BOT_TOKEN": slack.bot_token,
        "SLACK_APP_TOKEN": slack.app_token,
        "POOLKEEPER_SLACK_API": slack.api,
        "POOLKEEPER_ADMINS": "U_ADA",
        "POOLKEEPER_ADMIN_CHANNEL": "C_ADMINS",
        "POOLKEEPER_KUBERNETES": "kubeconfig",
        "POOLKEEPER_KUBECONFIG": str(_kubernetes_process.write_kubeconfig(directory / "config")),
    }
    with installed(clearml, directory / "here") as there:
        there.apply(one_profile({"metal": 1}, {"dev": (0, 1)}))
        for _ in range(2):
            clearml.queued_task(there.intake())
        outside = outside_of(there.start("run", **env))
        wait_until(lambda: has_all(outside), "everything is counted", 60)
        yield outside.get("/metrics").text
    for world in (clearml, slack, _kubernetes_process):
        world.reset()


def has_all(outside: Outside) -> bool:
    shown = {sample.name for sample in outside.samples()}
    last = {"poolkeeper_dispatches_total", "poolkeeper_policy_waiting_tasks"}
    return last | {"poolkeeper_cgpu_drifts", "poolkeeper_outbox_messages"} <= shown


@pytest.fixture(scope="module")
def shown(page: str) -> Labels:
    found: Labels = {}
    for sample in samples_of(page):
        found.setdefault(sample.name, set()).update(name for name, _ in sample.labels)
    return found


def test_names_follow_the_conventions_of_prometheus(page: str) -> None:
    kinds = dict(re.findall(r"^# TYPE (\S+) (\S+)$", page, re.MULTILINE))
    helps = dict(re.findall(r"^# HELP (\S+) (.+)$", page, re.MULTILINE))

    assert kinds.keys() == helps.keys()
    for name, kind in kinds.items():
        assert name.startswith(("poolkeeper_", "process_")), name
        assert name.endswith("_total") == (kind == "counter"), name
        assert not re.search(r"(milliseconds|minutes|hours|percent)", name), name
        assert kind != "histogram" or name.endswith("_seconds"), name
    assert len(kinds) == len(re.findall(r"^# TYPE ", page, re.MULTILINE))


def test_the_readme_lists_each_metric_with_its_labels(page: str, shown: Labels) -> None:
    documented = re.findall(
        r"^\| `(poolkeeper_\w+)` \| (.*?) ?\| (.+) \|$",
        (ROOT / "README.md").read_text(),
        re.MULTILINE,
    )

    there = [
        (name, labels_of(shown.get(name, shown.get(f"{name}_bucket", set()))), says)
        for name, says in re.findall(r"^# HELP (poolkeeper_\w+) (.+)$", page, re.MULTILINE)
    ]
    assert sorted(documented) == sorted(there)


def labels_of(names: set[str]) -> str:
    return ", ".join(f"`{name}`" for name in sorted(names - {"le"}))


def test_every_alert_names_only_what_there_is(shown: Labels) -> None:
    for rule in yaml.safe_load(RULES.read_text())["groups"][0]["rules"]:
        assert wrong_names(rule["expr"], shown) == [], rule["alert"]
        said = " ".join(rule["annotations"].values())
        for label in re.findall(r"\$labels\.(\w+)", said):
            named = [shown[one] for one in re.findall(r"poolkeeper_\w+", rule["expr"])]
            assert any(label in labels for labels in named), (rule["alert"], label)


def test_every_panel_asks_only_for_what_there_is(shown: Labels) -> None:
    asked = [(panel["title"], target["expr"]) for panel, target in targets()]

    assert len(asked) > 30
    for title, expression in asked:
        assert wrong_names(expression, shown) == [], title
    for variable in dashboard()["templating"]["list"]:
        if variable["type"] == "query":
            found = re.fullmatch(r"label_values\((.+), (\w+)\)", variable["definition"])
            assert found is not None
            assert wrong_names(found[1], shown) == []
            metric = found[1].split("{")[0]
            assert found[2] in shown[metric] | TARGETS


def test_the_dashboard_shows_every_metric_of_ours(page: str) -> None:
    text = DASHBOARD.read_text()

    for name in re.findall(r"^# TYPE (poolkeeper_\w+) ", page, re.MULTILINE):
        assert name in text or name == "poolkeeper_configuration_version", name


def test_the_dashboard_is_whole() -> None:
    panels = dashboard()["panels"]

    numbers = [panel["id"] for panel in panels]
    assert len(set(numbers)) == len(numbers)
    taken: dict[tuple[int, int], str] = {}
    for panel in panels:
        place = panel["gridPos"]
        assert place["x"] + place["w"] <= 24
        for x in range(place["x"], place["x"] + place["w"]):
            for y in range(place["y"], place["y"] + place["h"]):
                assert (x, y) not in taken, (panel["title"], taken[x, y])
                taken[x, y] = panel["title"]
    uses = re.findall(r'"uid": "([^"]*)"', DASHBOARD.read_text())
    assert set(uses) == {"${datasource}", "poolkeeper"}
    assert dashboard()["templating"]["list"][0]["name"] == "datasource"
    for panel, target in targets():
        assert panel["description"].endswith(".")
        assert target["datasource"]["uid"] == "${datasource}"


def dashboard() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(DASHBOARD.read_text())
    return found


def targets() -> list[tuple[dict[str, Any], dict[str, Any]]]:
    return [
        (panel, target) for panel in dashboard()["panels"] for target in panel.get("targets", ())
    ]


def wrong_names(expression: str, shown: Mapping[str, set[str]]) -> list[str]:
    """Metrics that are not shown, and labels that theirs do not have; raises where it is none."""
    tree = promql_parser.parse(expression.replace("$__rate_interval", "5m"))
    selectors: list[promql_parser.VectorSelector] = []
    groups: set[str] = set()

    def visit(node: promql_parser.Expr) -> bool:
        if isinstance(node, promql_parser.VectorSelector):
            selectors.append(node)
        if isinstance(node, promql_parser.MatrixSelector):
            selectors.append(node.vector_selector)
        if isinstance(node, promql_parser.AggregateExpr) and node.modifier is not None:
            groups.update(node.modifier.labels)
        if isinstance(node, promql_parser.BinaryExpr) and node.modifier is not None:
            matching = node.modifier.matching
            groups.update(matching.labels if matching is not None else ())
        return True

    promql_parser.walk(tree, visit)
    assert selectors, expression
    names = [str(one.name) for one in selectors]
    labels = TARGETS.union(*(shown.get(name, set()) for name in names))
    used = {matcher.name for one in selectors for matcher in one.matchers.matchers}
    unknown = [name for name in names if name not in shown]
    return [*unknown, *sorted((used | groups) - labels)]
