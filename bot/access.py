"""Who may do what: roles from Slack's user groups and the configuration, fail closed.

Membership is read in one listing at most every five minutes (usergroups.list allows 20 calls a
minute), and anew when Slack says that it changed. Slack says that to one of several replicas, and
that one to all. When it cannot be read, nobody is an admin or a member by it (DESIGN.md, rule 6).
"""

import logging
import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol

from bot.commands import Role, Verb
from domain.configuration import Configuration, Policy

log = logging.getLogger(__name__)

_FRESH = timedelta(minutes=5)
_FAILED_FRESH = timedelta(seconds=20)

_NONE: frozenset[str] = frozenset()

Groups = Mapping[str, frozenset[str]]
"""For each Slack user group's id, the ids of its users."""


@dataclass(frozen=True, kw_only=True)
class Actor:
    """Who speaks. `policies` are those whose team they are in.

    `unread` says that membership could not be read, so that a refusal can say so.
    """

    user: str
    is_admin: bool = False
    policies: frozenset[str] = frozenset()
    unread: bool = False

    def may(self, role: Role) -> bool:
        if role is Role.EVERYBODY or self.is_admin:
            return True
        return role is Role.MEMBER and bool(self.policies)

    def sees(self, policy: str) -> bool:
        return self.is_admin or policy in self.policies


@dataclass(frozen=True, kw_only=True)
class Admins:
    """Who the admins are: a user group's id, and ids of users; either may be empty."""

    group: str = ""
    users: frozenset[str] = frozenset()


class News(Protocol):
    """That a group changed, as all replicas hear it: `latest` is another text when one was told."""

    def give(self) -> None: ...

    def latest(self) -> str: ...


class Membership:
    """What Slack says of user groups, remembered until there are news, or for a while. Thread-safe.

    Without `news` only this process hears of changes.
    """

    def __init__(
        self,
        read: Callable[[], Groups],
        clock: Callable[[], datetime],
        admins: Admins,
        news: News | None = None,
    ) -> None:
        self._read = read
        self._clock = clock
        self._admins = admins
        self._news = news
        self._lock = threading.Lock()
        self._groups: Groups | None = None
        self._read_at: datetime | None = None
        self._heard = ""

    def actor(self, user: str, configuration: Configuration | None) -> Actor:
        policies = configuration.policies if configuration else ()
        needs_groups = bool(self._admins.group) or any(_group_of(policy) for policy in policies)
        groups = self._now() if needs_groups else None
        return Actor(
            user=user,
            is_admin=user in self._admins.users or user in _members(groups, self._admins.group),
            policies=frozenset(p.name for p in policies if user in _team(p, groups)),
            unread=groups is None and needs_groups,
        )

    def admins(self) -> frozenset[str] | None:
        """All admins, or None where the group cannot be read."""
        if not self._admins.group:
            return self._admins.users
        groups = self._now()
        return (
            None if groups is None else self._admins.users | groups.get(self._admins.group, _NONE)
        )

    def team(self, policy: Policy) -> frozenset[str]:
        """The people of a policy's team, as far as they can be read."""
        return _team(policy, self._now() if _group_of(policy) else None)

    def forget(self) -> None:
        """Membership changed: it is read anew at the next question, by every replica."""
        with self._lock:
            self._read_at = None
        if self._news is not None:
            self._news.give()

    def _now(self) -> Groups | None:
        heard = "" if self._news is None else self._news.latest()
        with self._lock:
            fresh = _FRESH if self._groups is not None else _FAILED_FRESH
            now = self._clock()
            is_old = self._read_at is None or now - self._read_at >= fresh
            if is_old or heard != self._heard:
                self._read_at, self._heard = now, heard  # before it is read: a later word counts
                try:
                    self._groups = self._read()
                except Exception as error:  # whatever it is, nobody gains a right by it
                    log.warning(
                        "user groups cannot be read, nobody has rights by them",
                        extra={"error": error},
                    )
                    self._groups = None
            return self._groups


def refusal(actor: Actor, verb: Verb) -> str:
    """Why a verb is refused and who can help; "" where it is allowed."""
    if actor.may(verb.role):
        return ""
    if actor.unread:
        return (
            "Slack does not say who is in which user group right now, so I cannot tell whether "
            f"you may say `{verb.name}`. Nothing was done; try again in a minute."
        )
    if verb.role is Role.ADMIN:
        return f"`{verb.name}` is for admins. Ask one of them; `/pool help` shows what you can do."
    return (
        f"`{verb.name}` is for members of a team with a policy, and you are in none that I know. "
        "Ask an admin to add you to your team."
    )


def _group_of(policy: Policy) -> str:
    return (policy.team.usergroup if policy.team else None) or ""


def _team(policy: Policy, groups: Groups | None) -> frozenset[str]:
    if policy.team is None:
        return frozenset()
    slack_ids: Iterable[str] = (slack for slack, _ in policy.team.clearml_users if slack)
    return frozenset(policy.team.users) | frozenset(slack_ids) | _members(groups, _group_of(policy))


def _members(groups: Groups | None, group: str) -> frozenset[str]:
    return groups.get(group, frozenset()) if groups and group else frozenset()
