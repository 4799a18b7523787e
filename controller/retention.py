"""Adding usage up, and forgetting what nobody asks for any more: the database stays small."""

import logging
from collections.abc import Callable
from datetime import datetime
from typing import Final

from domain.usage import Kept, Since
from storage import usage
from storage.database import Database
from storage.retention import RULES

log = logging.getLogger(__name__)

EVERY_S: Final = 600.0


class Retention:
    """Packs the hours that are over and forgets by age; each in a transaction of its own.

    Rounds write in between. What was left undone by a death is done by the next run.
    """

    def __init__(self, database: Database, clock: Callable[[], datetime], kept: Kept) -> None:
        self._database = database
        self._clock = clock
        self._kept = kept

    def run(self) -> None:
        """Once, up to now."""
        now = self._clock()
        since = self._kept.since(now)
        hours = 0
        while self._packed(now, since):
            hours += 1
        for rule in RULES:
            if rule.forget is not None:
                with self._database.transaction() as session:
                    rule.forget(session, self._kept, now)
        if hours > 1:
            log.info("usage of several hours was packed", extra={"hours": hours})

    def _packed(self, now: datetime, since: Since) -> bool:
        with self._database.transaction() as session:
            return usage.pack(session, now, since)
