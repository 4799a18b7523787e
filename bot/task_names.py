"""What tasks are called in messages for a team: its own by name, others' not at all."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from bot.blocks import escape, name, plain
from domain.tasks import TaskFacts
from storage import tasks
from storage.database import Session

_SHORT: Final = 8
_ID: Final = re.compile(r"\b[0-9a-f]{32}\b")


@dataclass(frozen=True, kw_only=True)
class Names:
    """The tasks that may be named; every other one is "another task"."""

    known: frozenset[str] = frozenset()
    facts: Mapping[str, TaskFacts] = field(default_factory=dict)

    def label(self, task: str) -> str:
        """The task in a message's markup."""
        fact = self.facts.get(task)
        short = escape(plain(task[:_SHORT]))
        return f"{name(fact.name)} {short}" if fact and fact.name else name(task[:_SHORT])

    def sentence(self, text: str) -> str:
        """A sentence of the domain with names in place of ids, as plain text."""
        return _ID.sub(lambda found: self._spoken(found.group()), text)

    def _spoken(self, task: str) -> str:
        fact = self.facts.get(task)
        if fact and fact.name:
            return f"{plain(fact.name)} ({task[:_SHORT]})"
        return task[:_SHORT] if task in self.known else "another task"


def names_of(session: Session, ids: Iterable[str]) -> Names:
    """What is known of these tasks."""
    wanted = frozenset(ids)
    return Names(known=wanted, facts=tasks.facts(session, wanted))
