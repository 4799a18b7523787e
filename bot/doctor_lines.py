"""`poolkeeper doctor`: its report for a terminal or as JSON, and its exit code."""

import html
import json
import textwrap
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Final

from bot.checkups import SIGNS, Standing
from bot.doctor_checks import CHECKS
from bot.doctor_patient import Patient
from bot.doctoring import Verdict, examined
from bot.operating import settings
from bot.refusing import Refusal

_WIDTH: Final = 100
_INDENT: Final = " " * 19


def doctor(*, as_json: bool, strict: bool) -> None:
    """Prints every verdict; `Refusal` with code 1 where one fails, or, `strict`, warns."""
    verdicts = examined(CHECKS, Patient(settings()))
    print(as_document(verdicts) if as_json else "\n".join(lines(verdicts)))
    bad = {Standing.FAIL, Standing.WARN} if strict else {Standing.FAIL}
    if any(verdict.standing in bad for verdict in verdicts):
        raise Refusal([], code=1)


def lines(verdicts: Iterable[Verdict]) -> Iterator[str]:
    """A line for each verdict with the remedy below it, and the sum of them."""
    counts: Counter[Standing] = Counter()
    for verdict in verdicts:
        counts[verdict.standing] += 1
        head = f"{SIGNS[verdict.standing]} {verdict.standing:5}{verdict.check:12}"
        yield _wrapped(head, verdict.says)
        if verdict.remedy:
            yield _wrapped(_INDENT, f"→ {verdict.remedy}")
    yield ", ".join(f"{counts[standing]} {standing}" for standing in Standing) + "."


def as_document(verdicts: Iterable[Verdict]) -> str:
    """The same as JSON: a list of {check, standing, says, remedy}."""
    document = [
        {
            "check": one.check,
            "standing": str(one.standing),
            "says": html.unescape(one.says),
            "remedy": html.unescape(one.remedy),
        }
        for one in verdicts
    ]
    return json.dumps(document, indent=2, ensure_ascii=False)


def _wrapped(head: str, text: str) -> str:
    return textwrap.fill(
        html.unescape(text),
        _WIDTH,
        initial_indent=head,
        subsequent_indent=_INDENT,
        break_long_words=False,
        break_on_hyphens=False,
    )
