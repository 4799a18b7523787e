"""What is stored: objects by kind, namespace and name, one version counter, the latest changes.

A stored document is never changed, only replaced: watches and the past share it.
"""

import asyncio
import uuid
from collections import deque
from dataclasses import dataclass, field

from sandbox.kubernetes.documents import Doc, instant, name_of, namespace_of
from sandbox.kubernetes.resources import STORED, Resource

Key = tuple[str, str]
Table = dict[Key, Doc]
REMEMBERED = 20_000


@dataclass(frozen=True, slots=True)
class Change:
    """One write: `before` is None for a new object, `after` the object as it was last."""

    version: int
    resource: Resource
    before: Doc | None
    after: Doc
    gone: bool = False


@dataclass(slots=True)
class Store:
    tables: dict[Resource, Table] = field(
        default_factory=lambda: {resource: {} for resource in STORED}
    )
    version: int = 1000
    oldest: int = 0
    changes: deque[Change] = field(default_factory=lambda: deque(maxlen=REMEMBERED))
    frozen: dict[Resource, int] = field(default_factory=dict)
    watchers: set["asyncio.Queue[Change | None]"] = field(default_factory=set)
    stirred: asyncio.Event = field(default_factory=asyncio.Event)

    def find(self, resource: Resource, namespace: str, name: str) -> Doc | None:
        return self.tables[resource].get((namespace, name))

    def all(self, resource: Resource) -> list[Doc]:
        return list(self.tables[resource].values())

    def seen_at(self, resource: Resource) -> int:
        """Which version reads see: the latest, or an old one while the kind is frozen."""
        return self.frozen.get(resource, self.version)

    def as_of(self, resource: Resource, version: int) -> Table:
        """The objects of a kind as they were at a version that is not forgotten."""
        if version >= self.version:
            return self.tables[resource]
        table = dict(self.tables[resource])
        for change in reversed(self.changes):
            if change.version <= version:
                break
            if change.resource == resource:
                key = (namespace_of(change.after), name_of(change.after))
                if change.before is None:
                    table.pop(key, None)
                else:
                    table[key] = change.before
        return table

    def put(self, resource: Resource, doc: Doc) -> Doc:
        """Stores the document under a new version, and tells the watchers."""
        self.version += 1
        metadata = {**doc["metadata"], "resourceVersion": str(self.version)}
        metadata.setdefault("uid", str(uuid.uuid4()))
        metadata.setdefault("creationTimestamp", instant())
        doc = {**doc, "metadata": metadata}
        key = (namespace_of(doc), name_of(doc))
        before = self.tables[resource].get(key)
        self.tables[resource][key] = doc
        self._tell(Change(self.version, resource, before, doc))
        return doc

    def remove(self, resource: Resource, doc: Doc) -> None:
        before = self.tables[resource].pop((namespace_of(doc), name_of(doc)), None)
        if before is None:
            return
        self.version += 1
        metadata = {**before["metadata"], "resourceVersion": str(self.version)}
        after = {**before, "metadata": metadata}
        self._tell(Change(self.version, resource, before, after, gone=True))

    def compact(self) -> None:
        """Forgets the past: older watches and half-read lists get 410."""
        self.oldest = self.version
        self.changes.clear()

    def freeze(self, resource: Resource) -> None:
        """Reads of this kind see this moment until it is thawed: a cache that lags."""
        self.frozen[resource] = self.version

    def close(self) -> None:
        """Ends all watches."""
        for watcher in self.watchers:
            watcher.put_nowait(None)

    def _tell(self, change: Change) -> None:
        if len(self.changes) == REMEMBERED:
            self.oldest = self.changes[0].version
        self.changes.append(change)
        for watcher in self.watchers:
            watcher.put_nowait(change)
        self.stirred.set()
