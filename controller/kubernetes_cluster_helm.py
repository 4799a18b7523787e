"""Helm's releases, as it keeps them in secrets: those that have cGPU in their values.

`data.release` is base64 of base64 of gzip of JSON; a user's values are in `config`, the chart's in
`chart.values` (facts/cgpu.md, 2.1; recording 24). Only the highest deployed revision counts.
"""

import base64
import binascii
import gzip
import json
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from domain.cgpu_cluster import Release

Doc = Mapping[str, Any]

SELECTOR: Final = "owner=helm,status in (deployed,pending-install,pending-upgrade,pending-rollback)"
TYPE: Final = "type=helm.sh/release.v1"
_DEPLOYED: Final = "deployed"
_UNREADABLE: Final = "unreadable"
_OURS: Final = frozenset({"ack-ai-installer", "cgpu"})
"""The names under which cGPU is installed (facts/cgpu.md, 1.1): unreadable ones are told."""

_LARGEST: Final = 32 * 1024 * 1024
"""No release is larger: a secret holds 1 MiB, and text shrinks tenfold."""


@dataclass
class Releases:
    """Reads secrets into releases, each version of a secret once."""

    _known: dict[tuple[str, str, str], Release | None] = field(default_factory=dict)

    def read(self, secrets: Iterable[Doc]) -> tuple[Release, ...]:
        """The releases that have cGPU in their values, in the order of their names."""
        best: dict[tuple[str, str], Release] = {}
        pending: dict[tuple[str, str], tuple[int, str]] = {}
        seen: dict[tuple[str, str, str], Release | None] = {}
        for secret in secrets:
            metadata = secret["metadata"]
            key = (metadata["namespace"], metadata["name"], metadata["resourceVersion"])
            release = self._known[key] if key in self._known else _release(secret)
            seen[key] = release
            if release is None:
                continue
            owner = (release.namespace, release.name)
            status = str((metadata.get("labels") or {}).get("status") or "")
            if status == _DEPLOYED:
                if owner not in best or best[owner].revision < release.revision:
                    best[owner] = release
            else:
                pending[owner] = max(pending.get(owner, (0, "")), (release.revision, status))
                best.setdefault(owner, replace(release, revision=0))
        self._known = seen
        return tuple(_with_pending(best[owner], pending.get(owner)) for owner in sorted(best))


def _with_pending(release: Release, pending: tuple[int, str] | None) -> Release:
    if pending is None or pending[0] <= release.revision:
        return release
    return replace(release, pending=pending[1])


def _release(secret: Doc) -> Release | None:
    """The release in a secret; None where it has nothing of cGPU in it."""
    metadata, labels = secret["metadata"], secret["metadata"].get("labels") or {}
    document = decoded(str((secret.get("data") or {}).get("release") or ""))
    name = str(labels.get("name") or document.get("name") or metadata["name"])
    chart = document.get("chart") or {}
    cgpu = {**_cgpu(chart.get("values")), **_cgpu(document.get("config"))}
    revision = _number(labels.get("version") or document.get("version"))
    namespace = metadata["namespace"]
    if not document and name in _OURS:
        return Release(
            namespace=namespace, name=name, revision=revision, enabled=True, pending=_UNREADABLE
        )
    if not cgpu:
        return None
    return Release(
        namespace=namespace,
        name=name,
        revision=revision,
        enabled=cgpu.get("enabled", True) is True,
        policy=cgpu.get("policy"),
    )


def decoded(text: str) -> dict[str, Any]:
    """The document in `data.release`; {} where it cannot be read as one."""
    try:
        inner = base64.b64decode(base64.b64decode(text))
        if inner[:2] == b"\x1f\x8b":
            unpack = zlib.decompressobj(wbits=31)
            inner = unpack.decompress(inner, _LARGEST)
        document = json.loads(inner)
    except (binascii.Error, ValueError, zlib.error, gzip.BadGzipFile):
        return {}
    return document if isinstance(document, dict) else {}


def _cgpu(values: object) -> Doc:
    found = values.get("cgpu") if isinstance(values, Mapping) else None
    return found if isinstance(found, Mapping) else {}


def _number(raw: object) -> int:
    text = str(raw)
    return int(text) if text.isascii() and text.isdigit() else 0
