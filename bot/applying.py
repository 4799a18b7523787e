"""`poolkeeper apply`: the operator's door to provisioning.

Validated, shown, confirmed and recorded like every other change; who may run this command on the
machine is the operator's to decide, so it needs no second admin.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from bot.change_texts import effect_lines, guarantee_lines, queue_lines
from bot.compose import clock_on, doors, new_reference
from bot.refusing import Refusal
from bot.settings import Settings
from controller.ports import ClearMLError, QueueState
from controller.provisioning import apply as put_in_force
from controller.publishing import last_view
from domain.configuration import Configuration
from domain.difference import difference
from domain.ledger import AuditRecord, OwnedQueue, Version, VersionState
from domain.previewing import Effect, effect
from domain.renames import Kind, Renames
from storage import audit, configurations, queues, signals
from storage.configurations import Approval, Pending
from storage.database import Database, Session
from storage.documents import configuration_hash

_WAIT_S = 120.0


@dataclass(frozen=True, kw_only=True)
class Change:
    """A configuration to be applied, and what it was compared with."""

    configuration: Configuration
    renames: Renames
    base: Version | None
    owned: tuple[OwnedQueue, ...]
    effect: Effect | None


def read_renames(words: Sequence[str]) -> Renames:
    """From words such as `pool:h100=H100`, all at once; `Refusal` names each that is none."""
    by_kind: dict[Kind, dict[str, str]] = {}
    problems = []
    for word in words:
        kind, _, names = word.partition(":")
        old, _, new = names.partition("=")
        if kind not in set(Kind) or not old or not new:
            kinds = ", ".join(Kind)
            problems.append(f"--rename {word}: say KIND:OLD=NEW, where KIND is one of {kinds}.")
        else:
            by_kind.setdefault(Kind(kind), {})[old] = new
    if problems:
        raise Refusal(problems)
    return Renames.of(by_kind)


def compare(database: Database, configuration: Configuration, renames: Renames) -> Change | None:
    """What applying would mean; None where the configuration is in force already."""
    with database.reading() as session:
        pending = configurations.approved(session)
        if pending is not None and pending.hash != configuration_hash(configuration):
            raise Refusal([_pending(pending)])
        base = configurations.provisioned(session)
        same = base is not None and base.hash == configuration_hash(configuration)
        if same and pending is None and not any(renames.by_kind.values()):
            return None
        return Change(
            configuration=configuration,
            renames=renames,
            base=base,
            owned=queues.owned_queues(session),
            effect=_effect(session, configuration, renames),
        )


def _effect(session: Session, configuration: Configuration, renames: Renames) -> Effect | None:
    view = last_view(session)
    return None if view is None else effect(view.snapshot, configuration, renames)


def shown(change: Change, listed: Mapping[str, QueueState]) -> str:
    """What the operator confirms: the differences, the queues, and what it means for tasks."""
    before = change.base.configuration if change.base else Configuration()
    after, renames = change.configuration, change.renames
    parts = [
        ("Changes:", [found.sentence for found in difference(before, after, renames)]),
        ("Queues in ClearML:", queue_lines(after, renames, change.owned, listed)),
        ("Guarantees:", guarantee_lines(before, after, renames)),
    ]
    if change.effect is not None:
        parts.append(("Tasks waiting now:", effect_lines(change.effect)))
    return "\n".join(
        "\n".join([title, *(f"  {line}" for line in lines or ["nothing changes."])])
        for title, lines in parts
    )


def carry_out(
    settings: Settings, database: Database, change: Change, by: str, say: Callable[[str], None]
) -> Version:
    """Approves the change as it stands, and sees it applied here or by who runs the rounds."""
    version = _approve(database, change, by)
    leadership = database.lead()
    if leadership is None:
        say(f"Version {version.number} is approved; the running poolkeeper applies it.")
        return _wait_for(database, version)
    try:
        applied = put_in_force(doors(settings)(), database, version)
    except ClearMLError as error:
        raise Refusal([_interrupted(version, error)]) from error
    finally:
        leadership.release()
    return applied


def _approve(database: Database, change: Change, by: str) -> Version:
    at = clock_on(database)()
    with database.transaction() as session:
        pending = configurations.approved(session)
        if pending is not None and pending.hash == configuration_hash(change.configuration):
            return pending  # an interrupted apply goes on
        base = configurations.provisioned(session)
        if (base and base.number) != (change.base and change.base.number):
            raise Refusal(["Another version was provisioned meanwhile; look at it and try again."])
        added = configurations.add_version(
            session, change.configuration, change.renames, Approval(by=by, at=at)
        )
        if isinstance(added, Pending):
            raise Refusal([_pending(added.version)])
        detail = f"hash {added.hash[:12]}, from the command line"
        record = AuditRecord(
            at=at, actor=by, action="apply", subject=f"version {added.number}", detail=detail
        )
        audit.record(session, record)
        signals.give(session, signals.ROUND, new_reference(), at)
    return added


def _wait_for(database: Database, version: Version) -> Version:
    deadline = time.monotonic() + _WAIT_S
    while time.monotonic() < deadline:
        with database.reading() as session:
            found = configurations.version(session, version.number)
        if found is not None and found.state is VersionState.PROVISIONED:
            return found
        time.sleep(0.1)
    raise Refusal(
        [
            f"Version {version.number} is approved but was not applied within {_WAIT_S:g} s; "
            "the log of the running poolkeeper says why."
        ]
    )


def _pending(version: Version) -> str:
    return (
        f"Version {version.number}, approved by {version.by}, is still being applied; apply the "
        "same configuration again to go on with it, or start `poolkeeper run`."
    )


def _interrupted(version: Version, error: ClearMLError) -> str:
    return (
        f"Version {version.number} is approved but not applied yet: {error} Say the same again, "
        "or start `poolkeeper run`, which goes on with it."
    )
