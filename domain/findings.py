"""What validation finds: one value for each thing that an admin should know before provisioning."""

from dataclasses import dataclass
from enum import StrEnum

from domain.names import quoted
from domain.renames import Kind


class Severity(StrEnum):
    """An error keeps a configuration from being provisioned, a warning does not."""

    ERROR = "error"
    WARNING = "warning"


@dataclass(frozen=True, kw_only=True)
class Finding:
    """One thing that is wrong with the object `name` of `kind`.

    `code` is stable, for programs; `message` and `remedy` are the parts of the sentence that
    `str()` gives, always one line.
    """

    code: str
    severity: Severity
    kind: Kind
    name: str
    message: str
    remedy: str

    def __str__(self) -> str:
        subject = f"{self.kind.capitalize()} {quoted(self.name)}"
        return f"{subject} {self.message}; {self.remedy}."


def error(code: str, subject: tuple[Kind, str], message: str, remedy: str) -> Finding:
    """A finding that keeps the configuration from being provisioned."""
    return _finding(code, Severity.ERROR, subject, (message, remedy))


def warning(code: str, subject: tuple[Kind, str], message: str, remedy: str) -> Finding:
    """A finding that an admin may have good reasons to accept."""
    return _finding(code, Severity.WARNING, subject, (message, remedy))


def _finding(
    code: str, severity: Severity, subject: tuple[Kind, str], told: tuple[str, str]
) -> Finding:
    kind, name = subject
    message, remedy = told
    return Finding(
        code=code, severity=severity, kind=kind, name=name, message=message, remedy=remedy
    )
