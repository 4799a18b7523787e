"""What the operator sets, read once from the environment, typed and documented here.

The README's table is compared with these fields by a test. Unknown POOLKEEPER_ variables are
refused: a misspelt one would otherwise silently mean its default.
"""

import difflib
from collections.abc import Mapping
from datetime import timedelta
from typing import Any, Self

from pydantic import Field, SecretStr, ValidationError, field_validator, model_validator
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict

_PREFIX = "POOLKEEPER_"
_TESTS = "POOLKEEPER_CONTRACT_"
"""Names that the contract suites read; the program has no use for them."""

_YEAR_S = 31_536_000


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

    database: str = Field(
        "sqlite:///poolkeeper.sqlite3",
        alias="POOLKEEPER_DATABASE",
        description="Where the state is kept: `sqlite:///` and a path; its directory must exist.",
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

    @field_validator("hold_after_seconds", mode="before")
    @classmethod
    def _off(cls, value: object) -> object:
        return None if isinstance(value, str) and value.strip().lower() == "off" else value

    @property
    def hold_after(self) -> timedelta | None:
        seconds = self.hold_after_seconds
        return None if seconds is None else timedelta(seconds=seconds)

    @model_validator(mode="after")
    def _with_kubeconfig(self) -> Self:
        if self.kubernetes == "kubeconfig" and not self.kubeconfig:
            raise ValueError("POOLKEEPER_KUBERNETES=kubeconfig needs POOLKEEPER_KUBECONFIG, a path")
        return self

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
    known = {str(field.alias) for field in Settings.model_fields.values()}
    problems = [
        _unknown(name, known)
        for name in sorted(environment)
        if name.startswith(_PREFIX) and name not in known and not name.startswith(_TESTS)
    ]
    given: dict[str, Any] = {name: environment[name] for name in known if environment.get(name)}
    try:
        settings = Settings.model_validate(given)
    except ValidationError as error:
        problems += [_wrong(details) for details in error.errors(include_url=False)]
        raise SettingsError(problems) from None  # the chained one would print what was set
    if problems:
        raise SettingsError(problems)
    return settings


def _unknown(name: str, known: set[str]) -> str:
    close = difflib.get_close_matches(name, sorted(known), n=1)
    hint = f"did you mean {close[0]}?" if close else "the README lists the settings."
    return f"{name} is no setting of Poolkeeper; {hint}"


def _wrong(details: Any) -> str:
    name = ".".join(str(part) for part in details["loc"]) or "A combination of settings"
    return f"{name} cannot be used: {details['msg']}; the README says what it may be."
