"""The management switch, and how it stops moves at once.

Once a disable is acknowledged, no task is moved any more, not even of a round planned before.
Two sides keep that promise:

- Whoever moves a task does each single move inside `Database.moving()`, and asks
  `Database.is_enabled()` there, before the claim. When the answer is no, nothing is moved.
- Whoever disables commits the switch, then calls `Database.drain_moves()`, and acknowledges only
  when that returned True: every move that could have read "enabled" is then over, and every
  later one reads what was committed. On False the switch is off, but a move hangs: say that.
"""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import select
from sqlalchemy.orm import Session

from storage.tables import SwitchRow
from storage.values import put_rows, table_of

_SWITCH = table_of(SwitchRow)


@dataclass(frozen=True, kw_only=True)
class SwitchState:
    """Whether management is on, and who turned it when; nobody did while `at` is None."""

    enabled: bool
    by: str = ""
    at: datetime | None = None


def is_enabled(session: Session) -> bool:
    """Whether management is on; inside a move, ask `Database.is_enabled()` instead."""
    return switch_state(session).enabled


def set_enabled(session: Session, enabled: bool, by: str, at: datetime) -> None:
    """Turn the switch; a disable is not acknowledged before the moves are drained (see above)."""
    put_rows(session, _SWITCH, [{"id": 1, "enabled": enabled, "by": by, "at": at}])


def switch_state(session: Session) -> SwitchState:
    """How the switch stands; on, while nobody has turned it."""
    row = session.execute(select(_SWITCH.c.enabled, _SWITCH.c.by, _SWITCH.c.at)).one_or_none()
    if row is None:
        return SwitchState(enabled=True)
    return SwitchState(enabled=row.enabled, by=row.by, at=row.at)
