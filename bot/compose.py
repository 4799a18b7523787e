"""The composition root: the one place that builds things and knows the clock."""

import secrets
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from bot.settings import Settings
from controller import calls
from controller.accounting import Patience
from controller.bookkeeping import Rules
from controller.cgpu import Reconciler, Surroundings
from controller.cgpu_pacing import Pacer
from controller.cgpu_probing import Prober
from controller.clearml_queues import ClearMLQueues
from controller.clearml_session import ClearMLSession, Credentials
from controller.kubernetes_cluster import KubernetesCluster
from controller.kubernetes_cluster_session import Access, KubernetesSession
from controller.kubernetes_ports import Kubernetes
from controller.moves import Mover
from controller.ports import Queues
from controller.publishing import Publisher
from controller.round import Collaborators, Rounds
from controller.shared_clock import SharedClock
from storage.clocks import server_time
from storage.database import Database


def now() -> datetime:
    """The time, in UTC."""
    return datetime.now(UTC)


def clock_on(database: Database, local: Callable[[], datetime] = now) -> SharedClock:
    """The time that all who work on the database agree on, as of now."""

    def server() -> datetime | None:
        with database.reading() as session:
            return server_time(session)

    clock = SharedClock(local, time.monotonic, server)
    clock.measure()
    return clock


def new_reference() -> str:
    """A short id under which what happened can be found in the log and the audit."""
    return secrets.token_hex(4)


@dataclass(frozen=True, kw_only=True)
class Manner:
    """How what is built here acts: by which clock, and what it asks before every write outside.

    `check` raises where this process may not write (any more): only who leads may. `heard` is told
    of every call to ClearML.
    """

    clock: Callable[[], datetime] = now
    check: Callable[[], None] = lambda: None
    heard: calls.Heard = calls.unheard


_PLAIN = Manner()


def doors(settings: Settings, manner: Manner = _PLAIN) -> Callable[[], Queues]:
    """Gives each thread a door of its own, for the SDK's sessions are not to be shared."""
    credentials = Credentials(
        host=settings.clearml_host,
        access_key=settings.clearml_access_key,
        secret_key=settings.clearml_secret_key,
        verify=settings.clearml_bundle,
    )
    own = threading.local()

    def door() -> Queues:
        if not hasattr(own, "door"):
            session = ClearMLSession(credentials, time.sleep, manner.heard, check=manner.check)
            own.door = ClearMLQueues(session)
        found: Queues = own.door
        return found

    return door


def kubernetes_doors(
    settings: Settings, manner: Manner = _PLAIN
) -> Callable[[], Kubernetes] | None:
    """Gives each thread a door of its own; None where no cluster is set."""
    if not settings.has_kubernetes:
        return None
    access = Access(kubeconfig=settings.kubeconfig if settings.kubernetes == "kubeconfig" else "")
    own = threading.local()

    def door() -> Kubernetes:
        if not hasattr(own, "door"):
            session = KubernetesSession(access, time.sleep, check=manner.check)
            own.door = KubernetesCluster(session, manner.clock)
        found: Kubernetes = own.door
        return found

    return door


def cgpu_pacer(settings: Settings, database: Database, manner: Manner = _PLAIN) -> Pacer | None:
    """What keeps the cGPU policy as provisioned; None where no cluster is set."""
    door = kubernetes_doors(settings, manner)
    if door is None:
        return None
    prober = Prober() if settings.cgpu_probe == "exec" else None
    with_ = Surroundings(door=door, database=database, clock=manner.clock, prober=prober)
    interval = timedelta(seconds=settings.cgpu_seconds)
    return Pacer(Reconciler(with_), database, manner.clock, interval)


@dataclass(frozen=True, kw_only=True)
class Controller:
    """What runs rounds; `mover` has threads that are to be ended with it."""

    rounds: Rounds
    mover: Mover
    publisher: Publisher


def controller(settings: Settings, database: Database, manner: Manner = _PLAIN) -> Controller:
    """The controller on this database, as the settings say."""
    door = doors(settings, manner)
    mover = Mover(door, database, settings.connections)
    rules = Rules(
        patience=Patience(
            nowhere=timedelta(seconds=settings.nowhere_seconds),
            stopped=timedelta(seconds=settings.stopped_seconds),
        ),
        hold_after=settings.hold_after,
    )
    publisher = Publisher(database)
    with_ = Collaborators(
        door=door,
        database=database,
        mover=mover,
        publisher=publisher,
        clock=manner.clock,
        reference=new_reference,
    )
    return Controller(rounds=Rounds(with_, rules), mover=mover, publisher=publisher)
