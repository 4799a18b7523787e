"""Watches: the present as ADDED or the past from a version on, then what comes, until the timeout.

A version that is forgotten gets HTTP 200 and an ERROR event with 410 in it (recording 29).
"""

import asyncio
import time
from collections.abc import AsyncIterator

from sandbox.kubernetes import errors
from sandbox.kubernetes.calls import Call
from sandbox.kubernetes.documents import Doc
from sandbox.kubernetes.reading import selection
from sandbox.kubernetes.selectors import Test
from sandbox.kubernetes.store import Change

LONGEST = 1800.0


def check(call: Call) -> None:
    """Raises for a selector that cannot be read, before the stream begins."""
    selection(call)


async def events(call: Call) -> AsyncIterator[Doc]:
    """The events of one watch; ends at its timeout, or when the world is reset."""
    store, query = call.store, call.request.query
    selects = selection(call)
    deadline = time.monotonic() + float(query.get("timeoutSeconds") or LONGEST)
    queue: asyncio.Queue[Change | None] = asyncio.Queue()
    store.watchers.add(queue)
    try:
        for event in _backlog(call, selects):
            yield event
            if event["type"] == "ERROR":
                return
        while (left := deadline - time.monotonic()) > 0:
            try:
                change = await asyncio.wait_for(queue.get(), left)
            except TimeoutError:
                return
            if change is None:
                return
            seen = _event(change, selects) if change.resource == call.resource else None
            if seen is not None:
                yield seen
    finally:
        store.watchers.discard(queue)


def _backlog(call: Call, selects: Test) -> list[Doc]:
    store = call.store
    since = int(call.request.query.get("resourceVersion") or 0)
    if not since:
        found = sorted(store.tables[call.resource].items())
        return [{"type": "ADDED", "object": doc} for _, doc in found if selects(doc)]
    if since < store.oldest:
        text = f"too old resource version: {since} ({store.oldest})"
        return [{"type": "ERROR", "object": errors.expired(text).body()}]
    past = [one for one in store.changes if one.version > since and one.resource == call.resource]
    return [event for change in past if (event := _event(change, selects))]


def _event(change: Change, selects: Test) -> Doc | None:
    """As this watch sees a change: an object that comes into or leaves its selection."""
    before = change.before is not None and selects(change.before)
    after = not change.gone and selects(change.after)
    if not before and not after:
        return None
    kind = "MODIFIED" if before and after else "ADDED" if after else "DELETED"
    return {"type": kind, "object": change.after}
