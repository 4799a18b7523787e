"""What is remembered of cGPU, and the wishes of admins that the reconciler acts on.

Whoever speaks for an admin calls `wish_restart`, `withdraw_restart`, `pause` or `resume`, in one
transaction with the audit; each is a new word that makes the reconciler look at once.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime
from typing import TypeVar

from sqlalchemy import delete, insert, select, update
from sqlalchemy.orm import Session

from domain.cgpu_memory import (
    Change,
    Control,
    InstallerMemory,
    Memory,
    NodeMemory,
    Outcome,
    Patch,
    Restart,
)
from storage.tables import (
    CGPUChangeRow,
    CGPUControlRow,
    CGPUInstallerRow,
    CGPUNodeRow,
    CGPUPatchRow,
    CGPURestartRow,
)
from storage.values import Values, put_rows, table_of

V = TypeVar("V")

_CHANGES = Values(CGPUChangeRow, Change)
_PATCHES = Values(CGPUPatchRow, Patch)
_INSTALLERS = Values(CGPUInstallerRow, InstallerMemory)
_NODES = Values(CGPUNodeRow, NodeMemory)
_RESTARTS = Values(CGPURestartRow, Restart)
_CONTROL = table_of(CGPUControlRow)


def memory(session: Session) -> Memory:
    """All that is remembered."""
    column = _CHANGES.table.c
    changes = _CHANGES.read(session, _CHANGES.select().order_by(column.id.desc()).limit(1))
    return Memory(
        change=changes[0] if changes else None,
        patches={one.installer: one for one in _PATCHES.read(session, _PATCHES.select())},
        installers={one.uid: one for one in _INSTALLERS.read(session, _INSTALLERS.select())},
        nodes={one.node: one for one in _NODES.read(session, _NODES.select())},
        restarts=restarts(session),
        control=control(session),
    )


def changes(session: Session, limit: int) -> tuple[Change, ...]:
    """The latest changes, newest first."""
    column = _CHANGES.table.c
    return _CHANGES.read(session, _CHANGES.select().order_by(column.id.desc()).limit(limit))


def control(session: Session) -> Control:
    """What admins said last; nobody did while its revision is 0."""
    row = session.execute(select(_CONTROL)).one_or_none()
    if row is None:
        return Control()
    return Control(paused=row.paused, by=row.by, at=row.at, revision=row.revision)


def restarts(session: Session) -> tuple[Restart, ...]:
    """The wishes that are not over, the oldest first."""
    column = _RESTARTS.table.c
    return _RESTARTS.read(session, _RESTARTS.select().order_by(column.at, column.node))


def wish_restart(session: Session, node: str, by: str, at: datetime) -> bool:
    """An admin wants the node restarted; False when that is so already and has not failed.

    After a failure it is a new wish: the node is prepared from the beginning.
    """
    before = next((one for one in restarts(session) if one.node == node), None)
    if before is not None and not before.failed and not before.withdrawn:
        return False
    _RESTARTS.put(session, (Restart(node=node, by=by, at=at),))
    _said(session, by, at)
    return True


def withdraw_restart(session: Session, node: str, by: str, at: datetime) -> bool:
    """An admin does not want it any more; False when nobody did. A failed one is forgotten.

    A node that has not restarted yet is given back; one that has is verified first.
    """
    before = next((one for one in restarts(session) if one.node == node), None)
    if before is None or before.withdrawn:
        return False
    _RESTARTS.put(session, (replace(before, withdrawn=True),))
    _said(session, by, at)
    return True


def pause(session: Session, by: str, at: datetime) -> bool:
    """Nothing is done about cGPU from now on; False when that is so already."""
    if control(session).paused:
        return False
    _said(session, by, at, paused=True)
    return True


def resume(session: Session, by: str, at: datetime, *, again: bool = True) -> None:
    """Go on: after a pause, after a stop, and to write again what somebody else has changed.

    With `again` a change that is over is opened anew, so that drifts of the installers are put
    right; what was written before does not count any more.
    """
    _said(session, by, at, paused=False)
    last = next(iter(changes(session, 1)), None)
    if last is None:
        return
    session.execute(delete(_PATCHES.table))
    if last.is_open:
        put_change(session, replace(last, stopped=""))
    elif again and last.outcome in (Outcome.CONVERGED, Outcome.UNPROVEN):
        begin_change(session, replace(last, by=by, started_at=at))


def begin_change(session: Session, change: Change) -> Change:
    """A change like this one, with a number of its own; the last one's writes are forgotten."""
    session.execute(delete(_PATCHES.table))
    values = {
        "policy": change.policy,
        "version": change.version,
        "by": change.by,
        "started_at": change.started_at,
        "stopped": "",
    }
    added = session.execute(insert(_CHANGES.table).values(values).returning(_CHANGES.table.c.id))
    return replace(change, id=added.scalar_one(), stopped="", ended_at=None, outcome=None)


def put_change(session: Session, change: Change) -> None:
    """Keep the change in place of what it was."""
    row = {"stopped": change.stopped, "ended_at": change.ended_at, "outcome": change.outcome}
    statement = update(_CHANGES.table).where(_CHANGES.table.c.id == change.id)
    session.execute(statement.values(row))


def put_patch(session: Session, patch: Patch) -> None:
    """Write down what is about to be written, or that it was seen."""
    _PATCHES.put(session, (patch,))


def put_restart(session: Session, restart: Restart) -> None:
    """How far it is; what an admin said meanwhile stays.

    One that was wished anew since is another one, and is left alone.
    """
    now = next((one for one in restarts(session) if one.node == restart.node), None)
    if now is not None and now.at == restart.at:
        _RESTARTS.put(session, (replace(restart, withdrawn=now.withdrawn),))


def end_restart(session: Session, restart: Restart) -> None:
    """Forget it, unless it was wished anew meanwhile."""
    column = _RESTARTS.table.c
    session.execute(
        delete(_RESTARTS.table).where(column.node == restart.node, column.at == restart.at)
    )


def learn(session: Session, before: Memory, after: Memory) -> None:
    """Keep what a look has taught: only rows that differ are written."""
    _INSTALLERS.put(session, _changed(before.installers, after.installers))
    _INSTALLERS.remove(session, before.installers.keys() - after.installers.keys())
    _NODES.put(session, _changed(before.nodes, after.nodes))
    _NODES.remove(session, before.nodes.keys() - after.nodes.keys())
    _PATCHES.put(session, _changed(before.patches, after.patches))


def accept_installers(session: Session, installers: Iterable[InstallerMemory]) -> None:
    """What they have now is what later looks are held against."""
    _INSTALLERS.put(session, installers)


def _changed(old: Mapping[str, V], new: Mapping[str, V]) -> list[V]:
    return [one for key, one in new.items() if old.get(key) != one]


def _said(session: Session, by: str, at: datetime, *, paused: bool | None = None) -> None:
    now = control(session)
    row = {
        "id": 1,
        "paused": now.paused if paused is None else paused,
        "by": now.by if paused is None and now.paused else by,
        "at": at,
        "revision": now.revision + 1,
    }
    put_rows(session, _CONTROL, [row])
