"""Digests in channels: due by the wall clock, once, and readable; and the verbs that set them."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import date, datetime, time, timedelta
from fractions import Fraction
from pathlib import Path

import pytest

from bot import digest_posting
from bot.compose import new_reference
from bot.desk import Desk
from bot.digest_posting import put_due
from controller.retention import Retention
from domain.configuration import Configuration, Team
from domain.ledger import Ended
from domain.schedules import Schedule, Timing, instant
from domain.snapshot import Tier
from domain.usage import Kept
from storage import deliveries, ledger, outbox, schedules
from storage.database import Database, open_database
from tests.bot_support import (
    Bot,
    allocation,
    running_bot,
    task_id,
    waiting_queue,
    with_teams,
)
from tests.poolkeeper_support import one_profile
from tests.sandbox_support import wait_until
from tests.slack_support import Workspace

BERLIN = "Europe/Berlin"
DAILY = Timing(at=time(2, 30), days=frozenset(range(7)), zone=BERLIN)
HOUR, MINUTE = timedelta(hours=1), timedelta(minutes=1)
PNG = b"\x89PNG"
TEAMS: Configuration = with_teams(
    one_profile({"metal": 8}, {"dev": (4, 8), "research": (4, None)}),
    {
        "dev": Team(channel="C_VISION", users=("U_CLEO",)),
        "research": Team(channel="C_SPEECH", users=("U_DAN",)),
    },
)


@pytest.fixture
def bot(slack: Workspace, tmp_path: Path) -> Iterator[Bot]:
    with running_bot(slack, tmp_path) as bot:
        yield bot


class At:
    """A clock that stands where it is put."""

    def __init__(self, at: datetime) -> None:
        self.at = at

    def __call__(self) -> datetime:
        return self.at


def desk_at(bot: Bot, database: Database, clock: At) -> Desk:
    """A desk as another replica or a later start has it: the same database, nothing in memory."""
    return replace(
        bot.desk, database=database, clock=clock, reference=new_reference, deliver=lambda: None
    )


def schedule(bot: Bot, timing: Timing, at: datetime, policies: tuple[str, ...] = ("dev",)) -> None:
    with bot.database.transaction() as session:
        schedules.put(
            session,
            Schedule(
                channel="C_VISION",
                policies=policies,
                at=timing.at,
                days=timing.days,
                zone=timing.zone,
                by="U_ADA",
                changed_at=at,
            ),
        )


def ran(bot: Bot, from_: datetime, length: timedelta, amount: int = 4, policy: str = "dev") -> None:
    with bot.database.transaction() as session:
        ledger.end(
            session,
            [
                Ended(
                    task=task_id(1),
                    policy=policy,
                    profile="job",
                    pool="metal",
                    amount=Fraction(amount),
                    tier=Tier.SHARED,
                    first_seen=from_ - 10 * MINUTE,
                    dispatched_at=from_,
                    ended_at=from_ + length,
                    outcome="completed",
                )
            ],
        )


def told(bot: Bot) -> list[str]:
    """The dates of 2026 whose digest of C_VISION was ever put into the outbox."""
    days = [date(2026, 1, 1) + timedelta(days=n) for n in range(365)]
    with bot.database.reading() as session:
        return [day.isoformat() for day in days if outbox.find(session, f"digest:C_VISION:{day}")]


def test_a_digest_says_in_words_and_in_a_picture_how_the_day_was(bot: Bot) -> None:
    now = bot.clock()
    names = {task_id(7): "train *all* the <things>", task_id(8): "secret of research"}
    bot.name_tasks(names)
    bot.publish(
        TEAMS,
        [
            waiting_queue("dev", [task_id(7)], now - 3 * HOUR),
            waiting_queue("research", [task_id(8)], now - 5 * HOUR),
        ],
        [allocation(task_id(n), "dev", "metal") for n in range(20, 28)],
    )
    ran(bot, now - 6 * HOUR, 3 * HOUR)
    local = (now + MINUTE).time().replace(second=0, microsecond=0)
    daily = Timing(at=local, days=frozenset(range(7)), zone="UTC")
    schedule(bot, daily, now - 48 * HOUR)
    bot.clock.advance(2 * MINUTE)

    put_due(bot.desk)

    digest = bot.slack.wait_for_message("C_VISION", "Digest for dev")
    assert digest.text.startswith("Digest for `dev` from ")
    assert "*12 GPU-hours*: 0.5 GPUs on average, 4 at most (4 reserved, limit 8)" in digest.plain
    assert "1 task started, 1 ended (1 completed)" in digest.plain
    assert "had waited 10 min in the median" in digest.plain
    assert "train *all* the &lt;things&gt;" in str(digest.blocks)
    assert "secret" not in digest.plain
    picture = bot.slack.wait_for(
        lambda: next((m for m in bot.slack.messages("C_VISION") if m.files), None), "a picture"
    )
    (file,) = picture.files
    assert bot.slack.download(file).startswith(PNG)
    assert "dev used 0.5 GPUs on average and 4 at most, 4 reserved, limit 8" in file["alt_txt"]
    assert file["title"].startswith("GPUs in use by dev, from ")


def test_a_day_on_which_nothing_happened_is_one_line_without_a_picture(bot: Bot) -> None:
    bot.publish(TEAMS)
    now = bot.clock()
    daily = Timing(at=(now - MINUTE).time(), days=frozenset(range(7)), zone="UTC")
    schedule(bot, daily, now - 48 * HOUR)

    put_due(bot.desk)
    message = bot.slack.wait_for_message("C_VISION", "Nothing ran and nothing waited")

    assert len(message.plain.splitlines()) == 1
    assert [one for one in bot.slack.messages("C_VISION") if one.files] == []


def test_no_day_is_told_twice_or_left_out_across_both_changes_of_the_clock(bot: Bot) -> None:
    bot.publish(TEAMS)
    for first in (date(2026, 3, 27), date(2026, 10, 23)):
        start = instant(DAILY, first) - 12 * HOUR
        schedule(bot, DAILY, start)
        clock = At(start)
        desk = desk_at(bot, bot.database, clock)
        while clock.at < start + timedelta(days=5):
            put_due(desk)
            clock.at += 15 * MINUTE

    march = [date(2026, 3, 27) + timedelta(days=n) for n in range(5)]
    october = [date(2026, 10, 23) + timedelta(days=n) for n in range(5)]
    assert told(bot) == [day.isoformat() for day in (*march, *october)]


def test_a_digest_that_fell_into_a_time_without_a_program_comes_afterwards_once(bot: Bot) -> None:
    bot.publish(TEAMS)
    start = instant(DAILY, date(2026, 11, 2)) - HOUR
    schedule(bot, DAILY, start)
    clock = At(start)
    put_due(desk_at(bot, bot.database, clock))
    assert told(bot) == []

    clock.at = start + timedelta(days=3)
    for _ in range(3):  # three starts, each with an empty memory
        put_due(desk_at(bot, bot.database, clock))

    assert told(bot) == ["2026-11-04"]
    wait_until(lambda: len(bot.slack.messages("C_VISION")) == 1, "one message")


def test_two_replicas_on_one_database_send_one_digest_a_day(bot: Bot) -> None:
    bot.publish(TEAMS)
    start = instant(DAILY, date(2026, 11, 2)) - HOUR
    schedule(bot, DAILY, start)
    other = open_database(bot.database.name)
    clock = At(start)
    replicas = [desk_at(bot, bot.database, clock), desk_at(bot, other, clock)]

    for _ in range(7 * 24):
        for desk in replicas:
            put_due(desk)
        clock.at += HOUR
    other.close()

    assert told(bot) == [f"2026-11-{day:02}" for day in range(2, 9)]
    wait_until(lambda: len(bot.slack.messages("C_VISION")) == 7, "seven messages")


def test_one_who_comes_too_late_with_the_same_digest_says_nothing(bot: Bot) -> None:
    """Both replicas found it due; the slower one finds it told when it comes to write."""
    bot.publish(TEAMS)
    start = instant(DAILY, date(2026, 11, 2))
    schedule(bot, DAILY, start - HOUR)
    desk = desk_at(bot, bot.database, At(start))
    with bot.database.reading() as session:
        (found,) = schedules.schedules(session)

    digest_posting.put(desk, found, date(2026, 11, 2))
    digest_posting.put(desk, found, date(2026, 11, 2))

    assert told(bot) == ["2026-11-02"]


def test_a_digest_is_not_sent_once_it_was_turned_off_and_its_date_is_remembered(bot: Bot) -> None:
    bot.publish(TEAMS)
    start = instant(DAILY, date(2026, 11, 2))
    schedule(bot, DAILY, start - HOUR)
    desk = desk_at(bot, bot.database, At(start))
    with bot.database.reading() as session:
        (found,) = schedules.schedules(session)

    with bot.database.transaction() as session:
        schedules.put(session, replace(found, on=False))
    digest_posting.put(desk, found, date(2026, 11, 2))  # computed before it was turned off
    assert told(bot) == []

    with bot.database.transaction() as session:
        schedules.put(session, found)
    digest_posting.put(desk, found, date(2026, 11, 2))
    assert told(bot) == ["2026-11-02"]
    with bot.database.reading() as session:
        assert schedules.last_dates(session) == {"C_VISION": date(2026, 11, 2)}


def test_members_set_the_digest_of_their_own_channel(bot: Bot) -> None:
    bot.publish(TEAMS)

    on = bot.says("U_CLEO", "digest at 9:15 mon-fri Europe/Berlin", "C_VISION").reply()
    assert "a digest about `dev` at 09:15 mon-fri Europe/Berlin" in on.plain
    assert "the next one comes on" in on.plain
    with bot.database.reading() as session:
        kept = schedules.schedule(session, "C_VISION")
    assert kept is not None
    assert (kept.policies, kept.by) == (("dev",), "U_CLEO")

    off = bot.says("U_CLEO", "digest off", "C_VISION").reply()
    assert "gets no digest any more" in off.plain
    again = bot.says("U_CLEO", "digest on", "C_VISION").reply()
    assert "at 09:15 mon-fri Europe/Berlin" in again.plain
    assert [one.action for one in bot.audit("C_VISION")] == ["digest on", "digest off", "digest on"]


def test_members_cannot_set_that_of_another_channel_and_admins_can(bot: Bot) -> None:
    bot.publish(TEAMS)

    refused = bot.says("U_CLEO", "digest on", "C_GENERAL").reply()
    assert "Only an admin" in refused.plain
    with bot.database.reading() as session:
        assert schedules.schedules(session) == ()

    taken = bot.says("U_ADA", "digest on", "C_GENERAL").reply()
    assert "a digest about `dev`, `research` at 09:00 mon-fri UTC" in taken.plain


@pytest.mark.parametrize(
    ("said", "sentence"),
    [
        ("digest at nine", "is no time; write it as 09:00"),
        ("digest at 09:00 Europe/Berlni", "did you mean Europe/Berlin?"),
        ("digest at", "was given too little"),
    ],
)
def test_a_time_that_cannot_be_read_is_explained(bot: Bot, said: str, sentence: str) -> None:
    bot.publish(TEAMS)

    answer = bot.says("U_CLEO", said, "C_VISION").reply()

    assert sentence in answer.plain
    with bot.database.reading() as session:
        assert schedules.schedules(session) == ()


def test_saying_on_again_does_not_lose_a_digest_that_is_just_due(bot: Bot) -> None:
    bot.publish(TEAMS)
    now = bot.clock()
    daily = Timing(at=(now - MINUTE).time(), days=frozenset(range(7)), zone="UTC")
    schedule(bot, daily, now - 48 * HOUR)

    bot.says("U_CLEO", "digest on", "C_VISION").reply("gets a digest")
    put_due(bot.desk)

    wait_until(lambda: bot.slack.messages("C_VISION"), "the digest")


def test_what_no_digest_tells_any_more_is_forgotten(bot: Bot) -> None:
    now, day = bot.clock(), timedelta(days=1)
    for days in (30, 32):
        ran(bot, now - days * day - HOUR, HOUR)
    with bot.database.transaction() as session:
        assert deliveries.first_time(session, "old", now - 2 * day)
        assert deliveries.first_time(session, "new", now - day / 2)

    Retention(bot.database, bot.clock, Kept()).run()

    with bot.database.transaction() as session:
        (kept,) = ledger.ended_between(session, now - 99 * day, now)
        assert kept.ended_at == now - 30 * day
        assert not deliveries.first_time(session, "new", now)
        assert deliveries.first_time(session, "old", now)
