"""The commands that need the database: what the command line does after parsing."""

import getpass
import logging
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bot.logs import log_to_stderr
from bot.refusing import Refusal
from bot.settings import Settings, SettingsError, load_settings, read_settings
from storage.database import Database, StorageError, open_database

_DRAIN_S = 120.0


def settings() -> Settings:
    """This process's settings; `Refusal` with every problem in them.

    What goes wrong besides is logged by them; what a command says is its answer.
    """
    try:
        chosen = load_settings(os.environ)
    except SettingsError as error:
        raise Refusal(error.problems) from error
    log_to_stderr(chosen, logging.WARNING)
    return chosen


@contextmanager
def opened(chosen: Settings) -> Iterator[Database]:
    """The database, closed again; what it cannot do is a `Refusal`."""
    try:
        database = open_database(chosen.database.get_secret_value())
        try:
            yield database
        finally:
            database.close()
    except StorageError as error:
        raise Refusal([str(error)]) from error


def actor() -> str:
    """Who speaks on the command line, for the audit."""
    try:
        return f"{getpass.getuser()} (command line)"
    except (KeyError, OSError):  # a container's user may have no name
        return f"uid {os.getuid()} (command line)"


def apply(path: str, renames: list[str], *, yes: bool) -> None:
    """`poolkeeper apply`: validated, shown, confirmed, recorded, applied."""
    from bot.applying import carry_out, compare, read_renames, shown
    from bot.compose import doors
    from bot.files import CONFIGURATION, read_document
    from bot.finding_lines import as_lines
    from controller.ports import ClearMLError
    from controller.validating import findings
    from domain.validation import is_valid
    from storage.documents import read_configuration

    configuration = read_document(path, CONFIGURATION, read_configuration)
    chosen = settings()
    with opened(chosen) as database:
        with database.reading() as session:
            found = findings(session, configuration, connected=chosen.has_kubernetes)
        if found:
            print(as_lines(found), file=sys.stderr)
        if not is_valid(found):
            raise Refusal([f"{path} is not valid, and nothing was changed."], code=1)
        change = compare(database, configuration, read_renames(renames))
        if change is None:
            print("This configuration is in force already; nothing was changed.")
            return
        try:
            listed = {queue.id: queue for queue in doors(chosen)().queues(marks=True)}
        except ClearMLError as error:
            raise Refusal([f"{error} Nothing was changed."]) from error
        print(shown(change, listed))
        if not yes:
            _confirm("Apply this?")
        version = carry_out(chosen, database, change, actor(), print)
        print(f"Version {version.number} is in force.")


def export() -> None:
    """`poolkeeper export`: the configuration in force, as the document that `apply` reads."""
    import yaml

    from storage import configurations
    from storage.documents import write_configuration

    with opened(settings()) as database, database.reading() as session:
        version = configurations.provisioned(session)
    if version is None:
        raise Refusal(["Nothing is provisioned yet; say `poolkeeper apply CONFIG.yaml`."], code=1)
    document = write_configuration(version.configuration)
    print(yaml.safe_dump(document, sort_keys=False, allow_unicode=True), end="")


def status() -> None:
    """`poolkeeper status`."""
    from bot.compose import clock_on
    from bot.inspecting import status as text
    from controller.cgpu_view import last_view as last_cluster_view
    from controller.publishing import last_view
    from storage import switch

    chosen = settings()
    with opened(chosen) as database, database.reading() as session:
        view, enabled = last_view(session), switch.is_enabled(session)
        now = clock_on(database)()
        cluster = last_cluster_view(session) if chosen.has_kubernetes else None
    if view is None:
        raise Refusal(["No round has run yet; start `poolkeeper run`."], code=1)
    print(text(view, enabled, now))
    for note in cluster.size_notes if cluster else ():
        print(note)


def why(task: str) -> None:
    """`poolkeeper why TASK`."""
    from bot.compose import clock_on
    from bot.inspecting import why as text
    from controller.publishing import last_view

    with opened(settings()) as database, database.reading() as session:
        view, now = last_view(session), clock_on(database)()
    if view is None:
        raise Refusal(["No round has run yet; start `poolkeeper run`."], code=1)
    print(text(view, task, now))


def set_enabled(*, enabled: bool, yes: bool) -> None:
    """`poolkeeper enable` and `disable`: once a disable is acknowledged, no task is moved."""
    from bot.compose import clock_on, new_reference
    from domain.ledger import AuditRecord
    from storage import audit, signals, switch

    if not enabled and not yes:
        _confirm(
            "Stop dispatching for every team? Waiting tasks stay pending, running ones run on."
        )
    with opened(settings()) as database:
        at, by = clock_on(database)(), actor()
        word = "enable" if enabled else "disable"
        with database.transaction() as session:
            switch.set_enabled(session, enabled, by, at)
            signals.give(session, signals.ROUND, new_reference(), at)
            audit.record(session, AuditRecord(at=at, actor=by, action=word, subject="management"))
        if not enabled and not database.drain_moves(_DRAIN_S):
            raise Refusal(
                [
                    "Management is disabled, but a move that had begun is not over yet: ClearML "
                    "is slow to answer. No further one begins."
                ],
                code=1,
            )
    print(f"Management is {'enabled' if enabled else 'disabled'}.")


def migrate(to: str) -> None:
    """`poolkeeper migrate`: what every command does to an older database, by itself.

    With `to`, the URL of a PostgreSQL database, everything is copied there.
    """
    chosen = settings()
    if to:
        from bot.moving_house import copy_database

        copy_database(chosen.database.get_secret_value(), to)
        return
    with opened(chosen) as database:
        print(f"{database.name} is up to date.")


def backup(file: str) -> None:
    """`poolkeeper backup`; a `Refusal` where there is no copy that is as it should be."""
    from bot.blocks import counted
    from storage.backing_up import back_up

    chosen = settings()
    try:
        made = back_up(chosen.database.get_secret_value(), Path(file))
    except StorageError as error:
        raise Refusal([str(error)], code=1) from error
    rows = made.rows
    print(
        f"Backed up to {made.path}: {made.size / 1e6:.1f} MB, revision {made.revision}, "
        f"{counted(sum(rows.values()), 'row')} in {len(rows)} tables, among them "
        f"{counted(rows['versions'], 'version')} and {counted(rows['ledger'], 'allocation')}; "
        "verified."
    )


def run() -> None:
    """`poolkeeper run`; a `Refusal` with everything that keeps it from starting."""
    from bot.running import NotStarted
    from bot.running import run as serve
    from bot.starting import start_problems
    from controller.ports import ClearMLError

    chosen, unreadable = read_settings(os.environ)
    problems = start_problems(chosen)
    if unreadable or problems:
        raise Refusal([*unreadable, *problems], code=2 if unreadable else 1)
    try:
        serve(chosen)
    except (NotStarted, ClearMLError, StorageError) as error:
        raise Refusal([str(error)], code=1) from error


def _confirm(question: str) -> None:
    if not sys.stdin.isatty():
        raise Refusal(["Nobody is there to confirm; say --yes. Nothing was changed."])
    if input(f"{question} [y/N] ").strip().lower() not in ("y", "yes"):
        raise Refusal(["Nothing was changed."], code=1)
