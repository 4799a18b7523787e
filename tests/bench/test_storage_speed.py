"""What a round spends on remembering, on both engines; PostgreSQL on loopback, without fsync."""

from datetime import UTC, datetime
from fractions import Fraction

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from domain.ledger import LedgerEntry, Sighting, Stage
from domain.snapshot import Tier
from storage import ledger, switch
from storage.database import Database
from tests.conftest import Opener

NOW = datetime(2026, 12, 1, 10, tzinfo=UTC)
ENTRIES = [
    LedgerEntry(
        task=f"{n:032x}",
        policy="dev",
        profile="4xGPU",
        pool="bare-metal",
        link="low",
        intake="1" * 32,
        execution="2" * 32,
        amount=Fraction(1, 7),
        tier=Tier.RESERVED,
        stage=Stage.DISPATCHED,
        first_seen=NOW,
        intended_at=NOW,
        dispatched_at=NOW,
    )
    for n in range(1_000)
]
SIGHTINGS = [
    Sighting(
        task=f"{n:032x}", policy="dev", profile="p", queue="q", first_seen=NOW, parameter=str(n)
    )
    for n in range(10_000)
]


@pytest.fixture
def database(open_: Opener) -> Database:
    database = open_()
    with database.transaction() as session:
        ledger.put(session, ENTRIES)
        ledger.see(session, SIGHTINGS)
    return database


def test_put_1000_entries(benchmark: BenchmarkFixture, database: Database) -> None:
    def put() -> None:
        with database.transaction() as session:
            ledger.put(session, ENTRIES)

    benchmark(put)


def test_load_1000_entries(benchmark: BenchmarkFixture, database: Database) -> None:
    def load() -> int:
        with database.reading() as session:
            return len(ledger.entries(session))

    assert benchmark(load) == len(ENTRIES)


def test_load_10000_sightings(benchmark: BenchmarkFixture, database: Database) -> None:
    def load() -> int:
        with database.reading() as session:
            return len(ledger.sightings(session))

    assert benchmark(load) == len(SIGHTINGS)


def test_the_guard_around_a_move(benchmark: BenchmarkFixture, database: Database) -> None:
    def move() -> None:
        with database.moving():
            pass

    benchmark(move)


def test_reading_the_switch(benchmark: BenchmarkFixture, database: Database) -> None:
    assert benchmark(database.is_enabled)


def test_a_transaction_that_writes_a_row(benchmark: BenchmarkFixture, database: Database) -> None:
    def write() -> None:
        with database.transaction() as session:
            ledger.put(session, ENTRIES[:1])

    benchmark(write)


def test_a_transaction_that_reads_the_switch(
    benchmark: BenchmarkFixture, database: Database
) -> None:
    def look() -> bool:
        with database.reading() as session:
            return switch.is_enabled(session)

    assert benchmark(look)


def test_a_leaders_move(benchmark: BenchmarkFixture, database: Database) -> None:
    leadership = database.lead()
    assert leadership is not None
    as_leader = database.as_leader(leadership)

    def move() -> bool:
        with as_leader.moving():
            return as_leader.is_enabled()

    assert benchmark(move)
    leadership.release()


def test_asking_whether_it_leads(benchmark: BenchmarkFixture, database: Database) -> None:
    leadership = database.lead()
    assert leadership is not None

    assert benchmark(leadership.is_held)
    leadership.release()
