"""The doctor's rounds: checks that are made at the same time, each by itself and not for long.

A check that fails to be made is told like any other, and never as fine; it keeps no other one from
being made. Nothing that is checked is changed.
"""

import queue
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Generic, TypeVar

from bot.checkups import Ailment, Standing

Patient = TypeVar("Patient")
Found = TypeVar("Found")

PATIENCE_S: Final = 10.0
UNKNOWN_REMEDY: Final = (
    "Look at what is said of it elsewhere here, and say `poolkeeper doctor` again."
)


class Unknown(Exception):
    """A check could not be made, for the reason that its message says as a sentence."""

    def __init__(self, reason: str, remedy: str = UNKNOWN_REMEDY) -> None:
        super().__init__(reason)
        self.remedy = remedy


@dataclass(frozen=True, kw_only=True)
class Findings:
    """What one check found: what is wrong, and in `fact` what is so, in words."""

    fact: str
    ailments: Sequence[Ailment] = ()


@dataclass(frozen=True, kw_only=True)
class Check(Generic[Patient]):
    """One check; `looks_at` is its line in the README."""

    name: str
    looks_at: str
    make: Callable[[Patient], Findings]


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """One line of the report."""

    check: str
    standing: Standing
    says: str
    remedy: str = ""


def examined(
    checks: Iterable[Check[Patient]], patient: Patient, patience_s: float = PATIENCE_S
) -> tuple[Verdict, ...]:
    """The verdicts of all checks, in their order, after `patience_s` at the latest."""
    made = tuple(checks)
    answers: queue.SimpleQueue[tuple[str, Findings | Exception]] = queue.SimpleQueue()
    for check in made:
        # A thread that hangs is left behind: it ends with the process.
        threading.Thread(target=_make, args=(check, patient, answers), daemon=True).start()
    found: dict[str, Findings | Exception] = {}
    deadline = time.monotonic() + patience_s
    while len(found) < len(made):
        try:
            name, answer = answers.get(timeout=max(0.0, deadline - time.monotonic()))
        except queue.Empty:
            break
        found[name] = answer
    late = Unknown(
        f"There was no answer within {patience_s:g} s.",
        "Try again; if it stays so, see whether that server answers this machine at all.",
    )
    return tuple(
        verdict for check in made for verdict in _verdicts(check.name, found.get(check.name, late))
    )


def _make(
    check: Check[Patient],
    patient: Patient,
    answers: "queue.SimpleQueue[tuple[str, Findings | Exception]]",
) -> None:
    try:
        answers.put((check.name, check.make(patient)))
    except Exception as error:  # a check that breaks is a verdict, and stops no other
        answers.put((check.name, error))


def _verdicts(check: str, found: Findings | Exception) -> list[Verdict]:
    if isinstance(found, Exception):
        remedy = found.remedy if isinstance(found, Unknown) else UNKNOWN_REMEDY
        says = str(found) if isinstance(found, Unknown) else f"{type(found).__name__}: {found}"
        return [
            Verdict(check=check, standing=Standing.WARN, says=f"unknown: {says}", remedy=remedy)
        ]
    if not found.ailments:
        return [Verdict(check=check, standing=Standing.OK, says=found.fact)]
    return [
        Verdict(check=check, standing=one.standing, says=one.says, remedy=one.remedy)
        for one in found.ailments
    ]


class Once(Generic[Found]):
    """Something that several checks need and one of them gets; its error is each one's."""

    def __init__(self, get: Callable[[], Found]) -> None:
        self._get = get
        self._lock = threading.Lock()
        self._found: list[Found | Exception] = []

    def __call__(self) -> Found:
        with self._lock:
            if not self._found:
                try:
                    self._found.append(self._get())
                except Exception as error:  # raised again below, for each who asks
                    self._found.append(error)
        (found,) = self._found
        if isinstance(found, Exception):
            raise found
        return found
