"""What the doctor wants to know of ClearML: looked up now and then, and published.

Handlers never call ClearML; so that they can say which queues are missing and which of them no
agent serves, this is looked up for them.
"""

import json
import logging
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from controller.ports import ClearMLError, Queues
from domain.ledger import Role
from storage import queues, views
from storage.database import Database, Session

log = logging.getLogger(__name__)

EVERY_S: Final = 60.0
_KEY: Final = "survey"


@dataclass(frozen=True, kw_only=True)
class Survey:
    """ClearML at that time: `missing` and `unserved` are ids of our queues.

    `error` is what kept it from being looked at, "" where nothing did.
    """

    at: datetime
    server_version: str = ""
    missing: frozenset[str] = frozenset()
    unserved: frozenset[str] = frozenset()
    error: str = ""


class Surveyor:
    """Looks at ClearML's queues and workers; `door` gives the calling thread's door."""

    def __init__(
        self, door: Callable[[], Queues], database: Database, clock: Callable[[], datetime]
    ) -> None:
        self._door = door
        self._database = database
        self._clock = clock

    def run(self) -> None:
        """One look, published. That ClearML does not answer is published as well."""
        try:
            survey = self._look()
        except ClearMLError as error:
            log.info("ClearML could not be surveyed", extra={"error": error})
            survey = Survey(at=self._clock(), error=str(error))
        with self._database.transaction() as session:
            views.publish(session, _KEY, _document(survey), survey.at)

    def _look(self) -> Survey:
        with self._database.reading() as session:
            owned = [queue for queue in queues.owned_queues(session) if not queue.retired]
        door = self._door()
        version, there = door.server_version(), {queue.id for queue in door.queues()}
        executions = {queue.id for queue in owned if queue.role is Role.EXECUTION} & there
        return Survey(
            at=self._clock(),
            server_version=version,
            missing=frozenset(queue.id for queue in owned) - there,
            unserved=frozenset(executions) - door.watched(executions),
        )


def last_survey(session: Session) -> Survey | None:
    """The last look, None before the first."""
    published = views.published(session, _KEY)
    if published is None:
        return None
    found = json.loads(published[0])
    return Survey(
        at=published[1],
        server_version=found["server_version"],
        missing=frozenset(found["missing"]),
        unserved=frozenset(found["unserved"]),
        error=found["error"],
    )


def _document(survey: Survey) -> str:
    return json.dumps(
        {
            "server_version": survey.server_version,
            "missing": sorted(survey.missing),
            "unserved": sorted(survey.unserved),
            "error": survey.error,
        }
    )
