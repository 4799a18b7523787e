"""Changes asked for, decided and applied in Slack: DESIGN.md, "Provision" and rule 4."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from fractions import Fraction
from pathlib import Path

import pytest
import yaml

from bot import approvals, tending
from domain.configuration import Configuration, Team
from domain.editing import edit
from domain.edits import Edited
from domain.ledger import Draft
from domain.requests import Request, RequestState
from storage import configurations, requests, switch
from storage.configurations import DraftContent
from storage.documents import read_configuration
from tests.bot_support import Bot, running_bot, waiting_queue, with_teams
from tests.sandbox_support import wait_until
from tests.slack_support import Message, Workspace

EXAMPLE = Path(__file__).parent.parent / "examples" / "worked_example.yaml"
DEV_TASKS = ["a" * 32, "b" * 32]


@pytest.fixture
def configuration() -> Configuration:
    """The worked example; Cleo is of the team of dev."""
    read = read_configuration(yaml.safe_load(EXAMPLE.read_text()))
    return with_teams(read, {"dev": Team(users=("U_CLEO",))})


@pytest.fixture
def bot(slack: Workspace, tmp_path: Path, configuration: Configuration) -> Iterator[Bot]:
    """Version 1 is in force, and two tasks of dev wait."""
    with running_bot(slack, tmp_path) as running:
        an_hour_ago = running.clock() - timedelta(hours=1)
        running.publish(configuration, [waiting_queue("dev", DEV_TASKS, an_hour_ago, "4xGPU")])
        yield running


def resized(configuration: Configuration, size: int = 12) -> Configuration:
    """The h100 pool has another size."""
    edited = edit(Edited(configuration), replace(configuration.pools[1], resources=Fraction(size)))
    assert isinstance(edited, Edited)
    return edited.configuration


def save(bot: Bot, configuration: Configuration, by: str = "U_ADA") -> None:
    """The shared draft, as the editor saves it."""
    with bot.database.transaction() as session:
        draft = configurations.draft(session)
        content = DraftContent(configuration=configuration, base=1, by=by, at=bot.clock())
        saved = configurations.save_draft(session, content, draft.revision if draft else None)
        assert isinstance(saved, Draft)
        approvals.void_stale(bot.desk, session)


def request(bot: Bot, number: int = 1) -> Request:
    with bot.database.reading() as session:
        found = requests.request(session, number)
    assert found is not None
    return found


def apply_what_waits(bot: Bot) -> None:
    """What the controller's round does with an approved version."""
    with bot.database.transaction() as session:
        waiting = configurations.approved(session)
        assert waiting is not None
        configurations.mark_provisioned(session, waiting.number)
    tending.tend(bot.desk)


def asked_for(bot: Bot, configuration: Configuration) -> Message:
    """A change of the h100 pool, asked for by Ada; the card."""
    save(bot, resized(configuration))
    said = bot.says("U_ADA", "draft provision four more are leased")
    assert said.reply(containing="r1 is in").text
    return bot.slack.wait_for_message("C_ADMINS", containing="r1")


def says(bot: Bot, person: str, line: str) -> str:
    """What only the person reads in answer to `/pool line`; cards are for everybody."""
    said = bot.says(person, line)
    answers = wait_until(
        lambda: [one.plain for one in said.messages if one.only_for == person],
        f"an answer to {line!r}",
    )
    return answers[-1]


def card_says(card: Message, words: str) -> None:
    wait_until(lambda: words in card.now().plain, f"the card says {words!r}", 10)


def thread_says(card: Message, words: str) -> None:
    wait_until(
        lambda: any(words in line.plain for line in card.now().thread()),
        f"the thread says {words!r}",
        15,
    )


def test_a_change_is_shown_approved_by_another_admin_applied_and_told(
    bot: Bot, configuration: Configuration
) -> None:
    card = asked_for(bot, configuration)
    for words in (
        "@ada asks to provision the draft.",
        "four more are leased",
        "Pool h100: resources 8 → 12.",
        "Waits for one approval.",
        "[Approve] [Reject]",
    ):
        assert words in card.plain

    bot.person("U_BEN").press("Approve", in_=card)

    card_says(card, "Approved by @ben; it is being applied.")
    with bot.database.reading() as session:
        version = configurations.approved(session)
        assert version is not None
        assert version.configuration == resized(configuration)
        assert configurations.draft(session) is None
    assert bot.nudges
    apply_what_waits(bot)
    card_says(card, "Approved by @ben and applied as version 2.")
    assert "[Approve]" not in card.now().plain
    thread_says(card, "@ben approved.")
    thread_says(card, "Done as version 2.")
    assert [record.action for record in bot.audit("r1")][-1] == "asked"


def test_nobody_approves_their_own_request(bot: Bot, configuration: Configuration) -> None:
    asked_for(bot, configuration)

    said = says(bot, "U_ADA", "approve r1")

    assert said == "r1: nobody approves their own request; another admin has to."
    assert request(bot).state is RequestState.OPEN


def test_a_member_who_is_no_admin_can_neither_approve_nor_reject(
    bot: Bot, configuration: Configuration
) -> None:
    asked_for(bot, configuration)

    approving = says(bot, "U_CLEO", "approve r1")
    rejecting = says(bot, "U_CLEO", "reject r1")

    assert "`approve` is for admins." in approving
    assert "only admins decide; nothing was done." in rejecting
    assert request(bot).state is RequestState.OPEN


def test_a_second_and_a_late_click_say_what_happened_and_do_nothing(
    bot: Bot, configuration: Configuration
) -> None:
    card = asked_for(bot, configuration)
    bot.person("U_BEN").press("Approve", in_=card)
    card_says(card, "being applied")

    second = says(bot, "U_BEN", "approve r1")
    apply_what_waits(bot)
    late = says(bot, "U_ADA", "reject r1")

    assert "nothing was done. Approved by @ben; it is being applied." in second
    assert "nothing was done. Approved by @ben and applied as version 2." in late
    with bot.database.reading() as session:
        assert [version.number for version in configurations.versions(session)] == [1, 2]


def test_saving_the_draft_again_voids_what_was_asked_for(
    bot: Bot, configuration: Configuration
) -> None:
    card = asked_for(bot, configuration)

    save(bot, resized(configuration, 16))

    card_says(card, "Void: the draft was changed after it was asked for.")
    assert "nothing was done" in says(bot, "U_BEN", "approve r1")
    with bot.database.reading() as session:
        assert configurations.approved(session) is None


def test_another_version_voids_what_was_asked_for_against_the_one_before(
    bot: Bot, configuration: Configuration
) -> None:
    says(bot, "U_CLEO", "propose dev limit 12 we need less")
    proposal = bot.slack.wait_for_message("C_ADMINS", containing="r1")
    save(bot, resized(configuration))
    says(bot, "U_ADA", "draft provision")
    card = bot.slack.wait_for_message("C_ADMINS", containing="r2")

    bot.person("U_BEN").press("Approve", in_=card)

    card_says(proposal, "Void: version 2 was approved after it was asked for.")


def test_a_draft_that_is_not_valid_is_refused_with_its_errors(
    bot: Bot, configuration: Configuration
) -> None:
    save(bot, resized(configuration, 1))

    said = says(bot, "U_ADA", "draft provision")

    assert "The draft is not valid, so nothing was asked for" in said
    assert "h100" in said
    with bot.database.reading() as session:
        assert requests.requests(session, 10) == ()


def test_without_a_saved_draft_there_is_nothing_to_ask_for(bot: Bot) -> None:
    assert "There is no saved draft" in says(bot, "U_ADA", "draft provision")


def test_a_request_of_one_kind_waits_for_the_one_before(
    bot: Bot, configuration: Configuration
) -> None:
    asked_for(bot, configuration)

    assert "r1 asks for the same and waits already" in says(bot, "U_BEN", "draft provision")


def test_nobody_decides_while_slack_does_not_say_who_the_admins_are(
    slack: Workspace, tmp_path: Path, configuration: Configuration
) -> None:
    with running_bot(
        slack, tmp_path, POOLKEEPER_ADMINS="", POOLKEEPER_ADMIN_GROUP="S_ADMINS"
    ) as running:
        running.publish(configuration)
        card = asked_for(running, configuration)
        slack.fault("error", "usergroups.list", error="internal_error", nth=0)
        running.desk.membership.forget()

        said = says(running, "U_BEN", "approve r1")

        assert "Slack does not say who is in which user group right now" in said
        assert request(running).state is RequestState.OPEN
        slack.clear_faults()
        running.clock.advance(timedelta(minutes=1))
        running.person("U_BEN").press("Approve", in_=card)
        card_says(card, "Approved by @ben")


def test_two_approvals_are_needed_where_the_operator_says_two(
    slack: Workspace, tmp_path: Path, configuration: Configuration
) -> None:
    admins = {"POOLKEEPER_ADMINS": "U_ADA,U_BEN,U_EVE", "POOLKEEPER_APPROVALS": "2"}
    with running_bot(slack, tmp_path, **admins) as running:
        running.publish(configuration)
        card = asked_for(running, configuration)

        first = says(running, "U_BEN", "approve r1")
        again = says(running, "U_BEN", "approve r1")
        card_says(card, "Waits for one approval.")
        second = says(running, "U_EVE", "approve r1")

        assert first == "r1: you approved. One approval more will do."
        assert "you have approved it before" in again
        assert "you approved, and it is being applied" in second
        card_says(card, "Approved by @ben and @eve")


@pytest.mark.parametrize(
    ("allowed", "says_then"),
    [("true", "you approved, and it is being applied"), ("false", "You are the only admin")],
)
def test_an_only_admin_approves_alone_where_the_operator_allows_it(
    slack: Workspace,
    tmp_path: Path,
    configuration: Configuration,
    allowed: str,
    says_then: str,
) -> None:
    settings = {"POOLKEEPER_ADMINS": "U_ADA", "POOLKEEPER_LONE_ADMIN": allowed}
    with running_bot(slack, tmp_path, **settings) as running:
        running.publish(configuration)
        asked_for(running, configuration)

        assert says_then in says(running, "U_ADA", "approve r1")


def test_a_request_expires_after_a_bounded_number_of_reminders(
    bot: Bot, configuration: Configuration
) -> None:
    card = asked_for(bot, configuration)

    for _ in range(2):
        bot.clock.advance(timedelta(hours=9))
        tending.tend(bot.desk)
        tending.tend(bot.desk)
    thread_says(card, "A reminder: this still waits")
    bot.clock.advance(timedelta(hours=7))
    tending.tend(bot.desk)

    card_says(card, "Expired: nobody decided in time.")
    wait_until(lambda: len(card.now().thread()) == 3, "two reminders and the end", 15)
    assert "nothing was done" in says(bot, "U_BEN", "approve r1")


def test_a_change_that_was_approved_before_a_restart_is_applied_after_it_and_said_so(
    bot: Bot, configuration: Configuration
) -> None:
    card = asked_for(bot, configuration)
    bot.person("U_BEN").press("Approve", in_=card)
    card_says(card, "being applied")

    bot.stop()
    bot.start()
    apply_what_waits(bot)

    card_says(card, "applied as version 2")
    thread_says(card, "Whoever led ended before this was applied; it goes on now.")


def test_disabling_names_what_stops_and_takes_another_admin(bot: Bot) -> None:
    question = bot.says("U_ADA", "disable").reply()
    assert "Waiting tasks stay pending: `dev` (2)." in question.plain

    bot.person("U_ADA").press("Ask to disable", in_=question)
    card = bot.slack.wait_for_message("C_ADMINS", containing="disable management")
    with bot.database.reading() as session:
        assert switch.is_enabled(session)
    bot.person("U_BEN").press("Approve", in_=card)

    card_says(card, "Approved by @ben and applied.")
    with bot.database.reading() as session:
        assert not switch.is_enabled(session)
    assert "Management is disabled already." in says(bot, "U_ADA", "disable")


def test_enabling_resumes(bot: Bot) -> None:
    bot.turn(False)

    says(bot, "U_ADA", "enable now the maintenance is over")
    card = bot.slack.wait_for_message("C_ADMINS", containing="enable management")
    assert "the maintenance is over" in card.plain
    bot.person("U_BEN").press("Approve", in_=card)

    card_says(card, "applied")
    with bot.database.reading() as session:
        assert switch.is_enabled(session)


def test_a_rollback_goes_through_the_same_door(bot: Bot, configuration: Configuration) -> None:
    bot.publish(resized(configuration))

    says(bot, "U_ADA", "rollback 1 it was better")
    card = bot.slack.wait_for_message("C_ADMINS", containing="roll back to version 1")
    assert "Pool h100: resources 12 → 8." in card.plain
    bot.person("U_BEN").press("Approve", in_=card)
    card_says(card, "being applied")
    apply_what_waits(bot)

    card_says(card, "applied as version 3")
    assert bot.desk.configuration() == configuration


def test_a_member_proposes_other_terms_and_the_admins_decide(
    bot: Bot, configuration: Configuration
) -> None:
    said = says(bot, "U_CLEO", "propose dev reservation 4 we are fewer now")
    card = bot.slack.wait_for_message("C_ADMINS", containing="other terms for dev")
    again = says(bot, "U_CLEO", "propose dev limit 8 once more")
    bot.person("U_ADA").press("Approve", in_=card)
    card_says(card, "being applied")
    apply_what_waits(bot)

    assert "r1 is in" in said
    assert "we are fewer now" in card.plain
    assert "dev would be guaranteed 4 instead of 8." in card.plain
    assert "r1 asks for the same and waits already" in again
    in_force = bot.desk.configuration()
    assert in_force is not None
    assert in_force.policy_by_name["dev"].reservation == 4


@pytest.mark.parametrize(
    ("line", "answer"),
    [
        ("propose research limit 8 mine now", "I know no policy of yours"),
        ("propose dev limit lots please", "`lots` is no amount"),
        ("propose dev colour 3 please", "Say `reservation` or `limit`"),
        ("propose dev limit 16 please", "Its limit is 16 already."),
        ("propose dev limit 12", "Say why"),
        ("propose dev limit 2 smaller", "What you propose is not valid, so nothing"),
    ],
    ids=["another team's", "no amount", "no such term", "nothing new", "no reason", "not valid"],
)
def test_a_proposal_that_cannot_be_made_is_answered_with_what_to_say(
    bot: Bot, line: str, answer: str
) -> None:
    assert answer in says(bot, "U_CLEO", line)
    with bot.database.reading() as session:
        assert requests.requests(session, 10) == ()


def test_a_reason_with_markup_and_mentions_pings_nobody(
    bot: Bot, configuration: Configuration, slack: Workspace
) -> None:
    save(bot, resized(configuration))

    says(bot, "U_ADA", "draft provision <!channel> *now* `tick` <@U_EVE> \u202eright to left")
    card = slack.wait_for_message("C_ADMINS", containing="r1")

    assert "U_EVE" not in card.pings
    assert not [ping for ping in slack.pings() if ping.get("person") == "U_EVE"]
    assert "<!channel>" not in card.text


def test_requests_and_history_show_what_became_of_everything(
    bot: Bot, configuration: Configuration
) -> None:
    card = asked_for(bot, configuration)
    assert "1 of 1 requests wait for a decision." in says(bot, "U_BEN", "requests")

    bot.person("U_BEN").press("Reject", in_=card)
    card_says(card, "Rejected by @ben")

    assert "0 of 1 requests wait" in says(bot, "U_BEN", "requests")
    assert "There is one version; 1 is the latest." in says(bot, "U_BEN", "history")
