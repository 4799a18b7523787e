"""Applying an approved configuration: queues made, adopted, renamed and given up.

Every step looks first and can be repeated, so that a process that died in the middle is followed
by one that goes on (DESIGN.md, "What provisioning does to queues"). Emptying and deleting the
queues that were given up is `controller.draining`'s.
"""

import logging
from collections.abc import Iterable
from dataclasses import dataclass, replace

from controller.ports import Queues, Unavailable
from controller.queue_plan import Act, QueueStep, key_of, marks_of, plan_queues
from domain.configuration import Configuration
from domain.ledger import OwnedQueue, Role, Version, VersionState
from domain.renames import Kind
from storage import configurations, ledger, queues, schedules
from storage.database import Database

log = logging.getLogger(__name__)


def begin(database: Database, version: Version) -> None:
    """Carries out the version's renames in what is remembered, exactly once."""
    with database.transaction() as session:
        # As it is now: another process may have begun since the version was read.
        known = configurations.version(session, version.number)
        if known is None or known.state is not VersionState.APPROVED:
            return
        before = configurations.provisioned(session)
        ledger.rename(session, version.renames)
        schedules.rename(session, version.renames)
        if before is not None:
            reread = _with_other_parameter(before, version)
            again = [sight for sight in ledger.sightings(session) if sight.profile in reread]
            ledger.see(session, [replace(sight, queue="") for sight in again])
        configurations.mark_applying(session, version.number)


def complete(database: Database, version: Version) -> None:
    """The version is in force from here on."""
    with database.transaction() as session:
        configurations.mark_provisioned(session, version.number)


@dataclass(frozen=True, kw_only=True)
class QueueProvisioning:
    """ClearML's queues on their way to what a configuration needs."""

    door: Queues
    database: Database
    configuration: Configuration

    def carry_out(self) -> tuple[QueueStep, ...]:
        """Gives the steps that changed something; raises `ClearMLError` to be called again."""
        for step in self._steps():
            if step.act is Act.RETIRE:
                self._remember(step.queue)
        self._clear_names()
        steps = tuple(step for step in self._steps() if step.act is not Act.KEEP)
        for step in steps:
            self._remember(self._made(step))
        return steps

    def _steps(self) -> tuple[QueueStep, ...]:
        listed = {queue.id: queue for queue in self.door.queues(marks=True)}
        with self.database.reading() as session:
            owned = queues.owned_queues(session)
        return plan_queues(self.configuration, owned, listed)

    def _made(self, step: QueueStep) -> OwnedQueue:
        queue = step.queue
        if step.act is Act.CREATE:
            hidden = queue.role is Role.EXECUTION
            made = self.door.create_queue(queue.name, marks_of(queue), hidden=hidden)
            if made is not None:
                return replace(queue, id=made)
            # Somebody made a queue of this name since the listing: it is adopted.
            step = next(again for again in self._steps() if key_of(again.queue) == key_of(queue))
            if step.act is Act.CREATE:
                raise Unavailable(f"Another queue of ours is called {queue.name} still.")
        return self._taken_over(step)

    def _taken_over(self, step: QueueStep) -> OwnedQueue:
        queue = step.queue
        self.door.mark_queue(queue.id, marks_of(queue))
        renaming = step.act is not Act.MARK and step.was != queue.name
        if renaming and not self.door.rename_queue(queue.id, queue.name):
            log.warning(
                "a queue keeps its name, another has its new one", extra={"queue": step.was}
            )
            return replace(queue, name=step.was)
        return queue

    def _remember(self, queue: OwnedQueue) -> None:
        with self.database.transaction() as session:
            for other in queues.owned_queues(session):
                # Its queue was deleted in ClearML by somebody; this one stands in its place.
                if key_of(other) == key_of(queue) and other.id != queue.id:
                    queues.remove_queue(session, other.id)
            queues.put_queue(session, queue)

    def _clear_names(self) -> None:
        """Moves queues of ours out of the way of names that others of ours are to have."""
        steps = self._steps()
        wanted = dict(_wanted_names(steps))
        with self.database.reading() as session:
            ours = {queue.id for queue in queues.owned_queues(session)}
        ours |= {step.queue.id for step in steps}  # those to be adopted, too
        for state in self.door.queues():
            if state.id in ours and wanted.get(state.name, state.id) != state.id:
                self.door.rename_queue(state.id, f"{state.name} (was, {state.id[:8]})")


def _with_other_parameter(before: Version, version: Version) -> frozenset[str]:
    """Profiles whose waiting tasks' parameters have to be read anew."""
    old = {
        version.renames.current(Kind.PROFILE, profile.name): profile.parameter
        for profile in before.configuration.profiles
    }
    profiles = version.configuration.profiles
    return frozenset(p.name for p in profiles if old.get(p.name) != p.parameter)


def _wanted_names(steps: Iterable[QueueStep]) -> Iterable[tuple[str, str]]:
    return ((step.queue.name, step.queue.id) for step in steps if step.act is not Act.KEEP)


def apply(door: Queues, database: Database, version: Version) -> Version:
    """Puts an approved version in force, or goes on where that was interrupted."""
    begin(database, version)
    QueueProvisioning(door=door, database=database, configuration=version.configuration).carry_out()
    complete(database, version)
    return replace(version, state=VersionState.PROVISIONED)
