"""Which objects of a configuration were renamed since the version it was made from.

A document knows names only. That a pool was renamed, and not deleted while another was created,
decides whether its queues, agents and running tasks stay with it; so it is said, never guessed.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum


class Kind(StrEnum):
    """What can be named in a configuration."""

    POOL = "pool"
    PROFILE = "profile"
    POLICY = "policy"
    LINK = "link"
    QUEUE = "queue"


@dataclass(frozen=True)
class Renames:
    """For each kind, old name → new name; the old one is the name in the base version."""

    by_kind: Mapping[Kind, Mapping[str, str]] = field(default_factory=dict)

    def current(self, kind: Kind, old: str) -> str:
        """The name that the object called `old` in the base version has now."""
        return self.by_kind.get(kind, {}).get(old, old)

    def then(self, kind: Kind, old: str, new: str) -> "Renames":
        """These renames, and after them `old` (its name so far) became `new`."""
        names = dict(self.by_kind.get(kind, {}))
        base = next((was for was, now in names.items() if now == old), old)
        names[base] = new
        if base == new:
            del names[base]
        return replace(self, by_kind={**self.by_kind, kind: names})
