"""Changes that wait for a second admin: what each is bound to, and how it ends.

DESIGN.md, "Provision". A request carries what would be applied, as it stood when it was asked
for; `stale` says what has changed since. Every function returns changed copies, and the caller
keeps them. How votes are counted is in domain/voting.py.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final

from domain.configuration import Configuration
from domain.ledger import Draft
from domain.renames import Renames


class RequestKind(StrEnum):
    """What is asked for."""

    PROVISION = "provision"
    """The shared draft, as it stands."""
    ROLLBACK = "rollback"
    """The configuration of an older version."""
    ENABLE = "enable"
    DISABLE = "disable"
    PROPOSAL = "proposal"
    """Another reservation or limit for a policy, asked for by one of its members."""
    CGPU = "cgpu"
    """What is provisioned, with another cGPU policy."""


class RequestState(StrEnum):
    """How far a request has come."""

    OPEN = "open"
    APPROVED = "approved"
    """To be applied, or being applied: whoever finds it so resumes."""
    REJECTED = "rejected"
    VOIDED = "voided"
    """Withdrawn, or what it was bound to has changed; the note says which."""
    EXPIRED = "expired"
    APPLIED = "applied"
    FAILED = "failed"


@dataclass(frozen=True, kw_only=True)
class Vote:
    """What one person said about a request."""

    by: str
    approve: bool
    at: datetime


@dataclass(frozen=True, kw_only=True)
class NewRequest:
    """A request as somebody makes it.

    `hash` is the configuration's own; `base` the number of the provisioned version that the
    request was made against and that `renames` speak of, 0 before the first. A request to enable
    or disable has no configuration, an empty hash, and ignores the base. `subject` is the policy
    of a proposal, the number of the version that a rollback leads back to, or the number of a cGPU
    policy, else empty.
    """

    kind: RequestKind
    hash: str = ""
    base: int = 0
    configuration: Configuration | None = None
    renames: Renames = field(default_factory=Renames)
    subject: str = ""
    reason: str = ""
    by: str
    at: datetime
    expires_at: datetime


@dataclass(frozen=True, kw_only=True)
class Request(NewRequest):
    """A request that was made, under the number by which people name it.

    `version` is the number of the version that it became; `reminded` how often admins were
    reminded; `decided_at` when it left the state of being open. `revision` grows whenever it is
    kept anew (storage/requests.py).
    """

    id: int
    state: RequestState = RequestState.OPEN
    votes: tuple[Vote, ...] = ()
    decided_at: datetime | None = None
    note: str = ""
    version: int | None = None
    reminded: int = 0
    revision: int = 1

    @property
    def name(self) -> str:
        """What people call it, as `r17`."""
        return f"r{self.id}"

    @property
    def decision(self) -> Vote | None:
        """The vote that decided it; None while it is open, or where no person did."""
        if self.state in (RequestState.OPEN, RequestState.EXPIRED) or not self.votes:
            return None
        last = self.votes[-1]
        # A voided request may have approvals: those did not void it.
        return None if self.state is RequestState.VOIDED and last.approve else last


@dataclass(frozen=True, kw_only=True)
class ApprovalRules:
    """What an approval takes. Raises ValueError for no approvals, or no time.

    With `lone_admin_may_approve` an only admin may approve what he asked for himself. A request
    is reminded of `reminders` times at most, `remind_after` apart.
    """

    approvals: int = 1
    lone_admin_may_approve: bool = False
    expires_after: timedelta = timedelta(hours=24)
    reminders: int = 2
    remind_after: timedelta = timedelta(hours=8)

    def __post_init__(self) -> None:
        if self.approvals < 1:
            raise ValueError("a change takes at least one approval")
        if min(self.expires_after, self.remind_after) <= timedelta():
            raise ValueError("requests are open, and reminders apart, for more than no time")


@dataclass(frozen=True, kw_only=True)
class Standing:
    """How things stand while somebody decides.

    `admins` is None when membership cannot be read. `provisioned` is the number of the last
    version that was approved, applied or not, 0 before the first; `enabled` the switch.
    """

    admins: frozenset[str] | None = None
    draft: Draft | None
    provisioned: int
    enabled: bool


def request_number(text: str) -> int | None:
    """The number in `r17`, `R17`, `#17` or `17`; None where there is none."""
    digits = text.strip().lower().removeprefix("#").removeprefix("r")
    return int(digits) if digits.isascii() and digits.isdigit() and len(digits) < _DIGITS else None


_DIGITS: Final = 10


def stale(request: Request, standing: Standing) -> str | None:
    """What has changed under the request since it was made, None when nothing has.

    A draft is the same when its configuration and its renames are: the same names may mean a
    renamed pool or a deleted and a new one.
    """
    if request.kind is RequestKind.ENABLE:
        return "management is on already" if standing.enabled else None
    if request.kind is RequestKind.DISABLE:
        return None if standing.enabled else "management is off already"
    if standing.provisioned != request.base:
        return f"version {standing.provisioned} was approved after it was asked for"
    if request.kind is not RequestKind.PROVISION:
        return None
    if (draft := standing.draft) is None:
        return "the draft was deleted"
    if draft.base != request.base:
        return f"the draft was made from version {draft.base}"
    same = (draft.hash, draft.renames) == (request.hash, request.renames)
    return None if same else "the draft was changed after it was asked for"


def void_for(requests: Iterable[Request], standing: Standing, now: datetime) -> tuple[Request, ...]:
    """Those of the open requests that are stale, voided, with the reason as their note."""
    reasons = [(request, stale(request, standing)) for request in _open(requests)]
    return tuple(voided(request, reason, now) for request, reason in reasons if reason)


def expire(requests: Iterable[Request], now: datetime) -> tuple[Request, ...]:
    """Those of the open requests whose time is over, expired."""
    over = (request for request in _open(requests) if now >= request.expires_at)
    return tuple(expired(request, now) for request in over)


def due_reminders(
    requests: Iterable[Request], now: datetime, rules: ApprovalRules
) -> tuple[Request, ...]:
    """Those of the open requests that admins are to be reminded of, with that counted.

    Reminders that were missed are counted and not made up for.
    """
    found = []
    for request in _open(requests):
        due = min((now - request.at) // rules.remind_after, rules.reminders)
        if due > request.reminded and now < request.expires_at:
            found.append(replace(request, reminded=due))
    return tuple(found)


def voided(request: Request, note: str, now: datetime) -> Request:
    """The request, ended because of what the note says."""
    return replace(request, state=RequestState.VOIDED, decided_at=now, note=note)


def expired(request: Request, now: datetime) -> Request:
    """The request, ended because nobody decided in time."""
    return replace(
        request, state=RequestState.EXPIRED, decided_at=now, note="nobody decided in time"
    )


def applied(request: Request, version: int | None = None) -> Request:
    """The approved request, done; `version` is what it became, None for the switch."""
    return replace(request, state=RequestState.APPLIED, version=version)


def failed(request: Request, note: str) -> Request:
    """The approved request, given up because of what the note says."""
    return replace(request, state=RequestState.FAILED, note=note)


def _open(requests: Iterable[Request]) -> Iterable[Request]:
    return (request for request in requests if request.state is RequestState.OPEN)
