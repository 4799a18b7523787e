"""Saying in ClearML that somebody serves the intake queues: Poolkeeper does.

No agent listens to them, so ClearML's web UI would tell every user who enqueues there that nobody
does (facts/clearml.md, decision 7). A worker of our name is registered for them, and expires by
itself when Poolkeeper ends.
"""

import logging
from collections.abc import Callable
from typing import Final

from controller.ports import ClearMLError, Queues
from domain.ledger import Role
from storage import queues
from storage.database import Database

log = logging.getLogger(__name__)

EVERY_S: Final = 60.0
WORKER: Final = "poolkeeper"


class Watcher:
    """Registers the worker anew; `door` gives the calling thread's door."""

    def __init__(self, door: Callable[[], Queues], database: Database) -> None:
        self._door = door
        self._database = database

    def run(self) -> None:
        """Once; a ClearML that does not answer is left to the next time."""
        with self._database.reading() as session:
            intakes = [
                queue.id
                for queue in queues.owned_queues(session)
                if queue.role is Role.INTAKE and not queue.retired
            ]
        if not intakes:
            return
        try:
            self._door().watch(WORKER, intakes)
        except ClearMLError as error:
            log.info("the intake queues could not be watched", extra={"error": error})
