"""The log: each record one line on stderr, for people or as JSON, without any secret in it.

A record is a constant sentence with fields, given as `extra`. Whatever a value holds, it cannot
begin a line of its own. Secrets are taken out of every line last of all, libraries' tracebacks
included; nothing is meant to put one in.
"""

import base64
import json
import logging
import re
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from types import TracebackType
from typing import Any, Final, TextIO
from urllib.parse import parse_qsl, quote, quote_plus, unquote, urlsplit

from pydantic import SecretStr

from bot.settings import Settings
from controller import references

_OURS: Final = ("bot", "controller", "storage")
_STANDARD: Final = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}
_PLAIN: Final = re.compile(r"[^\s\"=\\]+")
_HIDDEN: Final = "***"
_SHORTEST: Final = 4
"""A shorter secret is none, and would make the log unreadable."""

Clean = Callable[[str], str]

log = logging.getLogger(__name__)


def log_to_stderr(settings: Settings, least: int = logging.DEBUG) -> None:
    """What this process says of itself, from `least` on; libraries speak from WARNING on."""
    clean = redacting(secrets_of(settings))
    form = AsJson(clean) if settings.log_format == "json" else AsText(clean)
    root = logging.getLogger()
    root.handlers[:] = [_handler(form, sys.stderr)]
    root.setLevel(logging.WARNING)
    for name in _OURS:
        logging.getLogger(name).setLevel(max(least, logging.getLevelName(settings.log_level)))
    logging.captureWarnings(True)
    _hear_the_unheard()


def secrets_of(settings: Settings) -> frozenset[str]:
    """Every secret among the settings, passwords in addresses included."""
    found: set[str] = set()
    for name in type(settings).model_fields:
        value = getattr(settings, name)
        if isinstance(value, SecretStr):
            value = value.get_secret_value()
            if "://" not in value or "@" in value:  # where a database is, is none
                found.add(value)
        if isinstance(value, str):
            found.update(_passwords(value))
    pair = f"{settings.clearml_access_key}:{settings.clearml_secret_key.get_secret_value()}"
    found.add(base64.b64encode(pair.encode()).decode())  # how it goes over the wire
    return frozenset(secret for secret in found if len(secret) >= _SHORTEST)


def _passwords(address: str) -> Iterator[str]:
    """Those of an address, in it and among its parameters."""
    try:
        parts = urlsplit(address)
        yield parts.password or ""
        yield from (value for key, value in parse_qsl(parts.query) if "password" in key)
    except ValueError:
        return  # it is no address


def redacting(secrets: Iterable[str]) -> Clean:
    """Puts *** in the place of each secret, as it is and in the forms that addresses have."""
    forms = {form for secret in secrets for form in _forms(secret)}
    if not forms:
        return lambda text: text
    longest_first = sorted(forms, key=len, reverse=True)
    pattern = re.compile("|".join(re.escape(form) for form in longest_first))
    return lambda text: pattern.sub(_HIDDEN, text)


def _forms(secret: str) -> Iterator[str]:
    yield from (secret, unquote(secret), quote(secret, safe=""), quote_plus(secret))
    yield from (repr(secret)[1:-1], json.dumps(secret)[1:-1])


class AsText(logging.Formatter):
    """`time LEVEL logger sentence: field=value`; a traceback's lines are set off below."""

    def __init__(self, clean: Clean) -> None:
        super().__init__()
        self._clean = clean

    def format(self, record: logging.LogRecord) -> str:
        said = _one_line(self._clean(record.getMessage()))
        fields = " ".join(
            f"{_one_line(key)}={self._value(value)}" for key, value in _fields(record).items()
        )
        line = f"{_time(record)} {record.levelname} {record.name} {said}"
        lines = [f"{line}: {fields}" if fields else line]
        for below in self._clean(_traceback(record)).splitlines():
            lines.append(f"    {_one_line(below)}")  # noqa: PERF401  reads as it is written
        return "\n".join(lines)

    def _value(self, value: object) -> str:
        text = _one_line(self._clean(str(value)))
        return text if _PLAIN.fullmatch(text) else json.dumps(text, ensure_ascii=False)


class AsJson(logging.Formatter):
    """One JSON object a line; the fields beside the sentence."""

    def __init__(self, clean: Clean) -> None:
        super().__init__()
        self._clean = clean

    def format(self, record: logging.LogRecord) -> str:
        document: dict[str, object] = {
            "time": _time(record),
            "level": record.levelname,
            "logger": record.name,
            "message": self._clean(record.getMessage()),
        }
        for key, value in _fields(record).items():
            document.setdefault(key, self._value(value))
        if traceback := _traceback(record):
            document["traceback"] = self._clean(traceback)
        return json.dumps(document)

    def _value(self, value: object) -> object:
        plain = isinstance(value, bool | int | float) or value is None
        return value if plain else self._clean(str(value))


def _fields(record: logging.LogRecord) -> dict[str, Any]:
    """What was given as `extra`, and the reference of what is under way."""
    given = {key: value for key, value in vars(record).items() if key not in _STANDARD}
    reference = given.pop("reference", "") or references.current()
    return {**given, "reference": reference} if reference else given


def _time(record: logging.LogRecord) -> str:
    at = datetime.fromtimestamp(record.created, UTC)
    return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _traceback(record: logging.LogRecord) -> str:
    parts = []
    if record.exc_info and record.exc_info[0] is not None:
        parts.append(logging.Formatter().formatException(record.exc_info))
    if record.stack_info:
        parts.append(record.stack_info)
    return "\n".join(parts)


def _one_line(text: str) -> str:
    """Without what moves a terminal's cursor, turns its text around or ends its line."""
    if text.isprintable():
        return text
    return "".join(
        sign if sign.isprintable() else sign.encode("unicode_escape").decode() for sign in text
    )


class _Handler(logging.StreamHandler[TextIO]):
    """A record that cannot be written is said without what it holds."""

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802  logging's name
        error = sys.exc_info()[0]
        if isinstance(error, type) and issubclass(error, OSError):
            return  # nobody reads the log any more
        self.stream.write(f"a record of {record.name} could not be written\n")


def _handler(form: logging.Formatter, stream: TextIO) -> logging.Handler:
    handler = _Handler(stream)
    handler.setFormatter(form)
    return handler


def _hear_the_unheard() -> None:
    """What nobody caught is logged as everything else, in place of Python's bare traceback."""

    def in_main(
        kind: type[BaseException], error: BaseException, traceback: TracebackType | None
    ) -> None:
        if not issubclass(kind, KeyboardInterrupt):
            log.critical("an error ended the program", exc_info=(kind, error, traceback))

    def in_thread(seen: threading.ExceptHookArgs) -> None:
        if seen.exc_value is not None and not isinstance(seen.exc_value, SystemExit):
            log.error(
                "an error ended a thread",
                exc_info=seen.exc_value,
                extra={"thread_name": seen.thread and seen.thread.name},
            )

    def in_passing(seen: Any) -> None:
        log.error("an error could be raised to nobody", exc_info=seen.exc_value)

    sys.excepthook = in_main
    threading.excepthook = in_thread
    sys.unraisablehook = in_passing
