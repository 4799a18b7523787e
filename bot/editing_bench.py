"""What one person has in the editor: the working copy, what it started from, who else is there.

A window shows a bench as it was; its `stamp` goes with every press and submission, and what was
done to a bench that has moved on since is refused, with what is now.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime

from bot.desk import Desk
from domain.configuration import Configuration
from domain.difference import Change, difference
from domain.edits import Edit, Edited, Refused
from domain.ledger import Draft, Version
from domain.rebasing import Side, between
from domain.renames import Renames
from storage import configurations, working_copies
from storage.database import Session
from storage.working_copies import WorkingCopy


@dataclass(frozen=True, kw_only=True)
class Bench:
    """The editor of one person. `copy` has revision 0 while nothing unsaved is kept."""

    copy: WorkingCopy
    draft: Draft | None
    version: Version | None
    others: tuple[WorkingCopy, ...]
    now: datetime

    @property
    def configuration(self) -> Configuration:
        return self.copy.configuration

    @property
    def stamp(self) -> str:
        """What names this state of it: another one is another stamp."""
        if self.copy.revision:
            return f"c{self.copy.revision}"
        return f"d{self.copy.draft or 0}.v{self.copy.base}"

    @property
    def origin(self) -> Side:
        return Side(self.copy.origin or Configuration(), self.copy.origin_renames)

    @property
    def mine(self) -> Side:
        return Side(self.copy.configuration, self.copy.renames)

    @property
    def in_force(self) -> int:
        """The number of the version in force, 0 before the first."""
        return self.version.number if self.version else 0

    def changes(self) -> tuple[Change, ...]:
        """What the person has changed and not saved."""
        if not self.copy.revision:
            return ()
        mapped = Renames.of(between(self.origin, self.mine))
        return difference(self.origin.configuration, self.copy.configuration, mapped)

    @property
    def is_unsaved(self) -> bool:
        return self.copy.revision > 0 and self.mine != self.origin

    @property
    def is_behind(self) -> bool:
        """Whether somebody has saved or provisioned since the copy was begun."""
        saved = self.draft.revision if self.draft else None
        return self.copy.draft != saved or self.copy.base != self.in_force


@dataclass(frozen=True, kw_only=True)
class Outdated:
    """Refused: the window showed another state than this one."""

    bench: Bench


def bench_of(desk: Desk, user: str) -> Bench:
    """The person's editor as it is now."""
    with desk.database.reading() as session:
        return bench_in(desk, session, user)


def bench_in(desk: Desk, session: Session, user: str) -> Bench:
    """The same, inside a transaction."""
    draft, version = configurations.draft(session), configurations.provisioned(session)
    now = desk.clock()
    return Bench(
        copy=working_copies.get(session, user) or _fresh(user, draft, version, now),
        draft=draft,
        version=version,
        others=tuple(one for one in working_copies.editing(session) if one.user != user),
        now=now,
    )


def change(
    desk: Desk, user: str, stamp: str, edit: Callable[[Edited], Edit]
) -> Bench | Refused | Outdated:
    """Makes one edit in the person's working copy, if that still is what their window showed."""
    with desk.database.transaction() as session:
        bench = bench_in(desk, session, user)
        if bench.stamp != stamp:
            return Outdated(bench=bench)
        edited = edit(Edited(bench.copy.configuration, bench.copy.renames))
        if isinstance(edited, Refused):
            return edited
        if Side(edited.configuration, edited.renames) == bench.mine:
            return bench
        return keep(desk, session, bench, Side(edited.configuration, edited.renames))


def keep(desk: Desk, session: Session, bench: Bench, mine: Side) -> Bench:
    """The bench with another content of the copy; one that was undone is not kept."""
    if mine == bench.origin and not bench.is_behind:
        working_copies.delete(session, bench.copy.user)
        return bench_in(desk, session, bench.copy.user)
    copy = replace(
        bench.copy,
        configuration=mine.configuration,
        renames=mine.renames,
        changed_at=desk.clock(),
    )
    kept = working_copies.put(session, copy)
    assert isinstance(kept, WorkingCopy), "it was read in this transaction"
    return replace(bench, copy=kept)


def _fresh(user: str, draft: Draft | None, version: Version | None, now: datetime) -> WorkingCopy:
    """What opens: the shared draft if there is one, else what is provisioned, else nothing."""
    begun = draft or version
    configuration = begun.configuration if begun else Configuration()
    renames = draft.renames if draft else Renames()
    return WorkingCopy(
        user=user,
        configuration=configuration,
        renames=renames,
        base=draft.base if draft else version.number if version else 0,
        draft=draft.revision if draft else None,
        changed_at=now,
        origin=configuration,
        origin_renames=renames,
    )
