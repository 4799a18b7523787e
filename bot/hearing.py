"""What the loop tells: rounds, outages and faults, to the log, the audit, and to people."""

import logging
from collections.abc import Callable
from datetime import datetime

from bot import announcements
from bot.compose import new_reference
from bot.desk import Desk
from controller import references
from controller.loop import Outage
from controller.moves import Outcome
from controller.round import Report
from domain.ledger import AuditRecord
from storage import audit
from storage.database import Database

log = logging.getLogger(__name__)


class Ears:
    """Hears the loop; `desk` is None where there is no bot to tell people."""

    def __init__(
        self, database: Database, desk: Desk | None, clock: Callable[[], datetime]
    ) -> None:
        self._database = database
        self._desk = desk
        self._clock = clock
        # An alert that a process before this one raised may be over now.
        self._is_down = self._is_wrong = True
        self._said_nothing = False

    def round(self, report: Report) -> None:
        self._log(report)
        if self._desk is None:
            return
        if self._is_down:
            self._is_down = False
            over = Outage(since=report.at, rounds=0, error="", over=True)
            announcements.outage(self._desk, over)
        if report.alarms or self._is_wrong:
            self._is_wrong = bool(report.alarms)
            announcements.books(self._desk, report.alarms, report.reference)

    def _log(self, report: Report) -> None:
        if report.version is None:
            if not self._said_nothing:
                self._said_nothing = True
                log.info("nothing is provisioned yet: say `poolkeeper apply CONFIG.yaml`")
            return
        done = sum(move.outcome is Outcome.DISPATCHED for move in report.moved)
        level = logging.INFO if report.moved or report.alarms else logging.DEBUG
        fields = {
            "version": report.version.number,
            "dispatched": done,
            "of": len(report.moved),
            "waiting": len(report.plan.waiting),
            "slipped": len(report.slipped.undone) + len(report.slipped.pointed),
        }
        log.log(level, "round", extra=fields)

    def outage(self, outage: Outage) -> None:
        since = outage.since.isoformat(timespec="seconds")
        action = "ClearML answers again" if outage.over else "ClearML does not answer"
        fields = {"since": since, "rounds": outage.rounds}
        if outage.over:
            log.warning("ClearML answers again", extra=fields)
        else:
            log.error("ClearML does not answer", extra=fields)
        detail = f"since {since}, {outage.rounds} rounds: {outage.error}"
        self._record(action, "clearml", detail, references.current())
        if self._desk is not None:
            self._is_down = not outage.over
            announcements.outage(self._desk, outage)

    def fault(self, error: Exception) -> None:
        reference = references.current() or new_reference()
        log.error("a round failed", exc_info=error, extra={"reference": reference})
        try:
            self._record("round failed", "round", f"{type(error).__name__}: {error}", reference)
        except Exception:  # the database may be what failed; the log has the reference
            log.exception("the failure could not be recorded", extra={"reference": reference})

    def _record(self, action: str, subject: str, detail: str, reference: str) -> None:
        record = AuditRecord(
            at=self._clock(),
            actor="poolkeeper",
            action=action,
            subject=subject,
            detail=detail,
            reference=reference,
        )
        with self._database.transaction() as session:
            audit.record(session, record)
