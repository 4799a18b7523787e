"""From a user's queue to the stock agent: every process is the real one, only ClearML is not."""

from pathlib import Path

from tests.poolkeeper_support import completed, installed, one_profile
from tests.sandbox_support import Sandbox, script_task, stock_agent, wait_until

SCRIPT = """\
print("the first line ran")
print("and the second")
"""


def test_a_task_of_a_user_is_dispatched_by_a_round_and_run_by_the_stock_agent(
    clearml: Sandbox, tmp_path: Path
) -> None:
    alice = clearml.add_user("alice")
    with installed(clearml, tmp_path / "poolkeeper") as there:
        configuration = there.written(one_profile({"metal": 1}, {"dev": (1, 1)}))
        code, said = there.command("apply", configuration, "--yes")
        assert code == 0, said
        intake, execution = there.intake("dev"), there.execution("metal")
        first, second = (script_task(alice, SCRIPT, name) for name in ("first", "second"))
        alice.ok("tasks.enqueue", task=first, queue_name="dev-jobs")
        alice.ok("tasks.enqueue", task=second, queue_name="dev-jobs")

        controller = there.start("run")
        wait_until(lambda: clearml.entries(execution) == [first], "the first is dispatched")
        # The pool has room for one; the agent comes only now, so nothing else can run it.
        assert clearml.entries(intake) == [second]
        with stock_agent(clearml, execution, tmp_path):
            both = [first, second]
            wait_until(lambda: completed(clearml, both), f"both run: {controller.log}", 120)
            wait_until(lambda: not there.entries(), "both have ended in the ledger")
        assert controller.end() == 0

        assert [[run["after_abort"] for run in clearml.runs(task)] for task in (first, second)] == [
            [False],
            [False],
        ]
        assert [(ended.task, ended.outcome) for ended in there.ended()] == [
            (first, "completed"),
            (second, "completed"),
        ]
        assert {change["reason"] for change in clearml.history(first)} >= {
            "allocated by policy manager: job on metal"
        }
        assert clearml.task(first)["user"] == "alice"
