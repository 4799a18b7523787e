"""What people mean by what they type: names, ids, beginnings of them, and what to ask if unsure."""

import difflib
import re
import shlex
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from bot.access import Actor
from bot.blocks import Block, Reply, button, buttons, escape, name, plain, section
from bot.indexing import Index
from domain.tasks import TaskFacts
from storage import tasks

if TYPE_CHECKING:
    from bot.desk import Desk

_OFFERED: Final = 8
_SHORT: Final = 8
_ID: Final = re.compile(r"[0-9a-f]{32}")


@dataclass(frozen=True, kw_only=True)
class Unclear:
    """No single thing was meant: `candidates` are those that may have been, the likeliest first.

    `several` says that each of them fits; otherwise they are merely near.
    """

    said: str
    candidates: tuple[str, ...] = ()
    several: bool = False


def resolve(said: str, names: Iterable[str]) -> str | Unclear:
    """The one name that was meant: as it stands, in another case, its beginning, or a part."""
    known = list(dict.fromkeys(names))
    if said in known:
        return said
    folded = {one: _folded(one) for one in known}
    wanted = _folded(said)
    for fits in (str.__eq__, str.startswith, str.__contains__):
        found = [one for one, key in folded.items() if wanted and fits(key, wanted)]
        if len(found) == 1:
            return found[0]
        if found:
            return Unclear(said=said, candidates=tuple(found), several=True)
    by_key = {key: one for one, key in folded.items()}
    near = difflib.get_close_matches(wanted, by_key, n=_OFFERED, cutoff=0.5)
    return Unclear(said=said, candidates=tuple(by_key[key] for key in near))


def _folded(text: str) -> str:
    for typed, meant in (("“", '"'), ("”", '"'), ("‘", "'"), ("’", "'")):
        text = text.replace(typed, meant)
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def command(*words: str) -> str:
    """A command whose words are read again as they are here, whatever is in them."""
    return " ".join(
        shlex.quote(word) if re.search(r"[\s'\"\\“”‘’]", word) else word for word in words
    )


def ask_which(kind: str, unclear: Unclear, says: Callable[[str], str]) -> Reply:
    """The answer where it is not clear what was meant: candidates as buttons."""
    said = escape(plain(unclear.said))
    if not unclear.candidates:
        text = f"I know no {kind} “{said}”."
        return Reply(text=text, blocks=(section(text),))
    lead = (
        f"“{said}” fits {len(unclear.candidates)}"
        if unclear.several
        else f"I know no {kind} “{said}”"
    )
    shown = unclear.candidates[:_OFFERED]
    more = len(unclear.candidates) - len(shown)
    ask = "Which one do you mean?" if len(unclear.candidates) > 1 else "Did you mean this one?"
    note = f" There are {more} more; say more of the name." if more else ""
    text = f"{lead}: {', '.join(map(name, shown))}. {ask}{note}"
    row = buttons(*(button(one, says(one)) for one in shown))
    return Reply(text=text, blocks=(section(text), row))


@dataclass(frozen=True, kw_only=True)
class Named:
    """Names of tasks as one person may read them: others' tasks have none."""

    facts: Mapping[str, TaskFacts]
    index: Index
    actor: Actor

    def label(self, task: str) -> str:
        """A task in a message's markup: its name, and the beginning of its id."""
        known = self.facts.get(task)
        short = escape(plain(task[:_SHORT]))
        return f"{name(known.name)} {short}" if known and known.name else name(task)

    def button(self, task: str) -> str:
        known = self.facts.get(task)
        return f"{plain(known.name, 50)} {task[:_SHORT]}" if known and known.name else task

    def sentence(self, text: str) -> str:
        """A sentence of the domain with names in place of ids, as plain text."""
        return _ID.sub(lambda found: self._spoken(found.group()), text)

    def _spoken(self, task: str) -> str:
        policy = policy_of(self.index, task)
        if policy is not None and not self.actor.sees(policy):
            return "a task"
        known = self.facts.get(task)
        return f"{plain(known.name)} ({task[:_SHORT]})" if known and known.name else task[:_SHORT]


def named(desk: "Desk", index: Index, actor: Actor, ids: Iterable[str]) -> Named:
    """What is known of these tasks, and of those that their sentences may speak of."""
    wanted = {task for task in ids if task}
    for task in list(wanted):
        waiting = index.explainer.waiting_by_task.get(task)
        if waiting is not None and waiting.holder:
            wanted.add(waiting.holder)
    with desk.database.reading() as session:
        facts = tasks.facts(session, wanted)
    return Named(facts=facts, index=index, actor=actor)


def policy_of(index: Index, task: str) -> str | None:
    """Whose task it is, None for one that neither waits nor runs."""
    place, use = index.places.get(task), index.uses.get(task)
    return place.policy if place else use.policy if use else None


def find_task(desk: "Desk", index: Index, actor: Actor, said: str) -> str | Unclear:
    """The waiting or running task of the actor's that an id, a part of it or a name means."""
    if _is_mine(index, actor, said):
        return said
    lowered = said.lower()
    begin = {task for task in (*index.places, *index.uses) if task.startswith(lowered)}
    by_id = sorted(task for task in begin if _is_mine(index, actor, task))
    if len(by_id) == 1:
        return by_id[0]
    with desk.database.reading() as session:
        by_name = tasks.by_name(session, said, limit=200)
    here = [one for one in by_name if _is_mine(index, actor, one.task)]
    exact = [one.task for one in here if _folded(one.name) == _folded(said)]
    fitting: Sequence[str] = exact or [*by_id, *(one.task for one in here)]
    unique = tuple(dict.fromkeys(fitting))
    return unique[0] if len(unique) == 1 else Unclear(said=said, candidates=unique, several=True)


def _is_mine(index: Index, actor: Actor, task: str) -> bool:
    policy = policy_of(index, task)
    return policy is not None and actor.sees(policy)


def task_buttons(named_: Named, tasks_: Sequence[str], says: Callable[[str], str]) -> Block:
    """One button for each of a few tasks."""
    return buttons(*(button(named_.button(task), says(task)) for task in tasks_[:_OFFERED]))
