"""`poolkeeper run`: the controller's loop in this process, until it is told to end."""

import logging
import signal
import threading
from collections.abc import Callable
from datetime import timedelta

from bot.compose import controller, doors, log_to_stderr, new_reference, now
from bot.settings import Settings
from controller.loop import Heard, Loop, Outage
from controller.moves import Outcome
from controller.ports import Unavailable
from controller.round import Report
from domain.ledger import AuditRecord
from storage import audit
from storage.database import Database, open_database

log = logging.getLogger(__name__)


class NotStarted(Exception):
    """Why this process does not run; a sentence for the operator."""


def run(settings: Settings) -> None:
    """Runs rounds until SIGTERM or SIGINT; raises `NotStarted` where it may not."""
    log_to_stderr(settings.log_level)
    database = open_database(settings.database)
    try:
        _run(settings, database)
    finally:
        database.close()


def _run(settings: Settings, database: Database) -> None:
    leadership = database.lead()
    if leadership is None:
        pid = database.leader_pid()
        raise NotStarted(
            f"Another poolkeeper{f' (process {pid})' if pid else ''} runs on "
            f"{settings.database}; stop it first, or give this one a database of its own."
        )
    try:
        _check_clearml(settings)
        say_what_runs(settings)
        _serve(settings, database)
    finally:
        leadership.release()


def _check_clearml(settings: Settings) -> None:
    """Wrong keys or a server too old end the start; one that is away is waited for."""
    try:
        version = doors(settings)().server_version()
    except Unavailable as error:
        log.warning("ClearML is away at the start, it is tried again: error=%s", error)
    else:
        log.info("ClearML answers: server_version=%s", version)


def say_what_runs(settings: Settings) -> None:
    """What this process does and what it does not, said once at its start."""
    if settings.has_slack:
        raise NotStarted(
            "SLACK_BOT_TOKEN or SLACK_APP_TOKEN is set, but this version of Poolkeeper has no "
            "Slack bot yet; unset them to run the controller."
        )
    log.info("no Slack tokens are set: the controller runs without the bot")


def _serve(settings: Settings, database: Database) -> None:
    ended = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: ended.set())
    running = controller(settings, database)
    heard = Heard(round=_log_round, outage=_outage(database), fault=_fault(database))
    loop = Loop(running.rounds.run, timedelta(seconds=settings.round_seconds), now, heard)
    loop.start()
    ended.wait()
    log.info("ending after the round that runs")
    loop.stop()
    running.mover.close()


def _log_round(report: Report) -> None:
    if report.version is None:
        log.info("nothing is provisioned yet: say `poolkeeper apply CONFIG.yaml`")
        return
    done = sum(move.outcome is Outcome.DISPATCHED for move in report.moved)
    level = logging.INFO if report.moved or report.alarms else logging.DEBUG
    log.log(
        level,
        "round: version=%d dispatched=%d of=%d waiting=%d slipped=%d",
        report.version.number,
        done,
        len(report.moved),
        len(report.plan.waiting),
        len(report.slipped.undone) + len(report.slipped.pointed),
    )


def _outage(database: Database) -> Callable[[Outage], None]:
    def say(outage: Outage) -> None:
        since = outage.since.isoformat(timespec="seconds")
        action = "ClearML answers again" if outage.over else "ClearML does not answer"
        log.error("%s: since=%s rounds=%d", action, since, outage.rounds)
        detail = f"since {since}, {outage.rounds} rounds: {outage.error}"
        _record(database, action, detail, "")

    return say


def _fault(database: Database) -> Callable[[Exception], None]:
    def say(error: Exception) -> None:
        reference = new_reference()
        log.error("a round failed: reference=%s", reference, exc_info=error)
        try:
            _record(database, "round failed", f"{type(error).__name__}: {error}", reference)
        except Exception:  # the database may be what failed; the log has the reference
            log.exception("the failure could not be recorded: reference=%s", reference)

    return say


def _record(database: Database, action: str, detail: str, reference: str) -> None:
    record = AuditRecord(
        at=now(),
        actor="poolkeeper",
        action=action,
        subject="clearml" if not reference else "round",
        detail=detail,
        reference=reference,
    )
    with database.transaction() as session:
        audit.record(session, record)
