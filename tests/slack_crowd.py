"""Many people at once, while rounds of ten thousand waiting tasks run in the bot's process."""

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from domain.configuration import Configuration, Team
from tests.bot_support import Bot, bot_with_rounds, rounds_meanwhile, with_teams
from tests.crowds import wait_in_line
from tests.poolkeeper_support import installed, one_profile
from tests.sandbox_support import Sandbox
from tests.slack_support import Workspace

TASKS: Final = 10_000
TEAMS: Final = 20
COMMANDS: Final = 200
LINES: Final = ("status", "queue", "policies", "profiles", "why bulk-3", "help")
PEOPLE: Final = ("U_CLEO", "U_ADA", "U_EVE", "U_DAN")


@dataclass(frozen=True, kw_only=True)
class Measured:
    """Seconds: `acknowledged` of each command, ascending, and until all had their answers."""

    acknowledged: list[float]
    answered: float
    rounds: int


def crowded() -> Configuration:
    """Two pools without room, and twenty teams that Cleo is in."""
    teams = {f"team {number}": (0, None) for number in range(TEAMS)}
    configuration = one_profile({"metal": 0, "h100": 0}, teams)
    return with_teams(configuration, {name: Team(users=("U_CLEO",)) for name in teams})


@contextmanager
def rounds_running(slack: Workspace, clearml: Sandbox, directory: Path) -> Iterator[Bot]:
    """A bot in whose process round follows round, each with ten thousand tasks that wait."""
    with installed(clearml, directory) as there:
        there.apply(crowded())
        wait_in_line(there, TASKS)
        with bot_with_rounds(slack, there) as (bot, controller):
            controller.rounds.run()
            with rounds_meanwhile(controller.rounds.run) as count:
                bot.rounds_ended = count
                yield bot


def two_hundred_commands(bot: Bot) -> Measured:
    """Four people say two hundred commands, eight at a time, and read every answer."""
    seen, rounds = len(bot.slack.deliveries("slash_commands")), bot.rounds_ended()
    begun = time.monotonic()
    with ThreadPoolExecutor(8) as hands:
        said = list(hands.map(lambda n: bot.says(PEOPLE[n % 4], LINES[n % 6]), range(COMMANDS)))
    for one in said:
        one.reply(timeout=60.0)
    answered = time.monotonic() - begun
    taken = bot.slack.deliveries("slash_commands")[seen:]
    return Measured(
        acknowledged=sorted(float(one["seconds"]) for one in taken),
        answered=answered,
        rounds=bot.rounds_ended() - rounds,
    )
