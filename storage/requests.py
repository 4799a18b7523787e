"""Requests that wait for a second admin, and what became of them."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from sqlalchemy import delete, func, select, update
from sqlalchemy.orm import Session

from domain.requests import NewRequest, Request, RequestKind, RequestState, Standing
from storage import configurations, switch
from storage.tables import RequestRow
from storage.values import Values
from storage.written import check_readable

_NEW = Values(RequestRow, NewRequest)
_REQUESTS = Values(RequestRow, Request)
_COLUMN = _REQUESTS.table.c

_FRESH: Final[dict[str, Any]] = {
    "state": RequestState.OPEN,
    "votes": (),
    "note": "",
    "reminded": 0,
    "revision": 1,
}
# What may change of a request; what it is bound to never does.
_CHANGING: Final = ("state", "votes", "decided_at", "note", "version", "reminded")


@dataclass(frozen=True, kw_only=True)
class AlreadyOpen:
    """Refused: this request of the same sort is open."""

    request: Request


def add(session: Session, asked: NewRequest) -> Request | AlreadyOpen:
    """Keep the request under the next number, unless another of its sort is open.

    Of a sort are requests of one kind, and proposals for one policy. Raises DocumentError when
    the configuration could not be read again.
    """
    slot = _slot(asked)
    if (other := _in_slot(session, slot)) is not None:
        return AlreadyOpen(request=other)
    check_readable(asked.configuration)
    _NEW.add(session, (asked,), slot=slot, **_FRESH)
    added = _in_slot(session, slot)
    assert added is not None
    return added


def request(session: Session, id: int) -> Request | None:  # noqa: A002  what people call it by
    """The request with that number."""
    found = _REQUESTS.read(session, _REQUESTS.select().where(_COLUMN.id == id))
    return found[0] if found else None


def open_requests(session: Session) -> tuple[Request, ...]:
    """Those that wait for a decision, oldest first."""
    return _of_state(session, RequestState.OPEN)


def approved_requests(session: Session) -> tuple[Request, ...]:
    """Those that are to be applied, or whose applying was interrupted, oldest first."""
    return _of_state(session, RequestState.APPROVED)


def requests(session: Session, limit: int) -> tuple[Request, ...]:
    """The latest, whatever became of them, newest first, at most `limit`."""
    return _REQUESTS.read(session, _REQUESTS.select().order_by(_COLUMN.id.desc()).limit(limit))


def replace(session: Session, request: Request) -> bool:
    """Keep what became of the request; False, and nothing happens, when it changed meanwhile.

    Of two who read the same revision, the first one wins; what it is now is to be read again.
    """
    slot = _slot(request) if request.state is RequestState.OPEN else None
    values = {name: getattr(request, name) for name in _CHANGING}
    values |= {"slot": slot, "revision": request.revision + 1}
    same = (_COLUMN.id == request.id, _COLUMN.revision == request.revision)
    statement = update(_REQUESTS.table).where(*same).values(values)
    return session.connection().execute(statement).rowcount == 1


def prune(session: Session, before: datetime) -> int:
    """Forget what was decided before that time; how many requests there were.

    The latest stays, whatever its age: its number would be given out again. What was approved
    and waits to be applied stays as well.
    """
    latest = select(func.max(_COLUMN.id)).scalar_subquery()
    over = (_COLUMN.decided_at < before, _COLUMN.slot.is_(None), _COLUMN.id < latest)
    statement = delete(_REQUESTS.table).where(*over, _COLUMN.state != RequestState.APPROVED)
    return session.connection().execute(statement).rowcount


def standing(session: Session, admins: frozenset[str] | None) -> Standing:
    """How things stand, for `domain.voting.vote` and `domain.requests.void_for`.

    A version that is approved and not yet applied counts: it will be in force.
    """
    last = configurations.approved(session) or configurations.provisioned(session)
    return Standing(
        admins=admins,
        draft=configurations.draft(session),
        provisioned=last.number if last else 0,
        enabled=switch.is_enabled(session),
    )


def _slot(asked: NewRequest) -> str:
    proposal = asked.kind is RequestKind.PROPOSAL
    return f"{asked.kind.value}:{asked.subject}" if proposal else asked.kind.value


def _in_slot(session: Session, slot: str) -> Request | None:
    found = _REQUESTS.read(session, _REQUESTS.select().where(_COLUMN.slot == slot))
    return found[0] if found else None


def _of_state(session: Session, state: RequestState) -> tuple[Request, ...]:
    of_state = _REQUESTS.select().where(_COLUMN.state == state)
    return _REQUESTS.read(session, of_state.order_by(_COLUMN.id))
