"""Faults on demand: what may go wrong with one call, before its write or after it.

A rule waits for the nth call that it matches, fires, and is spent (nth 0: fires at every one).
Held calls wait for a release, so that a test can kill a process exactly there.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from sandbox.kubernetes.calls import Answer, Request, attempt, call_name
from sandbox.kubernetes.errors import ApiError

Doc = dict[str, Any]
Perform = Callable[[Doc, Request], Doc]
Write = Callable[[], Answer]

ACTIONS = frozenset(("delay", "refuse", "drop_response", "status", "status_after", "hold", "do"))
_REASONS = {
    401: "Unauthorized", 403: "Forbidden", 404: "NotFound", 409: "Conflict", 410: "Expired",
    422: "Invalid", 429: "TooManyRequests", 500: "InternalError", 503: "ServiceUnavailable",
    504: "Timeout",
}  # fmt: skip


class DroppedError(Exception):
    """The connection is to be cut instead of answering."""


@dataclass(slots=True)
class Fault:
    """One rule. `call` as the log names it ("patch daemonsets"), "*" for all; `name` an object's.

    when: where delay, hold and do take place, "before" the write or "after" it. code, message,
    text, headers: the answer of status (nothing is written) and status_after (it is).
    """

    id: str
    action: str
    call: str = "*"
    name: str = ""
    nth: int = 1
    when: str = "before"
    seconds: float = 0.0
    steps: list[Doc] = field(default_factory=list)
    code: int = 500
    message: str = "the sandbox says so"
    text: str = ""
    headers: dict[str, str] = field(default_factory=dict)
    seen: int = 0
    fired: int = 0
    holding: int = 0
    answers: list[Doc] = field(default_factory=list)
    released: str = ""
    gate: asyncio.Event = field(default_factory=asyncio.Event)

    def is_due(self, request: Request) -> bool:
        """Counts a call that matches; whether it is the one to fire at."""
        if self.call not in ("*", call_name(request)):
            return False
        asked = attempt(request)
        if self.name and (asked is None or asked.name != self.name):
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

    def answer(self) -> Answer:
        """The answer that the rule gives; `text` instead of a Status, as proxies do."""
        if self.text:
            return Answer(self.code, self.text, self.headers)
        refusal = ApiError(self.code, _REASONS.get(self.code, ""), self.message, {})
        return Answer(self.code, refusal.body(), self.headers)

    def shown(self) -> Doc:
        names = ("id", "action", "call", "name", "nth", "when", "seen", "fired", "holding")
        return {**{name: getattr(self, name) for name in names}, "answers": self.answers}


@dataclass(slots=True)
class Faults:
    """The rules in force, in the order in which they were made."""

    perform: Perform
    rules: dict[str, Fault] = field(default_factory=dict)
    made: int = 0

    def add(self, rule: Doc) -> Fault:
        if rule.get("action") not in ACTIONS:
            raise TypeError(f"unknown action {rule.get('action')!r}")
        self.made += 1
        fault = Fault(id=f"fault-{self.made}", **rule)
        self.rules[fault.id] = fault
        return fault

    def clear(self) -> None:
        for fault in self.rules.values():
            fault.release("drop")
        self.rules.clear()

    async def before(self, request: Request) -> tuple[list[Fault], Answer | None]:
        """All that comes before the write; an answer when there is to be none."""
        due = [fault for fault in self.rules.values() if fault.is_due(request)]
        for fault in due:
            if fault.action == "refuse":
                raise DroppedError
            if fault.action == "status":
                self._do(fault, request)
                return due, fault.answer()
            if fault.when == "before":
                await self._interlude(fault, request)
        return due, None

    async def after(self, due: list[Fault], request: Request, answer: Answer) -> Answer:
        for fault in due:
            if fault.action == "drop_response":
                raise DroppedError
            if fault.action == "status_after":
                answer = fault.answer()
            elif fault.when == "after":
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
        """What somebody else does, at once: nothing comes between the steps."""
        for step in fault.steps:
            fault.answers.append(self.perform(step, request))
