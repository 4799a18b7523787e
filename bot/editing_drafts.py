"""The draft's life, one transaction each: saved, reset, brought together with others' changes."""

from dataclasses import dataclass

from bot import approvals
from bot.access import Actor
from bot.desk import Desk
from bot.editing_bench import Bench, Outdated, bench_in
from bot.editing_rebase import Brought, brought
from bot.editing_words import count
from domain.ledger import Draft
from domain.rebasing import Conflict
from storage import configurations, working_copies
from storage.configurations import DraftContent, SavedMeanwhile
from storage.working_copies import WorkingCopy


@dataclass(frozen=True, kw_only=True)
class Saved:
    """The draft as it was saved, with how many changes against what was there before."""

    draft: Draft
    changes: int


@dataclass(frozen=True, kw_only=True)
class Nothing:
    """There was nothing to save."""

    bench: Bench


@dataclass(frozen=True, kw_only=True)
class Meanwhile:
    """Refused: others saved or provisioned since the copy was begun; what rebasing would give."""

    bench: Bench
    brought: Brought


@dataclass(frozen=True, kw_only=True)
class Rebased:
    """The person's changes stand on what is now, but for the conflicts."""

    bench: Bench
    conflicts: tuple[Conflict, ...]


def save(
    desk: Desk, actor: Actor, stamp: str | None = None
) -> Saved | Nothing | Meanwhile | Outdated:
    """Makes the working copy the shared draft. With a `stamp`, only what a window showed."""
    with desk.database.transaction() as session:
        bench = bench_in(desk, session, actor.user)
        if stamp is not None and bench.stamp != stamp:
            return Outdated(bench=bench)
        if bench.is_behind:
            return Meanwhile(bench=bench, brought=brought(session, bench))
        if not bench.is_unsaved:
            return Nothing(bench=bench)
        changes = len(bench.changes())
        saved = configurations.save_draft(session, _content(desk, bench), bench.copy.draft)
        assert not isinstance(saved, SavedMeanwhile), "it was read in this transaction"
        working_copies.delete(session, actor.user)
        told = f"{count(changes, 'change')}, made from version {saved.base}"
        desk.record(session, actor.user, "save", f"draft revision {saved.revision}", told)
        approvals.void_stale(desk, session)
    desk.deliver()
    return Saved(draft=saved, changes=changes)


def _content(desk: Desk, bench: Bench) -> DraftContent:
    copy = bench.copy
    return DraftContent(
        configuration=copy.configuration,
        renames=copy.renames,
        base=copy.base,
        by=copy.user,
        at=desk.clock(),
    )


def rebase_mine(desk: Desk, actor: Actor, stamp: str | None = None) -> Rebased | Outdated:
    """Puts the person's unsaved changes on top of what is saved and in force now."""
    with desk.database.transaction() as session:
        bench = bench_in(desk, session, actor.user)
        if stamp is not None and bench.stamp != stamp:
            return Outdated(bench=bench)
        if not bench.is_behind:
            return Rebased(bench=bench, conflicts=())
        found = brought(session, bench)
        kept = working_copies.put(session, found.copy)
        assert isinstance(kept, WorkingCopy), "it was read in this transaction"
        if not bench_in(desk, session, actor.user).is_unsaved:
            working_copies.delete(session, actor.user)
        bench = bench_in(desk, session, actor.user)
    return Rebased(bench=bench, conflicts=found.conflicts)


def discard_mine(desk: Desk, actor: Actor, stamp: str) -> Bench | Outdated:
    """Drops the person's unsaved changes that were shown."""
    with desk.database.transaction() as session:
        bench = bench_in(desk, session, actor.user)
        if bench.stamp != stamp:
            return Outdated(bench=bench)
        working_copies.delete(session, actor.user)
        return bench_in(desk, session, actor.user)


def reset_key(bench: Bench) -> str:
    """What names the state that somebody agreed to lose."""
    return f"{bench.draft.revision if bench.draft else 0}-{bench.stamp}"


def reset(desk: Desk, actor: Actor, key: str) -> Bench | Outdated:
    """Back to what is in force: the draft goes, and the person's own unsaved changes."""
    with desk.database.transaction() as session:
        bench = bench_in(desk, session, actor.user)
        if reset_key(bench) != key:
            return Outdated(bench=bench)
        working_copies.delete(session, actor.user)
        if bench.draft is not None:
            configurations.delete_draft(session)
            revision = f"draft revision {bench.draft.revision}"
            desk.record(session, actor.user, "reset", revision, f"version {bench.in_force} stays")
            approvals.void_stale(desk, session)
        bench = bench_in(desk, session, actor.user)
    desk.deliver()
    return bench
