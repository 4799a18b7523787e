"""What every answer has at hand. Built once, by the composition root."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from bot.access import Membership
from controller import references
from controller.publishing import View, Viewer
from domain.configuration import Configuration
from domain.ledger import AuditRecord
from storage import audit, configurations
from storage.database import Database, Session

if TYPE_CHECKING:
    from bot.settings import Settings
    from bot.slack_door import Slack


@dataclass(frozen=True, kw_only=True)
class Desk:
    """Handlers get everything from here: they check, change, commit, nudge and answer.

    They never call ClearML: `viewer` has the last published round. `nudge` asks for a round soon,
    `deliver` makes the outbox look at once. `reference` gives a new id for what went wrong.
    `slack` is for the doctor, who looks whether it works; all else is carried by others.
    """

    database: Database
    viewer: Viewer
    membership: Membership
    settings: "Settings"
    clock: Callable[[], datetime]
    nudge: Callable[[], None]
    deliver: Callable[[], None]
    reference: Callable[[], str]
    slack: "Slack | None" = None

    def view(self) -> View | None:
        return self.viewer.view()

    def configuration(self) -> Configuration | None:
        """The configuration in force."""
        with self.database.reading() as session:
            version = configurations.provisioned(session)
        return version.configuration if version else None

    def record(self, session: Session, actor: str, action: str, subject: str, detail: str) -> None:
        """One line of the audit, in the transaction of what it tells."""
        record = AuditRecord(
            at=self.clock(),
            actor=actor,
            action=action,
            subject=subject,
            detail=detail,
            reference=references.current(),
        )
        audit.record(session, record)


def age(then: datetime, now: datetime) -> str:
    """How long ago, in words."""
    return f"{span(now - then)} ago"


def span(length: timedelta) -> str:
    """A length of time in its two largest units at most."""
    seconds = max(0, int(length.total_seconds()))
    if seconds < 120:
        return f"{seconds} s"
    if seconds < 7200:
        return f"{seconds // 60} min"
    hours, minutes = divmod(seconds // 60, 60)
    if hours < 48:
        return f"{hours} h {minutes} min" if minutes else f"{hours} h"
    return f"{hours // 24} d {hours % 24} h"
