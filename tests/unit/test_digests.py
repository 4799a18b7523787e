"""What a digest computes: from exact times, over periods that the clock may make odd."""

from datetime import UTC, date, datetime, time, timedelta
from fractions import Fraction
from zoneinfo import ZoneInfo

from hypothesis import given
from hypothesis import strategies as st

from controller.digests import Facts, PolicyDigest, digest, step_for
from domain.allocation import allocate
from domain.ledger import Ended, LedgerEntry, Sample, Stage
from domain.schedules import Timing, period
from domain.snapshot import Snapshot, Tier
from domain.usage import usage_of
from tests.bot_support import allocation, waiting_queue
from tests.configurations import laws
from tests.poolkeeper_support import one_profile

BERLIN = ZoneInfo("Europe/Berlin")
START = datetime(2026, 11, 23, 8, tzinfo=UTC)
HOUR, MINUTE, DAY = timedelta(hours=1), timedelta(minutes=1), timedelta(days=1)
END = START + 7 * DAY
TEAMS = one_profile({"metal": 16}, {"dev": (8, 16), "research": (4, None)})


def ended(
    from_: datetime, to: datetime, amount: int = 1, waited: timedelta = MINUTE, **more: str
) -> Ended:
    fields = {"task": "t", "policy": "dev", "outcome": "completed", **more}
    return Ended(
        profile="job",
        pool="metal",
        amount=Fraction(amount),
        tier=Tier.SHARED,
        first_seen=from_ - waited,
        dispatched_at=from_,
        ended_at=to,
        **fields,
    )


def running(from_: datetime, amount: int = 1, stage: Stage = Stage.DISPATCHED) -> LedgerEntry:
    return LedgerEntry(
        task="r",
        policy="dev",
        profile="job",
        pool="metal",
        link="job on metal",
        intake="in",
        execution="out",
        amount=Fraction(amount),
        tier=Tier.SHARED,
        stage=stage,
        first_seen=from_ - HOUR,
        intended_at=from_,
        dispatched_at=from_,
    )


def of(facts: Facts, policy: str = "dev") -> PolicyDigest:
    (one,) = (one for one in digest(facts, TEAMS.policies).policies if one.name == policy)
    return one


def test_gpu_hours_count_what_lies_in_the_period_exactly() -> None:
    facts = Facts(
        start=START,
        end=END,
        entries=[running(END - 2 * HOUR, amount=4)],
        ended=[
            ended(START - 5 * HOUR, START + HOUR, amount=2),  # 2 inside
            ended(START + DAY, START + DAY + 90 * MINUTE, amount=3),  # 4.5
            ended(END - HOUR, END + HOUR, amount=1),  # 1: it ended before the digest was made
        ],
    )

    dev = of(facts)

    assert dev.hours == Fraction(2) + Fraction(9, 2) + 1 + 8
    assert dev.average == dev.hours / (7 * 24)
    assert dev.peak == 5
    assert dev.is_idle is False
    assert of(facts, "research").is_idle


def test_starts_and_ends_count_where_they_happened() -> None:
    facts = Facts(
        start=START,
        end=END,
        entries=[running(START), running(START - MINUTE), running(END)],
        ended=[
            ended(START - HOUR, START + HOUR),
            ended(START + HOUR, START + 2 * HOUR, outcome="failed"),
            ended(START + HOUR, START + 2 * HOUR, outcome="stopped"),
            ended(START + HOUR, START + HOUR, outcome="aborted during its move"),
            ended(END - HOUR, END),
        ],
    )

    dev = of(facts)

    assert dev.started == 1 + 2 + 1
    assert (dev.ended, dev.completed, dev.failed) == (3, 1, 1)


def test_what_is_not_dispatched_yet_is_no_use() -> None:
    facts = Facts(start=START, end=END, entries=[running(START, stage=Stage.INTENDED)])

    assert of(facts).is_idle


def test_waiting_times_are_the_median_and_the_95th_of_those_that_started() -> None:
    waits = [timedelta(minutes=minutes) for minutes in range(1, 21)]
    facts = Facts(
        start=START,
        end=END,
        ended=[ended(START + HOUR, END, waited=wait) for wait in waits],
    )

    dev = of(facts)

    assert dev.median == 10.5 * MINUTE
    assert dev.p95 == 19 * MINUTE
    assert of(facts, "research").median is None


def test_the_longest_waiting_are_told_with_their_reasons() -> None:
    queues = (
        waiting_queue("dev", ["young", "old"], END - HOUR),
        waiting_queue("research", ["other"], END - 9 * HOUR),
    )
    full = tuple(allocation(f"r{n}", "dev", "metal") for n in range(16))
    snapshot = Snapshot(taken_at=END, configuration=TEAMS, queues=queues, allocations=full)
    facts = Facts(start=START, end=END, snapshot=snapshot, plan=allocate(snapshot))

    dev, research = of(facts), of(facts, "research")

    assert dev.waiting_now == 2
    assert [one.task for one in dev.longest] == ["old", "young"]
    assert "limit" in dev.longest[0].reason
    assert "metal has 0 of 16 free" in research.longest[0].reason


def test_use_is_averaged_over_each_step_and_waiting_is_the_most_that_was_sampled() -> None:
    samples = [
        Sample(at=START + at, policy="dev", pool=pool, used=Fraction(0), running=0, waiting=count)
        for at, pool, count in [(MINUTE, "", 2), (30 * MINUTE, "", 5), (MINUTE, "metal", 9)]
    ]
    facts = Facts(
        start=START,
        end=END,
        ended=[ended(START + HOUR, START + 5 * HOUR, amount=4)],
        usage=[usage_of(sample) for sample in samples],
    )

    dev = of(facts)

    assert len(dev.use) == 84
    assert dev.use[:4] == (2.0, 4.0, 2.0, 0.0)
    assert dev.waiting[:2] == (5, None)


def test_a_last_step_that_is_cut_short_is_averaged_over_its_own_length() -> None:
    end = START + 100 * HOUR + 30 * MINUTE
    facts = Facts(start=START, end=end, entries=[running(START, amount=4)])

    assert set(of(facts).use) == {4.0}


def test_a_day_and_a_week_are_shown_in_about_a_hundred_steps() -> None:
    assert DAY / step_for(DAY) == 96
    assert 25 * HOUR / step_for(25 * HOUR) == 100, "the day on which the clock goes back"
    assert 7 * DAY / step_for(7 * DAY) == 84


def test_days_of_23_and_25_hours_count_their_hours() -> None:
    timing = Timing(at=time(9), days=frozenset(range(7)), zone="Europe/Berlin")
    long_before = START - 400 * DAY
    hours = {}
    for day in (date(2026, 3, 29), date(2026, 6, 1), date(2026, 10, 25)):
        start, end = period(timing, day)
        facts = Facts(start=start, end=end, entries=[running(long_before)])
        hours[day.month] = of(facts).hours

    assert hours == {3: 23, 6: 24, 10: 25}


@laws
@given(
    st.lists(
        st.tuples(st.integers(-600, 11_000), st.integers(1, 4_000), st.integers(1, 8)), max_size=12
    )
)
def test_the_steps_add_up_to_the_hours(spans: list[tuple[int, int, int]]) -> None:
    over = [
        ended(START + begin * MINUTE, START + (begin + length) * MINUTE, amount)
        for begin, length, amount in spans
    ]

    found = digest(Facts(start=START, end=END, ended=over), TEAMS.policies)

    dev = found.policies[0]
    whole = sum(dev.use) * (found.step / HOUR)
    assert abs(whole - float(dev.hours)) < 1e-6
    assert dev.average <= dev.peak
    assert max(dev.use) <= float(dev.peak) + 1e-9
