"""`poolkeeper run`: a replica. It answers Slack, and runs rounds while it leads, until its end."""

import gc
import logging
import signal
import threading
from collections.abc import Callable
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING

from bot.compose import clock_on, doors, new_reference, now
from bot.listening import Listener
from bot.logs import log_to_stderr
from bot.outlook import Outlook
from bot.settings import Settings
from bot.starting import api_hint
from bot.terms import Helm, Replica, Term
from controller.leading import Leading, Standing
from controller.ports import ClearMLError, Unavailable
from controller.publishing import Viewer
from controller.shared_clock import EVERY_S, SharedClock
from storage.database import Database, Leadership, open_database

if TYPE_CHECKING:
    from bot.connecting import Bot

log = logging.getLogger(__name__)


class NotStarted(Exception):
    """Why this process does not run; a sentence for the operator."""


def run(settings: Settings, local: Callable[[], datetime] = now) -> None:
    """Runs until SIGTERM or SIGINT; raises `NotStarted` where it may not. `local` is UTC."""
    log_to_stderr(settings)
    database = open_database(settings.database.get_secret_value())
    try:
        _run(settings, database, clock_on(database, local))
    finally:
        database.close()


def _run(settings: Settings, database: Database, clock: SharedClock) -> None:
    first = database.lead()
    if first is None and not database.is_shared:
        leader = database.leader()
        raise NotStarted(
            f"Another poolkeeper{f' ({leader})' if leader else ''} runs on "
            f"{database.name}; stop it first, or give this one a database of its own."
        )
    try:
        _check_clearml(settings)
        say_what_runs(settings)
        _serve(settings, database, clock, first)
    finally:
        if first is not None:
            first.release()


def _check_clearml(settings: Settings) -> None:
    """Wrong keys or a server too old end the start; one that is away is waited for."""
    try:
        version = doors(settings)().server_version()
    except Unavailable as error:
        hint = api_hint(settings.clearml_host)
        log.warning(
            "ClearML is away at the start, it is tried again",
            extra={"error": error, **({"hint": hint} if hint else {})},
        )
    except ClearMLError as error:
        raise NotStarted(f"{error} {api_hint(settings.clearml_host)}".rstrip()) from error
    else:
        log.info("ClearML answers", extra={"server_version": version})


def say_what_runs(settings: Settings) -> None:
    """What this process does and what it does not, said once at its start."""
    if settings.has_slack:
        return
    if (
        settings.slack_app_token.get_secret_value()
        or settings.slack_signing_secret.get_secret_value()
    ):
        log.warning("SLACK_BOT_TOKEN is not set, so the other Slack settings do nothing")
    log.info("no Slack tokens are set: the controller runs without the bot")


def _serve(
    settings: Settings, database: Database, clock: SharedClock, first: Leadership | None
) -> None:
    ended = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: ended.set())
    helm, outlook = Helm(database, clock), Outlook(settings, database, clock)
    bot = _bot(settings, helm) if settings.has_slack else None
    replica = Replica(
        settings=settings, database=database, clock=clock, helm=helm, outlook=outlook, bot=bot
    )
    leading = Leading(database.lead, partial(Term, replica), clock, outlook.vitals.beat)
    listener = _listener(replica, leading.standing)
    _relieve_collector()
    _keep_right(clock, ended)
    if bot is not None:
        bot.start()
    if listener is not None:
        listener.start()
    leading.run(ended, first)
    # Another replica leads by now, and Slack was answered here until here.
    if bot is not None:
        bot.stop()
    if listener is not None:
        listener.stop()


def _keep_right(clock: SharedClock, ended: threading.Event) -> None:
    """The time is compared with the database's now and then, whether this process leads or not."""

    def compare() -> None:
        while not ended.wait(EVERY_S):
            clock.measure()

    threading.Thread(target=compare, name="clock", daemon=True).start()


def _relieve_collector() -> None:
    """What is loaded by now stays; going through it again and again took half of a large round."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)


def _listener(replica: Replica, standing: Callable[[], Standing]) -> Listener | None:
    settings, bot = replica.settings, replica.bot
    viewer = Viewer(replica.database, replica.helm)
    try:
        return replica.outlook.listener(viewer, bot.link.is_connected if bot else None, standing)
    except OSError as error:
        raise NotStarted(
            f"The address {settings.metrics_host}:{settings.metrics_port} cannot listen for probes "
            f"and Prometheus: {error.strerror or error}; see POOLKEEPER_METRICS_HOST and "
            "POOLKEEPER_METRICS_PORT."
        ) from error


def _bot(settings: Settings, helm: Helm) -> "Bot":
    from bot.connecting import Surroundings, build_bot

    around = Surroundings(
        database=helm.database,
        viewer=Viewer(helm.database, helm),
        nudge=helm.nudge,
        deliver=helm.deliver,
        clock=helm.clock,
        reference=new_reference,
    )
    try:
        return build_bot(settings, around)
    except OSError as error:
        raise NotStarted(
            f"The address {settings.slack_host}:{settings.slack_port} cannot listen for Slack: "
            f"{error.strerror or error}."
        ) from error
