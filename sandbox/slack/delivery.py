"""Payloads on their way to the app: by socket or by HTTP, timed, redelivered, and with faults."""

import asyncio
import time
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

import aiohttp

from sandbox.slack.clock import Clock
from sandbox.slack.errors import SlackError
from sandbox.slack.faults import DroppedError, Fault, Faults
from sandbox.slack.journal import Journal
from sandbox.slack.signed_http import Endpoint
from sandbox.slack.sockets import Sockets

Doc = dict[str, Any]
ACK_SECONDS = 3.0
REDELIVERIES = (0.0, 60.0, 300.0)


@dataclass(frozen=True, slots=True)
class Payload:
    """`kind` is slash_commands, interactive or events_api; `attempt` counts redeliveries."""

    kind: str
    body: Doc
    attempt: int = 0
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a delivery: `error` is "" or what the person is told."""

    error: str = ""
    payload: Doc = field(default_factory=dict)
    status: int = 0
    seconds: float = 0.0
    final: bool = False


class Deliveries:
    """Sends each payload over the endpoint if there is one, and otherwise over a socket."""

    def __init__(self, clock: Clock, faults: Faults, journal: Journal) -> None:
        self.clock, self.faults, self.journal = clock, faults, journal
        self.sockets = Sockets()
        self.endpoint: Endpoint | None = None
        self.ack_seconds = ACK_SECONDS
        self.redeliveries = REDELIVERIES
        self.under_way: set[asyncio.Task[Any]] = set()

    async def send(self, payload: Payload) -> Outcome:
        """Delivers what a person waits for: once, or as the faults say."""
        due = self.faults.due(f"deliver.{payload.kind}", payload.body)
        actions = {fault.action for fault in due}
        if "twice" in actions:
            self.aside(self._attempt(payload, due))
        if "lose" in actions:
            await asyncio.sleep(self.ack_seconds)
            return Outcome("operation_timeout")
        return await self._attempt(payload, due)

    async def send_event(self, payload: Payload) -> Outcome:
        """Delivers an event; redeliveries go on aside when it is not acknowledged."""
        outcome = await self.send(payload)
        if outcome.error and not outcome.final:
            self.aside(self._redeliver(payload, outcome))
        return outcome

    async def _redeliver(self, payload: Payload, outcome: Outcome) -> None:
        for attempt, wait in enumerate(self.redeliveries, 1):
            await self.clock.sleep(wait)
            reason = "http_error" if outcome.status >= 300 else _TIMEOUTS[self.endpoint is None]
            again = Payload(payload.kind, payload.body, attempt, reason)
            outcome = await self.send(again)
            if not outcome.error or outcome.final:
                return

    async def _attempt(self, payload: Payload, due: list[Fault]) -> Outcome:
        try:
            for fault in due:
                await fault.pause(self.clock)
        except DroppedError:
            return Outcome("operation_timeout")
        entry = self.journal.delivered(
            payload.kind, self.clock.now(), body=payload.body, attempt=payload.attempt
        )
        begun = time.monotonic()
        outcome = await self._transmit(payload, {fault.action for fault in due})
        entry |= {"acked": not outcome.error, "seconds": time.monotonic() - begun}
        entry |= {"answer": outcome.payload, "status": outcome.status}
        return outcome

    async def _transmit(self, payload: Payload, flaws: set[str]) -> Outcome:
        try:
            if self.endpoint is not None:
                return await self._post(self.endpoint, payload, flaws)
            return Outcome(payload=await self.sockets.deliver(_envelope(payload), self.ack_seconds))
        except TimeoutError:
            return Outcome("operation_timeout")
        except (SlackError, aiohttp.ClientError, OSError):
            return Outcome("dispatch_failed")

    async def _post(self, endpoint: Endpoint, payload: Payload, flaws: set[str]) -> Outcome:
        how: Doc = {"retry_num": payload.attempt, "retry_reason": payload.reason}
        how |= dict.fromkeys(flaws, True)
        answer = await endpoint.deliver(payload.kind, payload.body, self.ack_seconds, how)
        error = "" if answer.status == 200 else "dispatch_failed"
        return Outcome(error, answer.payload, answer.status, final=answer.final)

    def aside(self, work: Any) -> None:
        """Lets something go on while the person sees the answer."""
        task = asyncio.ensure_future(work)
        self.under_way.add(task)
        task.add_done_callback(self.under_way.discard)

    def forget(self) -> None:
        """Ends all redeliveries."""
        for task in self.under_way:
            task.cancel()
        self.endpoint, self.sockets.refusing = None, False


_TIMEOUTS = {True: "timeout", False: "http_timeout"}


def _envelope(payload: Payload) -> Doc:
    envelope: Doc = {
        "envelope_id": str(uuid4()),
        "type": payload.kind,
        "payload": payload.body,
        "accepts_response_payload": payload.kind != "events_api",
    }
    if payload.kind == "events_api":
        envelope |= {"retry_attempt": payload.attempt, "retry_reason": payload.reason}
    return envelope
