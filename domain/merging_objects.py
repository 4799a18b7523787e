"""Three-way merging of objects and of what connects them; what both changed stays as in theirs."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from fractions import Fraction
from typing import Any

from domain.amounts import format_amount
from domain.edits import Thing, kind_of
from domain.keyed import Keyed
from domain.merging import Notes, clash, pick
from domain.names import LONGEST_NAME, quoted
from domain.renames import Kind

OBJECTS = (Kind.POOL, Kind.PROFILE, Kind.POLICY)
ENDS = {Kind.LINK: (Kind.PROFILE, Kind.POOL), Kind.QUEUE: (Kind.POLICY, Kind.PROFILE)}
_LISTS = frozenset({"name", "profiles", "pools", "policies", "queues"})
_SHOWN = 80


@dataclass(frozen=True, kw_only=True)
class Merge:
    """A merge under way: the three sides, and what it has noted."""

    origin: Keyed
    mine: Keyed
    theirs: Keyed
    notes: Notes = field(default_factory=Notes)
    contested: set[tuple[Kind, str]] = field(default_factory=set)
    """What I deleted and they changed: it stays, with its connections."""

    @property
    def sides(self) -> tuple[Keyed, Keyed, Keyed]:
        return self.origin, self.mine, self.theirs

    def note(self, kind: Kind, key: str, sentence: str) -> None:
        """A conflict; `{}` stands for what the object is called."""
        known = (side.names[kind].get(key) for side in (self.theirs, self.mine, self.origin))
        name = next((one for one in known if one is not None), key)
        self.notes.add(kind, name, f"{kind.capitalize()} {quoted(name)}: {sentence}.")


def merged_things(merge: Merge, kind: Kind) -> dict[str, Thing]:
    """The objects of a kind that stay, with their values merged and their lists as somewhere."""
    origin, mine, theirs = (side.things(kind) for side in merge.sides)
    found = {}
    for key in dict.fromkeys((*theirs, *mine)):
        was, my, their = origin.get(key), mine.get(key), theirs.get(key)
        if my is not None and their is not None:
            found[key] = _merged(merge, was, my, their)
        elif was is None or my is None:
            one = my or their
            assert one is not None, "one of the two has it"
            if was is None or _stays(merge, was, one):
                found[key] = one
        elif _values(my) != _values(was):
            merge.note(kind, key, "you changed it and they deleted it; it is deleted")
    return found


def _stays(merge: Merge, was: Thing, their: Thing) -> bool:
    """Whether what I deleted stays, because they changed or connected it."""
    kind, key = kind_of(was), was.name
    changed = _values(was) != _values(their)
    connected = set(_joined(merge.theirs, kind, key)) - set(_joined(merge.origin, kind, key))
    if not changed and not connected:
        return False
    what = "changed" if changed else "connected"
    merge.note(kind, key, f"you deleted it and they {what} it; it stays")
    merge.contested.add((kind, key))
    return True


def _joined(side: Keyed, kind: Kind, key: str) -> Iterator[str]:
    for join, ends in ENDS.items():
        for name, pair in side.joins(join).items():
            if (kind, key) in zip(ends, pair, strict=True):
                yield f"{join} {name}"


def _values(thing: Thing) -> dict[str, Any]:
    """All of a thing but its name and its lists."""
    names = (one.name for one in fields(thing) if one.name not in _LISTS)
    return {name: getattr(thing, name) for name in names}


def _merged(merge: Merge, was: Thing | None, mine: Thing, theirs: Thing) -> Thing:
    before = _values(was) if was is not None else {}
    changes = {}
    my, their = _values(mine), _values(theirs)
    for what in their:
        values = (before.get(what, _NOTHING), my[what], their[what])
        if clash(*values):
            yours, stays = _shown(my[what]), _shown(their[what])
            told = f"{what} is {yours} in yours and {stays} in theirs; it stays {stays}"
            merge.note(kind_of(theirs), theirs.name, told)
        changes[what] = pick(*values)
    return replace(theirs, **changes)


_NOTHING = object()


def _shown(value: object) -> str:
    if isinstance(value, Fraction):
        return format_amount(value)
    if isinstance(value, bool) or value is None:
        return {True: "yes", False: "no", None: "none"}[value]
    text = quoted(value) if type(value) is str else str(value)
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"


def merged_joins(
    merge: Merge, kind: Kind, things: Mapping[Kind, Mapping[str, Thing]]
) -> dict[str, tuple[str, str]]:
    """The links or queues that stay, each with its two ends, which both are there."""
    origin, mine, theirs = (side.joins(kind) for side in merge.sides)
    also = {pair for key, pair in theirs.items() if key not in mine}
    found = {}
    for key in dict.fromkeys((*theirs, *mine)):
        pair = _join(merge, kind, key)
        if pair is None:
            continue
        is_mine = key not in theirs and key not in origin
        ends = zip(ENDS[kind], pair, strict=True)
        if any(end not in things[its] for its, end in ends):
            if is_mine:
                merge.note(kind, key, "what it connects was deleted by them; it is left out")
        elif is_mine and pair in also:
            merge.note(kind, key, "they connected the same two; yours is left out")
        else:
            found[key] = pair
    return found


def _join(merge: Merge, kind: Kind, key: str) -> tuple[str, str] | None:
    was, my, their = (side.joins(kind).get(key) for side in merge.sides)
    if my is not None and their is not None:
        if clash(was, my, their):
            merge.note(kind, key, "both connected it otherwise; theirs stays")
        return pick(was, my, their)
    if was is None:
        return my or their
    if their is not None:
        ends = zip(ENDS[kind], their, strict=True)
        return their if their != was or any(end in merge.contested for end in ends) else None
    return None


def merged_names(merge: Merge, kind: Kind, keys: Mapping[str, object]) -> dict[str, str]:
    """A name for each key, none of them twice."""
    origin, mine, theirs = (side.names[kind] for side in merge.sides)
    wanted = {}
    for key in keys:
        my, their = mine.get(key), theirs.get(key)
        if my is not None and their is not None:
            values = (origin.get(key), my, their)
            if clash(*values):
                told = f"you renamed it to {quoted(my)} and they otherwise; it stays theirs"
                merge.note(kind, key, told)
            wanted[key] = pick(*values) or their
        else:
            wanted[key] = my or their or key
    return _distinct(merge, kind, wanted)


def _distinct(merge: Merge, kind: Kind, wanted: Mapping[str, str]) -> dict[str, str]:
    """Those first that keep their name of theirs, then what I renamed, then what I created."""
    theirs = merge.theirs.names[kind]
    settled = {key: name for key, name in wanted.items() if theirs.get(key) == name}
    taken = set(settled.values())
    for key in sorted(wanted.keys() - settled.keys(), key=lambda key: (key not in theirs, key)):
        name = wanted[key]
        if name in taken:
            name = _free(theirs.get(key, name), taken)
            told = f"they have a {kind} of that name; yours is called {quoted(name)}"
            merge.note(kind, key, told)
        settled[key] = name
        taken.add(name)
    return {key: settled[key] for key in wanted}


def _free(name: str, taken: set[str]) -> str:
    number, free = 2, name
    while free in taken:
        tail = f" ({number})"
        number, free = number + 1, f"{name[: LONGEST_NAME - len(tail)]}{tail}"
    return free
