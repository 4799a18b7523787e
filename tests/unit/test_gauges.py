"""What is shown of a round and of the database: exact until the last step, escaped, and bounded."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from pathlib import Path
from threading import Event

import pytest

from bot.glancing import Asked, Glance, Glances
from bot.metrics import Metrics
from bot.metrics_page import MetricsPage
from bot.vitals import Ended, RoundSeen
from controller.leading import Role, Standing
from controller.moves import Moved, Outcome
from controller.publishing import View, Viewer
from controller.round import Report
from domain.allocation import allocate
from domain.configuration import Configuration
from domain.ledger import LedgerEntry, Stage
from domain.snapshot import Allocation, Snapshot, Task, Tier, WaitingQueue
from storage import outbox
from storage.database import open_database
from storage.errors import StorageError
from storage.outbox import Backlog, Message
from tests.outside_support import Sample, samples_of
from tests.poolkeeper_support import one_profile

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
ODD = 'a "policy"\\\n{x="1"} 7'


def view_of(configuration: Configuration, waiting: int = 0, used: Fraction = Fraction(0)) -> View:
    name = configuration.policies[0].name
    tasks = tuple(Task(id=f"t{n}", first_seen=NOON - timedelta(hours=n)) for n in range(waiting))
    snapshot = Snapshot(
        taken_at=NOON,
        configuration=configuration,
        queues=(WaitingQueue(policy=name, profile="job", tasks=tasks),),
        allocations=(Allocation(task="r", policy=name, profile="job", pool="metal", amount=used),),
    )
    return View(at=NOON, version=1, snapshot=snapshot, plan=allocate(snapshot))


def shown(page: MetricsPage | Metrics) -> dict[str, list[Sample]]:
    _, text = page.text() if isinstance(page, MetricsPage) else page.page()
    found: dict[str, list[Sample]] = {}
    for sample in samples_of(text.decode()):
        found.setdefault(sample.name, []).append(sample)
    return found


def page_of(glance: Callable[[], Glance], role: Role = Role.LEADER) -> MetricsPage:
    return MetricsPage(Metrics(), glance, lambda: Standing(role=role, since=NOON), lambda: False)


def of(view: View | None, role: Role = Role.LEADER) -> dict[str, list[Sample]]:
    glance = Glance(view=view, backlog=Backlog(count=0, first=None), drifts=None)
    return shown(page_of(lambda: glance, role))


def test_amounts_are_exact_until_they_are_shown() -> None:
    sevenths = one_profile({"metal": 1}, {"dev": (0, None)}, allotment="1/7")

    found = of(view_of(sevenths, waiting=20, used=Fraction(3, 7)))

    # Three sevenths run, and of the twenty that wait four fit: not one more, not one less.
    assert found["poolkeeper_pool_used_resources"][0].value == 1.0
    assert found["poolkeeper_policy_borrowed_resources"][0].value == 1.0
    waiting = {sample.labels: sample.value for sample in found["poolkeeper_waiting_tasks"]}
    assert waiting[("reason", "no_capacity"),] == 16
    assert sum(waiting.values()) == 16


def test_the_longest_wait_is_that_of_a_task_which_this_round_does_not_start() -> None:
    found = of(view_of(one_profile({"metal": 1}, {"dev": (0, None)}), waiting=3))

    assert found["poolkeeper_policy_longest_wait_seconds"][0].value == 2 * 3600


def test_a_name_cannot_break_the_page() -> None:
    found = of(view_of(one_profile({"metal": 1}, {ODD: (0, None)})))

    [sample] = found["poolkeeper_policy_used_resources"]
    escaped = ODD.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    assert sample.labels == (("policy", escaped),)


@pytest.mark.parametrize("case", ["a follower", "before the first round"])
def test_nothing_is_shown_of_rounds_by(case: str) -> None:
    view = view_of(one_profile({"metal": 1}, {"dev": (0, None)}))

    found = of(view, Role.FOLLOWER) if case == "a follower" else of(None)

    assert not [name for name in found if "pool_" in name.replace("poolkeeper_", "", 1)]
    assert "poolkeeper_view_timestamp_seconds" not in found


def test_a_database_that_is_away_spoils_nothing_else() -> None:
    def away() -> Glance:
        raise StorageError("it is away")

    found = shown(page_of(away))

    assert found["poolkeeper_database_up"][0].value == 0
    assert found["poolkeeper_leader"][0].value == 1
    assert "poolkeeper_rounds_total" in found


def test_whoever_asks_a_database_that_hangs_waits_so_long_and_it_is_asked_once() -> None:
    asked, go_on = [], Event()

    def hangs() -> int:
        asked.append(1)
        assert go_on.wait(20)
        return len(asked)

    question = Asked(hangs)
    with ThreadPoolExecutor(8) as threads:
        waiting = [threads.submit(question.answer, 0.05) for _ in range(8)]
        errors = [one.exception(10) for one in waiting]
    patient = ThreadPoolExecutor(1).submit(question.answer, 20)
    go_on.set()

    assert [type(error) for error in errors] == [StorageError] * 8
    assert patient.result(20) in (1, 2)
    assert len(asked) <= 2
    assert question.answer(20) == len(asked)


def report(pool: str, policy: str, outcome: Outcome = Outcome.DISPATCHED) -> Report:
    entry = LedgerEntry(
        task="t",
        policy=policy,
        profile="job",
        pool=pool,
        link="x",
        intake="i",
        execution="e",
        amount=Fraction(1),
        tier=Tier.SHARED,
        stage=Stage.INTENDED,
        first_seen=NOON - timedelta(minutes=2),
        intended_at=NOON,
    )
    return Report(at=NOON, moved=(Moved(entry, outcome),))


def test_what_is_counted_of_what_is_gone_is_forgotten_and_of_the_rest_it_stays() -> None:
    metrics = Metrics()
    for pool, policy in (("metal", "dev"), ("metal", "old"), ("cloud", "dev")):
        metrics.round_over(RoundSeen(Ended.DONE, 0.1, report(pool, policy)))
    metrics.round_over(RoundSeen(Ended.DONE, 0.1, report("metal", "dev", Outcome.TAKEN)))

    metrics.keep({"metal"}, {"dev", "new"})

    found = shown(metrics)
    [left] = found["poolkeeper_dispatches_total"]
    assert left.labels == (("policy", "dev"), ("pool", "metal"))
    assert left.value == 1
    waits = {sample.labels: sample.value for sample in found["poolkeeper_task_wait_seconds_sum"]}
    assert waits[("tier", "shared"),] == 3 * 120


def test_the_outbox_is_shown_with_how_long_its_first_message_waits(tmp_path: Path) -> None:
    database = open_database(f"sqlite:///{tmp_path / 'x.sqlite3'}")
    metrics = page_of(Glances(database, Viewer(database), has_cgpu=False).take)

    def depth() -> float:
        return shown(metrics)["poolkeeper_outbox_messages"][0].value

    def oldest() -> float:
        return shown(metrics)["poolkeeper_outbox_oldest_seconds"][0].value

    assert (depth(), oldest()) == (0, 0)
    first = Message(key="a", channel="C", not_before=NOON + timedelta(days=9))
    with database.transaction() as session:
        outbox.put(session, first)
        outbox.put(session, replace(first, key="b"))
    assert depth() == 2
    before = oldest()
    assert oldest() > before
    with database.transaction() as session:
        assert outbox.mark_sent(session, first, NOON)
    assert (oldest(), depth()) == (0, 1)
    assert shown(metrics)["poolkeeper_slack_connected"][0].value == 0
