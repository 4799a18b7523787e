"""A configuration is judged against what agents really serve."""

from datetime import UTC, datetime
from pathlib import Path

from bot.compose import doors
from controller.survey import Surveyor
from controller.validating import findings
from tests.poolkeeper_support import Installation, installed, one_profile
from tests.sandbox_support import Sandbox

CONFIGURATION = one_profile({"metal": 1}, {"dev": (1, 1)})


def codes(there: Installation) -> list[str]:
    """The codes of what is found after ClearML was looked at."""
    Surveyor(doors(there.settings()), there.database, lambda: datetime.now(UTC)).run()
    with there.database.reading() as session:
        return [found.code for found in findings(session, CONFIGURATION, connected=False)]


def test_a_link_whose_execution_queue_no_agent_serves_is_warned_of_until_one_does(
    clearml: Sandbox, tmp_path: Path
) -> None:
    with installed(clearml, tmp_path) as there:
        there.apply(CONFIGURATION)

        before = codes(there)
        clearml.ok("workers.register", worker="host:gpu0", queues=[there.execution("metal")])
        after = codes(there)

    assert before == ["link_unserved"]
    assert after == []
