"""What every answer is made from: the last published round, and how old it is."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final

from bot.blocks import Block, Reply, button, buttons, context, section
from bot.desk import age
from bot.indexing import Index, index_of
from controller.alerts import Kind
from controller.publishing import View
from domain.configuration import Configuration
from domain.snapshot import Waiting
from storage import alerts
from storage.database import Session

if TYPE_CHECKING:
    from bot.desk import Desk

_ROUNDS: Final = 3
"""A view that is older than so many rounds is said to be old."""

_LEAST_STALE: Final = timedelta(seconds=15)


@dataclass(frozen=True, kw_only=True)
class Look:
    """What an answer is made from: the view, its index, and the time it is looked at.

    `stale` says that rounds should have published something newer by now; `away_since` since when
    ClearML is known not to answer.
    """

    view: View
    index: Index
    at: datetime
    stale: bool = False
    away_since: datetime | None = None

    @property
    def configuration(self) -> Configuration:
        return self.view.snapshot.configuration

    @property
    def age(self) -> str:
        return age(self.view.at, self.at)

    def waiting_of(self, policy: str) -> Sequence[Waiting]:
        return self.index.waiting_by_policy.get(policy, ())

    def notice(self, seen: str = "") -> list[Block]:
        """What must be read first: that the view is old, that nothing is dispatched.

        `seen` says when, in place of its age.
        """
        said = []
        if self.stale:
            said.append(
                f"*This is old, seen {seen or self.age}.* {self._why_stale()} Tasks that run, run "
                "on; admins can say `/pool doctor`."
            )
        if not self.view.snapshot.enabled:
            said.append("*Management is off*: nothing is dispatched until an admin enables it.")
        return [section("\n".join(said))] if said else []

    def _why_stale(self) -> str:
        if self.away_since is None:
            return "No round has ended since: ClearML or my database may be away."
        since = self.away_since.strftime("%H:%M UTC")
        return f"ClearML does not answer since {since}, so nothing is dispatched."

    def footer(self, *more: str) -> Block:
        """How old this is, the version in force, and what else is to be said in small print."""
        return context(" · ".join([f"Seen {self.age}, version {self.view.version}", *more]))

    def warned(self, text: str) -> str:
        """A sentence that stands alone, with its age and what must be known with it."""
        old = f" This is old. {self._why_stale()}" if self.stale else ""
        off = "" if self.view.snapshot.enabled else " Management is off: nothing is dispatched."
        return f"{text} Seen {self.age}.{old}{off}"


def _away_since(session: Session) -> datetime | None:
    raised = (alert for alert in alerts.raised(session) if alert.kind == Kind.CLEARML)
    return next((alert.since for alert in raised), None)


def look(desk: "Desk") -> Look | None:
    """The last published round, None before the first."""
    view = desk.view()
    if view is None:
        return None
    now = desk.clock()
    after = max(_ROUNDS * timedelta(seconds=desk.settings.round_seconds), _LEAST_STALE)
    stale, away_since = now - view.at > after, None
    if stale:
        with desk.database.reading() as session:
            away_since = _away_since(session)
    return Look(view=view, index=index_of(view), at=now, stale=stale, away_since=away_since)


def nothing_yet() -> Reply:
    """The answer while there is nothing to look at."""
    text = (
        "No round has ended yet: nothing is provisioned, or ClearML is away. "
        "Admins can say `/pool doctor`."
    )
    return Reply(text=text, blocks=(section(text), buttons(button("Doctor", "doctor"))))
