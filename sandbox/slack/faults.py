"""Faults on demand: what may go wrong with one API call or one delivery, and when.

A rule waits for the nth match, then fires `times` times (nth 0: at every match). Deliveries are
matched by "deliver.slash_commands", "deliver.interactive" and "deliver.events_api".
"""

import asyncio
import fnmatch
from dataclasses import dataclass, field
from typing import Any

from sandbox.slack.clock import Clock
from sandbox.slack.errors import DoorError, SlackError

Doc = dict[str, Any]

CALL_ACTIONS = ("delay", "hold", "refuse", "drop_response", "error", "rate_limit", "status")
DELIVERY_ACTIONS = ("delay", "hold", "twice", "lose", "wrong_signature", "old_timestamp")


class DroppedError(Exception):
    """The connection is to be cut instead of answering."""


@dataclass(slots=True)
class Fault:
    """One rule; `when` says on which side of the call's effect delay and hold take place."""

    id: str
    action: str
    call: str = "*"
    match: Doc = field(default_factory=dict)
    nth: int = 1
    times: int = 1
    when: str = "before"
    seconds: float = 0.0
    error: str = "internal_error"
    status: int = 500
    retry_after: int = 1
    seen: int = 0
    fired: int = 0
    holding: int = 0
    released: str = ""
    gate: asyncio.Event = field(default_factory=asyncio.Event)

    def is_due(self, call: str, body: Doc) -> bool:
        """Counts what matches; whether it is one to fire at."""
        if not fnmatch.fnmatchcase(call, self.call):
            return False
        if self.call == "*" and call.startswith("deliver."):
            return False
        if any(body.get(name) != value for name, value in self.match.items()):
            return False
        self.seen += 1
        if self.nth and not self.nth <= self.seen < self.nth + self.times:
            return False
        self.fired += 1
        return True

    def release(self, outcome: str) -> None:
        """Lets what is held go on ("continue") or cuts it off ("drop")."""
        self.released = outcome
        self.gate.set()

    async def pause(self, clock: Clock) -> None:
        if self.action == "delay":
            await clock.sleep(self.seconds)
        elif self.action == "hold":
            self.holding += 1
            try:
                await self.gate.wait()
            finally:
                self.holding -= 1
            if self.released == "drop":
                raise DroppedError

    def shown(self) -> Doc:
        names = ("id", "action", "call", "match", "nth", "times", "when", "seen", "fired")
        return {**{name: getattr(self, name) for name in names}, "holding": self.holding}


class Faults:
    """The rules in force, in the order in which they were made."""

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self.rules: dict[str, Fault] = {}
        self.made = 0

    def add(self, rule: Doc) -> Fault:
        known = DELIVERY_ACTIONS if rule.get("call", "").startswith("deliver") else CALL_ACTIONS
        if rule.get("action") not in known:
            raise DoorError(f"no such action {rule.get('action')!r}; there are: {', '.join(known)}")
        self.made += 1
        fault = Fault(id=f"fault-{self.made}", **rule)
        self.rules[fault.id] = fault
        return fault

    def clear(self) -> None:
        for fault in self.rules.values():
            fault.release("drop")
        self.rules.clear()

    def due(self, call: str, body: Doc) -> list[Fault]:
        return [fault for fault in self.rules.values() if fault.is_due(call, body)]

    async def before(self, due: list[Fault]) -> None:
        """What comes instead of the call's effect, or before it."""
        for fault in due:
            if fault.action == "refuse":
                raise DroppedError
            if fault.action == "rate_limit":
                raise SlackError("ratelimited", 429, fault.retry_after)
            if fault.action in ("error", "status") and fault.when == "before":
                raise _error(fault)
            if fault.when == "before":
                await fault.pause(self.clock)

    async def after(self, due: list[Fault]) -> None:
        """What comes after the effect, instead of the answer or before it."""
        for fault in due:
            if fault.action == "drop_response":
                raise DroppedError
            if fault.action in ("error", "status"):
                raise _error(fault)
            if fault.when == "after":
                await fault.pause(self.clock)


def _error(fault: Fault) -> SlackError:
    if fault.action == "status":
        return SlackError("internal_error", status=fault.status)
    return SlackError(fault.error)
