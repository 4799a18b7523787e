"""Who may do what: from Slack's groups and the configuration, and never more when in doubt."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from bot.access import Actor, Admins, Membership, refusal
from bot.commands import Role, Verb
from bot.compose import new_reference
from bot.registry import TABLE
from controller.signalling import Signal
from domain.configuration import Team
from storage.database import Database, open_database
from storage.signals import GROUPS
from tests.bot_support import with_teams
from tests.poolkeeper_support import one_profile

TEAMS = with_teams(
    one_profile({"metal": 8}, {"dev": (0, None), "research": (0, None), "ops": (0, None)}),
    {
        "dev": Team(usergroup="S_DEV"),
        "research": Team(users=("U_DAN",), clearml_users=(("U_EVE", "eve"), ("", "nobody"))),
    },
)
NOBODY = with_teams(one_profile({"metal": 8}, {"dev": (0, None)}), {})


class Groups:
    """A Slack that says who is in which group; it can be away."""

    def __init__(self, groups: Mapping[str, frozenset[str]]) -> None:
        self.groups = groups
        self.away = False
        self.asked = 0
        self.now = datetime(2026, 12, 1, tzinfo=UTC)

    def read(self) -> Mapping[str, frozenset[str]]:
        self.asked += 1
        if self.away:
            raise ConnectionError("Slack is away")
        return self.groups

    def membership(self, admins: Admins, database: Database | None = None) -> Membership:
        """Of one replica on the database, where one is given."""
        clock = lambda: self.now  # noqa: E731
        if database is None:
            return Membership(self.read, clock, admins)
        news = Signal(database=database, name=GROUPS, clock=clock, reference=new_reference)
        return Membership(self.read, clock, admins, news)


@pytest.fixture
def slack() -> Groups:
    return Groups({"S_ADMINS": frozenset({"U_ADA"}), "S_DEV": frozenset({"U_CLEO", "U_ADA"})})


def test_people_are_admins_by_group_or_by_id(slack: Groups) -> None:
    membership = slack.membership(Admins(group="S_ADMINS", users=frozenset({"U_BEN"})))

    who = {user: membership.actor(user, TEAMS).is_admin for user in ("U_ADA", "U_BEN", "U_CLEO")}

    assert who == {"U_ADA": True, "U_BEN": True, "U_CLEO": False}
    assert membership.admins() == frozenset({"U_ADA", "U_BEN"})


@pytest.mark.parametrize(
    ("user", "policies"),
    [
        pytest.param("U_CLEO", {"dev"}, id="by user group"),
        pytest.param("U_DAN", {"research"}, id="by id"),
        pytest.param("U_EVE", {"research"}, id="by the ClearML user"),
        pytest.param("", set(), id="an empty id is nobody"),
        pytest.param("U_BEN", set(), id="in no team"),
    ],
)
def test_people_are_members_by_their_teams(slack: Groups, user: str, policies: set[str]) -> None:
    actor = slack.membership(Admins(group="S_ADMINS")).actor(user, TEAMS)

    assert actor.policies == policies
    assert [one for one in ("dev", "research", "ops") if actor.sees(one)] == sorted(policies)


def test_when_groups_cannot_be_read_nobody_has_rights_by_them(slack: Groups) -> None:
    slack.away = True
    membership = slack.membership(Admins(group="S_ADMINS", users=frozenset({"U_BEN"})))

    ada, cleo, ben = (membership.actor(user, TEAMS) for user in ("U_ADA", "U_CLEO", "U_BEN"))

    assert (ada.is_admin, ada.policies, ada.unread) == (False, frozenset(), True)
    assert (cleo.is_admin, cleo.policies) == (False, frozenset())
    assert ben.is_admin
    assert membership.admins() is None


def test_rights_end_when_groups_can_no_longer_be_read(slack: Groups) -> None:
    membership = slack.membership(Admins(group="S_ADMINS"))
    before = membership.actor("U_ADA", TEAMS).is_admin
    slack.away = True
    slack.now += timedelta(minutes=6)

    after = membership.actor("U_ADA", TEAMS).is_admin

    assert (before, after) == (True, False)


def test_groups_are_asked_for_rarely_and_at_once_when_told_of_a_change(slack: Groups) -> None:
    membership = slack.membership(Admins(group="S_ADMINS"))
    for _ in range(50):
        membership.actor("U_ADA", TEAMS)
    assert slack.asked == 1

    slack.groups = {"S_ADMINS": frozenset({"U_CLEO"})}
    membership.forget()

    assert membership.actor("U_CLEO", TEAMS).is_admin
    assert not membership.actor("U_ADA", TEAMS).is_admin
    assert slack.asked == 2


def test_a_change_that_one_replica_hears_of_counts_at_once_in_all(
    slack: Groups, tmp_path: Path
) -> None:
    database = open_database(str(tmp_path / "shared.sqlite3"))
    told, other = (slack.membership(Admins(group="S_ADMINS"), database) for _ in range(2))
    before = other.actor("U_ADA", TEAMS).is_admin

    slack.groups = {"S_ADMINS": frozenset({"U_CLEO"})}
    told.forget()

    assert before
    assert not other.actor("U_ADA", TEAMS).is_admin
    assert other.actor("U_CLEO", TEAMS).is_admin
    assert slack.asked == 2
    database.close()


def test_after_a_failure_slack_is_asked_again_soon_but_not_at_once(slack: Groups) -> None:
    slack.away = True
    membership = slack.membership(Admins(group="S_ADMINS"))
    for _ in range(10):
        membership.actor("U_ADA", TEAMS)
    slack.away = False
    slack.now += timedelta(seconds=21)

    assert membership.actor("U_ADA", TEAMS).is_admin
    assert slack.asked == 2


def test_without_any_group_slack_is_not_asked(slack: Groups) -> None:
    slack.away = True
    membership = slack.membership(Admins(users=frozenset({"U_BEN"})))

    actor = membership.actor("U_CLEO", NOBODY)

    assert not actor.unread
    assert membership.admins() == frozenset({"U_BEN"})
    assert slack.asked == 0


@pytest.mark.parametrize("verb", TABLE, ids=[verb.name for verb in TABLE])
def test_every_verb_is_refused_to_whom_it_is_not_for(verb: Verb) -> None:
    nobody, member = Actor(user="U1"), Actor(user="U2", policies=frozenset({"dev"}))
    admin = Actor(user="U3", is_admin=True)

    allowed = [refusal(actor, verb) == "" for actor in (nobody, member, admin)]

    assert (
        allowed
        == {
            Role.EVERYBODY: [True, True, True],
            Role.MEMBER: [False, True, True],
            Role.ADMIN: [False, False, True],
        }[verb.role]
    )


def test_a_refusal_says_why_and_who_can_help() -> None:
    by_role = {verb.role: verb for verb in TABLE}

    assert "is for admins. Ask one of them" in refusal(Actor(user="U1"), by_role[Role.ADMIN])
    assert "Ask an admin to add you" in refusal(Actor(user="U1"), by_role[Role.MEMBER])
    unread = refusal(Actor(user="U1", unread=True), by_role[Role.ADMIN])
    assert "Slack does not say who is in which user group right now" in unread
    assert "Nothing was done" in unread


def test_members_only_is_what_the_table_says() -> None:
    """DESIGN.md, "Slack": who may say what."""
    roles = {verb.name: verb.role for verb in TABLE}
    wanted = {
        "status": Role.EVERYBODY,
        "profiles": Role.EVERYBODY,
        "policies": Role.MEMBER,
        "queue": Role.MEMBER,
        "why": Role.MEMBER,
        "agents": Role.ADMIN,
        "audit": Role.ADMIN,
        "doctor": Role.ADMIN,
    }

    assert {name: roles[name] for name in wanted} == wanted
