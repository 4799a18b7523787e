"""Faults on demand: what may go wrong with one call, before its write or after it.

A rule waits for the nth call that it matches, fires, and is spent (nth 0: fires at every one).
Held calls wait for a release, so that a test can kill a process exactly there.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from sandbox.clearml.api import Answer, Request
from sandbox.clearml.errors import ApiError

Doc = dict[str, Any]
Perform = Callable[[Doc, Request, Doc], Doc]
Write = Callable[[Callable[[str], None]], Answer]

ACTIONS = frozenset(
    ("delay", "refuse", "error_before", "error_after", "drop_response", "hold", "do", "answer")
)


class DroppedError(Exception):
    """The connection is to be cut instead of answering."""


@dataclass(slots=True)
class Fault:
    """One rule. `when` says where delay, hold and do take place: before the write or after it.

    For `do` also "before_status" and "before_entry": in the middle of the call (see Call.gap).
    """

    id: str
    action: str
    call: str = "*"
    match: Doc = field(default_factory=dict)
    user: str = ""
    nth: int = 1
    when: str = "before"
    seconds: float = 0.0
    steps: list[Doc] = field(default_factory=list)
    answer: Doc = field(default_factory=dict)
    seen: int = 0
    fired: int = 0
    holding: int = 0
    answers: list[Doc] = field(default_factory=list)
    released: str = ""
    gate: asyncio.Event = field(default_factory=asyncio.Event)

    def is_due(self, request: Request, user: str) -> bool:
        """Counts a call that matches; whether it is the one to fire at."""
        if self.call not in ("*", request.name) or self.user not in ("", user):
            return False
        if any(request.body.get(name) != value for name, value in self.match.items()):
            return False
        self.seen += 1
        if self.nth and self.seen != self.nth:
            return False
        self.fired += 1
        return True

    def release(self, outcome: str) -> None:
        """Lets held calls go on ("continue") or cuts their connection ("drop")."""
        self.released = outcome
        self.gate.set()

    async def hold(self) -> None:
        self.holding += 1
        try:
            await self.gate.wait()
        finally:
            self.holding -= 1
        if self.released == "drop":
            raise DroppedError

    def shown(self) -> Doc:
        names = ("id", "action", "call", "match", "nth", "when", "seen", "fired", "holding")
        return {**{name: getattr(self, name) for name in names}, "answers": self.answers}


@dataclass(slots=True)
class Faults:
    """The rules in force, in the order in which they were made."""

    perform: Perform
    rules: dict[str, Fault] = field(default_factory=dict)
    made: int = 0

    def add(self, rule: Doc) -> Fault:
        if rule.get("action") not in ACTIONS:
            raise ApiError(400, 0, f"Unknown action {rule.get('action')!r}")
        self.made += 1
        fault = Fault(id=f"fault-{self.made}", **rule)
        self.rules[fault.id] = fault
        return fault

    def clear(self) -> None:
        for fault in self.rules.values():
            fault.release("drop")
        self.rules.clear()

    def due(self, request: Request, user: str) -> list[Fault]:
        return [fault for fault in self.rules.values() if fault.is_due(request, user)]

    async def serve(self, request: Request, user: str, write: Write) -> Answer:
        """Performs the call with all that is due around it."""
        due = self.due(request, user)
        for fault in due:
            instead = await self._before(fault, request)
            if instead is not None:
                return instead
        answer = write(lambda gap: self._fill(gap, due, request))
        for fault in due:
            answer = await self._after(fault, request, answer)
        return answer

    async def _before(self, fault: Fault, request: Request) -> Answer | None:
        if fault.action == "refuse":
            raise DroppedError
        if fault.action == "error_before":
            return Answer(500, 1, "Internal server error", {})
        if fault.action == "answer":
            self._do(fault, request)
            said = {"code": 200, "subcode": 0, "message": "OK", "data": {}, **fault.answer}
            return Answer(**said)
        if fault.when == "before":
            await self._interlude(fault, request)
        return None

    def _fill(self, gap: str, due: list[Fault], request: Request) -> None:
        for fault in due:
            if fault.action == "do" and fault.when == gap:
                self._do(fault, request)

    async def _after(self, fault: Fault, request: Request, answer: Answer) -> Answer:
        if fault.action == "drop_response":
            raise DroppedError
        if fault.action == "error_after":
            return Answer(500, 100, "General data error", {})
        if fault.when == "after":
            await self._interlude(fault, request)
        return answer

    async def _interlude(self, fault: Fault, request: Request) -> None:
        if fault.action == "delay":
            await asyncio.sleep(fault.seconds)
        elif fault.action == "hold":
            await fault.hold()
        elif fault.action == "do":
            self._do(fault, request)

    def _do(self, fault: Fault, request: Request) -> None:
        """Calls made by somebody else, at once: nothing comes between them."""
        for step in fault.steps:
            before = fault.answers[-1] if fault.answers else {}
            fault.answers.append(self.perform(step, request, before))
