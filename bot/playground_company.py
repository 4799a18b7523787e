"""What the playground's database holds at the start: the configuration, a past day, digests."""

from datetime import UTC, datetime, timedelta
from importlib import resources

from bot.files import CONFIGURATION, read_document
from bot.playground_past import Past
from domain.configuration import Configuration
from domain.ledger import AuditRecord
from domain.renames import Renames
from domain.schedules import Schedule
from storage import audit, configurations, ledger, samples, schedules
from storage.database import Database, Session
from storage.documents import read_configuration

_FIRST_DIGEST_AFTER = timedelta(minutes=2)
_BY = "U_ADA"


def provision(database: Database) -> None:
    """Approves the configuration as `poolkeeper apply --yes` does; who runs rounds applies it."""
    at = datetime.now(UTC)
    configuration = read()
    past = Past(configuration, at)
    with database.transaction() as session:
        approval = configurations.Approval(by="demo", at=at)
        configurations.add_version(session, configuration, Renames(), approval)
        record = AuditRecord(at=at, actor="demo", action="apply", subject="version 1")
        audit.record(session, record)
        ledger.end(session, past.ended)
        samples.add(session, past.samples)
        _schedule_digests(session, configuration, at)


def read() -> Configuration:
    """The company's configuration."""
    with resources.as_file(resources.files("bot").joinpath("playground.yaml")) as path:
        return read_document(str(path), CONFIGURATION, read_configuration)


def _schedule_digests(session: Session, configuration: Configuration, at: datetime) -> None:
    """Each team's, every day; the first one comes while somebody looks around."""
    first = (at + _FIRST_DIGEST_AFTER).replace(second=0, microsecond=0)
    for policy in configuration.policies:
        if policy.team and policy.team.channel:
            schedule = Schedule(
                channel=policy.team.channel,
                policies=(policy.name,),
                at=first.time(),
                days=frozenset(range(7)),
                zone="UTC",
                by=_BY,
                changed_at=at,
            )
            schedules.put(session, schedule)
