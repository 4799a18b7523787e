"""The log of calls, bounded: what a test asks to know who called what, and how often."""

from collections import Counter, deque
from dataclasses import dataclass, field
from typing import Any

from sandbox.clearml.api import Answer, Request
from sandbox.clearml.world import instant

Doc = dict[str, Any]
LIMIT = 200_000


@dataclass(slots=True)
class Journal:
    entries: deque[Doc] = field(default_factory=lambda: deque(maxlen=LIMIT))
    counts: Counter[str] = field(default_factory=Counter)
    last: int = 0

    def arrived(self, request: Request) -> Doc:
        """Notes a call at its arrival; the entry is completed when it is answered."""
        self.last += 1
        self.counts[request.name] += 1
        entry: Doc = {"n": self.last, "time": instant(), "call": request.name}
        entry |= {"body": request.body, "worker": request.worker, "user": ""}
        entry |= {"code": None, "subcode": None}
        self.entries.append(entry)
        return entry

    def answered(self, entry: Doc, answer: Answer) -> None:
        entry |= {"user": answer.user, "code": answer.code, "subcode": answer.subcode}

    def since(self, after: int, call: str, user: str) -> list[Doc]:
        return [
            entry
            for entry in self.entries
            if entry["n"] > after and call in ("", entry["call"]) and user in ("", entry["user"])
        ]

    def clear(self) -> None:
        self.entries.clear()
        self.counts.clear()
