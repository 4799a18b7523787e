"""Who enqueues to a team's queue is not told that nobody serves it."""

from pathlib import Path

from tests.poolkeeper_support import installed, one_profile
from tests.sandbox_support import Sandbox, wait_until


def test_a_running_poolkeeper_watches_the_intake_queues_and_no_execution_queue(
    clearml: Sandbox, tmp_path: Path
) -> None:
    with installed(clearml, tmp_path) as there:
        there.apply(one_profile({"metal": 1}, {"dev": (1, 1)}))
        intake, execution = there.intake("dev"), there.execution("metal")
        before = clearml.enqueue(clearml.create_task(), intake, verify_watched_queue=True)

        process = there.start("run")
        wait_until(lambda: clearml.ok("workers.get_all")["workers"], "a worker is there")
        after = clearml.enqueue(clearml.create_task(), intake, verify_watched_queue=True)
        elsewhere = clearml.enqueue(clearml.create_task(), execution, verify_watched_queue=True)
        assert process.end() == 0

    watched = [answer["queue_watched"] for answer in (before, after, elsewhere)]
    assert watched == [False, True, False]
