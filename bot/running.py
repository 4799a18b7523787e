"""`poolkeeper run`: the controller's loop and the bot in this process, until it is told to end."""

import gc
import logging
import signal
import threading
from collections.abc import Callable
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING

from bot.compose import (
    Controller,
    cgpu_pacer,
    controller,
    doors,
    log_to_stderr,
    new_reference,
    now,
)
from bot.hearing import Ears
from bot.listening import Listener
from bot.outlook import Outlook
from bot.settings import Settings
from bot.starting import api_hint
from bot.vitals import BEAT_S
from controller import survey, watching
from controller.cgpu_pacing import TICK_S
from controller.loop import Heard, Loop
from controller.ports import ClearMLError, Unavailable
from controller.publishing import Viewer
from storage.database import Database, open_database

if TYPE_CHECKING:
    from bot.connecting import Bot

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
        hint = api_hint(settings.clearml_host)
        log.warning("ClearML is away at the start, it is tried again: error=%s %s", error, hint)
    except ClearMLError as error:
        raise NotStarted(f"{error} {api_hint(settings.clearml_host)}".rstrip()) from error
    else:
        log.info("ClearML answers: server_version=%s", version)


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


def _serve(settings: Settings, database: Database) -> None:
    ended = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: ended.set())
    outlook = Outlook(settings, database)
    running = controller(settings, database, outlook.called)

    def nudge() -> None:  # the loop that is made below, for it tells the bot what it hears
        loop.nudge()

    bot = _bot(settings, database, running, nudge) if settings.has_slack else None
    listener = _listener(settings, outlook, Viewer(database, running.publisher), bot)
    ears = Ears(database, bot.desk if bot else None)
    interval = timedelta(seconds=settings.round_seconds)
    heard = Heard(round=ears.round, outage=ears.outage, fault=ears.fault)
    loop = Loop(outlook.watched(running.rounds.run), interval, now, heard)
    loop.every(BEAT_S, outlook.vitals.beat)
    if bot is not None:
        from bot.schedules import RECURRING

        for recurring in RECURRING:
            loop.every(recurring.seconds, partial(recurring.run, bot.desk))
        loop.every(survey.EVERY_S, survey.Surveyor(doors(settings), database, now).run)
        bot.start()
    loop.every(watching.EVERY_S, watching.Watcher(doors(settings), database).run)
    if (pacer := cgpu_pacer(settings, database)) is not None:
        loop.every(TICK_S, pacer.tick)
    _relieve_collector()
    loop.start()
    if listener is not None:
        listener.start()
    ended.wait()
    log.info("ending after the round that runs")
    if bot is not None:
        bot.stop_listening()
    loop.stop()
    running.mover.close()
    if bot is not None:
        bot.stop()
    if listener is not None:
        listener.stop()


def _relieve_collector() -> None:
    """What is loaded by now stays; going through it again and again took half of a large round."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)


def _listener(
    settings: Settings, outlook: Outlook, viewer: Viewer, bot: "Bot | None"
) -> Listener | None:
    try:
        return outlook.listener(viewer, bot.link.is_connected if bot else None)
    except OSError as error:
        raise NotStarted(
            f"The address {settings.metrics_host}:{settings.metrics_port} cannot listen for probes "
            f"and Prometheus: {error.strerror or error}; see POOLKEEPER_METRICS_HOST and "
            "POOLKEEPER_METRICS_PORT."
        ) from error


def _bot(
    settings: Settings, database: Database, running: Controller, nudge: Callable[[], None]
) -> "Bot":
    from bot.connecting import Surroundings, build_bot

    around = Surroundings(
        database=database,
        viewer=Viewer(database, running.publisher),
        nudge=nudge,
        clock=now,
        reference=new_reference,
    )
    try:
        return build_bot(settings, around)
    except OSError as error:
        raise NotStarted(
            f"The address {settings.slack_host}:{settings.slack_port} cannot listen for Slack: "
            f"{error.strerror or error}."
        ) from error
