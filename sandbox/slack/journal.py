"""The logs of API calls and of deliveries, bounded; tokens are never in them."""

from collections import Counter, deque
from typing import Any

Doc = dict[str, Any]
LIMIT = 50_000


class Journal:
    def __init__(self) -> None:
        self.calls: deque[Doc] = deque(maxlen=LIMIT)
        self.deliveries: deque[Doc] = deque(maxlen=LIMIT)
        self.counts: Counter[str] = Counter()
        self.last = 0

    def called(self, name: str, body: Doc, at: float) -> Doc:
        """Notes a call at its arrival; `ok` and `error` come with the answer."""
        self.counts[name] += 1
        kept = {key: value for key, value in body.items() if key != "token"}
        entry = self._entry(at) | {"call": name, "body": kept, "ok": None, "error": ""}
        self.calls.append(entry)
        return entry

    def delivered(self, kind: str, at: float, **what: Any) -> Doc:
        """Notes a delivery; `acked` and `seconds` come with the answer."""
        entry = self._entry(at) | {"kind": kind, "acked": None, "seconds": None, **what}
        self.deliveries.append(entry)
        return entry

    def _entry(self, at: float) -> Doc:
        self.last += 1
        return {"n": self.last, "at": at}
