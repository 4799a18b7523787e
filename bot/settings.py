"""What the operator sets, read once from the environment, typed and documented here.

The README's table is compared with these fields by a test. Unknown POOLKEEPER_ variables are
refused: a misspelt one would otherwise silently mean its default.
"""

import difflib
from collections.abc import Iterator, Mapping
from datetime import timedelta
from typing import Any

from pydantic import Field, SecretStr, ValidationError, field_validator
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict

from bot.secret_files import SUFFIX, read_secrets
from domain.usage import Kept

_PREFIX = "POOLKEEPER_"
_TESTS = "POOLKEEPER_CONTRACT_"
"""Names that the contract suites read; the program has no use for them."""

_YEAR_S = 31_536_000
_LONGEST_DAYS = 36_600


class SettingsError(Exception):
    """What is wrong with the environment, a sentence for each problem."""

    def __init__(self, problems: list[str]) -> None:
        super().__init__("\n".join(problems))
        self.problems = problems


class Settings(BaseSettings):
    """Every setting; the field's alias is the variable's name."""

    model_config = SettingsConfigDict(frozen=True, extra="ignore")

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],  # noqa: ARG003  the base's signature
        init_settings: PydanticBaseSettingsSource,
        *_: PydanticBaseSettingsSource,
        **__: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """What `load_settings` gives, and not the process's variables in any case of letters."""
        return (init_settings,)

    database: SecretStr = Field(
        SecretStr("sqlite:///poolkeeper.sqlite3"),
        alias="POOLKEEPER_DATABASE",
        description="Where the state is kept: `sqlite:///` and a path, or a PostgreSQL URL.",
    )
    round_seconds: float = Field(
        5.0,
        ge=0.1,
        le=3600,
        alias="POOLKEEPER_ROUND_SECONDS",
        description="How often a round runs.",
    )
    hold_after_seconds: float | None = Field(
        1800.0,
        ge=0,
        le=_YEAR_S,
        alias="POOLKEEPER_HOLD_AFTER_SECONDS",
        description="How long a task waits before it may hold a pool; `off` for never.",
    )
    nowhere_seconds: float = Field(
        60.0,
        ge=1,
        le=_YEAR_S,
        alias="POOLKEEPER_NOWHERE_SECONDS",
        description="How long a task must be queued in no queue before it is put back.",
    )
    stopped_seconds: float = Field(
        60.0,
        ge=1,
        le=_YEAR_S,
        alias="POOLKEEPER_STOPPED_SECONDS",
        description="How long a task must be stopped before its resources count as free.",
    )
    connections: int = Field(
        4,
        ge=1,
        le=64,
        alias="POOLKEEPER_CONNECTIONS",
        description="How many tasks are moved at a time, each over a connection of its own.",
    )
    log_level: str = Field(
        "INFO",
        pattern="^(DEBUG|INFO|WARNING|ERROR)$",
        alias="POOLKEEPER_LOG_LEVEL",
        description="DEBUG, INFO, WARNING or ERROR.",
    )
    log_format: str = Field(
        "text",
        pattern="^(text|json)$",
        alias="POOLKEEPER_LOG_FORMAT",
        description="How the log is written to stderr: `text`, or `json`, an object a line.",
    )
    metrics_host: str = Field(
        "127.0.0.1",
        alias="POOLKEEPER_METRICS_HOST",
        description="The address that listens for probes and Prometheus; `0.0.0.0` in a container.",
    )
    metrics_port: int | None = Field(
        9464,
        ge=0,
        le=65535,
        alias="POOLKEEPER_METRICS_PORT",
        description="The port of `/healthz`, `/readyz` and `/metrics`; `off` for none.",
    )
    clearml_host: str = Field(
        "",
        alias="CLEARML_API_HOST",
        description="The API server's address, such as `https://api.clearml.example.org`.",
    )
    clearml_access_key: str = Field(
        "", alias="CLEARML_API_ACCESS_KEY", description="The access key of Poolkeeper's user there."
    )
    clearml_secret_key: SecretStr = Field(
        SecretStr(""), alias="CLEARML_API_SECRET_KEY", description="The secret key of that user."
    )
    clearml_verify: str = Field(
        "true",
        alias="CLEARML_API_HOST_VERIFY_CERT",
        description="`false`, or a CA bundle's path, for a server with its own certificates.",
    )
    kubernetes: str = Field(
        "off",
        pattern="^(off|in-cluster|kubeconfig)$",
        alias="POOLKEEPER_KUBERNETES",
        description="How the cluster with cGPU is reached: `in-cluster`, `kubeconfig` or `off`.",
    )
    kubeconfig: str = Field(
        "",
        alias="POOLKEEPER_KUBECONFIG",
        description="The path of the kubeconfig file, for `kubeconfig`.",
    )
    cgpu_seconds: float = Field(
        60.0,
        ge=1,
        le=3600,
        alias="POOLKEEPER_CGPU_SECONDS",
        description="How often the cGPU policy of the cluster is looked at.",
    )
    cgpu_probe: str = Field(
        "off",
        pattern="^(off|exec)$",
        alias="POOLKEEPER_CGPU_PROBE",
        description="`exec`: the policy in each node's module is read, in the installer's pods.",
    )
    cgpu_restarts: bool = Field(
        True,
        alias="POOLKEEPER_CGPU_RESTARTS",
        description="`false`: admins cordon and empty nodes on their own, Poolkeeper does not.",
    )
    admins: str = Field(
        "",
        alias="POOLKEEPER_ADMINS",
        description="Slack user ids of admins, separated by commas.",
    )
    admin_group: str = Field(
        "",
        alias="POOLKEEPER_ADMIN_GROUP",
        description="The id of a Slack user group whose members are admins.",
    )
    admin_channel: str = Field(
        "",
        alias="POOLKEEPER_ADMIN_CHANNEL",
        description="The id of the channel where changes are asked for and alerts are told.",
    )
    approvals: int = Field(
        1,
        ge=1,
        le=10,
        alias="POOLKEEPER_APPROVALS",
        description="How many admins other than the requester must approve a change.",
    )
    lone_admin: bool = Field(
        False,
        alias="POOLKEEPER_LONE_ADMIN",
        description="`true`: an only admin may approve their own changes.",
    )
    request_hours: float = Field(
        24.0,
        gt=0,
        le=720,
        alias="POOLKEEPER_REQUEST_HOURS",
        description="How long a request for a change waits for its approvals.",
    )
    waits_too_long_hours: float = Field(
        4.0,
        gt=0,
        alias="POOLKEEPER_WAITS_TOO_LONG_HOURS",
        description="After how long a waiting task is an alert.",
    )
    keep_minutes_days: float = Field(
        14.0,
        ge=1,
        le=_LONGEST_DAYS,
        alias="POOLKEEPER_KEEP_MINUTES_DAYS",
        description="For how many days usage is kept by the minute, for charts of a day.",
    )
    keep_hours_days: float = Field(
        180.0,
        ge=8,
        le=_LONGEST_DAYS,
        alias="POOLKEEPER_KEEP_HOURS_DAYS",
        description="For how many days usage is kept by the hour.",
    )
    keep_days_days: float = Field(
        1830.0,
        ge=8,
        le=_LONGEST_DAYS,
        alias="POOLKEEPER_KEEP_DAYS_DAYS",
        description="For how many days usage is kept by the day.",
    )
    keep_history_days: float = Field(
        31.0,
        ge=8,
        le=_LONGEST_DAYS,
        alias="POOLKEEPER_KEEP_HISTORY_DAYS",
        description="For how many days ended tasks, sent messages and decided requests are kept.",
    )
    keep_audit_days: float | None = Field(
        None,
        ge=8,
        le=_LONGEST_DAYS,
        alias="POOLKEEPER_KEEP_AUDIT_DAYS",
        description="For how many days the audit is kept; `off` for ever, the default.",
    )
    slack_bot_token: SecretStr = Field(
        SecretStr(""),
        alias="SLACK_BOT_TOKEN",
        description="The Slack app's bot token. Without it, `run` runs the controller only.",
    )
    slack_app_token: SecretStr = Field(
        SecretStr(""),
        alias="SLACK_APP_TOKEN",
        description="The Slack app's token for Socket Mode.",
    )
    slack_signing_secret: SecretStr = Field(
        SecretStr(""),
        alias="SLACK_SIGNING_SECRET",
        description="The Slack app's signing secret, for HTTP instead of Socket Mode.",
    )
    slack_host: str = Field(
        "127.0.0.1",
        alias="POOLKEEPER_SLACK_HOST",
        description="The address that listens for Slack then; `0.0.0.0` in a container.",
    )
    slack_port: int = Field(
        3000,
        ge=0,
        le=65535,
        alias="POOLKEEPER_SLACK_PORT",
        description="The port that listens for Slack when there is no token for Socket Mode.",
    )
    slack_api: str = Field(
        "https://slack.com/api/",
        alias="POOLKEEPER_SLACK_API",
        description="Where Slack's Web API is; another one for tests.",
    )

    @field_validator("hold_after_seconds", "metrics_port", "keep_audit_days", mode="before")
    @classmethod
    def _off(cls, value: object) -> object:
        return None if isinstance(value, str) and value.strip().lower() == "off" else value

    @property
    def hold_after(self) -> timedelta | None:
        seconds = self.hold_after_seconds
        return None if seconds is None else timedelta(seconds=seconds)

    @property
    def kept(self) -> Kept:
        """For how long the database keeps what grows."""
        audit = self.keep_audit_days
        return Kept(
            minutes=timedelta(days=self.keep_minutes_days),
            hours=timedelta(days=self.keep_hours_days),
            days=timedelta(days=self.keep_days_days),
            history=timedelta(days=self.keep_history_days),
            audit=None if audit is None else timedelta(days=audit),
        )

    @property
    def clearml_bundle(self) -> bool | str:
        """Whether ClearML's certificate is verified, or the path of a bundle that does it."""
        lowered = self.clearml_verify.strip().lower()
        if lowered in ("", "1", "true", "yes", "on"):
            return True
        return False if lowered in ("0", "false", "no", "off") else self.clearml_verify

    @property
    def has_kubernetes(self) -> bool:
        return self.kubernetes != "off"

    @property
    def has_slack(self) -> bool:
        return bool(self.slack_bot_token.get_secret_value())

    @property
    def admin_users(self) -> frozenset[str]:
        return frozenset(user.strip() for user in self.admins.split(",") if user.strip())


def load_settings(environment: Mapping[str, str]) -> Settings:
    """The settings of this environment; raises SettingsError with every problem in it."""
    settings, problems = read_settings(environment)
    if problems:
        raise SettingsError(problems)
    return settings


def from_files() -> frozenset[str]:
    """The variables that may be given as files: secrets, and the key that lies beside one."""
    fields = Settings.model_fields.values()
    secrets = {str(field.alias) for field in fields if isinstance(field.default, SecretStr)}
    return frozenset(secrets | {"CLEARML_API_ACCESS_KEY"})


def read_settings(environment: Mapping[str, str]) -> tuple[Settings, list[str]]:
    """The settings, those that cannot be used at their defaults, and a sentence for each."""
    known = {str(field.alias) for field in Settings.model_fields.values()}
    files = {name + SUFFIX for name in from_files()}
    problems = [
        _unknown(name, known | files)
        for name in sorted(environment)
        if name.startswith(_PREFIX) and name not in known | files and not name.startswith(_TESTS)
    ]
    secrets, flaws = read_secrets(environment, from_files())
    plain = {name: environment[name] for name in known - from_files() if environment.get(name)}
    given: dict[str, Any] = {**plain, **secrets}
    try:
        settings = Settings.model_validate(given)
    except ValidationError as error:
        details = error.errors(include_url=False)
        flaws += [_wrong(each) for each in details]
        wrong = {str(each["loc"][0]) for each in details}
        settings = Settings.model_validate({k: v for k, v in given.items() if k not in wrong})
    return settings, [*problems, *flaws, *_contradictions(settings)]


def _contradictions(settings: Settings) -> Iterator[str]:
    """Settings that do not fit one another; validators of single fields do not see these."""
    if settings.kubernetes == "kubeconfig" and not settings.kubeconfig:
        yield "POOLKEEPER_KUBERNETES=kubeconfig needs POOLKEEPER_KUBECONFIG, a path."


def _unknown(name: str, known: set[str]) -> str:
    # What all names begin with would make any two of them look alike.
    ours = [one.removeprefix(_PREFIX) for one in sorted(known) if one.startswith(_PREFIX)]
    close = difflib.get_close_matches(name.removeprefix(_PREFIX), ours, n=1)
    hint = f"did you mean {_PREFIX}{close[0]}?" if close else "the README lists the settings."
    return f"{name} is no setting of Poolkeeper; {hint}"


def _wrong(details: Any) -> str:
    name = ".".join(str(part) for part in details["loc"]) or "A combination of settings"
    return f"{name} cannot be used: {details['msg']}; the README says what it may be."
