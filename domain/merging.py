"""Three-way merging of single values and of orders, with what could not be merged noted."""

from collections.abc import Collection, Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from domain.renames import Kind

V = TypeVar("V")
K = TypeVar("K", bound=Hashable)


@dataclass(frozen=True)
class Conflict:
    """What both sides changed otherwise, and what is there now; the whole has no `kind`."""

    kind: Kind | None
    name: str
    sentence: str


@dataclass
class Notes:
    """What a merge that is under way could not bring together."""

    conflicts: list[Conflict] = field(default_factory=list)

    def add(self, kind: Kind | None, name: str, sentence: str) -> None:
        self.conflicts.append(Conflict(kind, name, sentence))


def clash(origin: object, mine: object, theirs: object) -> bool:
    """Whether both changed it, and not to the same."""
    return mine not in (origin, theirs) and theirs != origin


def pick(origin: V, mine: V, theirs: V) -> V:
    """Mine where only I changed it, else theirs."""
    return theirs if mine == origin or clash(origin, mine, theirs) else mine


def merged_order(
    origin: Sequence[K], mine: Sequence[K], theirs: Sequence[K], wanted: Collection[K]
) -> tuple[list[K], bool]:
    """What is wanted, each once, in the order that one of the two made; whether both made one.

    Where both have, theirs counts. What only the other one has follows what it follows there.
    """
    i_moved, they_moved = _moved(origin, mine), _moved(origin, theirs)
    both = i_moved and they_moved and _moved(mine, theirs)
    first, second = (mine, theirs) if i_moved and not they_moved else (theirs, mine)
    result = [name for name in dict.fromkeys(first) if name in wanted]
    for names in (second, list(wanted)):
        _insert(result, names, wanted)
    return result, both


def _moved(origin: Sequence[K], changed: Sequence[K]) -> bool:
    return _common(origin, changed) != _common(changed, origin)


def _common(names: Iterable[K], others: Sequence[K]) -> list[K]:
    known = set(others)
    return [name for name in names if name in known]


def _insert(result: list[K], names: Iterable[K], wanted: Collection[K]) -> None:
    """Puts what is missing behind what comes before it in `names`."""
    there, at = set(result), 0
    for name in names:
        if name in there:
            at = result.index(name) + 1
        elif name in wanted:
            result.insert(at, name)
            there.add(name)
            at += 1
