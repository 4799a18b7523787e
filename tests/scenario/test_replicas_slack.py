"""Every replica answers Slack, and each thing once: answers, clicks, digests; one leads meanwhile.

In Socket Mode Slack takes turns among the connections, so that whatever is said or pressed, and
its repetitions, reach one replica after the other. Over HTTP a test says which one it reaches.
"""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from functools import partial
from pathlib import Path

import pytest

from bot import posts
from bot.blocks import Post
from domain.configuration import Configuration, Team
from domain.schedules import Schedule
from storage import outbox, schedules
from tests.bot_support import over_http, with_teams
from tests.poolkeeper_support import completed, one_profile, run_counts
from tests.postgres_support import Postgres
from tests.replicas_support import Replicas, reach, replicas_on
from tests.sandbox_support import Sandbox, wait_until
from tests.slack_support import Workspace

ALL_DAYS = frozenset(range(7))


def configuration() -> Configuration:
    """One pool with room for all of `dev`, which is Cleo's and Dan's."""
    team = Team(users=("U_CLEO", "U_DAN"), channel="C_VISION")
    return with_teams(one_profile({"metal": 99}, {"dev": (4, None)}), {"dev": team})


@pytest.fixture
def replicas(
    clearml: Sandbox, postgres: Postgres, slack: Workspace, tmp_path: Path
) -> Iterator[Replicas]:
    with replicas_on(clearml, postgres, tmp_path / "here", slack) as replicas:
        replicas.there.apply(configuration())
        yield replicas


def answer(slack: Workspace, person: str, line: str, containing: str = "") -> str:
    said = slack.person(person).command(f"/pool {line}")
    assert not said.error, said.error
    return said.reply(containing, timeout=15).plain


def test_what_reaches_two_replicas_is_answered_once_and_all_know_who_is_an_admin(
    replicas: Replicas, slack: Workspace
) -> None:
    replicas.env |= {"POOLKEEPER_ADMINS": "", "POOLKEEPER_ADMIN_GROUP": "S_ADMINS"}
    replicas.start_all()
    slack.wait_for_bot(3, timeout=30)
    wait_until(lambda: "metal" in answer(slack, "U_DAN", "status"), "a round was published")
    dan = slack.person("U_DAN")
    mistyped = dan.command("/pool statsu").reply("status", timeout=15)
    before = len(dan.messages("C_GENERAL"))

    for kind in ("slash_commands", "interactive", "events_api"):
        slack.delivery_fault("twice", kind, nth=0)
    for _ in range(4):  # in turns of three, so each kind and its repetition reach all of them
        dan.command("/pool status").reply("metal", timeout=15)
        dan.press("Run: status", in_=mistyped).reply("metal", timeout=15)
        dan.mention("status", "C_GENERAL").reply("metal", timeout=15)
    wait_until(
        lambda: sum(one["acked"] for one in slack.deliveries()) == len(slack.deliveries()),
        "all were acknowledged",
    )
    slack.clear_faults()

    assert len(dan.messages("C_GENERAL")) == before + 4 * 4  # the mentions themselves, too

    # Slack tells one of them that the group changed.
    assert "for admins" not in answer(slack, "U_ADA", "audit")
    slack.set_group("S_ADMINS", "U_BEN")
    wait_until(lambda: refused_by_all(slack), "none of the three takes her for an admin")


def refused_by_all(slack: Workspace) -> bool:
    return all("for admins" in answer(slack, "U_ADA", "audit") for _ in range(3))


def test_what_is_decided_at_a_follower_is_done_at_once_by_the_leader(
    replicas: Replicas, slack: Workspace
) -> None:
    replicas.env |= {**over_http(slack), "POOLKEEPER_ROUND_SECONDS": "300"}
    replicas.there.switch(enabled=False)
    there = replicas.there
    task = replicas.clearml.queued_task(there.intake())
    leader, (follower, other) = replicas.start_all()
    wait_until(lambda: task in there.sightings(), "the first round is over")

    reach(slack, follower)
    answer(slack, "U_ADA", "enable now it is mended", "waits for approval")
    reach(slack, other)
    begun = time.monotonic()
    answer(slack, "U_BEN", "approve 1", "")

    wait_until(lambda: there.stages().get(task) == "dispatched", "the task is dispatched", 15)
    replicas.measured("from a nudge at a follower to the dispatch", begun)
    leader.process.wait_for("dispatched=1 of=1")
    assert "metal" in answer(slack, "U_DAN", "status")


@pytest.mark.parametrize("how", ["killed, and it was said", "cut off, and it will be said"])
def test_a_digest_is_posted_once_whatever_becomes_of_the_leader_that_posts_it(
    replicas: Replicas, slack: Workspace, how: str
) -> None:
    now = replicas.there.clock()
    schedule = Schedule(
        at=(now - timedelta(minutes=1)).time(), days=ALL_DAYS, zone="UTC", channel="C_VISION",
        policies=("dev",), by="U_ADA", changed_at=now - timedelta(days=3),
    )  # fmt: skip
    with replicas.there.database.transaction() as session:
        schedules.put(session, schedule)
    when = "after" if how.startswith("killed") else "before"
    posting = slack.fault("hold", "chat.postMessage", match={"channel": "C_VISION"}, when=when)
    leader, _ = replicas.start_all(2)
    posting.wait_until_holding(timeout=30)

    if how.startswith("killed"):
        leader.process.kill()
        posting.release("drop")
    else:
        leader.wire.cut()
    replicas.takeover(leader)
    with replicas.there.database.transaction() as session:
        elsewhere = Post(channel="C_GENERAL", text="said by whoever leads now")
        posts.announce(session, "elsewhere", elsewhere, replicas.there.clock())
    slack.wait_for_message("C_GENERAL", "said by whoever leads now", timeout=15)
    posting.release()

    wait_until(lambda: not unsent(replicas), "the digest is marked as sent", 40)
    leader.wire.restore()
    (digest,) = slack.messages("C_VISION")
    assert "Nothing ran and nothing waited for `dev`" in digest.text


def unsent(replicas: Replicas) -> int:
    with replicas.there.database.reading() as session:
        return len(outbox.due(session, replicas.there.clock() + timedelta(days=1), 99))


def test_a_rolling_restart_leaves_no_command_without_answer_and_no_task_behind(
    replicas: Replicas, slack: Workspace
) -> None:
    """A balancer learns that one ends after that one does, as in Kubernetes."""
    there, clearml = replicas.there, replicas.clearml
    replicas.env |= over_http(slack)
    leader, followers = replicas.start_all()
    reach(slack, leader)
    clearml.start_agents(there.execution(), slots=9, run_seconds=0.1, poll_seconds=0.05)
    wait_until(lambda: "metal" in answer(slack, "U_DAN", "status"), "a round was published")
    tasks: list[str] = []

    coming = replicas.start()
    with meanwhile(lambda: people(replicas, slack, tasks)) as said:
        for old in (followers[0], leader, followers[1]):
            new = coming
            new.process.wait_for("role=")
            reach(slack, old)
            wait_for_more(said)
            old.process.popen.terminate()
            wait_for_more(said)
            reach(slack, new)
            if old is not followers[1]:
                coming = replicas.start()
            assert old.process.wait() == 0

    assert [one for one in said if one != "answered"] == []
    wait_until(partial(completed, clearml, tasks), "all have run", 30)
    assert run_counts(clearml, tasks) == dict.fromkeys(tasks, 1)
    assert len([one for one in replicas.started if one.is_alive]) == 3


def wait_for_more(said: list[str]) -> None:
    enough = len(said) + 2
    wait_until(lambda: len(said) >= enough, f"more is said: {said}", 30)


def people(replicas: Replicas, slack: Workspace, tasks: list[str]) -> str:
    """One enqueues a task, and asks how it is going: "answered", or what went wrong."""
    tasks.append(replicas.clearml.queued_task(replicas.there.intake()))
    said = slack.person("U_DAN").command("/pool status")
    if said.error:
        return said.error
    replies = said.reply("metal", timeout=15)
    return "answered" if replies.only_for == "U_DAN" else replies.plain


@contextmanager
def meanwhile(deed: Callable[[], str]) -> Iterator[list[str]]:
    """Does it again and again, in a thread, while the block runs; what came of each."""
    came_of: list[str] = []
    ended = threading.Event()

    def work() -> None:
        while not ended.is_set():
            try:
                came_of.append(deed())
            except Exception as error:  # it is told by the list
                came_of.append(repr(error))

    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield came_of
    finally:
        ended.set()
        thread.join(timeout=60)
