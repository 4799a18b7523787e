"""Alerts in channels: once per cause, brought up to date in place, and over when they are over."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from fractions import Fraction
from pathlib import Path

import pytest

from bot import announcements, notices
from bot.announcements import look
from controller.loop import Outage
from controller.ports import QueueEntry, QueueState
from controller.publishing import View
from domain.configuration import Configuration, Membership, Team
from domain.ledger import Ended, LedgerEntry, Stage
from domain.snapshot import Tier
from storage import ledger, outbox
from tests.bot_support import (
    Bot,
    allocation,
    running_bot,
    task_id,
    waiting_queue,
    with_teams,
)
from tests.poolkeeper_support import Installation, installed, one_profile
from tests.sandbox_support import Sandbox, wait_until
from tests.slack_support import Message, Workspace

MINUTE, HOUR = timedelta(minutes=1), timedelta(hours=1)
TEAMS: Configuration = with_teams(
    one_profile({"metal": 4}, {"dev": (4, 8), "research": (0, None)}),
    {"dev": Team(channel="C_VISION", users=("U_CLEO",), clearml_users=(("U_CLEO", "cleo"),))},
)
FULL = [allocation(task_id(100 + n), "dev", "metal") for n in range(4)]
BY_OTHERS = [allocation(task_id(100 + n), "research", "metal") for n in range(4)]


@pytest.fixture
def bot(slack: Workspace, tmp_path: Path) -> Iterator[Bot]:
    with running_bot(slack, tmp_path) as bot:
        yield bot


def waits(bot: Bot, hours: float, *numbers: int) -> None:
    """Tasks of dev have waited so long, behind a full pool."""
    ids = [task_id(number) for number in numbers]
    bot.publish(TEAMS, [waiting_queue("dev", ids, bot.clock() - hours * HOUR)], FULL)


def wait_until_sent(bot: Bot) -> None:
    """Until nothing that may go now is left, nor on its way."""

    def is_empty() -> bool:
        now = bot.clock()
        with bot.database.reading() as session:
            unsent = outbox.due(session, now + timedelta(days=1), 1_000)
        return not any(one.attempts or one.not_before <= now for one in unsent)

    wait_until(is_empty, "an outbox without anything due")


def messages(bot: Bot, channel: str = "C_VISION") -> list[Message]:
    """What was said, once all that was to be said is said."""
    wait_until_sent(bot)
    return bot.slack.messages(channel)


def test_a_long_wait_is_told_once_to_its_team_and_over_when_it_is_over(bot: Bot) -> None:
    bot.name_tasks({task_id(1): "train <!channel> *big*"}, user="cleo")
    waits(bot, 5, 1)

    for _ in range(3):
        look(bot.desk)
    (card,) = messages(bot)
    assert "Waiting too long" in card.plain
    assert "train <!channel> *big*" in card.plain
    assert "has waited longer than 4 h, since" in card.plain
    assert bot.slack.pings() == []
    assert messages(bot, "C_ADMINS") == []

    bot.publish(TEAMS, [], FULL)
    for _ in range(3):
        look(bot.desk)
    (card,) = messages(bot)
    assert "over since" in card.plain
    assert "It was:" in card.plain
    (said,) = card.thread()
    assert said.text == "Over: no task of `dev` waits that long any more."


def test_another_wait_after_that_is_a_new_alert(bot: Bot) -> None:
    waits(bot, 5, 1)
    look(bot.desk)
    bot.publish(TEAMS, [], FULL)
    look(bot.desk)

    waits(bot, 6, 2)
    look(bot.desk)

    assert len(messages(bot)) == 2


def test_a_restart_remembers_what_was_told(bot: Bot) -> None:
    waits(bot, 5, 1)
    look(bot.desk)
    bot.stop()
    bot.start()

    look(bot.desk)

    assert len(messages(bot)) == 1


def test_what_changes_while_it_lasts_is_edited_in_place_now_and_then(bot: Bot) -> None:
    waits(bot, 5, 1)
    look(bot.desk)
    assert len(messages(bot)) == 1

    for more in range(2, 6):
        waits(bot, 5, *range(1, more + 1))
        look(bot.desk)
        wait_until_sent(bot)
    bot.clock.advance(6 * MINUTE)

    def is_up_to_date() -> bool:
        (card,) = bot.slack.messages("C_VISION")
        return "5 tasks of dev have waited" in card.plain

    wait_until(is_up_to_date, "the card says five")
    assert len(bot.slack.calls("chat.update")) == 1


def test_a_broken_reservation_is_told_after_half_an_hour_to_both(bot: Bot) -> None:
    def publish() -> None:
        bot.publish(TEAMS, [waiting_queue("dev", [task_id(1)], bot.clock())], BY_OTHERS)
        look(bot.desk)

    publish()
    bot.clock.advance(29 * MINUTE)
    publish()
    assert messages(bot) == []
    bot.clock.advance(MINUTE)
    publish()

    for channel in ("C_VISION", "C_ADMINS"):
        (card,) = messages(bot, channel)
        assert "The reservation of dev is not honoured: it uses 0 of 4" in card.plain


def test_one_that_is_over_before_it_was_told_is_never_told(bot: Bot) -> None:
    bot.publish(TEAMS, [waiting_queue("dev", [task_id(1)], bot.clock())], BY_OTHERS)
    look(bot.desk)
    bot.publish(TEAMS, [], BY_OTHERS)
    look(bot.desk)
    bot.clock.advance(HOUR)
    bot.publish(TEAMS, [], BY_OTHERS)
    look(bot.desk)

    assert messages(bot) == []
    assert messages(bot, "C_ADMINS") == []


def test_a_pool_full_of_foreign_tasks_is_the_admins_to_know(bot: Bot) -> None:
    def publish(foreign: int) -> None:
        bot.publish(TEAMS, foreign={"metal": Fraction(foreign)})
        look(bot.desk)

    publish(4)
    bot.clock.advance(10 * MINUTE)
    publish(4)
    (card,) = messages(bot, "C_ADMINS")
    assert "metal is full of tasks that came through no intake queue" in card.plain

    publish(1)
    (card,) = messages(bot, "C_ADMINS")
    assert "Over: `metal` has room again beside foreign tasks." in card.thread()[0].text


def test_tasks_that_can_never_run_are_said_once_in_one_message(bot: Bot) -> None:
    unlinked = replace(TEAMS, pools=(), profiles=tuple(
        replace(one, pools=()) for one in TEAMS.profiles
    ))  # fmt: skip
    ids = [task_id(number) for number in range(30)]
    bot.publish(unlinked, [waiting_queue("dev", ids, bot.clock())])

    for _ in range(3):
        look(bot.desk)
    (said,) = messages(bot)
    assert "30 tasks of `dev` can never run as things are" in said.text
    assert "and 20 more" in said.plain

    bot.publish(unlinked, [waiting_queue("dev", [*ids, task_id(99)], bot.clock())])
    look(bot.desk)
    (_, second) = messages(bot)
    assert second.text.startswith("1 task of `dev` can never run")


def test_a_view_of_long_ago_neither_raises_nor_ends_anything(bot: Bot) -> None:
    waits(bot, 5, 1)
    look(bot.desk)
    bot.publish(TEAMS, [], FULL)
    bot.clock.advance(2 * MINUTE)

    look(bot.desk)

    (card,) = messages(bot)
    assert "over since" not in card.plain


def test_an_outage_is_told_to_the_admins_once_and_its_end(bot: Bot) -> None:
    bot.publish(TEAMS)
    down = Outage(since=bot.clock(), rounds=3, error="It refused the connection.")

    announcements.outage(bot.desk, down)
    announcements.outage(bot.desk, down)
    (card,) = messages(bot, "C_ADMINS")
    assert "ClearML is away" in card.plain
    assert "It refused the connection." in card.plain

    bot.clock.advance(12 * MINUTE)
    announcements.outage(bot.desk, replace(down, over=True))
    (card,) = messages(bot, "C_ADMINS")
    assert "it lasted 12 min" in card.plain
    assert card.thread()[0].text == "Over: ClearML answers again, and rounds run."


def test_wrong_books_are_an_alarm_with_a_reference(bot: Bot) -> None:
    bot.publish(TEAMS)

    announcements.books(bot.desk, ["Pool metal would be over-committed: 5 of 4."], "cafe1234")

    (card,) = messages(bot, "C_ADMINS")
    assert "Pool metal would be over-committed: 5 of 4." in card.plain
    assert "/pool audit cafe1234" in card.plain


def test_tasks_that_no_agent_takes_are_told_with_what_their_agent_needs(bot: Bot) -> None:
    at = bot.clock()
    bot.publish(TEAMS, [], FULL[:1])
    view = bot.publisher.latest
    assert view is not None
    entry = dispatched(task_id(100), bot)
    with bot.database.transaction() as session:
        ledger.put(session, [entry])
    bot.clock.advance(16 * MINUTE)
    bot.publisher.latest = _holding(replace(view, at=bot.clock()), entry)
    look(bot.desk)
    (card,) = messages(bot, "C_ADMINS")
    assert "1 task waits for an agent of metal, where job on metal sent them" in card.plain
    assert f"{at:%H:%M} UTC" in card.plain

    bot.publisher.latest = replace(view, at=bot.clock(), queues={})
    look(bot.desk)
    (card,) = messages(bot, "C_ADMINS")
    assert "over since" in card.plain


def _holding(view: View, entry: LedgerEntry) -> View:
    """The view of a round that saw the task in its execution queue."""
    queue = QueueState(id=entry.execution, name="q", entries=(QueueEntry(entry.task),))
    snapshot = replace(view.snapshot, taken_at=view.at)
    return replace(view, snapshot=snapshot, queues={entry.execution: queue})


def dispatched(task: str, bot: Bot) -> LedgerEntry:
    return LedgerEntry(
        task=task,
        policy="dev",
        profile="job",
        pool="metal",
        link="job on metal",
        intake="in",
        execution="out",
        amount=Fraction(1),
        tier=Tier.SHARED,
        stage=Stage.DISPATCHED,
        first_seen=bot.clock() - 10 * MINUTE,
        intended_at=bot.clock(),
        dispatched_at=bot.clock(),
    )


# Direct messages -------------------------------------------------------------------------------


def test_a_person_hears_when_their_task_starts_and_ends_and_others_do_not(bot: Bot) -> None:
    bot.publish(TEAMS)
    bot.name_tasks({task_id(1): "mine"}, user="cleo")
    bot.name_tasks({task_id(2): "not mine"}, user="zoe")
    bot.says("U_CLEO", "notify on", "C_VISION").reply("I write to you directly")
    bot.clock.advance(2 * MINUTE)
    entries = [dispatched(task_id(1), bot), dispatched(task_id(2), bot)]
    with bot.database.transaction() as session:
        ledger.put(session, entries)
    for _ in range(3):
        notices.tell(bot.desk)
        bot.clock.advance(5 * MINUTE / 60)

    over = [ended(entry, bot) for entry in entries]
    with bot.database.transaction() as session:
        ledger.end(session, over)
    for _ in range(3):
        notices.tell(bot.desk)
        bot.clock.advance(5 * MINUTE / 60)

    wait_until_sent(bot)
    first, second = [message.text for message in bot.slack.person("U_CLEO").dms()]
    assert first.startswith("Your task `mine` ")
    assert "got 1 of `metal` after waiting for 10 min" in first
    assert "has completed, " in second


def test_what_happened_before_somebody_wanted_to_hear_is_not_told(bot: Bot) -> None:
    bot.publish(TEAMS)
    bot.name_tasks({task_id(1): "mine"}, user="cleo")
    with bot.database.transaction() as session:
        ledger.put(session, [dispatched(task_id(1), bot)])
    notices.tell(bot.desk)
    bot.clock.advance(2 * MINUTE)
    bot.says("U_CLEO", "notify on", "C_VISION").reply("I write to you directly")

    notices.tell(bot.desk)

    wait_until_sent(bot)
    assert bot.slack.person("U_CLEO").dms() == []


def test_who_is_mapped_to_nobody_is_told_whom_to_ask(bot: Bot) -> None:
    bot.publish(TEAMS)

    answer = bot.says("U_ADA", "notify on", "C_VISION").reply()

    assert "Ask an admin to add you to the `clearml_users` of your team" in answer.plain


def ended(entry: LedgerEntry, bot: Bot) -> Ended:
    assert entry.dispatched_at is not None
    return Ended(
        task=entry.task,
        policy=entry.policy,
        profile=entry.profile,
        pool=entry.pool,
        amount=entry.amount,
        tier=entry.tier,
        first_seen=entry.first_seen,
        dispatched_at=entry.dispatched_at,
        ended_at=bot.clock(),
        outcome="completed",
    )


# Members only ----------------------------------------------------------------------------------


@pytest.fixture
def there(clearml: Sandbox, tmp_path: Path) -> Iterator[Installation]:
    with installed(clearml, tmp_path / "here") as installation:
        yield installation


def returning(configuration: Configuration) -> Configuration:
    policies = [replace(one, membership=Membership.RETURN) for one in configuration.policies]
    return replace(configuration, policies=tuple(policies))


def test_a_strangers_task_becomes_a_draft_before_it_can_be_dispatched(
    there: Installation,
) -> None:
    there.apply(returning(TEAMS))
    controller = there.controller()
    controller.round()
    cleo, mallory = there.clearml.add_user("cleo"), there.clearml.add_user("mallory")
    mine, theirs = cleo.queued_task(there.intake()), mallory.queued_task(there.intake())

    controller.rounds(3)

    assert there.stages() == {mine: "dispatched"}
    assert there.clearml.status(theirs) == "created"
    assert there.clearml.queues_holding(theirs) == []
    (record,) = there.audit("sent back")
    assert record.subject == "dev"
    assert record.detail.startswith(f"{theirs} is a draft again: mallory is not among")
    reasons = [one["reason"] for one in there.clearml.history(theirs)]
    assert any("not on the team's list" in reason for reason in reasons)


def test_nothing_is_sent_back_while_management_is_off(there: Installation) -> None:
    there.apply(returning(TEAMS))
    controller = there.controller()
    controller.round()
    assert there.command("disable", "--yes")[0] == 0
    theirs = there.clearml.add_user("mallory").queued_task(there.intake())

    controller.rounds(3)

    assert there.clearml.status(theirs) == "queued"
    assert there.audit("sent back") == []


def test_what_was_sent_back_is_told_to_the_team_once(bot: Bot) -> None:
    bot.publish(returning(TEAMS))
    bot.name_tasks({task_id(5): "sneaky"}, user="mallory")
    detail = f"{task_id(5)} is a draft again: mallory is not among the team's ClearML users"
    with bot.database.transaction() as session:
        bot.desk.record(session, "poolkeeper", "sent back", "dev", detail)

    for _ in range(3):
        look(bot.desk)

    (said,) = messages(bot)
    assert "1 task was taken out of the queues of `dev`. sneaky" in said.text
    assert "mallory is not among the team's ClearML users" in said.text
