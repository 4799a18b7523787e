"""The reconciler of the cGPU policy: look, learn, decide, do one thing, look again.

Level-triggered: every look decides anew, so it may be killed anywhere and goes on where things are.
Whoever runs it holds the leadership.
"""

import logging
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

from controller.cgpu_acts import Acts
from controller.cgpu_events import Events, standing
from controller.cgpu_probing import Prober
from controller.cgpu_view import Note, last_note, publish, publish_note
from controller.kubernetes_ports import Kubernetes, KubernetesError
from domain.cgpu_change import Situation, next_step
from domain.cgpu_drift import drifts
from domain.cgpu_learning import learn
from domain.cgpu_steps import Pace, Rest, Step
from domain.ledger import Version
from storage import cgpu, configurations
from storage.database import Database

log = logging.getLogger(__name__)

_MOST_ACTS: Final = 20
"""How many steps one run takes before it lets others in."""

_SOON: Final = timedelta(seconds=10)
"""When to look again while something is under way."""


@dataclass(frozen=True, kw_only=True)
class Report:
    """What one run did, and what it ended with; `again` is when to look again at the latest."""

    did: tuple[str, ...]
    last: Step | None
    away: str = ""
    again: timedelta | None = None


@dataclass(frozen=True, kw_only=True)
class Surroundings:
    """What the reconciler works with; `prober` is None where modules are not read."""

    door: Callable[[], Kubernetes]
    database: Database
    clock: Callable[[], datetime]
    prober: Prober | None = None


class Reconciler:
    """Reconciles, one run at a time."""

    def __init__(self, with_: Surroundings) -> None:
        self._with = with_
        self._events = Events()

    def run(self) -> Report:
        """Steps until there is nothing to do now. A Kubernetes that is away ends it, told."""
        did: list[str] = []
        refusals: tuple[str, ...] = ()
        try:
            for _ in range(_MOST_ACTS):
                situation, version = self._look(refusals)
                step = next_step(situation)
                if isinstance(step, Rest):
                    self._tell(situation)
                    self._note(Note(refusals=refusals))
                    return Report(did=tuple(did), last=step, again=_pause(situation, step))
                log.info("a step towards the cGPU policy", extra={"step": step.says})
                done = self._acts(situation, version).carry_out(step)
                did.append(step.says)
                refusals = done.refusals
                if done.settles:
                    break
        except KubernetesError as error:
            self._away(error)
            return Report(did=tuple(did), last=None, away=str(error))
        self._note(Note(refusals=refusals))
        return Report(did=tuple(did), last=None, again=_SOON)

    def _look(self, refusals: tuple[str, ...]) -> tuple[Situation, Version | None]:
        """One look, learnt from and published."""
        door, database = self._with.door(), self._with.database
        cluster = door.look()
        with database.reading() as session:
            before, version = cgpu.memory(session), configurations.provisioned(session)
        wanted = version.configuration.cgpu if version else None
        if self._with.prober is not None:
            cluster = self._with.prober.read(door, cluster, before)
        after = learn(before, cluster)
        with database.transaction() as session:
            cgpu.learn(session, before, after)
            # What admins said while the cluster was looked at counts.
            after = replace(after, restarts=cgpu.restarts(session), control=cgpu.control(session))
            note = replace(last_note(session), looked_at=self._with.clock(), refusals=refusals)
            publish(session, cluster, note)
        return Situation(cluster, after, wanted.policy if wanted else None), version

    def _acts(self, situation: Situation, version: Version | None) -> Acts:
        return Acts(
            door=self._with.door(),
            database=self._with.database,
            clock=self._with.clock,
            events=self._events,
            version=version,
            cluster=situation.cluster,
            installers=dict(situation.memory.installers),
        )

    def _tell(self, situation: Situation) -> None:
        if situation.desired is not None:
            found = drifts(situation.cluster, situation.memory, situation.desired, situation.own)
            self._events.tell(self._with.door(), standing(situation, found))

    def _note(self, note: Note) -> None:
        """What a run ended with; written only when it is something else than before."""
        with self._with.database.transaction() as session:
            before = last_note(session)
            now = replace(note, looked_at=before.looked_at)
            if now != before:
                publish_note(session, now)

    def _away(self, error: KubernetesError) -> None:
        log.warning("Kubernetes cannot be worked with, the run ended", extra={"error": error})
        with self._with.database.transaction() as session:
            note = last_note(session)
            since = note.since or self._with.clock()
            note = replace(note, away=str(error), since=since, times=note.times + 1)
            publish_note(session, note)


def _pause(situation: Situation, step: Rest) -> timedelta | None:
    """Soon while the cluster or a node in hand is at it; None for the usual interval."""
    busy = step.pace is Pace.CLUSTER or situation.memory.in_hand is not None
    return _SOON if busy else None
