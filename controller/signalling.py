"""A word that any process on the database gives, and that all of them see when they look."""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from storage import signals
from storage.database import Database
from storage.errors import StorageError

log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class Signal:
    """One of `storage.signals`; `reference` gives a new token each time."""

    database: Database
    name: str
    clock: Callable[[], datetime]
    reference: Callable[[], str]

    def give(self) -> None:
        """Give it. Where the database cannot take it, what it is about comes later, by itself."""
        try:
            with self.database.transaction() as session:
                signals.give(session, self.name, self.reference(), self.clock())
        except StorageError as error:
            log.warning("a signal could not be given", extra={"signal": self.name, "error": error})

    def latest(self) -> str:
        """Another text when it was given since the last look."""
        with self.database.reading() as session:
            return signals.last(session, self.name)
