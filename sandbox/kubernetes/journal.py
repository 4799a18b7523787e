"""The log of calls, bounded: who called what, how often, and what came of it."""

from collections import Counter, deque
from dataclasses import dataclass, field
from typing import Any

from sandbox.kubernetes.calls import Request, attempt, call_name
from sandbox.kubernetes.world import now

Doc = dict[str, Any]
LIMIT = 100_000


@dataclass(slots=True)
class Journal:
    entries: deque[Doc] = field(default_factory=lambda: deque(maxlen=LIMIT))
    counts: Counter[str] = field(default_factory=Counter)
    last: int = 0

    def arrived(self, request: Request, body: Any) -> Doc:
        """Notes a call at its arrival; the code is filled in when it is answered."""
        name = call_name(request)
        asked = attempt(request)
        self.last += 1
        self.counts[name] += 1
        entry: Doc = {"n": self.last, "time": now(), "call": name, "path": request.path}
        entry |= {"query": request.query, "body": body, "type": request.content_type}
        entry |= {"name": asked.name if asked else "", "agent": request.agent}
        entry |= {"namespace": asked.namespace if asked else "", "user": "", "code": None}
        self.entries.append(entry)
        return entry

    def since(self, after: int, call: str, name: str) -> list[Doc]:
        return [
            entry
            for entry in self.entries
            if entry["n"] > after and call in ("", entry["call"]) and name in ("", entry["name"])
        ]

    def clear(self) -> None:
        self.entries.clear()
        self.counts.clear()
