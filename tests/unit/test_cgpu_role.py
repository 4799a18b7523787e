"""The role that the operator is given is what the reconciler needs, and no more."""

from pathlib import Path

import yaml

from controller.kubernetes_ports import PROBE_RULES, RULES

ROLE = Path(__file__).parent.parent.parent / "deploy" / "cgpu-role.yaml"


def test_the_role_allows_every_rule_and_no_more() -> None:
    rules = yaml.safe_load(ROLE.read_text())["rules"]

    allowed = {
        (verb, resource, group)
        for rule in rules
        for group in rule["apiGroups"]
        for resource in rule["resources"]
        for verb in rule["verbs"]
    }

    assert allowed == {(one.verb, one.resource, one.group) for one in (*RULES, *PROBE_RULES)}
