"""What the doctor wants to know of ClearML: looked up now and then, and published.

Handlers never call ClearML; so that they can say which queues are missing and which of them no
agent serves, this is looked up for them.
"""

import json
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from controller.ports import ClearMLError, Queues
from controller.queue_plan import MARKS
from controller.watching import WORKER
from domain.ledger import Role
from storage import queues, views
from storage.database import Database, Session

log = logging.getLogger(__name__)

EVERY_S: Final = 60.0
_KEY: Final = "survey"


@dataclass(frozen=True, kw_only=True)
class Survey:
    """ClearML at that time: what is wrong with our queues, which are known by their ids.

    `missing` are not there, `unserved` have no agent though they are for execution, `unmarked`
    lack the metadata by which a lost database is rebuilt. `intruders` are the workers that serve
    an intake queue and are not Poolkeeper. `error` is what kept it from being looked at, "" where
    nothing did.
    """

    at: datetime
    server_version: str = ""
    missing: frozenset[str] = frozenset()
    unserved: frozenset[str] = frozenset()
    unmarked: frozenset[str] = frozenset()
    intruders: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
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
            survey = self.look()
        except ClearMLError as error:
            log.info("ClearML could not be surveyed", extra={"error": error})
            survey = Survey(at=self._clock(), error=str(error))
        with self._database.transaction() as session:
            views.publish(session, _KEY, _document(survey), survey.at)

    def look(self) -> Survey:
        """One look, told to nobody else."""
        with self._database.reading() as session:
            owned = [queue for queue in queues.owned_queues(session) if not queue.retired]
        door = self._door()
        version = door.server_version()
        there = {queue.id: queue for queue in door.queues(marks=True)}
        present = [queue for queue in owned if queue.id in there]
        workers = door.workers(queue.id for queue in present)
        intruders = {
            queue.id: tuple(sorted(workers[queue.id] - {WORKER}))
            for queue in present
            if queue.role is Role.INTAKE
        }
        return Survey(
            at=self._clock(),
            server_version=version,
            missing=frozenset(queue.id for queue in owned) - there.keys(),
            unserved=frozenset(
                queue.id
                for queue in present
                if queue.role is Role.EXECUTION and not workers[queue.id]
            ),
            unmarked=frozenset(
                queue.id for queue in present if MARKS[0] not in there[queue.id].marks
            ),
            intruders={queue: found for queue, found in intruders.items() if found},
        )


def last_survey(session: Session) -> Survey | None:
    """The last look, None before the first."""
    published = views.published(session, _KEY)
    if published is None:
        return None
    found = json.loads(published[0])
    # One that another version of Poolkeeper published may say less.
    return Survey(
        at=published[1],
        server_version=found["server_version"],
        missing=frozenset(found["missing"]),
        unserved=frozenset(found["unserved"]),
        unmarked=frozenset(found.get("unmarked", ())),
        intruders={queue: tuple(names) for queue, names in found.get("intruders", {}).items()},
        error=found["error"],
    )


def _document(survey: Survey) -> str:
    return json.dumps(
        {
            "server_version": survey.server_version,
            "missing": sorted(survey.missing),
            "unserved": sorted(survey.unserved),
            "unmarked": sorted(survey.unmarked),
            "intruders": {queue: list(names) for queue, names in survey.intruders.items()},
            "error": survey.error,
        }
    )
