"""Usage is added up exactly, whatever dies in between, and forgotten by age."""

import re
import shutil
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import text
from sqlmodel import SQLModel

import storage.tables  # noqa: F401  declares the tables
from controller.retention import Retention
from domain.ledger import Sample
from domain.renames import Kind, Renames
from domain.usage import DAY, HOUR, Kept, Resolution, Since, Usage, added_up, usage_of
from storage import ledger, samples, usage
from storage.database import Database, Session, open_database
from storage.retention import RULES
from tests.conftest import Opener

START = datetime(2026, 12, 1, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
EVER = Since(minutes=START - DAY, hours=START - DAY, days=START - DAY)
README = (Path(__file__).parents[2] / "README.md").read_text()


class Died(Exception):
    """The process is gone at this instant."""


@pytest.fixture
def database(open_: Opener) -> Database:
    return open_()


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database to copy: making one takes longer than what is tried on it."""
    path = tmp_path_factory.mktemp("empty") / "state.sqlite3"
    open_database(str(path)).close()
    return path


def sample(
    at: datetime,
    used: Fraction | int = 1,
    policy: str = "dev",
    pool: str = "metal",
    waiting: int = 0,
) -> Sample:
    return Sample(
        at=at, policy=policy, pool=pool, used=Fraction(used), running=1, waiting=waiting
    )  # fmt: skip


def keep(database: Database, *taken: Sample) -> None:
    with database.transaction() as session:
        samples.add(session, taken)


def pack(database: Database, before: datetime, since: Since = EVER) -> int:
    """How many hours were packed, each in a transaction of its own."""
    count = 0
    while True:
        with database.transaction() as session:
            if not usage.pack(session, before, since):
                return count
        count += 1


def pack_and_die(database: Database, before: datetime) -> None:
    with database.transaction() as session:
        usage.pack(session, before, EVER)
        raise Died


def known(
    database: Database, start: datetime = START, end: datetime = START + 9 * DAY
) -> list[Usage]:
    with database.reading() as session:
        return list(usage.between(session, start, end))


Totals = dict[tuple[str, str], tuple[Fraction, int, Fraction, int]]


def totals(uses: list[Usage]) -> Totals:
    """GPU-seconds, sampled seconds, and the most in use and waiting, of each policy and pool."""
    found: Totals = {}
    for one in uses:
        used, seconds, peak, waiting = found.get(
            (one.policy, one.pool), (Fraction(0), 0, Fraction(0), 0)
        )
        found[one.policy, one.pool] = (
            used + one.used, seconds + one.seconds, max(peak, one.peak), max(waiting, one.waiting),
        )  # fmt: skip
    return found


taken = st.lists(
    st.builds(
        Sample,
        at=st.integers(0, 3 * 86_400).map(lambda s: START + timedelta(seconds=s)),
        policy=st.sampled_from(["dev", "research", "ops"]),
        pool=st.sampled_from(["", "metal", "h100"]),
        used=st.fractions(0, 64, max_denominator=210),
        running=st.integers(0, 9),
        waiting=st.integers(0, 9),
        seconds=st.integers(1, 120),
    ),
    max_size=12,
)
steps = st.lists(
    st.tuples(taken, st.integers(0, 90).map(lambda h: START + h * HOUR), st.booleans()), max_size=5
)


@settings(max_examples=60, deadline=None)
@given(course=steps)
def test_nothing_is_lost_or_counted_twice_however_it_is_packed(
    empty: Path, course: list[tuple[list[Sample], datetime, bool]]
) -> None:
    """Samples come in any order, late ones too; a step that `dies` is rolled back half-way."""
    everything: list[Usage] = []
    with TemporaryDirectory() as directory:
        shutil.copy(empty, directory)
        database = open_database(str(Path(directory) / empty.name))
        for added, before, dies in course:
            keep(database, *added)
            everything += map(usage_of, added)
            if dies:
                with pytest.raises(Died):
                    pack_and_die(database, before)
            else:
                pack(database, before)
            assert totals(known(database)) == totals(everything)
        pack(database, START + 9 * DAY)
        for cut in (
            {},
            {"minutes": START + 8 * DAY},
            {"minutes": START + 8 * DAY, "hours": START + 8 * DAY},
        ):
            with database.transaction() as session:
                usage.forget(session, Since(**{**vars_of(EVER), **cut}))
            assert totals(known(database)) == totals(everything), cut
        database.close()


def vars_of(since: Since) -> dict[str, datetime]:
    return {"minutes": since.minutes, "hours": since.hours, "days": since.days}


@given(taken)
def test_days_added_up_from_hours_are_those_of_the_samples(found: list[Sample]) -> None:
    uses = [usage_of(one) for one in found]

    assert added_up(added_up(uses, HOUR), DAY) == added_up(uses, DAY)
    assert totals(list(added_up(uses, DAY))) == totals(uses)


def test_it_is_read_as_finely_as_it_is_kept(database: Database) -> None:
    minutes = [sample(START + n * MINUTE, waiting=n % 7) for n in range(0, 3 * 24 * 60, 5)]
    keep(database, *minutes)
    now = START + 3 * DAY
    since = Since(minutes=START + 2 * DAY, hours=START + DAY, days=START)

    pack(database, now)
    assert [one.at for one in known(database)] == [one.at for one in minutes]
    with database.transaction() as session:
        usage.forget(session, since)

    read = known(database)
    assert [one.at for one in read if one.length == DAY] == [START]
    assert [one.at for one in read if one.length == HOUR] == [
        START + DAY + n * HOUR for n in range(24)
    ]
    assert len([one for one in read if one.length == MINUTE]) == 24 * 12
    assert totals(read) == totals([usage_of(one) for one in minutes])


def test_a_period_within_a_day_is_not_given_all_of_it(database: Database) -> None:
    """What is packed of the day lies before the period."""
    keep(database, sample(START), sample(START + 5 * HOUR))
    pack(database, START + HOUR)

    assert [one.at for one in known(database, START + 4 * HOUR)] == [START + 5 * HOUR]
    assert known(database, START + 6 * HOUR) == []


def test_an_hour_that_is_not_over_is_left_as_it_is(database: Database) -> None:
    keep(database, sample(START), sample(START + HOUR))

    assert pack(database, START + HOUR + 59 * MINUTE) == 1

    with database.reading() as session:
        assert samples.between(session, START, START + DAY) == (sample(START + HOUR),)
    assert len(known(database)) == 2


def test_what_would_be_forgotten_at_once_is_not_written(database: Database) -> None:
    """As the backlog of a version that packed nothing."""
    keep(database, sample(START))

    pack(database, START + 9 * DAY, Since(minutes=START + DAY, hours=START + DAY, days=START))

    (day,) = known(database)
    assert (day.length, day.used, day.seconds) == (DAY, Fraction(60), 60)


def test_a_rename_reaches_what_is_packed_even_a_swap(database: Database) -> None:
    keep(database, sample(START, 1, "dev", "metal"), sample(START, 2, "research", "h100"))
    pack(database, START + HOUR)

    with database.transaction() as session:
        renames = Renames({Kind.POLICY: {"dev": "research", "research": "dev"}})
        ledger.rename(session, renames)
        ledger.rename(session, Renames({Kind.POOL: {"metal": "h100"}}))
    keep(database, sample(START + MINUTE, 4, "dev", "h100"))
    pack(database, START + HOUR)

    assert {key: used for key, (used, *_) in totals(known(database)).items()} == {
        ("research", "h100"): 60,
        ("dev", "h100"): 6 * 60,
    }


def test_each_run_does_what_is_due_by_now(database: Database) -> None:
    keep(database, *(sample(START + n * HOUR) for n in range(60 * 24)))
    now = START + 60 * DAY + MINUTE

    Retention(database, lambda: now, Kept(minutes=10 * DAY, hours=20 * DAY, days=30 * DAY)).run()

    with database.reading() as session:
        read = usage.between(session, START, now)
        assert samples.between(session, START, now) == ()
    by_length = {length: [one.at for one in read if one.length == length] for length in (DAY, HOUR)}
    assert min(by_length[DAY]) == START + 30 * DAY
    assert min(by_length[HOUR]) == START + 40 * DAY
    assert min(one.at for one in read if one.length == MINUTE) == START + 50 * DAY
    assert sum(one.used for one in read) == 30 * 24 * 60


def test_every_table_has_one_rule() -> None:
    tables = [table for rule in RULES for table in rule.tables]

    assert sorted(tables) == sorted(SQLModel.metadata.tables), (
        "say in storage/retention.py for how long the rows of a new table are kept"
    )


def test_the_readme_has_the_rules() -> None:
    rows = re.findall(r"^\| ((?:`[a-z_]+`(?:, )?)+) \| (.+) \|$", README, re.MULTILINE)
    documented = {(tuple(re.findall(r"`([a-z_]+)`", tables)), says) for tables, says in rows}

    assert {(rule.tables, rule.says) for rule in RULES} <= documented


def forgets(rule: str) -> bool:
    return next(one for one in RULES if rule in one.tables).forget is not None


@pytest.mark.parametrize(
    "table",
    ["usage", "ended", "tasks", "outbox", "cards", "alerts", "viewers", "requests", "deliveries"],
)
def test_what_grows_with_time_is_forgotten(table: str) -> None:
    assert forgets(table)


def test_a_day_is_utcs_whatever_zone_the_sample_speaks(database: Database) -> None:
    zone = datetime.fromisoformat("2026-12-02T00:30:00+09:00")

    (day,) = added_up([usage_of(sample(zone))], DAY)

    assert day.at == START


def test_resolutions_are_what_pages_say(database: Database) -> None:
    keep(database, sample(START))
    pack(database, START + HOUR)

    with database.reading() as session:
        assert pages(session) == {"minute", "hour", "day"} == set(Resolution)


def pages(session: Session) -> set[str]:
    return set(session.execute(text("SELECT resolution FROM usage")).scalars())
