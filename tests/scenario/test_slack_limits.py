"""No answer exceeds Slack's limits, however much there is, and no name breaks one or pings anybody.

The loopback refuses what Slack would refuse; a refused answer would say "Something went wrong".
"""

import re
from collections.abc import Iterator
from fractions import Fraction

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from domain.configuration import Configuration, IntakeQueue, Link, Policy, Pool, Profile, Team
from domain.ledger import OwnedQueue, Role
from domain.names import execution_queue_name, name_fault
from storage import queues
from tests.bot_support import Bot, running_bot, task_id, waiting_queue
from tests.huge_cluster import TASKS, publish_huge
from tests.slack_support import Message, Workspace


@pytest.fixture(scope="module")
def bot(_slack_process: Workspace, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bot]:
    """One bot for all tests here: what it shows takes a while to make."""
    _slack_process.reset()
    with running_bot(_slack_process, tmp_path_factory.mktemp("limits")) as bot:
        yield bot


def is_whole(said: Message) -> None:
    assert "Something went wrong" not in said.text, said
    assert "There is more than fits here" not in said.plain, said
    assert "I know no" not in said.text, said
    assert [one for one in said.mentions if one.startswith("!")] == []


def test_a_huge_cluster_is_shown_within_the_limits(bot: Bot) -> None:
    configuration = publish_huge(bot)
    pool, profile = configuration.pools[3].name, configuration.profiles[3]
    policy = configuration.policies[0].name
    task = task_id(10_000 + TASKS // 4)
    with bot.database.transaction() as session:
        for number, link in enumerate(profile.pools):
            name = execution_queue_name(link.pool, link.name)
            queue = OwnedQueue(
                id=task_id(90_000 + number), role=Role.EXECUTION, profile=profile.name,
                owner=link.name, name=name, pool=link.pool,
            )  # fmt: skip
            queues.put_queue(session, queue)

    for line in (
        "help", "status", "status page 5", "status page 8", "status pool", f"status '{pool}'",
        f"status '{pool}' page 2", f"status '{pool}' page 999", "profiles", "profiles page 6",
        "profiles profile", f"profiles '{profile.name}'", f"profiles '{profile.name}' page 9",
        "policies", "policies page 20", "policies policy", f"policies '{policy}'",
        f"policies '{policy}' page 30", "queue", "queue page 10", f"queue '{policy}'",
        f"queue '{policy}' page 300", f"queue '{policy}' page 999999", f"why {task}",
        "why 0", "why name", "agents", f"agents '{profile.pools[3].name}'", "audit", "doctor",
    ):  # fmt: skip
        for person in ("U_CLEO", "U_ADA"):
            is_whole(bot.says(person, line).reply())
    for person in ("U_CLEO", "U_ADA", "U_EVE"):
        home = bot.person(person).open_home().home("GPU pools")
        assert "Something went wrong" not in home.plain
    assert bot.slack.pings() == []


def test_every_task_of_a_long_queue_can_be_reached(bot: Bot) -> None:
    policy = publish_huge(bot).policies[0].name
    first = bot.asks("U_CLEO", f"queue '{policy}'").plain
    last = bot.asks("U_CLEO", f"queue '{policy}' page 999999").plain

    whole, pages = re.findall(r"1-8 of (\d+), page 1 of (\d+)", first)[0]
    assert int(pages) == -(-int(whole) // 8) > 500
    assert f" of {whole}, page {pages} of {pages}" in last
    assert last.count("[Why?]") == int(whole) - 8 * (int(pages) - 1)


NASTY = [
    "<!channel>", "<!here|x>", "<@U_BEN>", "<!subteam^S_ADMINS>", "*bold*", "_it_ ~no~", "`code`",
    "```", "a\u2028b", "&lt;!channel&gt;", "\u202egpj.exe", "😀" * 100, "שלום עולם", "مرحبا",
    "@channel", "#general", "http://example.org/<x>", "a" * 200, "<", ">", "&", "|", "'", '"',
    "“smart” ‘quotes’", "page 2", "--", "\\", "$(reboot)", "{}", "%s", "\ufeffx", "e\u0301\u0301",
    ":smile:", "<!date^1^{date}|x>", "help",
]  # fmt: skip

names = st.one_of(
    st.sampled_from(NASTY),
    st.text(min_size=1, max_size=200),
    st.lists(st.sampled_from(NASTY), min_size=2, max_size=4).map(
        lambda parts: " ".join(parts)[:200]
    ),
).filter(lambda text: name_fault(text) is None)


@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@example(name="<!channel> <@U_BEN> <!subteam^S_ADMINS>")
@example(name="`<!here>` *x* _y_ ~z~ ```")
@example(name="“smart” and 'plain' and \"both\" \\ quotes")
@given(name=names)
def test_no_name_pings_anybody_or_breaks_an_answer(bot: Bot, name: str) -> None:
    bot.slack.reset()
    task, other = task_id(1), task_id(2)
    bot.publish(_all_named(name), [waiting_queue(name, [task], bot.clock(), name)])
    bot.name_tasks({task: f"{name}\n{name}"[:300], other: name})

    answers = [
        bot.asks("U_CLEO", line)
        for line in ("status", "profiles", "policies", "queue", f"why {task}", "status x y")
    ]
    admins = [bot.asks("U_ADA", line) for line in ("agents", "audit", "policies", "doctor")]
    for answer in answers[:5]:
        shared = bot.person("U_CLEO").press("Share in this channel", in_=answer)
        shared.reply("shared what")
    home = bot.person("U_CLEO").open_home().home("Your policies")
    window = home.press("Why?").view()

    assert {ping["person"] for ping in bot.slack.pings()} <= {"U_CLEO"}
    for one in [*answers, *admins]:
        assert "Something went wrong" not in one.text
        assert one.mentions == []
    assert "Something went wrong" not in home.plain + window.plain
    assert "1 of 1 in the queue of" in answers[4].plain


@settings(max_examples=20, deadline=None)
@example(name="“smart” and 'plain' and \"both\" \\ quotes")
@example(name="two  spaces and a page 2")
@given(name=names)
def test_a_button_finds_again_whatever_the_name(bot: Bot, name: str) -> None:
    bot.slack.reset()
    bot.publish(_all_named(name), [waiting_queue(name, [task_id(1)], bot.clock(), name)])

    listed = bot.asks("U_ADA", "queue")
    found = bot.person("U_ADA").press("Show", in_=listed).reply()
    why = bot.person("U_ADA").press("Why?", in_=found).reply()
    again = bot.person("U_ADA").press("Its queue", in_=why).reply()

    assert "*1 task waits in the queues of*" in found.plain
    assert "1 of 1 in the queue of" in why.plain
    assert again.plain == found.plain


def _all_named(name: str) -> Configuration:
    """Everything has this name; of a second policy, so that lists are lists, half of it."""
    second = f"{name[:150]} 2nd"
    return Configuration(
        pools=(Pool(name=name, resources=Fraction(0), description=name, profiles=(name,)),),
        profiles=(
            Profile(
                name=name,
                allotment=Fraction(1),
                pools=(Link(pool=name, name=name),),
                policies=(name, second),
            ),
        ),
        policies=tuple(
            Policy(
                name=one,
                reservation=Fraction(0),
                team=Team(users=("U_CLEO",)),
                queues=(IntakeQueue(profile=name, queue=f"{one}-q"[:200]),),
            )
            for one in (name, second)
        ),
    )
