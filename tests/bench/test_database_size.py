"""How large the database gets: 50 pools, 200 policies and 5,000 tasks a day, for a year.

One day is written by the storage's own functions: usage minute by minute for six hours that have
a whole day's changes (so their pages are rather too large), tasks that end, digests with pictures,
direct messages. Its usage is copied to every hour of a year, the rest to each of its last seventy
days, which is more than twice as long as they are kept; each day is followed by the forgetting that
runs all the time. What is measured is the file that such a year leaves.
"""

import random
import sqlite3
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from datetime import time as clock_time
from fractions import Fraction
from pathlib import Path

import pytest

from bot import posts
from bot.blocks import Post
from bot.digest_messages import Told, message, picture
from bot.task_names import Names
from controller.digests import Facts, digest
from controller.retention import Retention
from domain.amounts import format_amount
from domain.configuration import Configuration
from domain.ledger import AuditRecord, Ended, Sample
from domain.renames import Renames
from domain.schedules import Schedule
from domain.snapshot import Tier
from domain.tasks import TaskFacts
from domain.usage import DAY, Kept
from storage import audit, configurations, ledger, outbox, tasks
from storage.database import Database, Session, open_database
from tests.poolkeeper_support import one_profile

END = datetime(2026, 12, 1, tzinfo=UTC)
FIRST = END - timedelta(days=365)
MINUTE = timedelta(minutes=1)
KEPT = Kept()
POOLS, POLICIES, TASKS = 50, 200, 5_000
NOTIFIED = TASKS // 5
"""How many tasks a day somebody hears of directly, at their start and at their end."""

HOURS, HISTORY = 6, 70
LINKED = 8
"""How many pools a team's profiles are linked to."""

MOST_MB = 200
MOST_S = 90


def configuration() -> Configuration:
    return one_profile(
        {f"pool-{n:02}": 64 for n in range(POOLS)},
        {f"research-team-{n:03}": (8, 64) for n in range(POLICIES)},
    )


def a_day_of_samples(day: datetime) -> Iterator[list[Sample]]:
    """By the minute: each policy uses two pools on average, by amounts that change now and then."""
    dice = random.Random(1)
    used: dict[tuple[str, str], Fraction] = {}
    waiting = {f"research-team-{n:03}": 0 for n in range(POLICIES)}
    for minute in range(HOURS * 60):
        # A task starts or ends for one policy in one pool.
        for _ in range(2 * TASKS // (HOURS * 60)):
            policy = f"research-team-{dice.randrange(POLICIES):03}"
            waiting[policy] = dice.randrange(40)
            pairs = [pair for pair in used if pair[0] == policy]
            if len(pairs) > 2:
                used.pop(dice.choice(pairs))
            pool = (int(policy[-3:]) + dice.randrange(LINKED)) % POOLS
            used[policy, f"pool-{pool:02}"] = Fraction(dice.randrange(1, 65), 8)
        at, seconds = day + minute * MINUTE, dice.choice((60, 61, 65))
        yield [
            *(
                Sample(
                    at=at, policy=policy, pool="", used=Fraction(0), running=0, waiting=count,
                    seconds=seconds,
                )
                for policy, count in waiting.items()
            ),
            *(
                Sample(
                    at=at, policy=policy, pool=pool, used=amount, running=3, waiting=0,
                    seconds=seconds,
                )
                for (policy, pool), amount in used.items()
            ),
        ]  # fmt: skip


def usage_of_a_day(database: Database, day: datetime) -> None:
    """The samples are put in by SQL, for a minute's take as long as thousands of minutes here."""
    connection = sqlite3.connect(Path(database.name))
    statement = "INSERT INTO samples VALUES (NULL, ?, ?, ?, ?, ?, ?, ?)"
    for minute, taken in enumerate(a_day_of_samples(day), 1):
        rows = [
            (f"{one.at:%Y-%m-%d %H:%M:%S.%f}", one.policy, one.pool, format_amount(one.used),
             one.running, one.waiting, one.seconds)
            for one in taken
        ]  # fmt: skip
        connection.executemany(statement, rows)
        if minute % 60 == 0:
            connection.commit()
            now = day + minute * MINUTE
            Retention(database, lambda now=now: now, KEPT).run()  # type: ignore[misc]
    connection.close()


def ended_on(day: datetime) -> list[Ended]:
    dice = random.Random(day.toordinal())
    return [
        Ended(
            task=f"{dice.getrandbits(128):032x}",
            policy=f"research-team-{n % POLICIES:03}",
            profile="job",
            pool=f"pool-{dice.randrange(POOLS):02}",
            amount=Fraction(1),
            tier=Tier.SHARED,
            first_seen=day + timedelta(seconds=dice.randrange(40_000)),
            dispatched_at=day + timedelta(seconds=dice.randrange(40_000, 60_000)),
            ended_at=day + timedelta(seconds=dice.randrange(60_000, 86_400)),
            outcome="completed",
        )
        for n in range(TASKS)
    ]


def told_of(team: int, ended: list[Ended]) -> Told:
    every = configuration()
    policy = every.policies[team]
    facts = Facts(
        start=END - DAY, end=END, ended=[one for one in ended if one.policy == policy.name]
    )
    schedule = Schedule(
        channel=f"C{team:010}", policies=(policy.name,), at=clock_time(9), days=frozenset(range(7)),
        zone="Europe/Berlin", by="U_ADA", changed_at=END,
    )  # fmt: skip
    found = digest(facts, [policy])
    return Told(digest=found, schedule=schedule, whole=Fraction(3200), names=Names(), now=END)


def messages_of_a_day(session: Session, day: datetime, teams: list[Told]) -> None:
    """A digest with its picture for each team, and direct messages."""
    for told in teams:
        key = f"digest:{told.schedule.channel}:{day.date().isoformat()}"
        posts.announce(session, key, message(told), day)
        post = Post(channel=told.schedule.channel, text="")
        posts.picture(session, f"{key}:picture", post, picture(told), day)
    for n in range(NOTIFIED):
        for what in ("started", "ended"):
            text = f"Your task `train resnet50 with augmentation {n:05}` {what} in `pool-07`."
            block = {"type": "section", "text": {"type": "mrkdwn", "text": text}}
            post = Post(channel="", text=text, blocks=(block,))
            posts.direct(
                session, f"task:{n:032x}:{day.date().isoformat()}:{what}", f"U{n:010}", post, day
            )
    for unsent in outbox.due(session, day, 10 * NOTIFIED):
        outbox.mark_sent(
            session, unsent, day, {"ts": "1764547200.000100", "channel": unsent.channel}
        )


def history_of_a_day(database: Database, day: datetime) -> None:
    teams = [told_of(team, ended_on(END - DAY)) for team in range(POLICIES)]
    ended = ended_on(day)
    facts = [
        TaskFacts(task=one.task, name=f"train resnet50 with augmentation {n:05}", user="5" * 32)
        for n, one in enumerate(ended)
    ]
    with database.transaction() as session:
        ledger.end(session, ended)
        tasks.remember(session, facts, day)
        messages_of_a_day(session, day, teams)


_TASK = "lower(hex(randomblob(16)))"
"""Every day has tasks of its own."""

_COPIED = {
    "ended": f"NULL, {_TASK}, policy, profile, pool, amount, tier, replace(first_seen, :first, "
    ":day), replace(dispatched_at, :first, :day), replace(ended_at, :first, :day), outcome",
    "tasks": f"{_TASK}, name, user, searchable, replace(seen_at, :first, :day)",
    "outbox": "NULL, replace(key, :first, :day), channel, payload, not_before, attempts, edition, "
    "replace(sent_at, :first, :day), result",
}


_USAGE = """
    INSERT INTO usage
    SELECT resolution, datetime(at, :ahead_days, :ahead_hours) || '.000000', document
    FROM one.usage WHERE resolution <> 'day' OR :hour = 0
"""


def year_of(one_day: Path, database: Database) -> None:
    """The day again and again, with forgetting as it goes on."""
    connection = sqlite3.connect(Path(database.name), isolation_level=None)
    connection.execute("PRAGMA synchronous=OFF")
    connection.execute("ATTACH ? AS one", (str(one_day),))
    connection.execute("INSERT INTO series SELECT * FROM one.series")
    for ago in range(365, 0, -1):
        day = END - ago * DAY
        dates = {"first": FIRST.date().isoformat(), "day": day.date().isoformat()}
        connection.execute("BEGIN IMMEDIATE")
        for hour in range(0, 24, HOURS):
            connection.execute(
                _USAGE,
                {
                    "ahead_days": f"+{365 - ago} days",
                    "ahead_hours": f"+{hour} hours",
                    "hour": hour,
                },
            )
        for table, columns in _COPIED.items() if ago <= HISTORY else ():
            connection.execute(f"INSERT INTO main.{table} SELECT {columns} FROM one.{table}", dates)
        connection.execute("COMMIT")
        Retention(database, lambda day=day: day + DAY, KEPT).run()  # type: ignore[misc]
    connection.close()


def deeds_of_a_year(database: Database) -> None:
    """A version a week, and a hundred lines of audit a day."""
    with database.transaction() as session:
        for week in range(52):
            approval = configurations.Approval(by="U_ADA", at=END + week * MINUTE)
            added = configurations.add_version(session, configuration(), Renames(), approval)
            configurations.mark_provisioned(session, week + 1)
            assert not isinstance(added, configurations.Pending)
        for n in range(365 * 100):
            audit.record(
                session,
                AuditRecord(
                    at=END - n * MINUTE, actor="U0123456789", action="approved request",
                    subject=f"research-team-{n % POLICIES:03}", detail="x" * 120,
                ),
            )  # fmt: skip


def sizes(path: Path) -> dict[str, float]:
    """Megabytes by table, its indexes among them; and what is free."""
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    found = connection.execute(
        "SELECT tbl_name, sum(pgsize) / 1e6 FROM dbstat JOIN sqlite_master USING (name) "
        "GROUP BY tbl_name ORDER BY 2 DESC"
    ).fetchall()
    (free,) = connection.execute("PRAGMA freelist_count").fetchone()
    connection.close()
    return {**dict(found), "(free)": free * 4096 / 1e6}


@pytest.mark.timeout(900)
def test_a_year_stays_small(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    start = time.process_time()
    one_day = open_database(str(tmp_path / "one-day.sqlite3"))
    usage_of_a_day(one_day, FIRST)
    history_of_a_day(one_day, FIRST)
    one_day.close()
    database = open_database(str(tmp_path / "state.sqlite3"))
    deeds_of_a_year(database)
    year_of(Path(one_day.name), database)
    database.close()

    by_table = sizes(Path(database.name))
    total = Path(database.name).stat().st_size / 1e6
    taken = time.process_time() - start
    lines = [f"{table:20} {size:8.2f} MB" for table, size in by_table.items()]
    lines.append(f"{'all of the file':20} {total:8.2f} MB, made in {taken:.0f} s of one core")
    with capsys.disabled():
        sys.stdout.write("\n  ".join(["", *lines, ""]))
    assert total < MOST_MB
    assert taken < MOST_S
