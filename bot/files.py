"""The door to documents in files: YAML or JSON in, a tree of plain values or problems out.

Whatever a file holds, it ends as a value or as a sentence: nothing is taken silently (a key that
is there twice, a second document), and nothing can make reading it grow beyond bounds.
"""

import os.path
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final, TypeVar

from storage.document_problems import DocumentError, Problem

T = TypeVar("T")

MEBIBYTE: Final = 2**20
STANDARD_INPUT: Final = "-"


@dataclass(frozen=True)
class FileKind:
    """What is expected of a file: how it is called in sentences and its largest size in bytes."""

    noun: str
    largest: int


CONFIGURATION: Final = FileKind("configuration", 4 * MEBIBYTE)
SNAPSHOT: Final = FileKind("snapshot", 256 * MEBIBYTE)


def read_document(path: str, kind: FileKind, read: Callable[[object], T]) -> T:
    """What `read` makes of the parsed document at `path`; `-` is standard input.

    A name that ends in `.json` is read as JSON, a snapshot too unless it ends in `.yaml` or
    `.yml`, all else as YAML. Raises DocumentError whose problems begin with the file's name.
    """
    try:
        return read(_parsed(_text(path, kind), path, kind))
    except DocumentError as error:
        named = (_in_file(path, problem) for problem in error.problems)
        raise DocumentError(named, are_more=error.are_more) from error


def read_upload(raw: bytes, name: str, kind: FileKind, read: Callable[[object], T]) -> T:
    """The same of what somebody has sent; `name` says by its ending what it is, as a path does."""
    return read(_parsed(_decoded(raw, kind), name, kind))


def _in_file(path: str, problem: Problem) -> Problem:
    name = "standard input" if path == STANDARD_INPUT else path.replace("\n", "\\n")
    return replace(problem, where=f"{name}: {problem.where}" if problem.where else name)


def _parsed(text: str, path: str, kind: FileKind) -> object:
    suffix = os.path.splitext(path)[1].lower()
    is_yaml = suffix in {".yaml", ".yml"}
    if suffix == ".json" or (kind is SNAPSHOT and not is_yaml):
        from bot.json_files import parse_json

        return parse_json(text)
    from bot.yaml_files import parse_yaml

    return parse_yaml(text)


def _text(path: str, kind: FileKind) -> str:
    return _decoded(_bytes(path, kind), kind)


def _decoded(raw: bytes, kind: FileKind) -> str:
    if len(raw) > kind.largest:
        most = kind.largest // MEBIBYTE
        raise _refused(f"is larger than the {most} MiB that a {kind.noun} may have", "split it")
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        what = f"line {line} is not UTF-8 text"
        raise _refused(what, "save it as UTF-8, or name a text file") from None
    if not text.strip():
        raise _refused("is empty", f"write the {kind.noun} as shown in the README")
    return text


def _bytes(path: str, kind: FileKind) -> bytes:
    # One byte more than allowed tells that there is too much, whatever it is read from.
    try:
        if path == STANDARD_INPUT:
            return sys.stdin.buffer.read(kind.largest + 1)
        with open(path, "rb") as file:
            return file.read(kind.largest + 1)
    except FileNotFoundError:
        raise _refused("there is no such file", f"name the file of the {kind.noun}") from None
    except IsADirectoryError:
        raise _refused("is a directory", f"name the file of the {kind.noun} in it") from None
    except PermissionError:
        raise _refused("may not be read", "allow this user to read it") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise _refused(f"cannot be read ({reason})", "name a readable file") from None


def _refused(what: str, remedy: str) -> DocumentError:
    return DocumentError([Problem("", what, remedy)])
