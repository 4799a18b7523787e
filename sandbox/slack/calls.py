"""One API call on its way through the server."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from sandbox.slack.errors import SlackError
from sandbox.slack.state import Slack
from sandbox.slack.world import World

Doc = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Call:
    name: str
    slack: Slack
    body: Doc

    @property
    def world(self) -> World:
        return self.slack.world

    def text(self, name: str, default: str | None = None) -> str:
        """A field that must be there, unless there is a default."""
        value = self.body.get(name, default)
        if value is None or (value == "" and default is None):
            messages = [f"[ERROR] missing required field: {name}"]
            raise SlackError("invalid_arguments", response_metadata={"messages": messages})
        return str(value)

    def flag(self, name: str) -> bool:
        """Forms say true in several ways."""
        return self.body.get(name) in (True, 1, "1", "true")

    def needs(self, scope: str) -> None:
        """Refuses what the app was not granted, saying what it has and what it lacks."""
        provided = self.world.bot.scopes
        if scope not in provided:
            raise SlackError("missing_scope", needed=scope, provided=",".join(provided))

    def page(self, items: list[Doc], name: str) -> Doc:
        """A page of a list, with the cursor of the next one."""
        start = int(self.body.get("cursor") or 0)
        end = start + min(int(self.body.get("limit") or 1000), 1000)
        cursor = str(end) if end < len(items) else ""
        return {name: items[start:end], "response_metadata": {"next_cursor": cursor}}


@dataclass(frozen=True, slots=True)
class Method:
    """`scope` is what the app must have been granted, "" for nothing."""

    run: Callable[[Call], Doc]
    scope: str = ""
    app_level: bool = False
