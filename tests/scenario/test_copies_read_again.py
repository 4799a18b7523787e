"""A database that is lost while ClearML falters: what every policy uses is known again."""

from pathlib import Path

import pytest

from controller.ports import ClearMLError
from tests.poolkeeper_support import installed, one_profile
from tests.sandbox_support import Sandbox


def test_the_copies_are_read_again_after_a_round_that_could_not_read_them(
    clearml: Sandbox, tmp_path: Path
) -> None:
    configuration = one_profile({"metal": 2}, {"dev": (1, 2)})
    with installed(clearml, tmp_path / "here") as there:
        there.apply(configuration)
        tasks = [clearml.queued_task(there.intake()) for _ in range(4)]
        there.controller().round()
        known = there.entries()
        assert known.keys() == set(tasks[:2])
        there.lose_database()
        there.apply(configuration)
        controller = there.controller()

        # The first listing of a round is the look, the second reads the copies.
        for attempt in range(3):
            clearml.fault("refuse", "queues.get_all", nth=2 + attempt)
        with pytest.raises(ClearMLError):
            controller.round()
        clearml.clear_faults()
        report = controller.round()

        assert report.plan.dispatch == ()
        policies = {task: entry.policy for task, entry in there.entries().items()}
        assert policies == dict.fromkeys(tasks[:2], "dev")
