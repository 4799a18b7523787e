"""kured's lock: who restarts nodes now beside us (facts/cgpu.md, 5).

It is an annotation of kured's own DaemonSet, for one owner or for several. What cannot be read is a
lock that is held.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any, Final

LOCK: Final = "weave.works/kured-node-lock"


def held(daemon_sets: Iterable[Mapping[str, Any]], now: datetime) -> str:
    """Who holds it, such as `the lock of gpu-3`; "" where nobody does."""
    for doc in daemon_sets:
        text = (doc["metadata"].get("annotations") or {}).get(LOCK)
        if text:
            return _holders(text, now)
    return ""


def _holders(text: str, now: datetime) -> str:
    try:
        document = json.loads(text)
        names = sorted(set(_names(document, now)))
    except (ValueError, TypeError, AttributeError):
        return "its lock cannot be read"
    return f"the lock of {', '.join(names)}" if names else ""


def _names(document: Mapping[str, Any], now: datetime) -> Iterator[str]:
    locks = document["locks"] if "maxOwners" in document else [document]
    for lock in locks or []:
        if lock.get("nodeID") and not _is_over(lock, now):
            yield str(lock["nodeID"])


def _is_over(lock: Mapping[str, Any], now: datetime) -> bool:
    nanoseconds = int(lock.get("TTL") or 0)
    if nanoseconds <= 0:
        return False  # kured's default: held until it is released
    created = datetime.fromisoformat(str(lock["created"]))
    return created + timedelta(microseconds=nanoseconds / 1000) < now
