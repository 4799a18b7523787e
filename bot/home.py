"""App Home: what everybody sees, what is theirs, and what waits for them, by role."""

from bot.blocks import Block, section
from bot.desk import Desk
from bot.slack_door import Slack


def open_home(desk: Desk, slack: Slack, user: str) -> None:
    """Publishes App Home for one person, who looks at it now."""
    slack.home(user, home_view([section("Say `/pool help`.")]))


def home_view(blocks: list[Block]) -> Block:
    return {"type": "home", "blocks": blocks}
