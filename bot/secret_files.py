"""Secrets from files, as Kubernetes and Docker mount them, and what a pasted one may not look like.

`SLACK_BOT_TOKEN_FILE=/run/secrets/slack` is read in place of `SLACK_BOT_TOKEN`. No sentence here
repeats what was given.
"""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final

SUFFIX: Final = "_FILE"
_QUOTES: Final = "\"'`“”‘’"
_LARGEST: Final = 64 * 1024


def read_secrets(
    environment: Mapping[str, str], names: Iterable[str]
) -> tuple[dict[str, str], list[str]]:
    """The values of these variables, each given as it is or in a file, and what is wrong with them.

    What is wrong has some value all the same, so that nobody says it is absent. A file's last
    line break is no part of the value.
    """
    values: dict[str, str] = {}
    problems: list[str] = []
    for name in sorted(names):
        path = environment.get(name + SUFFIX, "")
        if path and environment.get(name):
            problems.append(f"{name} and {name}{SUFFIX} are both set; take one of them away.")
        value, problem = _in_file(name, path) if path else (environment.get(name, ""), "")
        problems += [problem] if problem else _flaws(name + SUFFIX if path else name, value)
        if value or path:
            values[name] = value or "?"
    return values, problems


def _in_file(name: str, path: str) -> tuple[str, str]:
    """The secret in the file, or "" and why there is none."""
    setting = name + SUFFIX
    try:
        with Path(path).open("rb") as file:
            raw = file.read(_LARGEST + 1)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        return "", f"{setting} names {path}, which cannot be read: {reason}."
    if len(raw) > _LARGEST:
        return "", f"{setting} names {path}, which is too large to hold a secret."
    try:
        value = raw.decode().removesuffix("\n").removesuffix("\r")
    except UnicodeDecodeError:
        return "", f"{setting} names {path}, which is no text."
    if not value.strip():
        return "", f"{setting} names {path}, which is empty; put the secret into it."
    return value, ""


def _flaws(name: str, value: str) -> Iterator[str]:
    if value != value.strip() or any(sign in value for sign in "\r\n\0"):
        yield f"{name} holds spaces or line breaks around or in its value; take them away."
    elif value and (value[0] in _QUOTES or value[-1] in _QUOTES):
        yield f"{name} holds quotes around its value; take them away."
