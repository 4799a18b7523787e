"""`poolkeeper agents`, `doctor` and `audit`: real processes, on a real database and sandboxes."""

import csv
import io
from pathlib import Path

from domain.ledger import AuditRecord
from storage import audit
from tests.poolkeeper_support import installed, one_profile
from tests.sandbox_support import Sandbox
from tests.slack_support import Workspace


def test_agents_prints_what_serves_a_link(clearml: Sandbox, tmp_path: Path) -> None:
    with installed(clearml, tmp_path / "here") as there:
        there.apply(one_profile({"metal": 8, "h100": 8}, {"dev": (0, None)}, allotment="1/2"))
        queue = there.execution("h100")

        code, said = there.command("agents", "h100")
        unclear, asked = there.command("agents", "job")

    assert code == 0
    assert f"clearml-agent daemon --queue {queue} --gpus 0 --detached" in said
    assert "nvidia.com/gpu: 1" in said
    assert "A task counts 0.5 of a GPU" in said
    assert unclear == 2
    assert "there are: job on metal, job on h100" in asked


def test_the_doctor_says_what_is_wrong_and_exits_so(
    clearml: Sandbox, slack: Workspace, tmp_path: Path
) -> None:
    with installed(clearml, tmp_path / "here") as there:
        there.apply(one_profile({"metal": 8}, {"dev": (0, None)}))
        there.controller().round()

        code, said = there.command(
            "doctor", SLACK_BOT_TOKEN=slack.bot_token, POOLKEEPER_SLACK_API=slack.api
        )

    assert code == 1
    assert "✗ fail people      There is no admin." in said
    assert "Set POOLKEEPER_ADMIN_CHANNEL" in said
    assert "! warn agents      No agent serves the queue of link `job on metal`" in said
    assert "lacks the scope" not in said


def test_the_audit_is_a_file_that_a_spreadsheet_reads(clearml: Sandbox, tmp_path: Path) -> None:
    with installed(clearml, tmp_path / "here") as there:
        odd = AuditRecord(
            at=there.clock(), actor="U_ADA", action="saved", subject='=cmd("x")',
            detail='a "b", c\nd', reference="0a1b2c3d",
        )  # fmt: skip
        with there.database.transaction() as session:
            audit.record(session, odd)

        _, said = there.command("audit", "0a1b2c3d", "--csv")
        _, shown = there.command("audit", "saved")

    rows = list(csv.DictReader(io.StringIO(said)))
    assert [(row["actor"], row["subject"], row["detail"]) for row in rows] == [
        ("U_ADA", '\'=cmd("x")', 'a "b", c\nd')
    ]
    assert "U_ADA: saved" in shown
    assert "[0a1b2c3d]" in shown
