"""How far the clocks of those whom Poolkeeper works with are off, by what their answers say."""

from collections.abc import Callable
from datetime import datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Final

import requests

from bot.checkups import Ailment, Standing
from bot.checkups_servers import clock_ailments
from bot.compose import kubernetes_doors, now
from bot.doctor_patient import Patient
from bot.doctoring import Findings, Unknown
from bot.settings import Settings
from controller.kubernetes_ports import RULES, KubernetesError
from storage.database import StorageError
from storage.inspecting import condition

_CLOCK_ANSWER_S: Final = 5.0


def clocks(patient: Patient) -> Findings:
    """Each that can be asked; one that does not say is told apart."""
    settings = patient.settings
    asked: list[tuple[str, Callable[[], float | None]]] = []
    if settings.clearml_host:
        verify = settings.clearml_bundle
        asked.append(("ClearML's server", lambda: _by_http(settings.clearml_host, verify)))
    if settings.has_slack:
        asked.append(("Slack", lambda: _by_http(f"{settings.slack_api}api.test", True)))
    if settings.has_kubernetes:
        asked.append(("Kubernetes", lambda: _kubernetes_ahead(settings)))
    asked.append(("the database server", lambda: _database_ahead(patient)))
    ahead: dict[str, float] = {}
    unknown = []
    for whose, ask in asked:
        try:
            seconds = ask()
        except (requests.RequestException, KubernetesError, StorageError, Unknown) as error:
            unknown.append(_no_clock(whose, error))
        else:
            ahead |= {} if seconds is None else {whose: seconds}
    said = ", ".join(f"{whose} {round(seconds):+d} s" for whose, seconds in ahead.items())
    return Findings(
        fact=f"against this machine's: {said}" if said else "no other one to compare with",
        ailments=[*clock_ailments(ahead), *unknown],
    )


def _no_clock(whose: str, error: Exception) -> Ailment:
    kind = type(error).__name__ if isinstance(error, requests.RequestException) else error
    return Ailment(
        says=f"unknown: What time it is for {whose} was not said ({kind}).",
        remedy="See what is said of it elsewhere here.",
        standing=Standing.WARN,
    )


def _by_http(url: str, verify: bool | str) -> float | None:
    """By the Date of any answer, whatever it says; it has no parts of a second."""
    began = now()
    answer = requests.get(url, timeout=_CLOCK_ANSWER_S, verify=verify, allow_redirects=False)
    ended = now()
    date = answer.headers.get("Date")
    if date is None:
        raise Unknown("its answer has no Date")
    half = timedelta(seconds=0.5)
    return _ahead(parsedate_to_datetime(date) + half, began, ended)


def _kubernetes_ahead(settings: Settings) -> float | None:
    door = kubernetes_doors(settings)
    assert door is not None
    began, cluster = now(), door()
    cluster.missing(RULES[:1])
    said = cluster.server_time()
    if said is None:
        raise Unknown("its answer has no Date")
    return _ahead(said + timedelta(seconds=0.5), began, now())


def _database_ahead(patient: Patient) -> float | None:
    began = now()
    said = condition(patient.settings.database.get_secret_value()).server_time
    return None if said is None else _ahead(said, began, now())


def _ahead(said: datetime, began: datetime, ended: datetime) -> float:
    """By how many seconds it is ahead, at least; it was said between the two instants."""
    if began <= said <= ended:
        return 0.0
    return (said - (ended if said > ended else began)).total_seconds()
