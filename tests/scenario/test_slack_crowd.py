"""Two hundred commands are all answered while rounds of ten thousand waiting tasks run.

How fast is for `make bench` to say; here Slack gives up on none.
"""

from pathlib import Path

from tests.sandbox_support import Sandbox
from tests.slack_crowd import COMMANDS, PEOPLE, rounds_running, two_hundred_commands
from tests.slack_support import Workspace


def test_many_people_are_answered_whatever_the_rounds_do(
    slack: Workspace, clearml: Sandbox, tmp_path: Path
) -> None:
    with rounds_running(slack, clearml, tmp_path / "here") as bot:
        measured = two_hundred_commands(bot)

    assert measured.rounds >= 1
    assert len(measured.acknowledged) == COMMANDS
    assert measured.acknowledged[-1] < 3
    assert [notice for one in PEOPLE for notice in slack.person(one).notices()] == []
