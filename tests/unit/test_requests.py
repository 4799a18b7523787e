"""Requests end once, by the right people, and only as what they were asked for as."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.configuration import Configuration
from domain.ledger import Draft
from domain.renames import Kind, Renames
from domain.requests import (
    ApprovalRules,
    Request,
    RequestKind,
    RequestState,
    Standing,
    Vote,
    applied,
    due_reminders,
    expire,
    failed,
    request_number,
    stale,
    void_for,
)
from domain.voting import (
    AlreadyDecided,
    AlreadyVoted,
    Ballot,
    Counted,
    Decision,
    Expired,
    NotAdmin,
    OwnRequest,
    Stale,
    vote,
)
from tests.configurations import laws

NOW = datetime(2026, 12, 1, 10, tzinfo=UTC)
HOUR = timedelta(hours=1)
RENAMES = Renames({Kind.POOL: {"metal": "bare-metal"}})
DRAFT = Draft(
    configuration=Configuration(), renames=RENAMES, hash="d1", base=4, revision=7, by="ann", at=NOW
)
STANDING = Standing(
    admins=frozenset({"ann", "bob", "eve"}), draft=DRAFT, provisioned=4, enabled=True
)
REQUEST = Request(
    id=17,
    kind=RequestKind.PROVISION,
    hash="d1",
    base=4,
    configuration=Configuration(),
    renames=RENAMES,
    by="ann",
    at=NOW,
    expires_at=NOW + 24 * HOUR,
)
ROLLBACK = replace(REQUEST, kind=RequestKind.ROLLBACK, hash="old", subject="2")
PROPOSAL = replace(REQUEST, kind=RequestKind.PROPOSAL, hash="p", subject="dev", by="mia")
ENABLE = replace(REQUEST, kind=RequestKind.ENABLE, hash="", base=0, configuration=None)
DISABLE = replace(ENABLE, kind=RequestKind.DISABLE)
RULES = ApprovalRules()
TWO = ApprovalRules(approvals=2)


def ballot(by: str, approve: bool = True, after: timedelta = HOUR) -> Ballot:
    return Ballot(by=by, approve=approve, at=NOW + after)


def counted(decision: Decision) -> Request:
    assert isinstance(decision, Counted)
    return decision.request


def test_another_admin_approves() -> None:
    approved = counted(vote(REQUEST, ballot("bob"), STANDING, RULES))

    yes = Vote(by="bob", approve=True, at=NOW + HOUR)
    assert approved == replace(
        REQUEST, state=RequestState.APPROVED, votes=(yes,), decided_at=NOW + HOUR
    )
    assert approved.decision == yes


@pytest.mark.parametrize("approvals", [1, 2, 3])
def test_one_admin_rejects_however_many_approvals_it_takes(approvals: int) -> None:
    rules = ApprovalRules(approvals=approvals)

    rejected = counted(vote(REQUEST, ballot("bob", approve=False), STANDING, rules))

    assert rejected.state is RequestState.REJECTED
    assert rejected.decision == Vote(by="bob", approve=False, at=NOW + HOUR)
    assert rejected.decided_at == NOW + HOUR


def test_two_approvals_are_two_people() -> None:
    first = vote(REQUEST, ballot("bob"), STANDING, TWO)

    open_still = counted(first)
    assert first == Counted(request=open_still, missing=1)
    assert (open_still.state, open_still.decision) == (RequestState.OPEN, None)

    again = vote(open_still, ballot("bob", after=2 * HOUR), STANDING, TWO)
    assert again == AlreadyVoted(request=open_still, vote=open_still.votes[0], missing=1)

    approved = counted(vote(open_still, ballot("eve", after=2 * HOUR), STANDING, TWO))
    assert approved.state is RequestState.APPROVED
    assert [one.by for one in approved.votes] == ["bob", "eve"]


def test_who_approved_may_still_reject_while_it_is_open() -> None:
    open_still = counted(vote(REQUEST, ballot("bob"), STANDING, TWO))

    rejected = counted(vote(open_still, ballot("bob", approve=False), STANDING, TWO))

    assert rejected.state is RequestState.REJECTED
    assert rejected.votes == (Vote(by="bob", approve=False, at=NOW + HOUR),)


def test_an_approval_counts_no_more_when_its_author_is_no_admin_any_more() -> None:
    open_still = counted(vote(REQUEST, ballot("bob"), STANDING, TWO))
    without_bob = replace(STANDING, admins=frozenset({"ann", "eve", "joe"}))

    second = vote(open_still, ballot("eve"), without_bob, TWO)

    assert isinstance(second, Counted)
    assert (second.request.state, second.missing) == (RequestState.OPEN, 1)
    assert counted(vote(second.request, ballot("joe"), without_bob, TWO)).state is (
        RequestState.APPROVED
    )


def test_saying_it_again_is_enough_when_the_rules_have_come_to_ask_for_less() -> None:
    open_still = counted(vote(REQUEST, ballot("bob"), STANDING, TWO))

    approved = counted(vote(open_still, ballot("bob", after=2 * HOUR), STANDING, RULES))

    assert approved.state is RequestState.APPROVED
    assert approved.votes == (Vote(by="bob", approve=True, at=NOW + 2 * HOUR),)


@pytest.mark.parametrize(
    ("admins", "lone", "refused"),
    [
        pytest.param({"ann", "bob"}, False, OwnRequest(request=REQUEST, alone=False), id="others"),
        pytest.param({"ann", "bob"}, True, OwnRequest(request=REQUEST, alone=False), id="allowed"),
        pytest.param({"ann"}, False, OwnRequest(request=REQUEST, alone=True), id="alone"),
        pytest.param({"bob"}, True, NotAdmin(request=REQUEST, unknown=False), id="no admin"),
        pytest.param(None, True, NotAdmin(request=REQUEST, unknown=True), id="unknown"),
        pytest.param(set(), True, NotAdmin(request=REQUEST, unknown=False), id="no admins"),
    ],
)
def test_nobody_approves_what_he_asked_for(
    admins: set[str] | None, lone: bool, refused: Decision
) -> None:
    standing = replace(STANDING, admins=None if admins is None else frozenset(admins))
    rules = ApprovalRules(lone_admin_may_approve=lone)

    assert vote(REQUEST, ballot("ann"), standing, rules) == refused


@pytest.mark.parametrize("approvals", [1, 2])
def test_an_only_admin_approves_his_own_where_the_rules_allow_it(approvals: int) -> None:
    alone = replace(STANDING, admins=frozenset({"ann"}))
    rules = ApprovalRules(approvals=approvals, lone_admin_may_approve=True)

    assert counted(vote(REQUEST, ballot("ann"), alone, rules)).state is RequestState.APPROVED


@pytest.mark.parametrize("approve", [True, False], ids=["approve", "reject"])
@pytest.mark.parametrize("unknown", [True, False], ids=["unknown members", "known members"])
def test_only_admins_decide_and_nobody_while_it_is_unknown_who_they_are(
    approve: bool, unknown: bool
) -> None:
    standing = replace(STANDING, admins=None) if unknown else STANDING
    by = "bob" if unknown else "mia"

    decision = vote(REQUEST, ballot(by, approve=approve), standing, RULES)

    assert decision == NotAdmin(request=REQUEST, unknown=unknown)


@pytest.mark.parametrize("admins", [None, STANDING.admins], ids=["unknown members", "no admin"])
def test_who_asked_may_withdraw(admins: frozenset[str] | None) -> None:
    standing = replace(STANDING, admins=admins)

    withdrawn = counted(vote(PROPOSAL, ballot("mia", approve=False), standing, RULES))

    assert withdrawn.state is RequestState.VOIDED
    assert withdrawn.note == "withdrawn by who asked for it"
    assert withdrawn.decision == Vote(by="mia", approve=False, at=NOW + HOUR)


@pytest.mark.parametrize("state", [state for state in RequestState if state != "open"])
@pytest.mark.parametrize(
    ("by", "approve"), [("bob", True), ("eve", False), ("ann", True), ("ann", False)]
)
def test_late_clicks_change_nothing(state: RequestState, by: str, approve: bool) -> None:
    decided = replace(REQUEST, state=state, decided_at=NOW)

    assert vote(decided, ballot(by, approve), STANDING, RULES) == AlreadyDecided(request=decided)


@pytest.mark.parametrize(
    ("after", "late"),
    [
        pytest.param(24 * HOUR - timedelta(microseconds=1), False, id="just in time"),
        pytest.param(24 * HOUR, True, id="too late"),
    ],
)
@pytest.mark.parametrize("by", ["bob", "ann"])
@pytest.mark.parametrize("approve", [True, False], ids=["approve", "reject"])
def test_a_vote_after_the_end_expires_the_request(
    after: timedelta, late: bool, by: str, approve: bool
) -> None:
    decision = vote(REQUEST, ballot(by, approve, after), STANDING, RULES)

    assert isinstance(decision, Expired) == late
    if late:
        assert decision == Expired(request=expire([REQUEST], NOW + after)[0])


STALE = [
    pytest.param(REQUEST, {"draft": None}, "the draft was deleted", id="draft deleted"),
    pytest.param(
        REQUEST, {"draft": replace(DRAFT, hash="d2")}, "the draft was changed", id="draft edited"
    ),
    pytest.param(
        REQUEST,
        {"draft": replace(DRAFT, renames=Renames())},
        "the draft was changed",
        id="same names, nothing renamed",
    ),
    pytest.param(
        REQUEST, {"draft": replace(DRAFT, base=3)}, "made from version 3", id="another base"
    ),
    pytest.param(REQUEST, {"provisioned": 5}, "version 5 was approved", id="overtaken"),
    pytest.param(ROLLBACK, {"provisioned": 5}, "version 5 was approved", id="rollback overtaken"),
    pytest.param(PROPOSAL, {"provisioned": 5}, "version 5 was approved", id="proposal overtaken"),
    pytest.param(ENABLE, {"enabled": True}, "management is on already", id="on already"),
    pytest.param(DISABLE, {"enabled": False}, "management is off already", id="off already"),
]


@pytest.mark.parametrize(("request_", "change", "says"), STALE)
def test_what_changed_under_a_request_voids_it(
    request_: Request, change: dict[str, object], says: str
) -> None:
    standing = replace(STANDING, **change)  # type: ignore[arg-type]

    reason = stale(request_, standing)
    assert reason is not None
    assert says in reason

    voided = replace(request_, state=RequestState.VOIDED, decided_at=NOW + HOUR, note=reason)
    assert voided.decision is None
    assert void_for([request_], standing, NOW + HOUR) == (voided,)
    for approve in (True, False):
        assert vote(request_, ballot("bob", approve), standing, RULES) == Stale(request=voided)


@pytest.mark.parametrize(
    ("request_", "change"),
    [
        pytest.param(REQUEST, {}, id="nothing changed"),
        pytest.param(
            REQUEST, {"draft": replace(DRAFT, revision=9, by="eve")}, id="saved again as it was"
        ),
        pytest.param(REQUEST, {"enabled": False}, id="the switch"),
        pytest.param(ROLLBACK, {"draft": None, "enabled": False}, id="rollback and the draft"),
        pytest.param(PROPOSAL, {"draft": None, "enabled": False}, id="proposal and the draft"),
        pytest.param(DISABLE, {"draft": None, "provisioned": 5}, id="disable and a version"),
        pytest.param(ENABLE, {"enabled": False, "provisioned": 5}, id="enable and a version"),
    ],
)
def test_what_a_request_is_not_bound_to_may_change(
    request_: Request, change: dict[str, object]
) -> None:
    standing = replace(STANDING, **change)  # type: ignore[arg-type]

    assert void_for([request_], standing, NOW) == ()
    assert counted(vote(request_, ballot("bob"), standing, RULES)).state is RequestState.APPROVED


def test_an_approval_does_not_say_that_its_author_voided_the_request() -> None:
    approved_once = counted(vote(REQUEST, ballot("bob"), STANDING, TWO))

    (voided,) = void_for([approved_once], replace(STANDING, provisioned=5), NOW)

    assert voided.votes == approved_once.votes
    assert voided.decision is None


def test_only_open_requests_end_by_time_or_change() -> None:
    decided = [replace(REQUEST, state=state) for state in RequestState if state != "open"]

    assert expire(decided, NOW + 48 * HOUR) == ()
    assert void_for(decided, replace(STANDING, provisioned=5), NOW) == ()
    assert due_reminders(decided, NOW + 12 * HOUR, RULES) == ()


def test_requests_expire_when_their_time_is_over() -> None:
    later = replace(REQUEST, id=18, expires_at=NOW + 25 * HOUR)

    (over,) = expire([REQUEST, later], NOW + 24 * HOUR)

    assert (over.id, over.state, over.decided_at) == (17, RequestState.EXPIRED, NOW + 24 * HOUR)
    assert over.note == "nobody decided in time"
    assert over.decision is None


@pytest.mark.parametrize(
    ("hours", "reminded", "now"),
    [
        pytest.param(7.9, 0, None, id="not yet"),
        pytest.param(8, 0, 1, id="first"),
        pytest.param(15, 1, None, id="between"),
        pytest.param(16, 1, 2, id="second"),
        pytest.param(16, 0, 2, id="the first was missed"),
        pytest.param(23.9, 2, None, id="no third"),
        pytest.param(24, 1, None, id="over"),
    ],
)
def test_admins_are_reminded_a_few_times(hours: float, reminded: int, now: int | None) -> None:
    waiting = replace(REQUEST, reminded=reminded)

    due = due_reminders([waiting], NOW + hours * HOUR, RULES)

    assert due == (() if now is None else (replace(waiting, reminded=now),))


def test_an_approved_request_keeps_who_decided_it() -> None:
    approved = counted(vote(REQUEST, ballot("bob"), STANDING, RULES))

    done, given_up = applied(approved, 5), failed(approved, "ClearML refused")

    assert (done.state, done.version) == (RequestState.APPLIED, 5)
    assert (given_up.state, given_up.note) == (RequestState.FAILED, "ClearML refused")
    for one in (done, given_up):
        assert (one.decision, one.decided_at) == (approved.decision, NOW + HOUR)


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("r17", 17),
        ("R17", 17),
        (" #17 ", 17),
        ("17", 17),
        ("#r17", 17),
        ("", None),
        ("r", None),
        ("rr1", None),
        ("-1", None),
        ("1.0", None),
        ("١", None),
        ("9" * 5000, None),
    ],
)
def test_a_request_is_named_by_its_number(text: str, number: int | None) -> None:
    assert request_number(text) == number


def test_its_name_is_read_as_its_number() -> None:
    assert REQUEST.name == "r17"
    assert request_number(REQUEST.name) == REQUEST.id


@pytest.mark.parametrize(
    "rules",
    [
        pytest.param({"approvals": 0}, id="no approvals"),
        pytest.param({"expires_after": timedelta()}, id="no time"),
        pytest.param({"remind_after": timedelta()}, id="reminders at once"),
    ],
)
def test_rules_without_approval_or_time_are_refused(rules: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=r"approval|no time"):
        ApprovalRules(**rules)  # type: ignore[arg-type]


people = st.sampled_from(["ann", "bob", "eve", "joe", "mia"])
memberships = st.none() | st.frozensets(people)
standings = st.builds(
    Standing,
    admins=memberships,
    draft=st.sampled_from([DRAFT, DRAFT, DRAFT, None, replace(DRAFT, hash="d2")]),
    provisioned=st.sampled_from([4, 4, 4, 5]),
    enabled=st.booleans(),
)
ballots = st.tuples(people, st.booleans(), st.integers(0, 26))
anything = st.sampled_from([REQUEST, ROLLBACK, PROPOSAL, ENABLE, DISABLE])
all_rules = st.builds(
    ApprovalRules, approvals=st.integers(1, 3), lone_admin_may_approve=st.booleans()
)


@laws
@given(made=anything, events=st.lists(st.tuples(ballots, standings), max_size=8), rules=all_rules)
def test_whatever_is_approved_was_approved_as_it_stood_by_enough_admins(
    made: Request, events: list[tuple[tuple[str, bool, int], Standing]], rules: ApprovalRules
) -> None:
    request = made
    for (by, approve, hours), standing in events:
        decision = vote(request, ballot(by, approve, hours * HOUR), standing, rules)
        after = decision.request
        if request.state is not RequestState.OPEN:
            assert decision == AlreadyDecided(request=request) or isinstance(decision, NotAdmin)
            assert after == request
        if after.state is RequestState.APPROVED and request.state is RequestState.OPEN:
            assert stale(request, standing) is None
            assert NOW + hours * HOUR < request.expires_at
            assert standing.admins is not None
            yes = {one.by for one in after.votes if one.approve} & standing.admins
            alone = standing.admins == {made.by} and rules.lone_admin_may_approve
            assert yes == {made.by} if alone else len(yes - {made.by}) >= rules.approvals
        if after.state is RequestState.REJECTED and request.state is RequestState.OPEN:
            assert standing.admins is not None
            assert by in standing.admins
        request = after
    assert replace(made, **_outcome(request)) == request  # type: ignore[arg-type]


def _outcome(request: Request) -> dict[str, object]:
    names = ("state", "votes", "decided_at", "note")
    return {name: getattr(request, name) for name in names}
