"""What the Slack bot stands on: requests, working copies, schedules, people, messages, tasks."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, date, datetime, time, timedelta

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from domain.configuration import Configuration
from domain.ledger import Draft
from domain.people import Preferences, Viewer
from domain.renames import Kind, Renames
from domain.requests import (
    ApprovalRules,
    NewRequest,
    Request,
    RequestKind,
    RequestState,
    Standing,
    Vote,
    applied,
    void_for,
)
from domain.schedules import Schedule
from domain.tasks import TaskFacts
from domain.voting import Ballot, Counted, Stale, vote
from storage import (
    alerts,
    cards,
    configurations,
    deliveries,
    people,
    requests,
    schedules,
    schema,
    switch,
    tasks,
    working_copies,
)
from storage.alerts import Alert
from storage.cards import Card
from storage.configurations import Approval, DraftContent
from storage.database import Database, Session, StorageError, open_database
from storage.documents import DocumentError
from storage.requests import AlreadyOpen
from storage.working_copies import ChangedMeanwhile, WorkingCopy
from tests.configurations import WORKED
from tests.conftest import Opener
from tests.postgres_support import engine_that_writes

NOW = datetime(2026, 12, 1, 10, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
DAY = timedelta(days=1)
RENAMES = Renames({Kind.POOL: {"metal": "bare-metal"}, Kind.POLICY: {"old": "dev"}})
ASKED = NewRequest(
    kind=RequestKind.PROVISION,
    hash="h1",
    base=4,
    configuration=WORKED,
    renames=RENAMES,
    reason="more for <research>\nand less for dev",
    by="ann",
    at=NOW,
    expires_at=NOW + DAY,
)
PROPOSAL = replace(ASKED, kind=RequestKind.PROPOSAL, subject="dev")
TWICE = replace(WORKED, pools=WORKED.pools * 2)
VOTES = (
    Vote(by="bob", approve=True, at=NOW + MINUTE),
    Vote(by="eve", approve=False, at=NOW + 2 * MINUTE),
)
COPY = WorkingCopy(
    user="ann", configuration=WORKED, renames=RENAMES, base=4, draft=7, changed_at=NOW
)
SCHEDULE = Schedule(
    channel="C1",
    policies=("dev", "research"),
    at=time(9, 5),
    days=frozenset({0, 4}),
    zone="Europe/Berlin",
    on=False,
    by="ann",
    changed_at=NOW,
)
CARD = Card(key="status", channel="C1", ts="1.2", hash="abc", updated_at=NOW)
ALERT = Alert(cause="clearml-down", kind="outage", text="ClearML does not answer.", since=NOW)
TASK = TaskFacts(task="aa11", name="Train Größe 100%", user="u1")


@pytest.fixture
def database(open_: Opener) -> Database:
    return open_()


@pytest.fixture
def session(database: Database) -> Iterator[Session]:
    with database.transaction() as session:
        yield session


def added(session: Session, asked: NewRequest) -> Request:
    request = requests.add(session, asked)
    assert isinstance(request, Request)
    return request


def test_a_request_is_kept_as_it_was_made_under_the_next_number(session: Session) -> None:
    first, second = added(session, ASKED), added(session, PROPOSAL)

    assert first == Request(**vars(ASKED), id=1)
    assert second == Request(**vars(PROPOSAL), id=2)
    assert requests.request(session, 1) == first
    assert requests.request(session, 3) is None


def test_what_became_of_a_request_is_kept(session: Session) -> None:
    first = added(session, ASKED)
    decided = replace(
        first,
        state=RequestState.FAILED,
        votes=VOTES,
        decided_at=NOW + MINUTE,
        note="why",
        version=5,
        reminded=2,
    )

    assert requests.replace(session, decided)

    assert requests.request(session, 1) == replace(decided, revision=2)


def test_what_a_request_is_bound_to_never_changes(session: Session) -> None:
    first = added(session, ASKED)
    other = {"hash": "h2", "base": 5, "configuration": None, "renames": Renames(), "by": "eve"}

    requests.replace(session, replace(first, **other))  # type: ignore[arg-type]

    assert requests.request(session, 1) == replace(first, revision=2)


def test_a_request_for_the_switch_has_no_configuration(session: Session) -> None:
    asked = NewRequest(kind=RequestKind.DISABLE, by="ann", at=NOW, expires_at=NOW + DAY)

    assert added(session, asked) == Request(**vars(asked), id=1)


@pytest.mark.parametrize(
    ("asked", "other"),
    [
        pytest.param(ASKED, replace(ASKED, hash="h2", by="eve"), id="two drafts"),
        pytest.param(PROPOSAL, replace(PROPOSAL, hash="h2", by="eve"), id="for one policy"),
    ],
)
def test_one_of_a_sort_is_open(session: Session, asked: NewRequest, other: NewRequest) -> None:
    first = added(session, asked)

    assert requests.add(session, other) == AlreadyOpen(request=first)
    assert requests.open_requests(session) == (first,)

    requests.replace(session, replace(first, state=RequestState.REJECTED))
    assert added(session, other).id == 2


@pytest.mark.parametrize(
    "other",
    [
        pytest.param(replace(PROPOSAL, subject="research"), id="another policy"),
        pytest.param(replace(ASKED, kind=RequestKind.ROLLBACK, subject="dev"), id="another kind"),
    ],
)
def test_different_sorts_are_open_together(session: Session, other: NewRequest) -> None:
    both = added(session, PROPOSAL), added(session, other)

    assert requests.open_requests(session) == both


def test_requests_are_found_by_what_became_of_them(session: Session) -> None:
    policies = ["a", "b", "c", "d"]
    made = [added(session, replace(PROPOSAL, subject=policy)) for policy in policies]
    for one in made[1:3]:
        requests.replace(session, replace(one, state=RequestState.APPROVED))

    assert [one.id for one in requests.open_requests(session)] == [1, 4]
    assert [one.id for one in requests.approved_requests(session)] == [2, 3]
    assert [one.id for one in requests.requests(session, 3)] == [4, 3, 2]


def test_decided_requests_are_forgotten_but_for_the_last_and_those_to_be_applied(
    session: Session,
) -> None:
    """The last one's number would be given out again."""
    states = (RequestState.REJECTED, RequestState.APPROVED, RequestState.APPLIED)
    for state in (*states, RequestState.REJECTED):
        one = added(session, ASKED)
        requests.replace(session, replace(one, state=state, decided_at=NOW))
    last = added(session, replace(ASKED, kind=RequestKind.PROPOSAL, subject="dev"))
    requests.replace(session, replace(last, state=RequestState.REJECTED, decided_at=NOW))

    assert requests.prune(session, NOW) == 0
    assert requests.prune(session, NOW + MINUTE) == 3

    left = requests.requests(session, 9)
    assert [one.state for one in left] == [RequestState.REJECTED, RequestState.APPROVED]
    assert left[0].id == last.id
    assert added(session, ASKED).id == last.id + 1


def test_a_request_whose_configuration_could_not_be_read_again_is_refused(
    session: Session,
) -> None:
    with pytest.raises(DocumentError):
        requests.add(session, replace(ASKED, configuration=TWICE))

    assert requests.requests(session, 10) == ()


def test_of_two_who_read_the_same_revision_the_first_wins(session: Session) -> None:
    read = added(session, ASKED)
    approved = replace(read, state=RequestState.APPROVED, votes=VOTES[:1])

    assert requests.replace(session, approved)
    assert not requests.replace(session, replace(read, state=RequestState.REJECTED))

    now = requests.request(session, 1)
    assert now == replace(approved, revision=2)
    assert requests.replace(session, applied(now, 5))
    assert requests.approved_requests(session) == ()


def test_of_eight_who_approve_at_once_every_vote_is_kept(database: Database) -> None:
    voters = frozenset(f"admin{n}" for n in range(8))
    rules = ApprovalRules(approvals=8)
    with database.transaction() as session:
        made = added(session, replace(ASKED, kind=RequestKind.ROLLBACK, base=0))

    def approve(by: str) -> None:
        for _ in range(100):
            with database.reading() as session:
                read = requests.request(session, made.id)
                stands = requests.standing(session, voters)
            assert read is not None
            decision = vote(read, Ballot(by=by, approve=True, at=NOW), stands, rules)
            with database.transaction() as session:
                if requests.replace(session, decision.request):
                    return
        raise AssertionError("never the first")

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(approve, voters))

    with database.reading() as session:
        (approved,) = requests.approved_requests(session)
    assert {one.by for one in approved.votes} == voters
    assert len(approved.votes) == 8
    assert approved.revision == 9


def test_how_things_stand_at_first(session: Session) -> None:
    assert requests.standing(session, None) == Standing(
        admins=None, draft=None, provisioned=0, enabled=True
    )


def test_how_things_stand_counts_a_version_that_is_still_to_be_applied(session: Session) -> None:
    content = DraftContent(configuration=WORKED, renames=RENAMES, base=0, by="ann", at=NOW)
    configurations.save_draft(session, content, None)
    configurations.add_version(session, WORKED, RENAMES, Approval(by="eve", at=NOW))
    switch.set_enabled(session, False, "eve", NOW)
    admins = frozenset({"eve"})

    now = requests.standing(session, admins)

    draft = configurations.draft(session)
    assert now == Standing(admins=admins, draft=draft, provisioned=1, enabled=False)

    configurations.mark_provisioned(session, 1)
    assert requests.standing(session, admins) == now


def test_a_draft_is_approved_as_it_was_saved_and_not_after_an_edit(session: Session) -> None:
    content = DraftContent(configuration=WORKED, renames=RENAMES, base=0, by="ann", at=NOW)
    saved = configurations.save_draft(session, content, None)
    assert isinstance(saved, Draft)
    request = added(session, replace(ASKED, hash=saved.hash, base=0))
    yes = Ballot(by="eve", approve=True, at=NOW)

    stands = requests.standing(session, frozenset({"eve"}))
    assert isinstance(vote(request, yes, stands, ApprovalRules()), Counted)
    assert void_for([request], stands, NOW) == ()

    edited = replace(content, renames=Renames())
    configurations.save_draft(session, edited, saved.revision)
    stands = requests.standing(session, frozenset({"eve"}))
    assert isinstance(vote(request, yes, stands, ApprovalRules()), Stale)


def opened(session: Session, copy: WorkingCopy = COPY) -> WorkingCopy:
    kept = working_copies.put(session, copy)
    assert isinstance(kept, WorkingCopy)
    return kept


def test_a_working_copy_is_kept_as_it_is(session: Session) -> None:
    assert working_copies.get(session, "ann") is None

    kept = opened(session)

    assert kept == replace(COPY, revision=1)
    assert working_copies.get(session, "ann") == kept
    assert working_copies.get(session, "bob") is None


def test_each_change_is_made_on_the_one_before(session: Session) -> None:
    first = opened(session)
    changed = replace(first, configuration=Configuration(), draft=None)

    second = opened(session, changed)

    assert second == replace(changed, revision=2)
    assert working_copies.get(session, "ann") == second


@pytest.mark.parametrize("revision", [0, 1, 3], ids=["opened", "older", "newer"])
def test_a_change_in_another_window_is_not_lost(session: Session, revision: int) -> None:
    now = opened(session, opened(session))

    late = replace(COPY, configuration=Configuration(), revision=revision)

    assert working_copies.put(session, late) == ChangedMeanwhile(copy=now)
    assert working_copies.get(session, "ann") == now


def test_a_closed_editor_takes_no_changes_of_before(session: Session) -> None:
    before = opened(session)
    assert working_copies.delete(session, "ann")
    assert not working_copies.delete(session, "ann")
    assert working_copies.get(session, "ann") is None
    assert working_copies.put(session, before) == ChangedMeanwhile(copy=None)

    again = opened(session)

    assert again.revision > before.revision
    assert working_copies.put(session, before) == ChangedMeanwhile(copy=again)


def test_who_else_is_editing(session: Session) -> None:
    bob = opened(session, replace(COPY, user="bob", changed_at=NOW + MINUTE))
    ann = opened(session)
    opened(session, replace(COPY, user="eve"))
    working_copies.delete(session, "eve")

    assert working_copies.editing(session) == (bob, ann)


def test_a_working_copy_that_could_not_be_read_again_is_refused(session: Session) -> None:
    with pytest.raises(DocumentError):
        working_copies.put(session, replace(COPY, configuration=TWICE))

    assert working_copies.editing(session) == ()


def test_a_channel_has_one_schedule(session: Session) -> None:
    other = replace(SCHEDULE, channel="C0", policies=(), days=frozenset(range(7)), on=True)
    changed = replace(SCHEDULE, at=time(23, 59), zone="UTC")
    for one in (SCHEDULE, other, changed):
        schedules.put(session, one)

    assert schedules.schedules(session) == (other, changed)
    assert schedules.schedule(session, "C1") == changed
    assert schedules.schedule(session, "C2") is None

    schedules.remove(session, "C1")
    schedules.remove(session, "never-there")
    assert schedules.schedules(session) == (other,)


def test_the_last_digest_stays_known_when_its_schedule_is_changed(session: Session) -> None:
    schedules.put(session, SCHEDULE)
    schedules.put(session, replace(SCHEDULE, channel="C2"))
    assert schedules.last_dates(session) == {}

    schedules.mark(session, "C1", date(2026, 12, 1))
    schedules.put(session, replace(SCHEDULE, on=True))

    assert schedules.last_dates(session) == {"C1": date(2026, 12, 1)}


def test_schedules_follow_the_names_of_policies(session: Session) -> None:
    everything = replace(SCHEDULE, channel="C2", policies=())
    for one in (SCHEDULE, everything):
        schedules.put(session, one)
    schedules.mark(session, "C1", date(2026, 12, 1))

    swap = Renames({Kind.POLICY: {"dev": "research", "research": "dev"}})
    schedules.rename(session, swap)

    swapped = replace(SCHEDULE, policies=("research", "dev"))
    assert schedules.schedules(session) == (swapped, everything)
    assert schedules.last_dates(session) == {"C1": date(2026, 12, 1)}


def test_nobody_gets_messages_who_did_not_ask_for_them(session: Session) -> None:
    assert people.preferences(session, "ann") == Preferences(user="ann", notify=False)
    for user, notify in (("ann", True), ("bob", True), ("eve", False), ("bob", False)):
        people.prefer(session, Preferences(user=user, notify=notify))

    assert people.preferences(session, "ann") == Preferences(user="ann", notify=True)
    assert people.notified(session) == {"ann"}


def test_who_looked_lately_is_known_until_it_is_long_ago(session: Session) -> None:
    for user, minute in (("ann", 0), ("bob", 1), ("eve", 2), ("ann", 3)):
        people.seen(session, user, NOW + minute * MINUTE)

    eve, ann = (
        Viewer(user="eve", opened_at=NOW + 2 * MINUTE),
        Viewer(user="ann", opened_at=NOW + 3 * MINUTE),
    )
    assert people.viewers(session, NOW + 2 * MINUTE) == (ann, eve)

    assert people.prune_viewers(session, NOW + 2 * MINUTE) == 1
    assert people.viewers(session, NOW) == (ann, eve)


def test_a_card_is_where_it_was_last_put(session: Session) -> None:
    assert cards.card(session, "status") is None
    newer = replace(CARD, hash="def", updated_at=NOW + MINUTE)
    for one in (CARD, replace(CARD, key="r17"), newer):
        cards.put(session, one)
    assert cards.card(session, "status") == newer

    assert cards.prune(session, NOW + MINUTE) == 1
    assert cards.card(session, "r17") is None
    cards.remove(session, "status")
    cards.remove(session, "status")
    assert cards.card(session, "status") is None


def test_a_delivery_is_the_first_once(session: Session) -> None:
    keys = ["Ev1", "Ev2", "Ev1", "Ev1"]

    assert [deliveries.first_time(session, key, NOW) for key in keys] == [True, True, False, False]


def test_a_delivery_whose_work_failed_is_the_first_again(database: Database) -> None:
    def fail() -> None:
        with database.transaction() as session:
            assert deliveries.first_time(session, "Ev1", NOW)
            raise ZeroDivisionError

    for _ in range(2):
        with pytest.raises(ZeroDivisionError):
            fail()


def test_deliveries_are_forgotten_by_the_time_they_came_first(session: Session) -> None:
    deliveries.first_time(session, "old", NOW)
    deliveries.first_time(session, "new", NOW + MINUTE)
    deliveries.first_time(session, "old", NOW + 2 * MINUTE)

    assert deliveries.prune(session, NOW + MINUTE) == 1

    assert not deliveries.first_time(session, "new", NOW)
    assert deliveries.first_time(session, "old", NOW)


def test_an_alert_is_raised_once_and_over_once(session: Session) -> None:
    later = replace(ALERT, text="It does not answer for 5 minutes.", since=NOW + MINUTE)

    assert alerts.raise_(session, ALERT)
    assert not alerts.raise_(session, later)
    assert alerts.told(session, ALERT.cause, NOW)
    assert not alerts.told(session, ALERT.cause, NOW + MINUTE)

    now = replace(ALERT, text=later.text, told_at=NOW)
    assert alerts.raised(session) == (now,)
    assert alerts.over(session, ALERT.cause, NOW + DAY) == replace(now, over_at=NOW + DAY)
    assert alerts.over(session, ALERT.cause, NOW + DAY) is None
    assert alerts.raised(session) == ()
    assert not alerts.told(session, ALERT.cause, NOW + DAY)


def test_nobody_is_told_of_what_is_over(session: Session) -> None:
    alerts.raise_(session, ALERT)

    ended = alerts.over(session, ALERT.cause, NOW)

    assert ended == replace(ALERT, over_at=NOW)
    assert not alerts.told(session, ALERT.cause, NOW)


def test_the_same_trouble_may_come_again(session: Session) -> None:
    alerts.raise_(session, ALERT)
    alerts.told(session, ALERT.cause, NOW)
    alerts.over(session, ALERT.cause, NOW + MINUTE)
    again = replace(ALERT, since=NOW + DAY)

    assert alerts.raise_(session, again)

    assert alerts.raised(session) == (again,)
    assert alerts.told(session, ALERT.cause, NOW + DAY)


def test_alerts_are_kept_apart_by_their_cause_and_the_longest_comes_first(
    session: Session,
) -> None:
    older = replace(ALERT, cause="waits:t1", since=NOW - MINUTE)
    newer = replace(ALERT, cause="foreign:a")
    for one in (ALERT, older, newer):
        assert alerts.raise_(session, one)

    assert alerts.raised(session) == (older, ALERT, newer)
    alerts.over(session, older.cause, NOW)
    alerts.over(session, ALERT.cause, NOW + MINUTE)
    assert alerts.raised(session) == (newer,)


def test_only_what_is_over_is_forgotten(session: Session) -> None:
    for cause, ends in (("a", NOW), ("b", NOW + MINUTE), ("c", None)):
        alerts.raise_(session, replace(ALERT, cause=cause))
        if ends:
            alerts.over(session, cause, ends)

    assert alerts.prune(session, NOW + MINUTE) == 1
    assert alerts.prune(session, NOW + DAY) == 1
    assert [one.cause for one in alerts.raised(session)] == ["c"]


def test_what_is_known_of_tasks_is_found_by_id(session: Session) -> None:
    renamed = replace(TASK, name="train again", user="u2")
    other = TaskFacts(task="bb", name="", user="")
    tasks.remember(session, [], NOW)
    tasks.remember(session, [TASK, other], NOW)
    tasks.remember(session, [renamed], NOW)

    assert tasks.facts(session, ["aa11", "bb", "cc", "aa11"]) == {"aa11": renamed, "bb": other}
    assert tasks.facts(session, []) == {}


def test_thousands_of_tasks_are_kept_and_found_at_once(session: Session) -> None:
    many = [TaskFacts(task=f"t{n}", name=f"n{n}", user="u") for n in range(40_000)]
    tasks.remember(session, many, NOW)

    found = tasks.facts(session, (one.task for one in many))

    assert list(found.values()) == sorted(many, key=lambda one: one.task)


def test_a_name_is_found_by_what_is_said_of_it_the_nearest_first(session: Session) -> None:
    names = ["trainer", "TRAIN", "other", "train", "training", "my train"]
    for number, name in enumerate(names):
        facts = TaskFacts(task=f"t{number}", name=name, user="u")
        tasks.remember(session, [facts], NOW + number * MINUTE)

    found = [one.name for one in tasks.by_name(session, "Train")]

    assert found == ["train", "TRAIN", "training", "trainer", "my train"]
    assert [one.name for one in tasks.by_name(session, "Train", limit=2)] == found[:2]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("GRÖSSE", True),
        ("größe 100%", True),
        ("100%", True),
        ("%", True),
        ("_", False),
        ("Train%100", False),
        ("\ud800", False),
        ("/", False),
    ],
)
def test_names_are_found_by_their_letters_as_they_stand(
    session: Session, text: str, found: bool
) -> None:
    tasks.remember(session, [TASK], NOW)

    assert tasks.by_name(session, text) == ((TASK,) if found else ())


def test_names_that_cannot_be_written_are_kept_readable(session: Session) -> None:
    tasks.remember(session, [replace(TASK, name="half \ud83d of 汉字 \U0001f600")], NOW)

    (found,) = tasks.by_name(session, "HALF \ud83d of")

    assert found.name == "half ? of 汉字 \U0001f600"


def test_tasks_are_found_by_the_beginning_of_their_ids(session: Session) -> None:
    known = [replace(TASK, task=task) for task in ("aa1", "aa2", "ab", "b%")]
    tasks.remember(session, known, NOW)

    assert [one.task for one in tasks.by_id_prefix(session, "aa")] == ["aa1", "aa2"]
    assert [one.task for one in tasks.by_id_prefix(session, "a", limit=2)] == ["aa1", "aa2"]
    assert tasks.by_id_prefix(session, "%") == ()


def test_tasks_are_forgotten_when_they_were_long_not_seen(session: Session) -> None:
    tasks.remember(session, [TASK, replace(TASK, task="old")], NOW)
    tasks.remember(session, [TASK], NOW + MINUTE)

    assert tasks.prune(session, NOW + MINUTE) == 1

    assert set(tasks.facts(session, ["old", TASK.task])) == {TASK.task}


@settings(
    derandomize=True,
    deadline=None,
    max_examples=30,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(text=st.text(st.characters(exclude_categories=["Cs"]), max_size=40))
def test_any_text_is_kept_as_it_was_written(database: Database, text: str) -> None:
    with database.transaction() as session:
        request = added(session, replace(PROPOSAL, reason=text, subject=text))
        copy = opened(session, replace(COPY, user=text))

        assert (request.reason, request.subject) == (text, text)
        assert working_copies.get(session, text) == copy
        assert deliveries.first_time(session, text, NOW)
        assert not deliveries.first_time(session, text, NOW)
        session.rollback()


FIRST = "INSERT INTO audit VALUES (1, '2026-12-01 10:00:00', 'U1', 'save', 'draft', '', '', '')"


def test_a_database_of_the_first_release_is_brought_up_with_what_is_in_it(empty_url: str) -> None:
    engine = engine_that_writes(empty_url)
    with engine.begin() as connection:
        schema.upgrade(connection, "0001")
        connection.exec_driver_sql(FIRST)
    engine.dispose()

    database = open_database(empty_url)
    with database.transaction() as session:
        added(session, ASKED)
    with database.reading() as session:
        connection = session.connection()
        audited = connection.exec_driver_sql("SELECT actor, action FROM audit").all()
        version = connection.exec_driver_sql("SELECT version_num FROM alembic_version").all()
    database.close()

    assert audited == [("U1", "save")]
    assert version == [(schema.revisions()[-1],)]


def test_the_database_itself_refuses_a_second_open_request_of_a_sort(database: Database) -> None:
    with database.transaction() as session:
        first = added(session, ASKED)
        requests.replace(session, replace(first, state=RequestState.REJECTED))
        added(session, ASKED)
        closed = requests.request(session, first.id)
    assert closed is not None

    with pytest.raises(StorageError), database.transaction() as session:
        requests.replace(session, replace(closed, state=RequestState.OPEN))
