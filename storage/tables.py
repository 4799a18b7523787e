"""The tables. Rows are transport: the columns are named as the fields of the domain values."""

from datetime import date, datetime
from typing import Any

from sqlalchemy import LargeBinary, Text
from sqlmodel import Field, SQLModel

from domain.amounts import Amount
from domain.cgpu_memory import Outcome, Proof
from domain.ledger import Role, Stage, VersionState
from domain.requests import RequestKind, RequestState
from domain.snapshot import Tier
from domain.usage import Resolution
from storage.columns import AmountText, JsonText, UtcDateTime, Word
from storage.written import (
    ConfigurationText,
    DaysText,
    RenamesText,
    TimeText,
    VotesText,
    WordsText,
)


class LedgerRow(SQLModel, table=True):
    """`domain.ledger.LedgerEntry`."""

    __tablename__ = "ledger"

    task: str = Field(primary_key=True)
    policy: str
    profile: str
    pool: str
    link: str
    intake: str
    execution: str
    amount: Amount = Field(sa_type=AmountText)
    tier: Tier = Field(sa_type=Word(Tier))
    stage: Stage = Field(sa_type=Word(Stage))
    first_seen: datetime = Field(sa_type=UtcDateTime)
    intended_at: datetime = Field(sa_type=UtcDateTime)
    dispatched_at: datetime | None = Field(default=None, sa_type=UtcDateTime)
    doubtful_since: datetime | None = Field(default=None, sa_type=UtcDateTime)
    stopped_since: datetime | None = Field(default=None, sa_type=UtcDateTime)


class SightingRow(SQLModel, table=True):
    """`domain.ledger.Sighting`."""

    __tablename__ = "sightings"

    task: str = Field(primary_key=True)
    policy: str
    profile: str
    queue: str
    first_seen: datetime = Field(sa_type=UtcDateTime)
    parameter: Any = Field(default=None, sa_type=JsonText, nullable=True)
    stray_since: datetime | None = Field(default=None, sa_type=UtcDateTime)


class EndedRow(SQLModel, table=True):
    """`domain.ledger.Ended`; a task may end more than once."""

    __tablename__ = "ended"

    id: int | None = Field(default=None, primary_key=True)
    task: str
    policy: str
    profile: str
    pool: str
    amount: Amount = Field(sa_type=AmountText)
    tier: Tier = Field(sa_type=Word(Tier))
    first_seen: datetime = Field(sa_type=UtcDateTime)
    dispatched_at: datetime = Field(sa_type=UtcDateTime)
    ended_at: datetime = Field(sa_type=UtcDateTime, index=True)
    outcome: str


class QueueRow(SQLModel, table=True):
    """`domain.ledger.OwnedQueue`."""

    __tablename__ = "queues"

    id: str = Field(primary_key=True)
    role: Role = Field(sa_type=Word(Role))
    profile: str
    owner: str
    name: str
    pool: str = ""
    retired: bool = False


class VersionRow(SQLModel, table=True):
    """`domain.ledger.Version`, its configuration as a document."""

    __tablename__ = "versions"

    number: int = Field(primary_key=True)
    configuration: str = Field(sa_type=Text)
    renames: Any = Field(sa_type=JsonText, nullable=False)
    hash: str
    state: VersionState = Field(sa_type=Word(VersionState))
    by: str
    at: datetime = Field(sa_type=UtcDateTime)
    note: str = ""


class DraftRow(SQLModel, table=True):
    """`domain.ledger.Draft`, one row; `configuration` is NULL while there is none.

    The row outlives the draft so that a revision is never given out twice.
    """

    __tablename__ = "draft"

    id: int = Field(default=1, primary_key=True)
    configuration: str | None = Field(default=None, sa_type=Text)
    renames: Any = Field(sa_type=JsonText, nullable=False)
    hash: str
    base: int
    revision: int
    by: str
    at: datetime = Field(sa_type=UtcDateTime)


class SwitchRow(SQLModel, table=True):
    """The management switch: one row, or none while nobody has turned it."""

    __tablename__ = "switch"

    id: int = Field(default=1, primary_key=True)
    enabled: bool
    by: str
    at: datetime = Field(sa_type=UtcDateTime)


class AuditRow(SQLModel, table=True):
    """`domain.ledger.AuditRecord`; `searchable` is all of its words, case folded."""

    __tablename__ = "audit"

    id: int | None = Field(default=None, primary_key=True)
    at: datetime = Field(sa_type=UtcDateTime, index=True)
    actor: str
    action: str
    subject: str
    detail: str = Field(default="", sa_type=Text)
    reference: str = ""
    searchable: str = Field(sa_type=Text)


class SampleRow(SQLModel, table=True):
    """`domain.ledger.Sample`."""

    __tablename__ = "samples"

    id: int | None = Field(default=None, primary_key=True)
    at: datetime = Field(sa_type=UtcDateTime, index=True)
    policy: str
    pool: str
    used: Amount = Field(sa_type=AmountText)
    running: int
    waiting: int
    seconds: int = Field(default=60, sa_column_kwargs={"server_default": "60"})


class SeriesRow(SQLModel, table=True):
    """The number by which pages of usage call a policy with a pool."""

    __tablename__ = "series"

    id: int | None = Field(default=None, primary_key=True)
    policy: str
    pool: str


class UsageRow(SQLModel, table=True):
    """A page of `storage.usage`: of the hour or the day that begins then, compressed."""

    __tablename__ = "usage"

    resolution: Resolution = Field(sa_type=Word(Resolution), primary_key=True)
    at: datetime = Field(sa_type=UtcDateTime, primary_key=True)
    document: bytes = Field(sa_type=LargeBinary)


class OutboxRow(SQLModel, table=True):
    """`storage.outbox.Message`."""

    __tablename__ = "outbox"

    id: int | None = Field(default=None, primary_key=True)
    key: str = Field(unique=True)
    channel: str
    payload: Any = Field(sa_type=JsonText, nullable=False)
    not_before: datetime = Field(sa_type=UtcDateTime)
    attempts: int = 0
    edition: int = 1
    sent_at: datetime | None = Field(default=None, sa_type=UtcDateTime, index=True)
    result: Any = Field(default=None, sa_type=JsonText, nullable=True)


class ViewRow(SQLModel, table=True):
    """A published document, compressed."""

    __tablename__ = "views"

    key: str = Field(primary_key=True)
    at: datetime = Field(sa_type=UtcDateTime)
    document: bytes = Field(sa_type=LargeBinary)


class RequestRow(SQLModel, table=True):
    """`domain.requests.Request`; `slot` says which requests exclude it, NULL when it is decided."""

    __tablename__ = "requests"

    id: int | None = Field(default=None, primary_key=True)
    kind: RequestKind = Field(sa_type=Word(RequestKind))
    hash: str
    base: int
    configuration: Any = Field(default=None, sa_type=ConfigurationText, nullable=True)
    renames: Any = Field(sa_type=RenamesText, nullable=False)
    subject: str
    reason: str = Field(sa_type=Text)
    by: str
    at: datetime = Field(sa_type=UtcDateTime)
    expires_at: datetime = Field(sa_type=UtcDateTime)
    state: RequestState = Field(sa_type=Word(RequestState), index=True)
    votes: Any = Field(sa_type=VotesText, nullable=False)
    decided_at: datetime | None = Field(default=None, sa_type=UtcDateTime)
    note: str = Field(sa_type=Text)
    version: int | None = None
    reminded: int
    revision: int
    slot: str | None = Field(default=None, unique=True)


class WorkingCopyRow(SQLModel, table=True):
    """`storage.working_copies.WorkingCopy`; `configuration` is NULL while its user has none.

    The row outlives the copy so that a revision is never given out twice.
    """

    __tablename__ = "working_copies"

    user: str = Field(primary_key=True)
    configuration: Any = Field(default=None, sa_type=ConfigurationText, nullable=True)
    renames: Any = Field(sa_type=RenamesText, nullable=False)
    base: int
    draft: int | None = None
    changed_at: datetime = Field(sa_type=UtcDateTime)
    revision: int
    origin: Any = Field(default=None, sa_type=ConfigurationText, nullable=True)
    origin_renames: Any = Field(sa_type=RenamesText, nullable=False)


class ScheduleRow(SQLModel, table=True):
    """`domain.schedules.Schedule`; `last_date` is the local date of the last digest."""

    __tablename__ = "schedules"

    channel: str = Field(primary_key=True)
    policies: Any = Field(sa_type=WordsText, nullable=False)
    at: Any = Field(sa_type=TimeText, nullable=False)
    days: Any = Field(sa_type=DaysText, nullable=False)
    zone: str
    on: bool
    by: str
    changed_at: datetime = Field(sa_type=UtcDateTime)
    last_date: date | None = None


class PreferencesRow(SQLModel, table=True):
    """`domain.people.Preferences`."""

    __tablename__ = "preferences"

    user: str = Field(primary_key=True)
    notify: bool


class ViewerRow(SQLModel, table=True):
    """`domain.people.Viewer`."""

    __tablename__ = "viewers"

    user: str = Field(primary_key=True)
    opened_at: datetime = Field(sa_type=UtcDateTime, index=True)


class CardRow(SQLModel, table=True):
    """`storage.cards.Card`."""

    __tablename__ = "cards"

    key: str = Field(primary_key=True)
    channel: str
    ts: str
    hash: str
    updated_at: datetime = Field(sa_type=UtcDateTime)


class DeliveryRow(SQLModel, table=True):
    """What Slack delivered, and when it did so first."""

    __tablename__ = "deliveries"

    key: str = Field(primary_key=True)
    at: datetime = Field(sa_type=UtcDateTime, index=True)


class AlertRow(SQLModel, table=True):
    """`storage.alerts.Alert`."""

    __tablename__ = "alerts"

    cause: str = Field(primary_key=True)
    kind: str
    text: str = Field(sa_type=Text)
    since: datetime = Field(sa_type=UtcDateTime)
    told_at: datetime | None = Field(default=None, sa_type=UtcDateTime)
    over_at: datetime | None = Field(default=None, sa_type=UtcDateTime)


class TaskRow(SQLModel, table=True):
    """`domain.tasks.TaskFacts`; `searchable` is the name, case folded."""

    __tablename__ = "tasks"

    task: str = Field(primary_key=True)
    name: str
    user: str
    searchable: str
    seen_at: datetime = Field(sa_type=UtcDateTime, index=True)


class CGPUChangeRow(SQLModel, table=True):
    """`domain.cgpu_memory.Change`."""

    __tablename__ = "cgpu_changes"

    id: int | None = Field(default=None, primary_key=True)
    policy: int
    version: int
    by: str
    started_at: datetime = Field(sa_type=UtcDateTime)
    stopped: str = Field(default="", sa_type=Text)
    ended_at: datetime | None = Field(default=None, sa_type=UtcDateTime)
    outcome: Outcome | None = Field(default=None, sa_type=Word(Outcome))


class CGPUPatchRow(SQLModel, table=True):
    """`domain.cgpu_memory.Patch`, those of the last change; `installer` is a uid."""

    __tablename__ = "cgpu_patches"

    installer: str = Field(primary_key=True)
    change: int
    before: int | None = None
    at: datetime = Field(sa_type=UtcDateTime)
    seen: datetime | None = Field(default=None, sa_type=UtcDateTime)


class CGPUInstallerRow(SQLModel, table=True):
    """`domain.cgpu_memory.InstallerMemory`."""

    __tablename__ = "cgpu_installers"

    uid: str = Field(primary_key=True)
    generation: int
    policy: int | None = None
    since: datetime = Field(sa_type=UtcDateTime)
    images: str = Field(sa_type=Text)
    selector: str = Field(sa_type=Text)


class CGPUNodeRow(SQLModel, table=True):
    """`domain.cgpu_memory.NodeMemory`."""

    __tablename__ = "cgpu_nodes"

    node: str = Field(primary_key=True)
    uid: str
    boot: str
    setting: int | None = None
    generation: int
    loaded: int | None = None
    proof: Proof | None = Field(default=None, sa_type=Word(Proof))


class CGPURestartRow(SQLModel, table=True):
    """`domain.cgpu_memory.Restart`."""

    __tablename__ = "cgpu_restarts"

    node: str = Field(primary_key=True)
    by: str
    at: datetime = Field(sa_type=UtcDateTime)
    uid: str
    boot: str
    began_at: datetime | None = Field(default=None, sa_type=UtcDateTime)
    memory: int | None = None
    cards: int | None = None
    drained_at: datetime | None = Field(default=None, sa_type=UtcDateTime)
    back_at: datetime | None = Field(default=None, sa_type=UtcDateTime)
    failed: str = Field(sa_type=Text)
    withdrawn: bool


class CGPUControlRow(SQLModel, table=True):
    """`domain.cgpu_memory.Control`: one row, or none while no admin has said anything."""

    __tablename__ = "cgpu_control"

    id: int = Field(default=1, primary_key=True)
    paused: bool
    by: str
    at: datetime | None = Field(default=None, sa_type=UtcDateTime)
    revision: int
