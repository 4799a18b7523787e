"""Digests are due once per local date, whatever the clocks and the machine do."""

from dataclasses import replace
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from domain.schedule_words import Misreading, parse_schedule, schedule_text
from domain.schedules import Schedule, Timing, due, instant, period
from tests.configurations import laws

DAY = timedelta(days=1)
SECOND = timedelta(seconds=1)
LONG_AGO = datetime(1999, 1, 1, tzinfo=UTC)
DAILY = frozenset(range(7))
WEEKDAYS = frozenset(range(5))
NINE = Schedule(
    channel="C1",
    at=time(9),
    days=WEEKDAYS,
    zone="Europe/Berlin",
    by="U1",
    changed_at=LONG_AGO,
)
NIGHT = replace(NINE, at=time(2, 30), days=DAILY)


def utc(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@pytest.mark.parametrize(
    ("now", "last", "expected"),
    [
        pytest.param("2026-12-01T07:59:59", "2026-11-30", None, id="not yet"),
        pytest.param("2026-12-01T08:00", "2026-11-30", "2026-12-01", id="now"),
        pytest.param("2026-12-01T08:00", None, "2026-12-01", id="the first ever"),
        pytest.param("2026-12-01T08:01", "2026-12-01", None, id="sent"),
        pytest.param("2026-12-01T22:30", "2026-11-30", "2026-12-01", id="missed by hours"),
        pytest.param("2026-12-01T23:30", "2026-11-30", "2026-12-01", id="past local midnight"),
        pytest.param("2026-12-04T07:00", "2026-11-30", "2026-12-03", id="older ones are skipped"),
        pytest.param("2026-12-06T12:00", "2026-12-03", "2026-12-04", id="on a weekend, friday's"),
        pytest.param("2026-12-06T12:00", "2026-12-04", None, id="weekend"),
        pytest.param("2026-12-01T12:00", "2026-12-02", None, id="last was in another zone"),
    ],
)
def test_a_digest_is_due_from_its_time_on_until_it_was_sent(
    now: str, last: str | None, expected: str | None
) -> None:
    found = due(NINE, utc(now), date.fromisoformat(last) if last else None)

    assert found == (date.fromisoformat(expected) if expected else None)


@pytest.mark.parametrize(
    "change", [{"on": False}, {"days": frozenset[int]()}], ids=["off", "no days"]
)
def test_nothing_is_due_when_it_is_off(change: dict[str, object]) -> None:
    assert due(replace(NINE, **change), utc("2026-12-01T12:00"), None) is None  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("changed_at", "expected"),
    [
        pytest.param("2026-12-01T08:00:01", None, id="after today's time"),
        pytest.param("2026-12-01T08:00", date(2026, 12, 1), id="at today's time"),
    ],
)
def test_what_lay_before_the_schedule_was_made_is_not_due(
    changed_at: str, expected: date | None
) -> None:
    new = replace(NINE, changed_at=utc(changed_at))

    assert due(new, utc("2026-12-01T12:00"), None) == expected


def test_weekly_digests_that_were_missed_by_days_are_sent_late() -> None:
    weekly = replace(NINE, days=frozenset({0}))

    assert due(weekly, utc("2026-12-06T23:00"), date(2026, 11, 23)) == date(2026, 11, 30)


@pytest.mark.parametrize(
    ("timing", "day", "expected"),
    [
        pytest.param(NINE, "2026-07-01", "2026-07-01T07:00", id="summer"),
        pytest.param(NINE, "2026-12-01", "2026-12-01T08:00", id="winter"),
        pytest.param(NIGHT, "2026-03-29", "2026-03-29T01:00", id="left out in spring"),
        pytest.param(NIGHT, "2026-10-25", "2026-10-25T00:30", id="twice in autumn, the first"),
        pytest.param(
            replace(NIGHT, at=time(2, 0)), "2026-03-29", "2026-03-29T01:00", id="first left out"
        ),
        pytest.param(
            replace(NIGHT, at=time(3, 0)), "2026-03-29", "2026-03-29T01:00", id="where it lands"
        ),
        pytest.param(
            replace(NIGHT, at=time(2, 10), zone="Australia/Lord_Howe"),
            "2026-10-04",
            "2026-10-03T15:30",
            id="half an hour left out",
        ),
        pytest.param(
            replace(NIGHT, zone="Pacific/Apia"),
            "2011-12-30",
            "2011-12-30T10:00",
            id="a whole day left out",
        ),
        pytest.param(
            replace(NIGHT, at=time(0, 0), zone="America/St_Johns"),
            "2006-10-29",
            "2006-10-29T02:30",
            id="midnight twice",
        ),
    ],
)
def test_a_digest_is_sent_when_the_clock_first_shows_its_time_or_later(
    timing: Timing, day: str, expected: str
) -> None:
    assert instant(timing, date.fromisoformat(day)) == utc(expected)


def test_a_midnight_that_comes_twice_is_due_at_the_first() -> None:
    midnight = replace(NIGHT, at=time(0, 0), zone="America/St_Johns")

    # The clock goes back to 23:01 of the day before, one minute past midnight.
    for seconds in (0, 59, 60, 3600, 3660):
        now = utc("2006-10-29T02:30") + seconds * SECOND
        assert due(midnight, now, date(2006, 10, 28)) == date(2006, 10, 29)
        assert due(midnight, now, date(2006, 10, 29)) is None


@pytest.mark.parametrize(
    ("day", "start", "end"),
    [
        pytest.param("2026-12-01", "2026-11-30T08:00", "2026-12-01T08:00", id="a day"),
        pytest.param("2026-11-30", "2026-11-27T08:00", "2026-11-30T08:00", id="over a weekend"),
        pytest.param("2026-03-30", "2026-03-27T08:00", "2026-03-30T07:00", id="over spring"),
    ],
)
def test_a_digest_tells_of_the_time_since_the_one_before(day: str, start: str, end: str) -> None:
    assert period(NINE, date.fromisoformat(day)) == (utc(start), utc(end))


def test_a_weekly_digest_tells_of_a_week() -> None:
    start, end = period(replace(NINE, days=frozenset({0})), date(2026, 11, 30))

    assert end - start == 7 * DAY


def test_a_schedule_without_days_has_no_periods() -> None:
    with pytest.raises(ValueError, match="without days"):
        period(replace(NINE, days=frozenset()), date(2026, 11, 30))


# Changes by 30 minutes, one and two hours, over midnight, in Ramadan, a day left out, or none.
ZONES = (
    "Africa/Casablanca",
    "America/Havana",
    "America/Sao_Paulo",
    "America/St_Johns",
    "Antarctica/Troll",
    "Asia/Kathmandu",
    "Asia/Tehran",
    "Australia/Lord_Howe",
    "Europe/Berlin",
    "Europe/Dublin",
    "Pacific/Apia",
    "Pacific/Chatham",
    "UTC",
)
times = st.builds(time, st.integers(0, 23), st.sampled_from([0, 1, 15, 30, 59]))
day_sets = st.frozensets(st.integers(0, 6), min_size=1)
timings = st.builds(Timing, at=times, days=day_sets, zone=st.sampled_from(ZONES))
all_days = st.dates(date(2000, 1, 1), date(2036, 12, 31))


@st.composite
def near_changes(draw: st.DrawFn) -> tuple[Timing, date]:
    """A timing and a date on which, or next to which, the clock of its zone changes."""
    timing, day = draw(timings), draw(all_days)
    zone = ZoneInfo(timing.zone)

    def offset(of: date) -> timedelta | None:
        return datetime.combine(of, time(), zone).utcoffset()

    changes = (
        day + n * DAY for n in range(366) if offset(day + n * DAY) != offset(day + n * DAY + DAY)
    )
    change = next(changes, day)
    hour = draw(st.integers(0, 3))
    return replace(timing, at=timing.at.replace(hour=hour)), change + draw(st.integers(-1, 1)) * DAY


cases = near_changes() | st.tuples(timings, all_days)


@laws
@given(case=cases)
def test_before_its_instant_the_clock_never_showed_the_time_and_then_it_does(
    case: tuple[Timing, date],
) -> None:
    timing, day = case
    zone, wall = ZoneInfo(timing.zone), datetime.combine(day, timing.at)
    at = instant(timing, day)

    def shown(when: datetime) -> datetime:
        return when.astimezone(zone).replace(tzinfo=None)

    assert shown(at) >= wall
    assert shown(at - SECOND) < wall
    assert all(shown(at - quarter * timedelta(minutes=15)) < wall for quarter in range(1, 120))


@laws
@given(
    case=cases,
    gaps=st.lists(st.integers(1, 70_000), min_size=1, max_size=60),
    replica=st.booleans(),
)
def test_no_date_is_sent_twice_and_the_latest_missed_one_always_is(
    case: tuple[Timing, date], gaps: list[int], replica: bool
) -> None:
    timing, start = case
    schedule = Schedule(**vars(timing), channel="C1", by="U1", changed_at=LONG_AGO)
    now = datetime.combine(start - 3 * DAY, time(), UTC)
    last: date | None = None
    for gap in gaps:
        now += gap * SECOND
        found = due(schedule, now, last)
        if found is not None:
            assert last is None or found > last
            assert found.weekday() in schedule.days
            last = found
        assert due(schedule, now, last) is None
        assert last is not None
        # Nothing later than what was sent has come.
        later = (last + n * DAY for n in range(1, 10))
        assert not any(
            instant(schedule, day) <= now for day in later if day.weekday() in schedule.days
        )


@laws
@given(case=cases)
def test_a_program_that_looks_every_half_hour_sends_every_date(case: tuple[Timing, date]) -> None:
    timing, day = case
    schedule = Schedule(**vars(timing), channel="C1", by="U1", changed_at=LONG_AGO)
    wanted = [day + n * DAY for n in range(-4, 5) if (day + n * DAY).weekday() in schedule.days]
    instants = [instant(schedule, one) for one in wanted]
    assume(len(set(instants)) == len(instants))  # but for a day left out altogether
    last, sent = day - 30 * DAY, []
    now = datetime.combine(day - 6 * DAY, time(), UTC)
    for _ in range(12 * 48):
        if (found := due(schedule, now, last)) is not None:
            sent.append(found)
            last = found
            assert now - instant(schedule, found) < DAY / 48 or len(sent) == 1
        now += DAY / 48

    assert [one for one in sent if one in wanted] == wanted
    assert sent == sorted(set(sent))


@laws
@given(case=cases)
def test_periods_follow_one_another_without_gaps(case: tuple[Timing, date]) -> None:
    timing, day = case
    dates = [day + n * DAY for n in range(15) if (day + n * DAY).weekday() in timing.days]

    periods = [period(timing, one) for one in dates]

    assert all(start <= end for start, end in periods)
    ends = [end for _, end in periods]
    assert [start for start, _ in periods[1:]] == ends[:-1]


BERLIN = "Europe/Berlin"


@pytest.mark.parametrize(
    ("text", "timing"),
    [
        ("09:00 mon-fri Europe/Berlin", (time(9), WEEKDAYS, BERLIN)),
        ("9:05", (time(9, 5), DAILY, "UTC")),
        ("00:00 daily", (time(0), DAILY, "UTC")),
        ("23:59 europe/BERLIN", (time(23, 59), DAILY, BERLIN)),
        ("09:00 Europe/Berlin WeekDays", (time(9), WEEKDAYS, BERLIN)),
        ("09:00 fri-mon", (time(9), frozenset({4, 5, 6, 0}), "UTC")),
        ("09:00 mon,wednesday,Fri-sat", (time(9), frozenset({0, 2, 4, 5}), "UTC")),
        ("09:00 mon, wed, fri", (time(9), frozenset({0, 2, 4}), "UTC")),
        ("09:00 weekends wed", (time(9), frozenset({2, 5, 6}), "UTC")),
        ("09:00 sun-sun", (time(9), frozenset({6}), "UTC")),
        ("09:00 mon Etc/GMT+8", (time(9), frozenset({0}), "Etc/GMT+8")),
    ],
)
def test_schedules_are_read_as_people_write_them(
    text: str, timing: tuple[time, frozenset[int], str]
) -> None:
    at, days, zone = timing

    assert parse_schedule(text) == Timing(at=at, days=days, zone=zone)


def test_where_no_zone_is_said_the_given_one_holds() -> None:
    assert parse_schedule("09:00", BERLIN) == Timing(at=time(9), days=DAILY, zone=BERLIN)
    assert parse_schedule("09:00 UTC", BERLIN) == Timing(at=time(9), days=DAILY, zone="UTC")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "'' is no time; write it as 09:00"),
        ("mon-fri 09:00", "'mon-fri' is no time"),
        ("24:00", "'24:00' is no time"),
        ("09:60", "'09:60' is no time"),
        ("9", "'9' is no time"),
        ("٠٩:٠٠", "is no time"),
        ("09:00 mondey", "did you mean monday?"),
        ("09:00 berlin", "did you mean Europe/Berlin?"),
        ("09:00 Europe/Berln", "did you mean Europe/Berlin?"),
        ("09:00 mon-", "neither days nor a time zone"),
        ("09:00 -", "neither days nor a time zone"),
        ("09:00 ,", "neither days nor a time zone"),
        ("09:00 mon,,tue", "neither days nor a time zone"),
        ("09:00 mon-wed-fri", "neither days nor a time zone"),
        ("09:00 UTC Europe/Berlin", "'Europe/Berlin' is a second time zone; name one"),
        ("09:00 ../../etc/passwd", "neither days nor a time zone"),
        ("09:00 <!channel>", "'<!channel>' is neither days nor a time zone; write mon-fri"),
        ("09:00 " + "x" * 4000, "'" + "x" * 40 + "…' is neither"),
    ],
)
def test_what_is_no_schedule_is_said_with_the_remedy(text: str, says: str) -> None:
    misread = parse_schedule(text)

    assert isinstance(misread, Misreading)
    assert says in misread.reason
    assert len(misread.reason) < 200


@pytest.mark.parametrize(
    ("timing", "text"),
    [
        (NINE, "09:00 mon-fri Europe/Berlin"),
        (NIGHT, "02:30 daily Europe/Berlin"),
        (replace(NINE, days=frozenset({0, 1, 3, 4, 5})), "09:00 mon,tue,thu-sat Europe/Berlin"),
    ],
)
def test_schedules_are_written_shortly(timing: Timing, text: str) -> None:
    assert schedule_text(timing) == text


@laws
@given(timing=timings)
def test_what_is_written_is_read_as_it_was(timing: Timing) -> None:
    assert parse_schedule(schedule_text(timing), "Asia/Tokyo") == timing


@laws
@given(
    text=st.text(max_size=30) | st.from_regex(r"[0-9:]{4,5}( [a-z,-]{1,9}){0,3}", fullmatch=True)
)
def test_any_text_is_read_or_refused(text: str) -> None:
    read = parse_schedule(text)

    if isinstance(read, Timing):
        assert parse_schedule(schedule_text(read)) == read
    else:
        assert read.reason.isprintable()
