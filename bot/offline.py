"""The commands that need nothing but files: `plan` and `validate`.

They run in every pipeline that checks a configuration, so they start fast: Typer's parsing loads
the whole of pydantic, as much time as all the rest, so these two are parsed with the standard
library, and whatever only they need is imported where it is used.
"""

import json
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from typing import NoReturn

from bot.files import CONFIGURATION, SNAPSHOT, read_document
from storage.document_problems import DocumentError, Problem
from storage.documents import check_snapshot, read_configuration, read_snapshot

PLAN = "decide one round from a configuration and a snapshot, and print the plan as JSON"
VALIDATE = "say what is wrong with a configuration, and what to do about it"

FINE, INVALID, UNREADABLE = 0, 1, 2


class _Parser(ArgumentParser):
    """Says what is wrong with a command line as every other error is said: in a sentence."""

    def error(self, message: str) -> NoReturn:
        self.exit(UNREADABLE, f"{self.prog}: {message}; see `{self.prog} --help`.\n")


def plan(arguments: Sequence[str]) -> int:
    """`poolkeeper plan`: the plan on standard output; the exit code."""
    parser = _Parser(prog="poolkeeper plan", description=_sentence(PLAN), allow_abbrev=False)
    parser.add_argument("--config", required=True, metavar="FILE", help="YAML; `-` reads stdin")
    parser.add_argument("--snapshot", required=True, metavar="FILE", help="JSON; `-` reads stdin")
    try:
        document = _planned(parser.parse_args(arguments))
    except DocumentError as error:
        return refuse(error)
    # Escaped to ASCII, a plan gets through whatever encoding the terminal has.
    print(json.dumps(document))  # standard output is what this command is for
    return FINE


def validate(arguments: Sequence[str]) -> int:
    """`poolkeeper validate`: findings on standard output; 1 where one of them is an error."""
    parser = _Parser(
        prog="poolkeeper validate", description=_sentence(VALIDATE), allow_abbrev=False
    )
    parser.add_argument("config", metavar="FILE", help="a configuration; `-` reads stdin")
    parser.add_argument("--json", action="store_true", help="print the findings as JSON")
    chosen = parser.parse_args(arguments)
    try:
        configuration = read_document(chosen.config, CONFIGURATION, read_configuration)
    except DocumentError as error:
        return refuse(error)
    from bot.finding_lines import as_json, as_lines
    from domain.validation import is_valid
    from domain.validation import validate as findings_of

    findings = findings_of(configuration)
    print(as_json(findings) if chosen.json else as_lines(findings))
    return FINE if is_valid(findings) else INVALID


def refuse(error: DocumentError) -> int:
    """Says every problem on standard error, one a line; the exit code of unreadable documents."""
    shown = [*map(str, error.problems), *(["and more like these."] if error.are_more else [])]
    sys.stderr.write("".join(f"{line}\n" for line in shown))
    return UNREADABLE


def _planned(chosen: Namespace) -> dict[str, object]:
    from domain.allocation import allocate
    from domain.plan_document import plan_document

    try:
        configuration = read_document(chosen.config, CONFIGURATION, read_configuration)
    except DocumentError as error:
        # What is wrong with the snapshot itself is worth knowing at once, too.
        problems = [*error.problems, *_snapshot_problems(chosen.snapshot)]
        raise DocumentError(problems, are_more=error.are_more) from error
    snapshot = read_document(
        chosen.snapshot, SNAPSHOT, lambda tree: read_snapshot(tree, configuration)
    )
    return plan_document(snapshot, allocate(snapshot))


def _snapshot_problems(path: str) -> tuple[Problem, ...]:
    try:
        read_document(path, SNAPSHOT, check_snapshot)
    except DocumentError as error:
        return error.problems
    return ()


def _sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}."
