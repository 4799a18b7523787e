"""Whether this process does its work: a check for each thing that it needs, with its reason.

A reason is a fixed sentence: what a door says of its troubles is the log's, for anybody may ask.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from bot.glancing import Glance
from bot.vitals import Ended, Vitals
from controller.leading import Role, Standing
from storage.errors import StorageError

_LEAST = timedelta(seconds=60)
_INTERVALS = 10


@dataclass(frozen=True, slots=True)
class Check:
    """One thing; where it does not `count`, it is shown and nothing more."""

    name: str
    ok: bool
    reason: str
    counts: bool = True


@dataclass(frozen=True, kw_only=True)
class Readiness:
    """What is asked. `slack` says whether Slack is connected, None where there is no bot.

    `glance` raises `StorageError` where the database cannot be read.
    """

    glance: Callable[[], Glance]
    clock: Callable[[], datetime]
    vitals: Vitals
    interval: timedelta
    standing: Callable[[], Standing]
    slack: Callable[[], bool] | None = None

    def checks(self) -> tuple[Check, ...]:
        """All of them, in the order in which one rests on the other."""
        try:
            glance = self.glance()
        except StorageError:
            glance = None
        return (
            _database(glance),
            self._leadership(),
            self._round(),
            *self._slack(),
            self._clearml(),
            self._view(glance),
        )

    @property
    def patience(self) -> timedelta:
        """How old the last round may be."""
        return max(_LEAST, _INTERVALS * self.interval)

    def _leadership(self) -> Check:
        says = {
            Role.LEADER: "This process leads.",
            Role.FOLLOWER: "Another replica leads.",
            Role.UNKNOWN: "It is not known yet who leads.",
        }
        role = self.standing().role
        return Check("leadership", role is not Role.UNKNOWN, says[role])

    def _round(self) -> Check:
        if self.standing().role is Role.FOLLOWER:
            return Check("round", True, "Another replica leads, and runs the rounds.")
        last = self.vitals.last_round()
        if last is None or last[1] is Ended.INTERRUPTED:
            return Check("round", False, "The first round has not ended yet.")
        age, ended = last
        if ended is Ended.FAILED:
            return Check("round", False, "The last round failed; the log says why.")
        if age > self.patience.total_seconds():
            return Check("round", False, f"The last round ended {age:.0f} s ago.")
        return Check("round", True, f"The last round ended {age:.0f} s ago.")

    def _slack(self) -> tuple[Check, ...]:
        if self.slack is None:
            return ()
        if self.slack():
            return (Check("slack", True, "Slack is connected."),)
        return (Check("slack", False, "Slack is not connected; the log says why."),)

    def _clearml(self) -> Check:
        """Does not count: without ClearML all is answered as before, from the last view."""
        if self.standing().role is Role.FOLLOWER:
            return Check("clearml", True, "Whoever leads asks ClearML.", counts=False)
        last = self.vitals.last_round()
        ended = None if last is None else last[1]
        says = {
            None: "No round has asked ClearML yet.",
            Ended.INTERRUPTED: "No round has asked ClearML yet.",
            Ended.AWAY: "ClearML did not answer the last round; the log says why.",
            Ended.FAILED: "The last round failed; the log says why.",
            Ended.UNPROVISIONED: "Nothing is provisioned, so ClearML is not asked.",
        }
        ok = ended in (Ended.DONE, Ended.ALARM, Ended.UNPROVISIONED)
        return Check("clearml", ok, says.get(ended, "ClearML answers."), counts=False)

    def _view(self, glance: Glance | None) -> Check:
        """Does not count: it ages while ClearML is away, and every answer says how old it is."""
        if glance is None:
            return Check("view", False, "The database cannot be read.", counts=False)
        if glance.view is None:
            return Check("view", False, "No round has been published yet.", counts=False)
        age = (self.clock() - glance.view.at).total_seconds()
        ok = age <= self.patience.total_seconds()
        return Check("view", ok, f"What people are shown was seen {age:.0f} s ago.", counts=False)


def _database(glance: Glance | None) -> Check:
    if glance is None:
        return Check("database", False, "The database cannot be read.")
    return Check("database", True, "The database answers.")


def is_ready(checks: tuple[Check, ...]) -> bool:
    return all(check.ok for check in checks if check.counts)
