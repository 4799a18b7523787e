"""Which objects of a configuration were renamed since the version it was made from.

A document knows names only. That a pool was renamed, and not deleted while another was created,
decides whether its queues, agents and running tasks stay with it; so it is said, never guessed.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Final

_DELETED: Final = "\t(deleted)"


class Kind(StrEnum):
    """What can be named in a configuration."""

    POOL = "pool"
    PROFILE = "profile"
    POLICY = "policy"
    LINK = "link"
    QUEUE = "queue"


@dataclass(frozen=True)
class Renames:
    """For each kind, old name → new name; the old one is the name in the base version.

    All renames of a kind happen at once, so two objects can swap names. An old name that another
    object has taken over leads to a name that nothing can have: whatever had it is deleted, and
    what is remembered of it must not fall to the new owner of the name.
    """

    by_kind: Mapping[Kind, Mapping[str, str]] = field(default_factory=dict)

    @classmethod
    def of(cls, said: Mapping[Kind, Mapping[str, str]]) -> "Renames":
        """Those that are said, all at once; old names are the base version's."""
        renames = cls()
        for kind, names in said.items():
            renames = renames._with(kind, names)
        return renames

    def current(self, kind: Kind, old: str) -> str:
        """The name that the object called `old` in the base version has now."""
        return self.by_kind.get(kind, {}).get(old, old)

    def then(self, kind: Kind, old: str, new: str) -> "Renames":
        """These renames, and after them `old` (its name so far) became `new`."""
        names = self._said(kind)
        base = next((was for was, now in names.items() if now == old), None)
        if base is None and old in names:
            # The base's `old` is called otherwise now: this one was created since, under a name
            # that the base version does not know.
            return self
        names[base or old] = new
        return self._with(kind, names)

    def without(self, kind: Kind, name: str) -> "Renames":
        """These renames, and after them the object that is called `name` now was deleted."""
        names = {was: now for was, now in self._said(kind).items() if now != name}
        return self._with(kind, names)

    def _said(self, kind: Kind) -> dict[str, str]:
        names = self.by_kind.get(kind, {})
        return {was: now for was, now in names.items() if now != _nobody(was)}

    def _with(self, kind: Kind, names: Mapping[str, str]) -> "Renames":
        said = {was: now for was, now in names.items() if was != now}
        taken_over = {now: _nobody(now) for now in said.values() if now not in said}
        by_kind = {**self.by_kind, kind: {**said, **taken_over}}
        return replace(self, by_kind={kind: names for kind, names in by_kind.items() if names})


def original(name: str) -> str:
    """The name that a deleted object had, where `name` is what its name now leads to."""
    return name.removesuffix(_DELETED)


def _nobody(name: str) -> str:
    """A name like `name` that no object can have, because names have no control characters."""
    return f"{name}{_DELETED}"
