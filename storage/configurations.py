"""Approved configurations by number, and the one shared draft."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache
from typing import Any

from sqlalchemy import Select, func, insert, select, update
from sqlalchemy.engine import Row
from sqlalchemy.orm import Session

from domain.configuration import Configuration
from domain.ledger import Draft, Version, VersionState
from domain.renames import Kind, Renames
from storage.documents import configuration_hash, read_configuration, write_configuration
from storage.errors import StorageError
from storage.tables import DraftRow, VersionRow
from storage.values import put_rows, table_of

_VERSIONS = table_of(VersionRow)
_DRAFT = table_of(DraftRow)


@dataclass(frozen=True, kw_only=True)
class Approval:
    """Who approved a configuration, when, and with what note."""

    by: str
    at: datetime
    note: str = ""


@dataclass(frozen=True, kw_only=True)
class Pending:
    """Refused: this approved version is still to be applied."""

    version: Version


@dataclass(frozen=True, kw_only=True)
class DraftContent:
    """What is saved as the draft; `renames` are against `base`, a version's number or 0."""

    configuration: Configuration
    renames: Renames = field(default_factory=Renames)
    base: int
    by: str
    at: datetime


@dataclass(frozen=True, kw_only=True)
class SavedMeanwhile:
    """Refused: the draft is not at the expected revision; here is what it is, None for deleted."""

    draft: Draft | None


def provisioned(session: Session) -> Version | None:
    """The version in force: the provisioned one with the highest number."""
    return _last(session, VersionState.PROVISIONED)


def approved(session: Session) -> Version | None:
    """The version that waits to be applied, or whose applying was interrupted."""
    return _last(session, VersionState.APPROVED) or _last(session, VersionState.APPLYING)


def version(session: Session, number: int) -> Version | None:
    """The version with that number."""
    return _one(session, select(_VERSIONS).where(_VERSIONS.c.number == number))


def versions(session: Session) -> tuple[Version, ...]:
    """All versions, oldest first."""
    rows = session.execute(select(_VERSIONS).order_by(_VERSIONS.c.number))
    return tuple(_version(row) for row in rows)


def add_version(
    session: Session, configuration: Configuration, renames: Renames, approval: Approval
) -> Version | Pending:
    """Keep an approved configuration under the next number, unless another one is pending.

    Raises DocumentError when the configuration could not be read again.
    """
    if (pending := approved(session)) is not None:
        return Pending(version=pending)
    number: int = (session.execute(select(func.max(_VERSIONS.c.number))).scalar() or 0) + 1
    row = {
        "number": number,
        "configuration": _text(configuration),
        "renames": _renames_document(renames),
        "hash": configuration_hash(configuration),
        "state": VersionState.APPROVED,
        "by": approval.by,
        "at": approval.at,
        "note": approval.note,
    }
    session.execute(insert(_VERSIONS).values(row))
    added = version(session, number)
    assert added is not None
    return added


def mark_applying(session: Session, number: int) -> None:
    """The version's renames are carried out. Raises StorageError when there is none such."""
    _mark(session, number, VersionState.APPLYING)


def mark_provisioned(session: Session, number: int) -> None:
    """The version has been applied. Raises StorageError when there is none with that number."""
    _mark(session, number, VersionState.PROVISIONED)


def _mark(session: Session, number: int, state: VersionState) -> None:
    statement = update(_VERSIONS).where(_VERSIONS.c.number == number)
    done = session.connection().execute(statement.values(state=state))
    if done.rowcount != 1:
        raise StorageError(f"There is no configuration version {number}.")


def draft(session: Session) -> Draft | None:
    """The shared draft, None when there is none."""
    row = session.execute(select(_DRAFT)).one_or_none()
    return None if row is None or row.configuration is None else _draft(row)


def save_draft(
    session: Session, content: DraftContent, expected_revision: int | None
) -> Draft | SavedMeanwhile:
    """Save the content over the revision that its author started from, None for no draft.

    Refused when the draft is at another revision. A revision is never given out twice, not even
    after a deletion. Raises DocumentError when the configuration could not be read again.
    """
    row = session.execute(select(_DRAFT)).one_or_none()
    now = None if row is None or row.configuration is None else _draft(row)
    if expected_revision != (now.revision if now else None):
        return SavedMeanwhile(draft=now)
    values = {
        "id": 1,
        "configuration": _text(content.configuration),
        "renames": _renames_document(content.renames),
        "hash": configuration_hash(content.configuration),
        "base": content.base,
        "revision": (row.revision if row else 0) + 1,
        "by": content.by,
        "at": content.at,
    }
    put_rows(session, _DRAFT, [values])
    saved = draft(session)
    assert saved is not None
    return saved


def delete_draft(session: Session) -> bool:
    """Delete the shared draft; False when there was none."""
    statement = update(_DRAFT).where(_DRAFT.c.configuration.is_not(None))
    return session.connection().execute(statement.values(configuration=None)).rowcount == 1


def _last(session: Session, state: VersionState) -> Version | None:
    of_state = select(_VERSIONS).where(_VERSIONS.c.state == state)
    return _one(session, of_state.order_by(_VERSIONS.c.number.desc()).limit(1))


def _one(session: Session, statement: Select[Any]) -> Version | None:
    row = session.execute(statement).one_or_none()
    return None if row is None else _version(row)


def _version(row: Row[Any]) -> Version:
    return Version(
        number=row.number,
        configuration=_configuration(row.configuration),
        renames=_renames(row.renames),
        hash=row.hash,
        state=row.state,
        by=row.by,
        at=row.at,
        note=row.note,
    )


def _draft(row: Row[Any]) -> Draft:
    return Draft(
        configuration=_configuration(row.configuration),
        renames=_renames(row.renames),
        hash=row.hash,
        base=row.base,
        revision=row.revision,
        by=row.by,
        at=row.at,
    )


def _text(configuration: Configuration) -> str:
    text = json.dumps(write_configuration(configuration), separators=(",", ":"))
    _configuration(text)  # what cannot be read again is refused now, not at the next round
    return text


@lru_cache(maxsize=16)
def _configuration(text: str) -> Configuration:
    """The configuration of a kept document; every round and every command asks for the same."""
    return read_configuration(json.loads(text))


def _renames_document(renames: Renames) -> dict[str, dict[str, str]]:
    return {kind.value: dict(names) for kind, names in renames.by_kind.items() if names}


def _renames(document: Mapping[str, Mapping[str, str]]) -> Renames:
    return Renames({Kind(kind): dict(names) for kind, names in document.items()})
