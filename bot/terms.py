"""A term: what runs in this process only while it leads, made anew each time that it does.

Rounds, cGPU, watching and surveying, whatever recurs for people, and the outbox: each of them is
done by exactly one process. Answering people is not among them; every replica does that.
"""

import logging
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Final, TypeVar

from bot.compose import Manner, cgpu_pacer, controller, doors, new_reference
from bot.hearing import Ears
from bot.outlook import Outlook
from bot.settings import Settings
from bot.vitals import BEAT_S
from controller import references, retention, survey, watching
from controller.cgpu_pacing import TICK_S
from controller.leading import check_of
from controller.loop import Heard, Loop
from controller.publishing import View
from controller.retention import Retention
from controller.shared_clock import SharedClock
from controller.signalling import Signal
from storage import signals
from storage.database import Database, Leadership, LeadershipLost, StorageError

if TYPE_CHECKING:
    from bot.connecting import Bot

log = logging.getLogger(__name__)

_LOOK_S: Final = 0.5
"""How often it is looked whether another process has asked for a round."""

Given = TypeVar("Given")


class Term:
    """What only the leader does, from `begin` to `end`; the helm has it meanwhile.

    Every job asks first whether this process still leads, and so does every write, to the database
    and outside; what fails because it does not any more has ended, and is no fault.
    """

    def __init__(self, replica: "Replica", leadership: Leadership) -> None:
        self._replica = replica
        self._leadership = leadership
        self._database = database = replica.database.as_leader(leadership)
        self._check = check_of(database, leadership)
        self._manner = Manner(clock=replica.clock, check=self._check, heard=replica.outlook.called)
        bot = replica.bot
        self._desk = replace(bot.desk, database=database) if bot else None
        self._worker = bot.worker(database, self._check) if bot else None
        self._ears = Ears(database, self._desk, replica.clock)
        self._controller = controller(replica.settings, database, self._manner)
        self._asked = ""
        self._loop = self._made_loop()

    @property
    def latest(self) -> View | None:
        """The view of the last round of this term."""
        return self._controller.publisher.latest

    def nudge(self) -> None:
        """Another round soon."""
        self._loop.nudge()

    def deliver(self) -> None:
        """The outbox is looked at, at once."""
        if self._worker is not None:
            self._worker.deliver()

    def begin(self) -> None:
        """The first round runs at once."""
        self._replica.clock.measure()
        self._replica.helm.term = self
        self._asked = self._replica.helm.asked()
        if self._desk is not None:
            from bot.tending import resume

            resume(self._desk)
        if self._worker is not None:
            self._worker.start()
        self._loop.start()

    def end(self) -> None:
        """Waits for the round and the message that are under way; what is unsent is sent later."""
        self._replica.helm.term = None
        self._loop.stop()
        self._controller.mover.close()
        if self._worker is not None:
            self._worker.stop()

    def _made_loop(self) -> Loop:
        replica, manner = self._replica, self._manner
        settings, database = replica.settings, self._database
        heard = Heard(
            round=self._ears.round, outage=self._ears.outage, fault=self._fault, turn=_turn
        )
        interval = timedelta(seconds=settings.round_seconds)
        rounds = replica.outlook.watched(self._led(self._controller.rounds.run))
        loop = Loop(rounds, interval, replica.clock, heard)
        door = doors(settings, manner)
        jobs: list[tuple[float, Callable[[], object]]] = [
            (BEAT_S, replica.outlook.vitals.beat),
            (_LOOK_S, self._hear_others),
            (watching.EVERY_S, watching.Watcher(door, database).run),
            (retention.EVERY_S, Retention(database, replica.clock, settings.kept).run),
        ]
        if (pacer := cgpu_pacer(settings, database, manner)) is not None:
            jobs.append((TICK_S, pacer.tick))
        if self._desk is not None:
            from bot.schedules import RECURRING

            jobs.append((survey.EVERY_S, survey.Surveyor(door, database, replica.clock).run))
            jobs += [(one.seconds, partial(one.run, self._desk)) for one in RECURRING]
        for seconds, job in jobs:
            loop.every(seconds, self._led(job))
        return loop

    def _led(self, job: Callable[[], Given]) -> Callable[[], Given]:
        def led() -> Given:
            self._check()
            return job()

        return led

    def _hear_others(self) -> None:
        """A round that another process asks for."""
        asked = self._replica.helm.asked()
        if asked != self._asked:
            self._asked = asked
            self._loop.nudge()

    def _fault(self, error: Exception) -> None:
        if isinstance(error, LeadershipLost) or not self._leads():
            log.warning("what ran ended with the leadership", extra={"error": error})
        else:
            self._ears.fault(error)

    def _leads(self) -> bool:
        try:
            return self._leadership.is_held() and self._leadership.is_confirmed()
        except StorageError:
            return False


def _turn() -> AbstractContextManager[str]:
    """A round or a job: what it logs and records has a reference in common."""
    return references.under(new_reference())


class Helm:
    """Whence the rest of this process reaches the leader: here while it leads, or by a signal."""

    def __init__(self, database: Database, clock: SharedClock) -> None:
        self.database = database
        self.clock = clock
        self._asking = Signal(
            database=database, name=signals.ROUND, clock=clock, reference=new_reference
        )
        self.term: Term | None = None

    @property
    def latest(self) -> View | None:
        """The view of the last round that this process ran, None where another one leads."""
        term = self.term
        return None if term is None else term.latest

    def nudge(self) -> None:
        """A round soon, wherever rounds run."""
        if (term := self.term) is not None:
            term.nudge()
        else:
            self._asking.give()

    def asked(self) -> str:
        """Another text when another process has asked for a round since the last look."""
        return self._asking.latest()

    def deliver(self) -> None:
        """The outbox at once; where another process leads, it looks every second."""
        if (term := self.term) is not None:
            term.deliver()


@dataclass(frozen=True, kw_only=True)
class Replica:
    """This process, whether it leads or not; `bot` is None where there is no Slack."""

    settings: Settings
    database: Database
    clock: SharedClock
    helm: Helm
    outlook: Outlook
    bot: "Bot | None"
