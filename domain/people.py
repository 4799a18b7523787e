"""What is remembered of people in Slack, by their Slack ids."""

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, kw_only=True)
class Preferences:
    """What a person wants; `notify`: a direct message when their task starts, ends or never can."""

    user: str
    notify: bool = False


@dataclass(frozen=True, kw_only=True)
class Viewer:
    """When a person last opened App Home; those who did so lately see it refreshed."""

    user: str
    opened_at: datetime
