"""What `poolkeeper validate` prints."""

import json
from collections.abc import Sequence

from domain.findings import Finding, Severity
from domain.names import quoted


def as_lines(findings: Sequence[Finding]) -> str:
    """One line a finding, `severity code object: sentence`, and a last one that counts them."""
    lines = [
        f"{finding.severity} {finding.code} {finding.kind} {quoted(finding.name)}: "
        f"{finding.message}; {finding.remedy}."
        for finding in findings
    ]
    errors = sum(finding.severity is Severity.ERROR for finding in findings)
    verdict = "invalid" if errors else "valid"
    return "\n".join([*lines, f"{verdict}: {errors} errors, {len(lines) - errors} warnings"])


def as_json(findings: Sequence[Finding]) -> str:
    """A JSON list with an object for each finding."""
    return json.dumps(
        [
            {
                "code": finding.code,
                "severity": finding.severity,
                "kind": finding.kind,
                "name": finding.name,
                "message": finding.message,
                "remedy": finding.remedy,
            }
            for finding in findings
        ]
    )
