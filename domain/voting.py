"""One person decides about a request: whether the vote counts, and what the request is then.

DESIGN.md, "Provision" and rules 4 and 6: nothing is applied that was not approved as it stands,
and when membership cannot be read, the answer is no.
"""

from dataclasses import dataclass, replace
from datetime import datetime
from typing import TypeAlias

from domain.requests import (
    ApprovalRules,
    Request,
    RequestState,
    Standing,
    Vote,
    expired,
    stale,
    voided,
)

Ballot: TypeAlias = Vote
"""A vote that is being cast: who says yes or no, and when."""


@dataclass(frozen=True, kw_only=True)
class Counted:
    """The vote counts: keep the request. `missing` approvals are still needed while it is open."""

    request: Request
    missing: int = 0


@dataclass(frozen=True, kw_only=True)
class AlreadyVoted:
    """Nothing changes: the same person said the same before. `missing` approvals are needed."""

    request: Request
    vote: Vote
    missing: int


@dataclass(frozen=True, kw_only=True)
class AlreadyDecided:
    """Nothing changes: its `state`, `decision`, `decided_at` and `note` say what happened."""

    request: Request


@dataclass(frozen=True, kw_only=True)
class OwnRequest:
    """Refused: nobody approves what he asked for; `alone` when there is no other admin."""

    request: Request
    alone: bool


@dataclass(frozen=True, kw_only=True)
class NotAdmin:
    """Refused: only admins decide; `unknown` when it cannot be read who they are."""

    request: Request
    unknown: bool


@dataclass(frozen=True, kw_only=True)
class Stale:
    """Refused: what it was bound to has changed. Keep the voided request; its note says what."""

    request: Request


@dataclass(frozen=True, kw_only=True)
class Expired:
    """Refused: too late. Keep the expired request."""

    request: Request


Decision: TypeAlias = (
    Counted | AlreadyVoted | AlreadyDecided | OwnRequest | NotAdmin | Stale | Expired
)


def vote(request: Request, ballot: Ballot, standing: Standing, rules: ApprovalRules) -> Decision:
    """What becomes of the request by this vote.

    One admin rejects; who asked may always withdraw. Approvals count while their authors are
    admins, and where an only admin may approve his own request, his approval is enough.
    """
    withdraws = ballot.by == request.by and not ballot.approve
    if not withdraws and (refused := _not_admin(request, ballot, standing)) is not None:
        return refused
    if (ended := _ended(request, ballot.at, standing)) is not None:
        return ended
    if withdraws:
        return Counted(request=_withdrawn(request, ballot))
    if not ballot.approve:
        return Counted(request=_decided(request, ballot, RequestState.REJECTED))
    return _approve(request, ballot, standing.admins or frozenset(), rules)


def _not_admin(request: Request, ballot: Ballot, standing: Standing) -> NotAdmin | None:
    if standing.admins is None:
        return NotAdmin(request=request, unknown=True)
    return None if ballot.by in standing.admins else NotAdmin(request=request, unknown=False)


def _ended(
    request: Request, now: datetime, standing: Standing
) -> AlreadyDecided | Expired | Stale | None:
    if request.state is not RequestState.OPEN:
        return AlreadyDecided(request=request)
    if now >= request.expires_at:
        return Expired(request=expired(request, now))
    if (reason := stale(request, standing)) is not None:
        return Stale(request=voided(request, reason, now))
    return None


def _approve(
    request: Request, ballot: Ballot, admins: frozenset[str], rules: ApprovalRules
) -> Decision:
    alone = admins == {request.by}
    if ballot.by == request.by and not (alone and rules.lone_admin_may_approve):
        return OwnRequest(request=request, alone=alone)
    needed = 1 if alone else rules.approvals
    earlier = {one.by: one for one in request.votes if one.by in admins}
    missing = max(0, needed - len(earlier.keys() | {ballot.by}))
    if missing and ballot.by in earlier:
        return AlreadyVoted(request=request, vote=earlier[ballot.by], missing=missing)
    if missing:
        return Counted(request=replace(request, votes=_with(request, ballot)), missing=missing)
    return Counted(request=_decided(request, ballot, RequestState.APPROVED))


def _withdrawn(request: Request, ballot: Ballot) -> Request:
    note = "withdrawn by who asked for it"
    return replace(_decided(request, ballot, RequestState.VOIDED), note=note)


def _decided(request: Request, ballot: Ballot, state: RequestState) -> Request:
    return replace(request, state=state, votes=_with(request, ballot), decided_at=ballot.at)


def _with(request: Request, ballot: Ballot) -> tuple[Vote, ...]:
    """The votes with this one, in place of an earlier one of the same person."""
    return (*(one for one in request.votes if one.by != ballot.by), ballot)
