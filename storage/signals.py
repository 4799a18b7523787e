"""Words from one process to all on the same database: whoever waits for one looks now and then.

A signal says that something happened, and nothing else; each one has another token, so that who
looks sees that there was one since the last look. One that is missed must cost time only.
"""

from datetime import datetime
from typing import Final

from sqlalchemy.orm import Session

from storage import views

ROUND: Final = "round"
"""Somebody wants a round soon."""

GROUPS: Final = "groups"
"""Slack said that the members of a user group changed."""


def give(session: Session, name: str, token: str, at: datetime) -> None:
    """Give the signal; `token` is another one each time."""
    views.publish(session, _key(name), token, at)


def last(session: Session, name: str) -> str:
    """The token of the last one, "" before the first."""
    published = views.published(session, _key(name))
    return published[0] if published else ""


def _key(name: str) -> str:
    return f"signal:{name}"
