"""A working copy that others have overtaken, brought on top of what is there now."""

from dataclasses import dataclass, replace

from bot.editing_bench import Bench
from domain.configuration import Configuration
from domain.difference import difference
from domain.rebasing import Conflict, Side, after, between, rebase, then
from domain.renames import Renames
from storage import configurations
from storage.database import Session
from storage.working_copies import WorkingCopy


@dataclass(frozen=True, kw_only=True)
class Brought:
    """The copy as it would be; `theirs` are sentences about what others did meanwhile."""

    copy: WorkingCopy
    conflicts: tuple[Conflict, ...] = ()
    theirs: tuple[str, ...] = ()


def brought(session: Session, bench: Bench) -> Brought:
    """The person's changes on top of the draft and the version of now."""
    copy = bench.copy
    saved = bench.draft.revision if bench.draft else None
    result = Brought(copy=copy)
    if saved != copy.draft or (bench.draft is None and copy.base != bench.in_force):
        result = _onto_what_is_saved(session, bench, result)
    if result.copy.base != bench.in_force:
        result = _onto_what_is_in_force(session, bench, result)
    fresh = replace(result.copy, draft=saved, changed_at=bench.now)
    return replace(result, copy=fresh)


def _onto_what_is_saved(session: Session, bench: Bench, so_far: Brought) -> Brought:
    """Onto the draft; where it was reset or provisioned, onto what is in force."""
    copy, draft, version = so_far.copy, bench.draft, bench.version
    if draft is not None:
        theirs, base = Side(draft.configuration, draft.renames), draft.base
    else:
        theirs = Side(version.configuration if version else Configuration())
        base = bench.in_force
    over = _renames(session, copy.base, base)
    whole = Side(theirs.configuration, then(over, theirs.renames))
    done = rebase(bench.origin, bench.mine, whole)
    return Brought(
        copy=replace(
            copy,
            configuration=done.side.configuration,
            renames=after(over, done.side.renames),
            base=base,
            origin=theirs.configuration,
            origin_renames=theirs.renames,
        ),
        conflicts=done.conflicts,
        theirs=_told(bench.origin, whole),
    )


def _onto_what_is_in_force(session: Session, bench: Bench, so_far: Brought) -> Brought:
    """What was drafted before the version in force, onto that version."""
    copy, version = so_far.copy, bench.version
    assert version is not None, "only a version can be newer than the base"
    base = configurations.version(session, copy.base)
    origin = Side(base.configuration if base else Configuration())
    over = _renames(session, copy.base, version.number)
    theirs = Side(version.configuration, over)
    done = rebase(origin, Side(copy.configuration, copy.renames), theirs)
    return Brought(
        copy=replace(
            copy,
            configuration=done.side.configuration,
            renames=after(over, done.side.renames),
            base=version.number,
            origin_renames=after(over, copy.origin_renames),
        ),
        conflicts=(*so_far.conflicts, *done.conflicts),
        theirs=(*so_far.theirs, *_told(origin, theirs)),
    )


def _renames(session: Session, old: int, new: int) -> Renames:
    """Those of all versions after `old`, up to `new`."""
    found = Renames()
    for number in range(old + 1, new + 1):
        version = configurations.version(session, number)
        if version is not None:
            found = then(found, version.renames)
    return found


def _told(origin: Side, theirs: Side) -> tuple[str, ...]:
    mapped = Renames.of(between(origin, theirs))
    changes = difference(origin.configuration, theirs.configuration, mapped)
    return tuple(change.sentence for change in changes)
