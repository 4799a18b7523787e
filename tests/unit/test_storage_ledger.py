"""The ledger, sightings and queues: what goes in comes out, exactly."""

import math
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from fractions import Fraction

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from domain.amounts import Amount
from domain.ledger import Ended, LedgerEntry, OwnedQueue, Role, Sample, Sighting, Stage
from domain.renames import Kind, Renames
from domain.snapshot import Tier
from storage import ledger, queues, samples
from storage.database import Database, StorageError
from tests.conftest import Opener

NOW = datetime(2026, 12, 1, 10, 0, 0, 123456, tzinfo=UTC)
SECOND = timedelta(seconds=1)

ENTRY = LedgerEntry(
    task="t1",
    policy="dev",
    profile="4xGPU",
    pool="bare-metal",
    link="4 GPU Low End",
    intake="q1",
    execution="q2",
    amount=Fraction(4),
    tier=Tier.RESERVED,
    stage=Stage.INTENDED,
    first_seen=NOW - SECOND,
    intended_at=NOW,
)
SIGHTING = Sighting(task="t1", policy="dev", profile="4xGPU", queue="q1", first_seen=NOW)
ENDED = Ended(
    task="t1",
    policy="dev",
    profile="4xGPU",
    pool="bare-metal",
    amount=Fraction(1, 7),
    tier=Tier.SHARED,
    first_seen=NOW,
    dispatched_at=NOW + SECOND,
    ended_at=NOW + 2 * SECOND,
    outcome="completed",
)
INTAKE = OwnedQueue(id="q1", role=Role.INTAKE, profile="4xGPU", owner="dev", name="dev-4gpu")
EXECUTION = OwnedQueue(
    id="q2", role=Role.EXECUTION, profile="4xGPU", owner="low", name="pool a · low", pool="a"
)


@pytest.fixture
def database(open_: Opener) -> Database:
    return open_()


def kept(database: Database, *entries: LedgerEntry) -> tuple[LedgerEntry, ...]:
    with database.transaction() as session:
        ledger.put(session, entries)
    return entries_of(database)


def entries_of(database: Database) -> tuple[LedgerEntry, ...]:
    with database.reading() as session:
        return ledger.entries(session)


def sightings_of(database: Database) -> tuple[Sighting, ...]:
    with database.reading() as session:
        return ledger.sightings(session)


def test_an_entry_comes_back_as_it_was_put(database: Database) -> None:
    full = replace(
        ENTRY, dispatched_at=NOW + SECOND, doubtful_since=NOW + 2 * SECOND, stopped_since=NOW
    )

    assert kept(database, full) == (full,)


def test_entries_come_in_the_order_of_their_intents_and_then_of_their_tasks(
    database: Database,
) -> None:
    late = replace(ENTRY, task="a", intended_at=NOW + SECOND)
    second, first = replace(ENTRY, task="c"), replace(ENTRY, task="b")

    assert kept(database, late, second, first) == (first, second, late)


def test_putting_replaces_the_entry_of_the_task_and_the_last_one_wins(database: Database) -> None:
    kept(database, replace(ENTRY, doubtful_since=NOW))
    dispatched = replace(ENTRY, stage=Stage.DISPATCHED, dispatched_at=NOW)

    assert kept(database, replace(ENTRY, pool="other"), dispatched) == (dispatched,)


def test_nothing_to_put_or_remove_does_nothing(database: Database) -> None:
    kept(database, ENTRY)

    with database.transaction() as session:
        ledger.put(session, ())
        ledger.remove(session, ())
        ledger.see(session, ())
        ledger.forget(session, ())
        ledger.end(session, ())
        samples.add(session, ())
        ledger.rename(session, Renames())

    assert entries_of(database) == (ENTRY,)


def test_removing_takes_out_those_tasks_only(database: Database) -> None:
    kept(database, ENTRY, replace(ENTRY, task="t2"), replace(ENTRY, task="t3"))

    with database.transaction() as session:
        ledger.remove(session, ["t1", "t3", "never-there"])

    assert [entry.task for entry in entries_of(database)] == ["t2"]


def test_an_ended_allocation_leaves_the_ledger_and_enters_history(database: Database) -> None:
    kept(database, ENTRY, replace(ENTRY, task="t2"))

    with database.transaction() as session:
        ledger.end(session, iter([ENDED]))

    assert [entry.task for entry in entries_of(database)] == ["t2"]
    with database.reading() as session:
        assert ledger.ended_between(session, NOW, NOW + timedelta(hours=1)) == (ENDED,)


def test_history_is_asked_by_a_period_that_includes_its_start_and_not_its_end(
    database: Database,
) -> None:
    times = [NOW, NOW + SECOND, NOW + 2 * SECOND]
    with database.transaction() as session:
        ledger.end(session, [replace(ENDED, ended_at=time) for time in reversed(times)])

    with database.transaction() as session:
        found = ledger.ended_between(session, NOW, NOW + 2 * SECOND)
        assert [one.ended_at for one in found] == times[:2]
        assert ledger.prune_ended(session, NOW + SECOND) == 1
        assert len(ledger.ended_between(session, NOW, NOW + timedelta(days=1))) == 2


def test_a_task_can_end_more_than_once(database: Database) -> None:
    again = replace(ENDED, ended_at=NOW + timedelta(hours=1))

    with database.transaction() as session:
        ledger.end(session, [ENDED])
        ledger.end(session, [again])
        assert ledger.ended_between(session, NOW, NOW + timedelta(days=1)) == (ENDED, again)


def test_a_sighting_is_replaced_by_task_and_forgotten_by_task(database: Database) -> None:
    stray = replace(SIGHTING, stray_since=NOW + SECOND)
    with database.transaction() as session:
        ledger.see(session, [SIGHTING, replace(SIGHTING, task="t2")])
        ledger.see(session, [stray])
        ledger.forget(session, ["t2", "never-there"])

    assert sightings_of(database) == (stray,)


@pytest.mark.parametrize(
    "value",
    [
        "4",
        "NaN",
        "",
        0,
        4,
        10**30,
        0.1,
        math.inf,
        True,
        False,
        [],
        [1, None],
        {"gpus": {"a": [1.5, "x"]}},
        "\ud800 lone",
        "\x00",
        "汉字 \U0001f600",
    ],
    ids=repr,
)
def test_a_parameter_may_be_any_json_value(database: Database, value: object) -> None:
    with database.transaction() as session:
        ledger.see(session, [replace(SIGHTING, parameter=value)])

    (found,) = sightings_of(database)
    assert found.parameter == value
    assert type(found.parameter) is type(value)


def test_a_number_that_is_none_stays_one(database: Database) -> None:
    with database.transaction() as session:
        ledger.see(session, [replace(SIGHTING, parameter=math.nan)])

    (found,) = sightings_of(database)
    assert isinstance(found.parameter, float)
    assert math.isnan(found.parameter)


def test_no_parameter_is_not_the_text_null(database: Database) -> None:
    absent, text = SIGHTING, replace(SIGHTING, task="t2", parameter="null")
    with database.transaction() as session:
        ledger.see(session, [absent, text])

    assert sightings_of(database) == (absent, text)


amounts = st.fractions(min_value=0, max_value=10**12)
zones = st.integers(-12 * 60, 14 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes)))
times = st.datetimes(
    min_value=datetime(1971, 1, 1),  # noqa: DTZ001  the zone is given apart
    max_value=datetime(9000, 1, 1),  # noqa: DTZ001
    timezones=zones,
)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(amount=amounts, time=times)
def test_amounts_are_exact_and_times_are_the_same_instants_in_utc(
    database: Database, amount: Amount, time: datetime
) -> None:
    (found,) = kept(database, replace(ENTRY, amount=amount, intended_at=time))

    assert found.amount == amount
    assert found.intended_at == time
    assert found.intended_at.tzinfo is UTC


def test_a_sum_of_sevenths_is_whole(database: Database) -> None:
    sevenths = [replace(ENTRY, task=str(n), amount=Fraction(1, 7)) for n in range(7)]

    assert sum(entry.amount for entry in kept(database, *sevenths)) == 1


def test_a_time_without_a_zone_is_refused_in_a_sentence(database: Database) -> None:
    naive = replace(ENTRY, intended_at=datetime(2026, 12, 1))  # noqa: DTZ001

    with pytest.raises(StorageError, match=r"says no time zone$"):
        kept(database, naive)


def test_samples_are_asked_by_period(database: Database) -> None:
    taken = [
        Sample(
            at=NOW + n * SECOND, policy="dev", pool="a", used=Fraction(n, 7), running=n, waiting=3
        )
        for n in range(4)
    ]
    with database.transaction() as session:
        samples.add(session, reversed(taken))

    with database.transaction() as session:
        assert samples.between(session, NOW + SECOND, NOW + 3 * SECOND) == tuple(taken[1:3])


def test_queues_are_known_by_id(database: Database) -> None:
    renamed = replace(EXECUTION, name="pool b · low", retired=True)
    with database.transaction() as session:
        for queue in (EXECUTION, INTAKE, renamed):
            queues.put_queue(session, queue)
        assert queues.owned_queues(session) == (renamed, INTAKE)

        queues.remove_queue(session, INTAKE.id)
        queues.remove_queue(session, "never-there")
        assert queues.owned_queues(session) == (renamed,)


def test_names_can_be_swapped_everywhere_at_once(database: Database) -> None:
    other = replace(ENTRY, task="t2", policy="research", pool="h100", link="high", profile="1xGPU")
    swap = Renames(
        {
            Kind.POLICY: {"dev": "research", "research": "dev"},
            Kind.POOL: {"bare-metal": "h100", "h100": "bare-metal"},
            Kind.LINK: {"4 GPU Low End": "high", "high": "4 GPU Low End"},
            Kind.PROFILE: {"4xGPU": "1xGPU", "1xGPU": "4xGPU"},
        }
    )
    kept(database, ENTRY, other)

    with database.transaction() as session:
        ledger.rename(session, swap)

    now, then = entries_of(database), (ENTRY, other)
    for field in ("policy", "pool", "link", "profile"):
        assert [getattr(entry, field) for entry in now] == [
            getattr(entry, field) for entry in reversed(then)
        ]


def test_a_rename_reaches_sightings_queues_history_and_samples(database: Database) -> None:
    sample = Sample(at=NOW, policy="dev", pool="a", used=Fraction(1), running=1, waiting=0)
    with database.transaction() as session:
        ledger.see(session, [SIGHTING])
        ledger.end(session, [replace(ENDED, pool="a")])
        samples.add(session, [sample])
        queues.put_queue(session, INTAKE)
        queues.put_queue(session, EXECUTION)

        ledger.rename(
            session,
            Renames(
                {
                    Kind.POLICY: {"dev": "development"},
                    Kind.POOL: {"a": "metal"},
                    Kind.LINK: {"low": "cheap"},
                    Kind.PROFILE: {"4xGPU": "four"},
                }
            ),
        )

        end = NOW + timedelta(days=1)
        assert ledger.sightings(session) == (
            replace(SIGHTING, policy="development", profile="four"),
        )
        assert ledger.ended_between(session, NOW, end) == (
            replace(ENDED, policy="development", profile="four", pool="metal"),
        )
        assert samples.between(session, NOW, end) == (
            replace(sample, policy="development", pool="metal"),
        )
        assert queues.owned_queues(session) == (
            replace(EXECUTION, profile="four", owner="cheap", pool="metal"),
            replace(INTAKE, profile="four", owner="development"),
        )


def test_a_link_and_a_policy_of_one_name_are_not_mistaken_for_each_other(
    database: Database,
) -> None:
    link = replace(EXECUTION, owner="dev")
    with database.transaction() as session:
        queues.put_queue(session, INTAKE)
        queues.put_queue(session, link)

        ledger.rename(session, Renames({Kind.POLICY: {"dev": "research"}}))

        assert queues.owned_queues(session) == (link, replace(INTAKE, owner="research"))
